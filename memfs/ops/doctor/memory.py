"""Check what a memory holds: blocks, passages, kinds, sections, sources, the model."""

import os
from collections.abc import Iterator

from memfs import files
from memfs.core import block_problems, frontmatter
from memfs.core import label as labels
from memfs.core.block import Block
from memfs.core.errors import MemfsError
from memfs.files import trees
from memfs.ingest.source_files import HIDDEN, IGNORED, UNMATCHED
from memfs.knowledge.kinds import registry
from memfs.ops.doctor.finding import Finding, confirm, fail, warn
from memfs.recall import model_config, source_state
from memfs.recall.open_store import OpenStore
from memfs.search.doc_json import epoch
from memfs.store import archive, blocks, config, data_sources, facts, review_dates, store_paths
from memfs.store.blocks import Place
from memfs.sync import githook, instruction_sections

_WANTED = (HIDDEN, IGNORED, UNMATCHED)  # what somebody said is to be left out
_MANY = 0.2  # share of files

_BY_HAND = "fix the file in an editor"
_LEAST, _MOST = 1, 10  # importance
_SHOWN = 5  # numbers of lines

_FIXED = "run memfs doctor --fix, which repairs the file and saves the old one"
_COPY = "a conflicted copy left by a sync tool; memfs does not use it"
_PERMISSIONS = "check the permissions of the file and its folder"


def check_blocks(place: Place) -> Iterator[Finding]:
    """Check every block file, and report other files among them."""
    paths: dict[tuple[str, str], str] = {}
    read: set[str] = set()
    try:
        loaded = blocks.load(place)
    except OSError as error:  # in the folder of all blocks
        yield fail(f"{error.filename} {trees.UNREADABLE}: {error.strerror}", _PERMISSIONS)
        return
    for block in loaded:
        other = paths.setdefault((block.tier, block.label), block.path)
        if other != block.path:
            yield fail(
                f"{block.path} and {other} have the same label",
                f"rename {os.path.basename(block.path)}, or let memfs doctor --fix rename it",
            )
        wrong = labels.problem(block.label)
        if wrong:
            yield fail(f"the name of {block.path} cannot be a label: {wrong}", "rename the file")
        yield from _check_file(block)
        yield from _check_values(block)
        read.add(block.path)
    for path, what in _list_left_out(place, read):
        if what == _COPY:
            yield fail(
                f"{path} is {what}", "copy what is missing into the block, then delete this file"
            )
        elif what.startswith(trees.UNREADABLE):
            yield fail(f"{path} {what}", _PERMISSIONS)
        else:
            hint = "use .md files from this repository, no more than 3 levels deep, and no links"
            yield warn(f"{path} is not a block: {what}", hint)
    if read:
        yield confirm(f"{len(read)} blocks are readable")


def _check_file(block: Block) -> Iterator[Finding]:
    if block.size:
        yield fail(
            f"{block.path}: {block.size:,} bytes, the limit is {blocks.LARGEST:,}; memfs "
            "shows only the beginning",
            "shorten the file in an editor, or move the file out of blocks/",
        )
        return
    if block.problem and not block.raw:
        yield fail(f"{block.path}: {block.problem}", _PERMISSIONS)
        return
    yield from _report_faults(block.path, block.raw, _FIXED)


def _report_faults(path: str, raw: str, fixed: str) -> Iterator[Finding]:
    """Report the faults of a text; `fixed` is the hint for what `memfs doctor --fix` repairs."""
    for fault in block_problems.find(raw):
        yield Finding(
            "error" if fault.grave else "warning",
            f"{path}:{fault.line}: {fault.what}",
            fixed if fixed and fault.mendable else fault.hint,
        )


def _check_values(block: Block) -> Iterator[Finding]:
    name = labels.qualify(block.tier, block.label)
    for key, value in (*block.odd_keys(), *_list_odd_dates(block.meta)):
        yield warn(
            f"{name}: {key} is {value!r}, which is ignored", f"correct the value in {block.path}"
        )
    for problem in block.scope.problems:
        yield warn(f"{name}: {problem}; the key has no effect", f"correct {block.path}")
    if block.chars > block.limit and not block.size:
        yield warn(
            f"{name}: {block.chars:,} characters, the limit is {block.limit:,}",
            f"shorten the block: memfs edit {block.label}",
        )


def _list_left_out(place: Place, read: set[str]) -> list[tuple[str, str]]:
    """List (path, what it is) of files among the blocks that are none. Opens no file."""
    found: list[tuple[str, str]] = []
    for tier, store in place.list_lasting_tiers():
        top = store_paths.block_folder(store, tier)
        if os.path.islink(top):
            found.append((top, "a link"))
        for each in trees.walk(top, left_out=lambda path, what: found.append((path, what))):
            if each.path not in read:
                deep = each.name.count("/") >= labels.MAX_DEPTH or blocks.SUFFIX + "/" in each.name
                is_deep = each.path.endswith(blocks.SUFFIX) and deep
                what = "nested too deep" if is_deep else "not a .md file"
                if labels.is_conflicted_copy(os.path.basename(each.path)):
                    what = _COPY
                found.append((each.path, what))
    return sorted(each for each in found if not os.path.basename(each[0]).startswith("."))


