"""The tool call that appends to a block, with a page-out first where there is no room."""

from __future__ import annotations

from memfs.context.page_scores import PageCandidate
from memfs.core import label as labels
from memfs.core.errors import RejectedError
from memfs.core.escaping import flatten_text
from memfs.core.privacy import excerpt
from memfs.ops import page, show
from memfs.tools import core_memory
from memfs.tools.definition import Arguments
from memfs.tools.tool_context import ToolContext

SHARES = (0.0, 0.1, 0.25, 0.5, 1.0)  # of a block's limit, freed beyond what has to be
_SHOWN = 80  # characters of a part


def append_text(context: ToolContext, arguments: Arguments) -> str:
    """Append text to a block; return a line for each change. Raises `RejectedError`.

    Where the text finds no room, `make_room` first pages out the parts that are worth least; the
    refusal without it names them.
    """
    try:
        return core_memory.run_plan(context, arguments, core_memory.plan_append)
    except RejectedError as error:
        shown = show.run(context.place(), labels.normalise(str(arguments["label"])))
        block = shown.block
        missing = block.chars + len(str(arguments["content"])) + 1 - block.limit
        expected = core_memory.get_expected_version(arguments)
        if missing <= 0 or block.read_only or expected not in (None, shown.version):
            raise
        label = labels.qualify(block.tier, block.label)
        share, parts = _find_share(context, label, missing, block.limit)
        if not parts:
            raise
        if not arguments.get("make_room"):
            named = "; ".join(map(_shorten, parts))
            hint = f"call it again with make_room: true, which pages out first: {named}"
            raise RejectedError(error.message, hint) from error
    return _append_after(context, arguments, label, share)


def _append_after(context: ToolContext, arguments: Arguments, label: str, share: float) -> str:
    """Page out a share of a block, then append to it; a refusal brings the parts back."""
    origin = context.with_reason(arguments.get("reason") or "make room for an append")
    done = page.page_out(context.place(), label, origin, free=share)
    rest = {name: each for name, each in arguments.items() if name != "expected_version"}
    try:
        added = core_memory.run_plan(context, rest, core_memory.plan_append)
    except RejectedError:
        page.page_in(context.place(), label, origin)
        raise
    gone = "; ".join(f"{each.fate}: {_shorten(each)}" for each in done.gone)
    back = f"memory_page_in {done.label} brings it back"
    return "\n".join([added, flatten_text(f"paged out first: {gone}"), flatten_text(back)])


def _find_share(
    context: ToolContext, label: str, missing: int, limit: int
) -> tuple[float, tuple[PageCandidate, ...]]:
    """Return the share of a limit to free for `missing` characters, and the parts that go.

    No parts where even all of them leave too little room.
    """
    for more in SHARES:
        share = missing / limit + more
        planned = page.page_out(context.place(), label, context.origin, free=share, dry=True)
        if len(planned.before.rstrip()) - len(planned.after.rstrip()) >= missing:
            return share, planned.gone
    return 0.0, ()


def _shorten(candidate: PageCandidate) -> str:
    return excerpt(" ".join(candidate.part.text.split()), _SHOWN)
