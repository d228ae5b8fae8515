"""Blocks as resources: `memfs://blocks/<label>`, or `…/<tier>:<label>` where one hides another."""

from __future__ import annotations

from urllib.parse import quote, unquote

from memfs.core import label as labels
from memfs.core.block import Block
from memfs.core.errors import MemfsError, NotFoundError
from memfs.core.escaping import flatten_text
from memfs.core.privacy import excerpt
from memfs.store import blocks
from memfs.tools.tool_context import ToolContext

SCHEME = "memfs://blocks/"
TYPE = "text/markdown"


def list_resources(context: ToolContext) -> list[dict[str, object]]:
    """Return every block as a resource of the protocol; none if there is no store."""
    return [
        {
            "uri": uri,
            "name": flatten_text(block.label),
            "title": flatten_text(f"Memory block {block.label}"),
            "description": flatten_text(block.description),
            "mimeType": TYPE,
            "size": len(block.value.encode("utf-8", "surrogateescape")),
        }
        for uri, block in _list_blocks(context)
    ]


def read(context: ToolContext, uri: str) -> str:
    """Return the text of a block."""
    if not uri.startswith(SCHEME):
        raise NotFoundError(
            f"there is no resource {excerpt(uri, 200)}", f"they begin with {SCHEME}"
        )
    return blocks.get(context.place(), unquote(uri.removeprefix(SCHEME))).value


def signatures(context: ToolContext) -> dict[str, str]:
    """Return the raw text of every block by uri: it differs after any change."""
    return {uri: block.raw for uri, block in _list_blocks(context)}


def _list_blocks(context: ToolContext) -> list[tuple[str, Block]]:
    try:
        found = blocks.load(context.place())
    except MemfsError:
        return []
    seen: set[str] = set()
    named = []
    for block in found:
        hidden = block.label in seen
        seen.add(block.label)
        name = labels.qualify(block.tier, block.label) if hidden else block.label
        named.append((SCHEME + quote(name, safe="/:"), block))
    return named