def check_passages(place: Place) -> Iterator[Finding]:
    """Check every passage file of the stores of a place, and the lines of their facts."""
    for store in place.stores():
        for path, lines in facts.list_damage(store):
            named = ", ".join(map(str, lines[:_SHOWN])) + (" …" if len(lines) > _SHOWN else "")
            what = (
                f"lines {named} are not facts" if len(lines) > 1 else f"line {named} is not a fact"
            )
            yield fail(f"{path}: {what}", "fix or delete these lines in an editor")
        for path in archive.sources(store):
            try:
                raw = files.read(path)
            except OSError as error:
                yield fail(f"{path} {trees.UNREADABLE}: {error.strerror}", _PERMISSIONS)
                continue
            if raw is None:  # it is gone
                continue
            yield from _report_faults(path, raw, "")
            for key, value in _list_odd_values(raw):
                yield warn(f"{path}: {key} is {value!r}, which is ignored", _BY_HAND)


def _list_odd_values(raw: str) -> Iterator[tuple[str, object]]:
    meta = blocks.front_matter(frontmatter.split(raw)[0])
    importance = meta.get("importance", _LEAST)
    if type(importance) is not int or not _LEAST <= importance <= _MOST:
        yield "importance", importance
    if not isinstance(meta.get("tags") or "", str | list):
        yield "tags", meta["tags"]
    yield from _list_odd_dates(meta)
    at = str(meta.get("created_at", archive.UNKNOWN))
    if at != archive.UNKNOWN and epoch(at) is None:
        yield "created_at", meta["created_at"]


def _list_odd_dates(meta: dict[str, object]) -> list[tuple[str, object]]:
    return [(key, value) for key, value, day in review_dates.read_dates(meta) if not day]


def check_kinds(place: Place) -> Iterator[Finding]:
    """Check what `memory_blocks` names."""
    if config.load(place).get("memory_blocks") or config.list_refused_kinds(place):
        for problem in registry.load_kinds(OpenStore(place))[1]:
            yield warn(problem)


def check_sections(place: Place) -> Iterator[Finding]:
    """Check each section of ours, and the hooks of git that renew them."""
    store = place.project
    if store is None:
        return
    targets = instruction_sections.find_sections(store)
    ours = instruction_sections.render_section(store) if targets else ""
    for target in targets:
        try:
            outcome = instruction_sections.plan(store, target, ours).outcome
        except MemfsError as error:
            yield fail(error.message, error.hint)
            continue
        if outcome == "unchanged":
            yield confirm(f"{target.path} matches the blocks")
        else:
            yield warn(f"{target.path} does not match the blocks", "run memfs sync")
    for problem in githook.find_problems(place):
        yield warn(problem, "run memfs sync --git-hook")


def check_sources(place: Place) -> Iterator[Finding]:
    """Check each source. What is refused is told with the configuration (see `config_file`)."""
    for source in data_sources.list_sources(place):
        name, hint = source.name, f"run memfs source sync {source.name}"
        for path in source.paths:
            if not os.path.lexists(path):
                yield warn(
                    f"the source '{name}' has the path {path}, which does not exist",
                    f"correct 'sources.{name}.paths', or run memfs source rm {name}",
                )
        state = source_state.load_state(source)
        if state is None or not state.whole:
            what = "is not indexed yet" if state is None else "is only partly indexed"
            yield warn(f"the source '{name}' {what}", hint)
            continue
        left = {why: count for why, count in state.left.items() if why not in _WANTED}
        count = sum(left.values())
        told = "; ".join(f"{why}: {number:,}" for why, number in left.items())
        if count > _MANY * (count + state.files):
            text = f"the source '{name}' leaves out {count:,} of {count + state.files:,} files"
            yield warn(f"{text} ({told})", f"list these files: memfs source show {name}")
        else:
            yield confirm(f"the source '{name}': {state.files:,} files, {state.chunks:,} chunks")


def check_model(place: Place) -> Iterator[Finding]:
    """Check the configured model."""
    found = model_config.load_status(place)
    if found.problem:
        yield warn(f"search uses words only, not meaning: {found.problem}", found.hint)
    elif found.off and found.bytes:
        yield confirm(
            f"embedding is off; {found.bytes:,} bytes of vectors are stored",
            "remove the vectors: memfs model use none",
        )
    elif found.documents or found.off:
        yield confirm(f"embedding: {found.format_line()}")
