"""The tools for the archive: passages that are kept for the long term, and found when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.tools import formatting
from memfs.tools.definition import Arguments, Parameter, Tool

if TYPE_CHECKING:
    from memfs.core.errors import MemfsError
    from memfs.tools.tool_context import ToolContext

INSERT = "archival_memory_insert"
_USUAL = 5  # importance


def refusal(given: Arguments) -> MemfsError | None:
    """Return why an insertion would fail, None if it would not."""
    from memfs.ops import archive

    reason = str(given.get("reason") or "")
    return archive.refusal(str(given["content"]), _importance(given), _tags(given), reason)


def _tags(given: Arguments) -> tuple[str, ...]:
    tags = given.get("tags")
    return tuple(str(tag) for tag in tags) if isinstance(tags, list) else ()


def _importance(given: Arguments) -> int:
    found = given.get("importance", _USUAL)
    return found if isinstance(found, int) else _USUAL


def _insert(desk: ToolContext, given: Arguments) -> str:
    from memfs.ops import archive

    kept = archive.run(
        desk.place(),
        str(given["content"]),
        importance=_importance(given),
        tags=_tags(given),
        origin=desk.because(given.get("reason")),
    )
    said = f"it is archived already, as {kept.id}" if kept.duplicate else f"archived as {kept.id}"
    return f"{said}\n{kept.note}" if kept.note else said


def _search(desk: ToolContext, given: Arguments) -> str:
    return formatting.hits(desk, given, kinds=("passage",))


TOOLS = (
    Tool(
        INSERT,
        "Archive a passage",
        "add",
        (
            Parameter(
                "content", "string", "A text that can be understood by itself.", required=True
            ),
            Parameter(
                "importance",
                "integer",
                "1 (passing) to 10 (vital); 5 if not given.",
                least=1,
                most=10,
            ),
            Parameter("tags", "strings", "What it is about: deploy, postgres, …"),
            Parameter("reason", "string", "Why, in a few words."),
        ),
        _insert,
    ),
    Tool(
        "archival_memory_search",
        "Search the archive",
        "read",
        (
            Parameter(
                "query", "string", "A question or words, in natural language.", required=True
            ),
            Parameter("tags", "strings", "Only passages that have these tags."),
            Parameter(
                "match",
                "string",
                "Whether all of the tags are needed, or any of them.",
                choices=("all", "any"),
            ),
            Parameter(
                "min_importance", "integer", "Only passages this important.", least=1, most=10
            ),
            *formatting.DATES,
            *formatting.PAGING,
            formatting.NEAREST,
        ),
        _search,
    ),
)
