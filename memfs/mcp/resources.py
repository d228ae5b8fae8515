"""Blocks as resources: `memfs://blocks/<label>`, or `…/<tier>:<label>` where one hides another."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from memfs.core import label as labels
from memfs.core.errors import MemfsError, NotFoundError
from memfs.core.private import excerpt
from memfs.core.quoting import flatten_text

if TYPE_CHECKING:
    from memfs.core.block import Block
    from memfs.tools.desk import Desk

SCHEME = "memfs://blocks/"
TYPE = "text/markdown"


def listed(desk: Desk) -> list[dict[str, object]]:
    """Return every block as the protocol describes a resource; none where there is no store."""
    return [
        {
            "uri": uri, "name": flatten_text(block.label),
            "title": flatten_text(f"Memory block {block.label}"),
            "description": flatten_text(block.description), "mimeType": TYPE,
            "size": len(block.value.encode("utf-8", "surrogateescape")),
        }
        for uri, block in _blocks(desk)
    ]  # fmt: skip


def read(desk: Desk, uri: str) -> str:
    """Return the text of a block."""
    from memfs.store import blocks

    if not uri.startswith(SCHEME):
        raise NotFoundError(
            f"there is no resource {excerpt(uri, 200)}", f"they begin with {SCHEME}"
        )
    return blocks.get(desk.place(), unquote(uri.removeprefix(SCHEME))).value


def signatures(desk: Desk) -> dict[str, str]:
    """Return what tells the blocks of now from those of another time, by uri."""
    return {uri: block.raw for uri, block in _blocks(desk)}


def _blocks(desk: Desk) -> list[tuple[str, Block]]:
    from memfs.store import blocks

    try:
        found = blocks.load(desk.place())
    except MemfsError:
        return []
    seen: set[str] = set()
    named = []
    for block in found:
        hidden = block.label in seen
        seen.add(block.label)
        name = labels.qualified(block.tier, block.label) if hidden else block.label
        named.append((SCHEME + quote(name, safe="/:"), block))
    return named
