"""The status line: the memory of a folder in one line. Hot path."""

from memfs.core.block import WARN_AT
from memfs.hosts.base import get_text
from memfs.store import blocks, store_paths


def format_status_line(payload: dict[str, object]) -> str:
    """Return the status line for the folder that a host works in; "" without a store."""
    folder = get_text(payload, "cwd") or "."
    place = blocks.find_serving(folder, get_text(payload, "session_id"))
    if place is None or place.project is None:
        store = store_paths.find(folder)
        if store is not None and not store.trusted:
            return "memory: not trusted yet, run memfs trust"
    if place is None:
        return ""
    found = blocks.load(place)
    chars = sum(block.chars for block in found)
    parts = [f"memory: {len(found)} block{'s' * (len(found) != 1)}, {chars:,} characters"]
    for block in found:
        if block.fill >= WARN_AT:
            parts.append(f"⚠️ {block.label} {int(block.fill * 100)} %")
    return " · ".join(parts)
