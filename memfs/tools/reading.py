"""The tool that reads one thing: a block, a passage, or a page of a session."""

import difflib

from memfs.core import label as labels
from memfs.core.errors import NotFoundError, UsageError
from memfs.core.escaping import flatten_text, quote_lines
from memfs.core.formats import format_time
from memfs.core.privacy import excerpt
from memfs.ops import archive, sessions
from memfs.ops.sessions import SessionMessage
from memfs.store import blocks
from memfs.tools import core_memory, formatting
from memfs.tools.definition import Arguments
from memfs.tools.tool_context import ToolContext

_MESSAGES = 20  # on a page
_LONGEST, _TOOL = 2000, 200  # characters of a message, and of what a tool was given or said


def read_memory(context: ToolContext, arguments: Arguments) -> str:
    """Return the block, passage or page of a session that an id names; the list of blocks for none.

    Raises `NotFoundError`.
    """
    ident, place = arguments.get("id", "").strip("[] "), context.place()
    label = labels.normalise(ident)
    try:
        is_block = bool(ident and blocks.resolve_label(place, label))
    except UsageError:  # what is no label may be another's id
        is_block = False
    if is_block or not ident:
        return core_memory.read_block(context, {"label": ident})
    try:
        return _format_passage(archive.find_passage(place, ident))
    except NotFoundError:
        pass  # it may be a session's
    try:
        messages = sessions.number_turns(sessions.read_session(place, ident))
    except NotFoundError as error:
        known = {block.label for block in blocks.load(place)}
        near = difflib.get_close_matches(label.rpartition(":")[2], sorted(known), 3, 0.7)
        meant = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
        raise NotFoundError(
            f"no block, session or passage has the id {excerpt(ident, 80)!r}",
            f"{meant}list blocks with memory_read without an id; find the rest with memory_search",
        ) from error
    paging = {"limit": _MESSAGES, "page": arguments.get("page", 1)}
    first = (paging["page"] - 1) * _MESSAGES
    shown = [_format_message(each) for each in messages[first : first + _MESSAGES]]
    return formatting.format_hits(shown, len(messages), paging, "message")


def _format_passage(found: archive.StoredPassage) -> str:
    passage = found.passage
    tags = [f"#{tag}" for tag in passage.tags]
    head = " ".join([passage.created_at[:10], "passage", passage.id, *tags])
    return f"{flatten_text(head)}\n{quote_lines(passage.text)}"


def _format_message(each: SessionMessage) -> str:
    message = each.message
    head = f"turn {each.turn}, {format_time(message.at)}, {message.who} {message.tool}".rstrip()
    text, most = message.text.strip(), _TOOL if message.role == "tool" else _LONGEST
    if len(text) > most:
        text = f"{excerpt(text, most)} … ({len(text):,} characters)"
    return f"{flatten_text(head)}\n{quote_lines(text, '   ')}"
