"""Show blocks in their current and earlier versions."""

from dataclasses import dataclass

from memfs.context import session_start
from memfs.context.session_start import BriefPieces
from memfs.core import label as labels
from memfs.core.block import Block
from memfs.core.tokens import estimate
from memfs.store import block_history, blocks, config, handoff, journal_query, review_dates
from memfs.store.blocks import Place


@dataclass(frozen=True)
class ShownBlock:
    """A block and its version; `state` names one that is not the present one."""

    block: Block
    version: int
    state: str = ""


def run(place: Place, label: str, version: str = "") -> ShownBlock:
    """Return a block, at present or at a version (`-1`: the one before) or a commit."""
    if version:
        version = block_history.resolve_version(place, label, version)
        tier, name = journal_query.resolve(place, label)
        block = blocks.make(tier, name, "", block_history.read_version(place, label, version))
        number = int(version) if version.isdecimal() else block.version
        return ShownBlock(block, number, version)
    block = blocks.get(place, label)
    block_history.note_read(place.store(block.tier), block.tier, block.label)
    return ShownBlock(block, journal_query.get_version(place, block))


def show_all(place: Place) -> list[ShownBlock]:
    """Return all blocks with their versions, nearest tier first."""
    return [ShownBlock(each, journal_query.get_version(place, each)) for each in blocks.load(place)]


def brief(place: Place, host: str = "") -> str:
    """Return the brief that a session of this place gets, in a host or in any."""
    found = compose_brief(place, host, tools=bool(host))
    return found.brief + found.handed + found.rules


def compose_brief(place: Place, host: str, *, tools: bool) -> BriefPieces:
    """Compose the brief that the next session is given; `tools`: its assistant has ours."""
    store, last = place.project, ""
    if store is not None and config.load(place).get("hooks.handoff") == "auto":
        due = handoff.find_due(store, place.session, again=True)
        last = due.get_text() if due else ""
    return session_start.compose_pieces(place, host=host, tools=tools, last=last)


def record(place: Place, shown: ShownBlock) -> dict[str, object]:
    """Return a block as a dictionary for JSON."""
    block, state = shown.block, shown.state
    name = labels.qualify(block.tier, block.label)
    return {
        "label": block.label,
        "tier": block.tier,
        "version": shown.version,
        "description": block.description,
        "chars": block.chars,
        "limit": block.limit,
        "tokens": estimate(block.value),
        "max_tokens": block.tokens,
        "updated_at": block_history.get_state_time(place, name, state)
        if state
        else block_history.get_edit_time(place, block),
        "read_only": block.read_only,
        "pinned": block.pinned,
        "paths": block.scope.paths,
        "commands": block.scope.commands,
        "enforce": block.scope.enforce,
        "tags": block.tags,
        **{key: str(block.meta.get(key) or "") for key in review_dates.KEYS},
        "value": block.value,
        "path": block.path,
        "problem": block.problem,
    }
