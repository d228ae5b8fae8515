"""Import an export, or other tools' files, into a store: all is checked before any is written.

Blocks are merged in one patch that keeps what either side wrote; the rest is added. Importing the
same file again changes nothing, so a run that was killed is finished by running it again.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memfs.core import body_edits, frontmatter, injection_signs, merge, merge_lines, yaml_edit
from memfs.core import changes as compare
from memfs.core import label as labels
from memfs.core.block import WARN_AT, Block
from memfs.core.errors import NotFoundError, StoreError, UsageError
from memfs.core.privacy import storable
from memfs.hosts import foreign_memory
from memfs.ingest import import_merge, import_plan, transcripts
from memfs.ingest.import_merge import ImportItem
from memfs.search import message_documents
from memfs.store import (
    autocommit,
    blocks,
    clock,
    config,
    export_format,
    journal,
    journal_query,
    lock,
    store_paths,
    writer,
)
from memfs.store.writer import Change
from memfs.sync import instruction_sections

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memfs.core.records import JournalEntry, Origin
    from memfs.hosts.foreign_memory import ForeignFile
    from memfs.ingest.import_plan import ImportedFile
    from memfs.store.blocks import Place
    from memfs.store.store_paths import Store
    from memfs.store.writer import Writer

OP = "import"
_JOURNAL = "local/journal.jsonl"


@dataclass(frozen=True)
class Imported:
    """The outcome of each item (`dry_run`: the outcome it would have), and the edits of blocks.

    `config` and `edits` tell what is never imported: settings, and the other store's history.
    `left_out` counts files that are no memory; `unpinned` are blocks that lost their pin because
    the limit of pinned blocks is reached. `note` says why a commit or sync that is configured
    failed. `files` are those of other tools, where it was not an export.
    """

    items: tuple[ImportItem, ...]
    entries: tuple[JournalEntry, ...]
    config: bool
    edits: int
    left_out: int
    unpinned: tuple[str, ...]
    note: str
    files: tuple[ImportedFile, ...] = ()


def find_export(paths: tuple[str, ...]) -> str:
    """Return the export in `paths`, "" if there are only files of other tools, or no paths.

    Raises `MemfsError` for both kinds in one call, and for two exports.
    """
    found = [path for path in paths if not foreign_memory.is_text_path(path)]
    if found and len(paths) > 1:
        raise UsageError(
            f"{found[0]} would be an export, and one is imported alone",
            "texts of other tools end in .md, .mdc or .txt",
        )
    return found[0] if found else ""


def run(
    place: Place, path: str, origin: Origin, *, user: bool, anyway: bool, dry_run: bool
) -> Imported:
    """Import into the store of the project or the user. `anyway`: also from another tier."""
    tier = _choose_tier(place, user=user)
    found = export_format.read(path)
    if found.tier not in ("", tier) and not anyway:
        flag = " --user" if found.tier == labels.USER else ""
        raise StoreError(
            f"{path} is the export of a {found.tier} store, and this would go to the {tier} store",
            f"memfs import{flag} puts it where it belongs; --anyway puts it here",
        )
    done = _import_members(place, tier, found.files, origin, dry_run=dry_run)
    not_imported = (store_paths.CONFIG, _JOURNAL)
    others = (
        len(found.files)
        - import_merge.memory(found.files)
        - sum(n in not_imported for n in found.files)
    )
    return replace(
        done,
        config=store_paths.CONFIG in found.files,
        edits=found.files.get(_JOURNAL, b"").count(b"\n"),
        left_out=found.left_out + others,
    )


def import_files(
    place: Place,
    paths: tuple[str, ...],
    origin: Origin,
    *,
    home: str,
    user: bool,
    pin: bool,
    dry_run: bool,
) -> Imported:
    """Import the memory that other tools keep in files and folders.

    Without `paths` such files are searched for and only planned: nothing is written.
    """
    tier = _choose_tier(place, user=user)
    sources = _find_named_files(place, paths, home) if paths else _discover_files(place, home)
    settings = config.load(place)
    found = import_plan.plan_import(
        _mark_own(place, sources), settings.get_limit, user=user, pin=pin
    )
    members = {name: data for each in found for name, data in each.files.items()}
    done = _import_members(place, tier, members, origin, dry_run=dry_run or not paths)
    refused = [
        ImportItem("file", each.path, "refused", f"cannot import {each.path}: {each.left}")
        for each in found
        if each.refused
    ]
    grown = [
        each.label
        for each in found
        if each.files
        and not each.block
        and blocks.resolve_label(place, labels.qualify(tier, each.label))
    ]
    notes = (
        [f"too long for a block now, and still one from before: {', '.join(grown)}"]
        if grown
        else []
    )
    return replace(
        done,
        items=(*refused, *done.items),
        files=tuple(found),
        note="; ".join(word for word in (*notes, done.note) if word),
    )


def _find_named_files(place: Place, paths: tuple[str, ...], home: str) -> list[ForeignFile]:
    found: dict[str, ForeignFile] = {}
    for path in paths:
        if os.path.isdir(path) and store_paths.is_store(os.path.realpath(path)):
            raise StoreError(
                f"{path} is a store of memfs", "export it there: memfs export FILE, then import it"
            )
        for source in foreign_memory.find(path, place.home.top, home):
            found.setdefault(source.path, source)
    return list(found.values())


def _discover_files(place: Place, home: str) -> list[ForeignFile]:
    """Find the memory of other tools for the project, in it and in their own folders."""
    if place.project is None:
        return []
    top = place.project.top
    found: dict[str, ForeignFile] = {}
    main = os.path.dirname(os.path.dirname(place.project.local))  # of a linked worktree
    for folder in (top, *foreign_memory.auto_memory(home, [top, main])):
        with suppress(NotFoundError):
            found |= {source.path: source for source in foreign_memory.find(folder, top, home)}
    return list(found.values())


def _mark_own(place: Place, sources: list[ForeignFile]) -> list[ForeignFile]:
    """Set a problem on files in a store of ours: they are memory already."""
    roots = [os.path.realpath(store.root) + os.sep for _, store in place.list_tiers()]
    return [
        source._replace(problem=source.problem or "it is in the store already")
        if os.path.realpath(source.path).startswith(tuple(roots))
        else source
        for source in sources
    ]


def _choose_tier(place: Place, *, user: bool) -> str:
    if not user and place.project is None:
        raise StoreError("there is no project store here", "memfs init makes one; --user: yours")
    return labels.USER if user else labels.PROJECT


def _import_members(
    place: Place, tier: str, found: Mapping[str, bytes], origin: Origin, *, dry_run: bool
) -> Imported:
    """Import a mapping of paths in a store to bytes into a store of a place."""
    store = place.store(tier)
    with ExitStack() as stack:
        store_writer = None
        if not dry_run:
            stack.enter_context(lock.hold_lock(store, name=transcripts.LOCK))
            store_writer = stack.enter_context(writer.writing(store, place))
        merging = _Merging(place, store, tier, store_writer)
        items = merging.merge_blocks(found) + import_merge.items(store, found)
        entries, note = [], ""
        if store_writer:
            for item in items:
                import_merge.write(store, item)
            changes = [merging.make_change(change, origin) for change in merging.changes]
            entries = store_writer.commit(changes, origin) if changes else []
    if store_writer:
        paths = [change.path for change in merging.changes]
        paths += [item.path for item in items if item.text]
        subject = f"memory: import {origin.reason}".rstrip()
        notes = [autocommit.commit_files(place, store, paths, OP, subject, origin)]
        notes += [instruction_sections.renew_after_edit(place, {tier})] if entries else []
        note = "; ".join(each for each in notes if each)
    unpinned = tuple(c.label for c in merging.changes if c.label in merging.unpinned)
    return Imported(tuple(items), tuple(entries), False, 0, 0, unpinned, note)


class _Merging:
    """Merges the blocks of another store into those here."""

    def __init__(self, place: Place, store: Store, tier: str, store_writer: Writer | None) -> None:
        self.changes: list[Change] = []
        self.unpinned: list[str] = []
        self._place, self._store, self._tier, self._writer = place, store, tier, store_writer
        self._most = config.load(place).number("max_blocks")
        self._pinned = sum(block.pinned for block in blocks.load(place))

    def merge_blocks(self, found: Mapping[str, bytes]) -> list[ImportItem]:
        """Merge each block, and add its change to `changes`."""
        out: list[ImportItem] = []
        seen: set[str] = set()
        for name, data in import_merge.list_files(found, import_merge.BLOCKS):
            label = "/".join(
                labels.normalise(part)
                for part in name[len("blocks/") : -len(blocks.SUFFIX)].split("/")
            )
            wrong = labels.problem(label)
            if label in seen:
                wrong = "another file in it has that label"
            seen.add(label)
            if storable(label) != label:
                label, wrong = storable(label), "its name holds a secret"
            if wrong:
                out.append(
                    ImportItem("block", label, "refused", f"cannot import '{label}': {wrong}")
                )
            else:
                out.append(self._plan_block(label, data))
        return out

    def make_change(self, change: Change, origin: Origin) -> Change:
        """Return a change with the managed keys set."""
        head, _ = frontmatter.split(change.after or "")
        at = str(self._parse(change.label, "", head).meta.get("updated_at") or "")
        when = at if _is_future(at) else clock.now()
        text = yaml_edit.set_keys(change.after or "", change.version, when, origin.actor)
        return Change(
            change.tier, change.label, change.path, change.before, text, OP, change.version
        )

    def _plan_block(self, label: str, data: bytes) -> ImportItem:
        theirs, wrong = import_merge.read_part(f"'{label}'", data)
        if wrong:
            return ImportItem("block", label, "refused", wrong)
        path, ours, version = self._load_current(label)
        after = self._merge_block(label, path, ours, theirs)
        if isinstance(after, str):
            return ImportItem("block", label, "refused", after)
        if ours is not None and after.content == self._parse(label, path, ours).content:
            return ImportItem("block", label, "same")
        wrong = self._find_refusal(label, path, ours, after)
        if wrong:
            return ImportItem("block", label, "refused", wrong)
        self._pinned += after.pinned and not (ours and self._parse(label, path, ours).pinned)
        change = Change(self._tier, label, path, ours, after.raw, OP, version + 1)
        self.changes.append(change)
        outcome: import_merge.Outcome = "new" if ours is None else "merged"
        known = set((ours or "").split("\n"))
        lines = after.raw.split("\n")
        signs = [
            sign
            for sign in injection_signs.find_signs(after.raw)
            if lines[sign.line - 1] not in known
        ]
        return ImportItem(
            "block", label, outcome, _diff(label, ours, after.raw), signs=tuple(signs)
        )

    def _load_current(self, label: str) -> tuple[str, str | None, int]:
        """Return (path, text, version) of a block here; only with a writer is it adopted."""
        place, tier = self._place, self._tier
        found = blocks.resolve_label(place, labels.qualify(tier, label))
        path = found[2] if found else blocks.path_of(place, tier, label)
        if self._writer and (found or self._writer.get_head(tier, label)):
            text, version = self._writer.adopt_current(tier, label, path)
            return path, text, version
        return path, blocks.read_whole_block(path) if found else None, 0

    def _parse(self, label: str, path: str, text: str) -> Block:
        return blocks.make(self._tier, label, path, text)

    def _merge_block(self, label: str, path: str, ours: str | None, theirs: str) -> Block | str:
        """Return the merge of both sides, or the message of what forbids it."""
        other = self._parse(label, path, theirs)
        if ours is None:
            return self._unpin_if_full(label, path, other)
        mine = self._parse(label, path, ours)
        if _is_future(str(other.meta.get("updated_at") or "")):  # the newest wins
            head = yaml_edit.write(other.head, {"updated_at": clock.now()}, "\n")
            theirs = head + other.body
        if mine.problem:
            return f"cannot import '{label}': its front matter here cannot be read ({mine.problem})"
        base = ours if self._is_untouched(label, ours) else None
        merged = self._parse(label, path, merge.merge(base, ours, theirs))
        if base is None and not merge_lines.list_added_lines(mine.body, other.body):
            merged = self._parse(label, path, merged.head + mine.body)  # they add nothing
        return merged if mine.pinned else self._unpin_if_full(label, path, merged)

    def _unpin_if_full(self, label: str, path: str, block: Block) -> Block:
        """Unpin a block if the limit of pinned blocks is reached."""
        if not block.pinned or self._pinned < self._most:
            return block
        self.unpinned.append(label)
        head = yaml_edit.write(block.head, {"pinned": False}, frontmatter.line_end(block.raw))
        return self._parse(label, path, head + block.body)

    def _is_untouched(self, label: str, ours: str) -> bool:
        """Return whether a block is unchanged since `memfs init` made it."""
        head = journal_query.get_head(self._place, self._tier, label)
        last = journal.entry_at(self._store, head.offset) if head else None
        return bool(last and last.op == "create" and last.actor == "system" and last.after == ours)

    def _find_refusal(self, label: str, path: str, ours: str | None, after: Block) -> str:
        """Return the message of what forbids a change, or ""."""
        mine = self._parse(label, path, ours or "")
        if mine.read_only:
            return f"cannot import '{label}': it is read-only here"
        adopted = "limit" not in after.meta and after.chars >= WARN_AT * after.limit
        limit = len(after.value) if adopted else after.limit
        odd = body_edits.check_limit(
            label, mine.value, after.value, limit, after.tokens
        ) or body_edits.check_secret("import", label, after.raw, ours or "")
        return odd.message if odd else ""


def _is_future(at: str) -> bool:
    """Return whether a time is in the future."""
    return (message_documents.epoch(at) or 0) > (message_documents.epoch(clock.now()) or 0)


def _diff(label: str, before: str | None, after: str) -> str:
    return compare.of_blocks(before, after, f"{label} here", f"{label} imported")
