"""Tool calls that page memory out and in, for a model that manages its own window."""

from collections.abc import Callable, Sequence

from memfs import hosts
from memfs.context import summary
from memfs.context.page_scores import PageCandidate
from memfs.context.window_budget import load_budget
from memfs.core import label as labels
from memfs.core.body_edits import Append, Edit
from memfs.core.errors import RejectedError
from memfs.core.escaping import flatten_text
from memfs.core.privacy import excerpt
from memfs.core.tokens import estimate
from memfs.ops import page, search, show
from memfs.search.request import Filter, HitPage
from memfs.store import blocks, config
from memfs.tools import core_memory, formatting
from memfs.tools.definition import Arguments
from memfs.tools.tool_context import ToolContext

SHARES = (0.0, 0.1, 0.25, 0.5, 1.0)  # of a block's limit, freed beyond what has to be
_SHARE = 0.5  # of the room of the working block that one page-in may fill
_UNITS = 4  # characters of a token
_BACK = "memory_page_out {} with back: true restores these parts"


def page_out(context: ToolContext, arguments: Arguments) -> str:
    """Page the parts of a block out that are off the task; return a line for each.

    Where the pinned blocks take more than their share of the host's window, more parts leave a
    pinned block, as far as it takes.
    """
    place, label = context.place(), labels.normalise(arguments["label"])
    if arguments.get("back"):
        return _bring_back(context, label, arguments)
    block, task = blocks.get(place, label), arguments.get("task", "")
    lacking = max(0, -_measure_window(context)) if block.pinned else 0
    free = 0.0
    if lacking:
        shares = [0.0, *(lacking * _UNITS / block.limit + more for more in SHARES)]
        named = labels.qualify(block.tier, block.label)
        free, _ = _find_share(context, named, shares, lacking, estimate, task)
    done = page.page_out(
        place, label, context.with_reason(arguments.get("reason")), task=task, free=free
    )
    if not done.gone:
        return f"nothing was paged out of '{done.label}': every part is relevant to the task"
    lines = [f"paged out of '{done.label}':"]
    lines += [f"- {each.fate}: {_shorten(each, 100)}" for each in done.gone]
    if lacking:
        left = lacking - (estimate(done.before) - estimate(done.after))
        rest = f"{left:,} are left: page out another block" if left > 0 else "now they fit"
        lines.append(
            f"blocks took {lacking:,} tokens more than this context window has for blocks; {rest}"
        )
    return "\n".join(map(flatten_text, [*lines, _BACK.format(done.label)]))


def page_in(context: ToolContext, arguments: Arguments) -> str:
    """Page a block's own parts back in, else add the hits for a query to the working block."""
    query = arguments["query"]
    place = context.place()
    label = labels.normalise(query)
    known = None if labels.problem(label) else blocks.resolve_label(place, label)
    if known is not None:
        return _bring_back(context, label, arguments)
    return _fetch_hits(context, query, arguments)


def _bring_back(context: ToolContext, label: str, arguments: Arguments) -> str:
    done = page.page_in(context.place(), label, context.with_reason(arguments.get("reason")))
    more = ", shortened to fit into the block" if done.shortened else ""
    return f"restored the paged-out parts of '{done.label}'{more}"


def _measure_window(context: ToolContext) -> int:
    """Return the tokens that the host's window has free for blocks, below 0 if it lacks some."""
    host, place = context.origin.host, context.place()
    budget = load_budget(config.load(place), hosts.get(host).WINDOW if host in hosts.NAMES else 0)
    pinned = sum(estimate(block.value) for block in blocks.load(place) if block.pinned)
    return budget.get_share("blocks") - pinned


