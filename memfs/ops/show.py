"""Show blocks as they are, and as they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.context import brief_text
from memfs.store import block_history, blocks, journal, read_times
from memfs.store import journal_query as versions

if TYPE_CHECKING:
    from memfs.core.block import Block
    from memfs.store.blocks import Place


@dataclass(frozen=True)
class ShownBlock:
    """A block and its version."""

    block: Block
    version: int


def run(place: Place, label: str, wanted: str = "") -> ShownBlock:
    """Return a block as it is, or as it was at a version or a commit."""
    if wanted:
        tier, name = versions.resolve(place, label)
        block = blocks.make(tier, name, "", block_history.read_version(place, label, wanted))
        return ShownBlock(block, int(wanted) if wanted.isdigit() else block.version)
    block = blocks.get(place, label)
    read_times.note_read(place.store(block.tier), block.tier, block.label)
    return ShownBlock(block, _version(place, block))


def show_all(place: Place) -> list[ShownBlock]:
    """Return all blocks, nearest tier first."""
    return [ShownBlock(block, _version(place, block)) for block in blocks.load(place)]


def brief(place: Place) -> str:
    """Return the brief as a session of this place is given it."""
    text, shown = brief_text.compose_brief(place)
    return brief_text.with_rules(text, brief_text.unwritten_rules(place, shown.values()))


def record(shown: ShownBlock) -> dict[str, object]:
    """Return a block as JSON shows it."""
    block = shown.block
    return {
        "label": block.label,
        "tier": block.tier,
        "version": shown.version,
        "description": block.description,
        "chars": block.chars,
        "limit": block.limit,
        "read_only": block.read_only,
        "pinned": block.pinned,
        "tags": block.tags,
        "value": block.value,
        "path": block.path,
        "problem": block.problem,
    }


def _version(place: Place, block: Block) -> int:
    """Return the journalled version; of a file changed since then, the one after it."""
    head = versions.get_head(place, block.tier, block.label)
    if head is None:
        return block.version or 1
    return head.version + (journal.digest(block.raw) != head.digest)
