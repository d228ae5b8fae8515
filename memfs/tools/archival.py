"""Tool calls on the archive: insert and search passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.ops import archive
from memfs.tools import formatting

if TYPE_CHECKING:
    from memfs.core.errors import MemfsError
    from memfs.tools.definition import Arguments
    from memfs.tools.tool_context import ToolContext

_USUAL = 5  # importance


def refusal(arguments: Arguments) -> MemfsError | None:
    """Return the error of an insertion without making it, None if it would succeed."""
    reason = str(arguments.get("reason") or "")
    return archive.refusal(
        str(arguments["content"]), _parse_importance(arguments), _parse_tags(arguments), reason
    )


def _parse_tags(arguments: Arguments) -> tuple[str, ...]:
    tags = arguments.get("tags")
    return tuple(str(tag) for tag in tags) if isinstance(tags, list) else ()


def _parse_importance(arguments: Arguments) -> int:
    found = arguments.get("importance", _USUAL)
    return found if isinstance(found, int) else _USUAL


def insert_passage(context: ToolContext, arguments: Arguments) -> str:
    """Archive a passage; return its id, and a note if there is one."""
    done = archive.run(
        context.place(),
        str(arguments["content"]),
        importance=_parse_importance(arguments),
        tags=_parse_tags(arguments),
        origin=context.with_reason(arguments.get("reason")),
    )
    text = f"it is archived already, as {done.id}" if done.duplicate else f"archived as {done.id}"
    return f"{text}\n{done.note}" if done.note else text


def search(context: ToolContext, arguments: Arguments) -> str:
    """Return a page of passages."""
    return formatting.search_hits(context, arguments, kinds=("passage",))