def _fetch_hits(context: ToolContext, query: str, arguments: Arguments) -> str:
    place = context.place()
    limit = config.load(place).number("archival.search_top_k")
    only = Filter(kinds=("message", "passage"))
    found = search.run(context.index(), query, mode=None, only=only, limit=3 * limit, page=1)
    others = formatting.drop_running_turn(context, found).hits
    hits = [hit for hit in others if hit.role != "tool"][:limit]  # no calls
    if not hits:
        return f"nothing found for {query!r}"
    shown = formatting.format_page({"limit": limit}, HitPage(hits, len(hits)))
    if not place.session:
        return shown
    working = blocks.get(place, labels.qualify(labels.SESSION, labels.WORKING))
    room = min(int(_SHARE * (working.limit - working.chars)), _measure_window(context) * _UNITS)
    lines: list[str] = []
    for hit in hits:
        head = f"- ({hit.at[:10]}, {hit.id}) "
        text = " ".join(hit.text.split())
        left = room - sum(map(len, lines)) - len(head) - 1
        tokens = max(0, left) // _UNITS
        while len(text) > left and tokens:  # what is about the query, as much as there is room for
            text = " ".join(summary.extract(hit.text, tokens, query).split())
            tokens = tokens * 3 // 4
        if text and len(text) <= left:
            lines.append(head + text)
    if not lines:
        return f"the block '{labels.WORKING}' has no room for these hits:\n{shown}"
    edits = [Append(labels.qualify(labels.SESSION, labels.WORKING), "\n".join(lines))]
    done = core_memory.apply(
        context, list(edits), arguments.get("reason") or f"page-in: {excerpt(query, 60)}", []
    )
    return "\n".join([*done, *map(flatten_text, lines)])


def append_text(context: ToolContext, arguments: Arguments, edits: list[Edit]) -> str:
    """Append text to a block; return a line for each change. Raises `RejectedError`.

    Where the text finds no room, `make_room` first pages out the parts that are worth least; the
    refusal without it names them.
    """
    try:
        return core_memory.run_edits(context, arguments, edits)
    except RejectedError as error:
        shown = show.run(context.place(), labels.normalise(arguments["label"]))
        block = shown.block
        after = f"{block.value}\n{arguments['content']}"
        missing, units, measure = len(after) - block.limit, 1, _count_characters
        if missing <= 0 and block.tokens is not None:
            missing, units, measure = estimate(after) - block.tokens, _UNITS, estimate
        expected = arguments.get("expected_version")
        if missing <= 0 or block.read_only or expected not in (None, shown.version):
            raise
        label = labels.qualify(block.tier, block.label)
        shares = [missing * units / block.limit + more for more in SHARES]
        share, parts = _find_share(context, label, shares, missing, measure)
        if not parts:
            raise
        if not arguments.get("make_room"):
            named = "; ".join(map(_shorten, parts))
            hint = f"call again with make_room: true to page out these parts: {named}"
            raise RejectedError(error.message, hint) from error
    origin = context.with_reason(arguments.get("reason") or "make room for an append")
    done = page.page_out(context.place(), label, origin, free=share)
    try:
        added = core_memory.run_edits(context, {**arguments, "expected_version": None}, edits)
    except RejectedError:
        page.page_in(context.place(), label, origin)
        raise
    gone = "; ".join(f"{each.fate}: {_shorten(each)}" for each in done.gone)
    return "\n".join(
        [added, flatten_text(f"paged out: {gone}"), flatten_text(_BACK.format(done.label))]
    )


def _find_share(
    context: ToolContext,
    label: str,
    shares: Sequence[float],
    lacking: int,
    measure: Callable[[str], int],
    task: str = "",
) -> tuple[float, tuple[PageCandidate, ...]]:
    """Return the first share of a block's limit that frees what is lacking, and the parts that go.

    The last share and no parts where even that frees too little.
    """
    for share in shares:
        planned = page.page_out(
            context.place(), label, context.origin, task=task, free=share, dry=True
        )
        if measure(planned.before) - measure(planned.after) >= lacking:
            return share, planned.gone
    return shares[-1], ()


def _count_characters(text: str) -> int:
    return len(text.rstrip())


def _shorten(candidate: PageCandidate, most: int = 80) -> str:
    return excerpt(" ".join(candidate.part.text.split()), most)
