"""Blocks: what is wrong in their files and folders."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from memfs.core import faults
from memfs.core import label as labels
from memfs.core.errors import StoreError
from memfs.ops.doctor.finding import Finding
from memfs.store import blocks, files, layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memfs.core.block import Block
    from memfs.store.blocks import Place

_FIXED = "memfs doctor --fix mends it, and keeps the file as it was"
_UNREAD, _PERMISSIONS = "cannot be read", "see its permissions and those of its folder"
_KINDS = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
}  # fmt: skip


def look(place: Place) -> Iterator[Finding]:
    """Look at every block file, and at what lies among them and is none."""
    paths: dict[tuple[str, str], str] = {}
    read: set[str] = set()
    try:
        loaded = blocks.load(place)
    except OSError as error:  # the folder of all blocks
        yield Finding("error", f"{error.filename}: {_UNREAD}: {error.strerror}", _PERMISSIONS)
        return
    for block in loaded:
        other = paths.setdefault((block.tier, block.label), block.path)
        if other != block.path:
            yield Finding(
                "error", f"{block.path} and {other} have one label",
                "memfs doctor --fix renames the first of them; or give it another name yourself",
            )  # fmt: skip
        wrong = labels.problem(block.label)
        if wrong:
            yield Finding("error", f"{block.path} cannot be addressed: {wrong}", "rename the file")
        yield from _file(block)
        yield from _values(block)
        read.add(block.path)
    for path, what in _left_out(place, read):
        if what.startswith(_UNREAD):
            yield Finding("error", f"{path}: {what}", _PERMISSIONS)
            continue
        yield Finding(
            "warning", f"{path} is no block: {what}",
            "blocks are .md files, at most 3 levels deep, not links that leave the store",
        )  # fmt: skip
    if read:
        yield Finding("ok", f"{len(read)} blocks were read")


def _file(block: Block) -> Iterator[Finding]:
    """Look at the text of a file, as far as it can be read."""
    if block.size:
        yield Finding(
            "error", f"{block.path}: {block.size:,} bytes, a block has at most {blocks.LARGEST:,}",
            "only its beginning is shown; shorten it in an editor, or move it out of blocks/",
        )  # fmt: skip
        return
    if block.problem and not block.raw:
        yield Finding("error", f"{block.path}: {block.problem}", _PERMISSIONS)
        return
    for fault in faults.find(block.raw):
        yield Finding(
            "error" if fault.grave else "warning", f"{block.path}:{fault.line}: {fault.what}",
            _FIXED if fault.mendable else fault.hint,
        )  # fmt: skip


def _values(block: Block) -> Iterator[Finding]:
    name = labels.qualified(block.tier, block.label)
    for key, value in block.odd_keys():
        yield Finding(
            "warning", f"{name}: {key} is {value!r}, which is not used", f"mend {block.path}"
        )
    if block.chars > block.limit and not block.size:
        yield Finding(
            "warning", f"{name}: {block.chars:,} characters, the limit is {block.limit:,}",
            f"shorten it: memfs edit {block.label}",
        )  # fmt: skip


def _left_out(place: Place, read: set[str]) -> list[tuple[str, str]]:
    """List (path, what it is) of what lies among the blocks and is none. Nothing is opened."""
    found: list[tuple[str, str]] = []

    def unread(error: OSError) -> None:
        found.append((str(error.filename), f"{_UNREAD}: {error.strerror}"))

    for tier, store in place.tiers():
        if tier == labels.SESSION:
            continue

        top = layout.block_folder(store, tier)
        for folder, folders, names in os.walk(top, onerror=unread):
            odd = [
                n for n in folders if n.endswith(blocks.SUFFIX) or os.path.islink(f"{folder}/{n}")
            ]
            for name in [*odd, *names]:
                path = f"{folder}/{name}"
                if not name.startswith(".") and path not in read:
                    what = _what(path, store.root)
                    found += [(path, what)] if what else []
    return sorted(found)


def _what(path: str, root: str) -> str:
    """Say what a thing among the blocks is; "" for a link to a folder of the store."""
    try:
        if os.path.islink(path):
            target = files.contained(path, root)
            if not os.path.exists(target):
                return f"a link to {target}, which is not there"
            if os.path.isdir(target) and not path.endswith(blocks.SUFFIX):
                return ""
        mode = os.stat(path).st_mode
    except StoreError:
        return f"a link that leaves the store, to {os.path.realpath(path)}"
    except OSError as error:
        return f"{_UNREAD}: {error.strerror}"
    kind = _KINDS.get(stat.S_IFMT(mode))
    if kind:
        return kind
    return "a file too deep" if path.endswith(blocks.SUFFIX) else "not named .md"
