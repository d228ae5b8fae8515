"""Tool calls on the archive and on past conversations: insert a passage, search both."""

from memfs.core import parts
from memfs.core.errors import MemfsError, UsageError
from memfs.core.escaping import flatten_text
from memfs.knowledge.facts.prose import is_about_user
from memfs.ops import archive
from memfs.ops import search as ops
from memfs.tools import formatting
from memfs.tools.catalog import SCOPES, TEAM
from memfs.tools.definition import Arguments
from memfs.tools.tool_context import ToolContext

_USUAL = 5  # importance


def refusal(arguments: Arguments) -> MemfsError | None:
    """Return the error of an insertion without making it, None if it would succeed."""
    return archive.refusal(
        arguments["content"],
        arguments.get("importance", _USUAL),
        tuple(arguments.get("tags", ())),
        arguments.get("reason", ""),
    )


def insert_passage(context: ToolContext, arguments: Arguments) -> str:
    """Archive a passage; return its id, and a note if there is one.

    What is about the user goes into the user's own archive, as facts do.
    """
    place, content, tags = context.place(), arguments["content"], tuple(arguments.get("tags", ()))
    about = arguments.get("about") or ("user" if is_about_user(content, tags) else "project")
    done = archive.run(
        place,
        content,
        importance=arguments.get("importance", _USUAL),
        tags=tags,
        origin=context.with_reason(arguments.get("reason")),
        user=about == "user",
    )
    where = " in the user's own archive" if about == "user" and place.project else ""
    known = "already archived as" if done.duplicate else "archived as"
    text = f"{known} {done.id}{where}"
    return f"{text}\n{done.note}" if done.note else text


def search_scope(context: ToolContext, arguments: Arguments) -> str:
    """Return a page of hits of one scope, or of everything; without a query, of a time's messages.

    Raises `UsageError` for neither a query nor a day.
    """
    scope = arguments.get("scope", "")
    if arguments.get("query", "").strip():
        if scope == TEAM:
            return search_conversations(context, {**arguments, "team": True})
        return formatting.search_hits(context, arguments, kinds=SCOPES.get(scope, ()))
    if "since" in arguments and scope not in ("", "sessions"):
        raise UsageError(
            f"the scope '{scope}' needs a query",
            "to list messages since a given day, leave 'scope' out, or set it to 'sessions'",
        )
    if "since" not in arguments:
        raise UsageError(
            "memory_search needs 'query' or 'since'",
            "to list messages since a given day, set 'since'",
        )
    days = {"start_date": arguments["since"], "end_date": arguments.get("until")}
    return formatting.list_by_date(context, {**arguments, **days})


def search(context: ToolContext, arguments: Arguments) -> str:
    """Return a page of passages, of chunks of data sources, and of commits."""
    sources = arguments.get("sources")
    kinds = [] if sources is True else ["passage"]
    kinds += [] if sources is False else ["source", "commit"]
    return formatting.search_hits(context, arguments, kinds=tuple(kinds))


def search_conversations(context: ToolContext, arguments: Arguments) -> str:
    """Return a page of messages, also of what others shared, or of whole sessions.

    A line before it says why there is nothing of the team.
    """
    index, given = context.index(), formatting.parse_search(arguments, ("message",))
    sessions = arguments.get("sessions")
    if not arguments.get("team"):
        if sessions:
            return formatting.format_page(arguments, ops.search_sessions(index, **given), "session")
        return formatting.search_hits(context, arguments, kinds=("message",))
    if sessions:
        raise UsageError("'team' cannot be combined with 'sessions'", "leave one of the two out")
    nearest = bool(arguments.get("nearest"))
    found = parts.load("team.seam").search(index, nearest=nearest, **given)
    shown = formatting.format_page(arguments, found)
    return f"{flatten_text(index.note)}\n{shown}" if index.note else shown
