"""Check the files and folders of blocks."""

from __future__ import annotations

import os
from collections.abc import Iterator

from memfs.core import block_problems
from memfs.core import label as labels
from memfs.core.block import Block
from memfs.core.block_problems import find_contradictions
from memfs.files import trees
from memfs.ops.doctor.finding import Finding
from memfs.store import blocks, store_paths
from memfs.store.blocks import Place

_FIXED = "memfs doctor --fix mends it, and keeps the file as it was"
_COPY = "a conflicted copy that a sync tool left, and not used"
_UNREAD, _PERMISSIONS = "cannot be read", "see its permissions and those of its folder"


def check_blocks(place: Place) -> Iterator[Finding]:
    """Check every block file, and report other files among them."""
    paths: dict[tuple[str, str], str] = {}
    read: set[str] = set()
    try:
        loaded = blocks.load(place)
    except OSError as error:  # in the folder of all blocks
        yield Finding("error", f"{error.filename}: {_UNREAD}: {error.strerror}", _PERMISSIONS)
        return
    for block in loaded:
        other = paths.setdefault((block.tier, block.label), block.path)
        if other != block.path:
            yield Finding(
                "error",
                f"{block.path} and {other} have one label",
                f"memfs doctor --fix renames {os.path.basename(block.path)}; or do that yourself",
            )
        wrong = labels.problem(block.label)
        if wrong:
            yield Finding("error", f"{block.path} cannot be addressed: {wrong}", "rename the file")
        yield from _check_file(block)
        yield from _check_values(block)
        for each in find_contradictions(block.value):
            yield Finding(
                "warning",
                f"{block.path}: two lines say {each.one} and {each.other} of one thing",
                f"keep the one that holds: memfs edit {block.label}",
            )
        read.add(block.path)
    for path, what in _list_left_out(place, read):
        if what == _COPY:
            yield Finding("error", f"{path} is {what}", "take over what is missing, and delete it")
            continue
        if what.startswith(_UNREAD):
            yield Finding("error", f"{path}: {what}", _PERMISSIONS)
            continue
        yield Finding(
            "warning",
            f"{path} is no block: {what}",
            "blocks are .md files of this repository, at most 3 levels deep, and no links",
        )
    if read:
        yield Finding("ok", f"{len(read)} blocks were read")


def _check_file(block: Block) -> Iterator[Finding]:
    """Check the text of a block file, if it can be read."""
    if block.size:
        yield Finding(
            "error",
            f"{block.path}: {block.size:,} bytes, a block has at most {blocks.LARGEST:,}",
            "only its beginning is shown; shorten it in an editor, or move it out of blocks/",
        )
        return
    if block.problem and not block.raw:
        yield Finding("error", f"{block.path}: {block.problem}", _PERMISSIONS)
        return
    for fault in block_problems.find(block.raw):
        yield Finding(
            "error" if fault.grave else "warning",
            f"{block.path}:{fault.line}: {fault.what}",
            _FIXED if fault.mendable else fault.hint,
        )


def _check_values(block: Block) -> Iterator[Finding]:
    name = labels.qualify(block.tier, block.label)
    for key, value in block.odd_keys():
        yield Finding(
            "warning", f"{name}: {key} is {value!r}, which is not used", f"mend {block.path}"
        )
    if block.chars > block.limit and not block.size:
        yield Finding(
            "warning",
            f"{name}: {block.chars:,} characters, the limit is {block.limit:,}",
            f"shorten it: memfs edit {block.label}",
        )


def _list_left_out(place: Place, read: set[str]) -> list[tuple[str, str]]:
    """List (path, what it is) of files among the blocks that are none. Opens no file."""
    found: list[tuple[str, str]] = []
    for tier, store in place.list_tiers():
        if tier == labels.SESSION:
            continue
        top = store_paths.block_folder(store, tier)
        if os.path.islink(top):
            found.append((top, "a link"))
        for each in trees.walk(top, left_out=lambda path, what: found.append((path, what))):
            if each.path not in read:
                deep = each.name.count("/") >= labels.MAX_DEPTH or blocks.SUFFIX + "/" in each.name
                is_deep = each.path.endswith(blocks.SUFFIX) and deep
                what = "a file too deep" if is_deep else "not named .md"
                if labels.is_conflicted_copy(os.path.basename(each.path)):
                    what = _COPY
                found.append((each.path, what))
    return sorted(each for each in found if not os.path.basename(each[0]).startswith("."))
