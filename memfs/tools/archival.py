"""Tool calls on the archive: passages that are kept for the long term, and found when asked for."""

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
    """Return why an insertion would fail, None if it would not."""
    reason = str(arguments.get("reason") or "")
    return archive.refusal(
        str(arguments["content"]), _importance(arguments), _tags(arguments), reason
    )


def _tags(arguments: Arguments) -> tuple[str, ...]:
    tags = arguments.get("tags")
    return tuple(str(tag) for tag in tags) if isinstance(tags, list) else ()


def _importance(arguments: Arguments) -> int:
    found = arguments.get("importance", _USUAL)
    return found if isinstance(found, int) else _USUAL


def insert_passage(context: ToolContext, arguments: Arguments) -> str:
    """Archive a passage; return its id, and what was noticed about it."""
    kept = archive.run(
        context.place(),
        str(arguments["content"]),
        importance=_importance(arguments),
        tags=_tags(arguments),
        origin=context.because(arguments.get("reason")),
    )
    said = f"it is archived already, as {kept.id}" if kept.duplicate else f"archived as {kept.id}"
    return f"{said}\n{kept.note}" if kept.note else said


def search(context: ToolContext, arguments: Arguments) -> str:
    """Return a page of passages."""
    return formatting.search_hits(context, arguments, kinds=("passage",))
