"""Take an export, or other tools' files, into the store here: all is checked before any is written.

Blocks are merged so that nothing either side wrote is missing, in one patch; the rest is added
beside what is here. Importing the same file again changes nothing, so a run that was killed is
finished by running it again.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memfs.core import changes as compare
from memfs.core import edits, frontmatter, injection_signs, merge, merge_lines, yaml_edit
from memfs.core import label as labels
from memfs.core.block import WARN_AT, Block
from memfs.core.errors import NotFoundError, StoreError, UsageError
from memfs.core.privacy import storable
from memfs.hosts import foreign_memory
from memfs.ingest import import_merge, import_plan, transcripts
from memfs.ingest.import_merge import ImportItem
from memfs.search import message_documents
from memfs.store import (
    archive_format,
    autocommit,
    blocks,
    clock,
    config,
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
    """What became, or (`dry_run`) would become, of each item, and the edits of blocks.

    `config` and `edits` tell of what is never taken over: settings, and the other store's history.
    `left_out` counts files that are no memory; `unpinned` are blocks that are pinned there, and
    cannot be here because enough are. `note` says why it was not committed or synced, where it
    should be. `files` are those of other tools that were looked at, and not an export.
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
    """Return the export that is named, "" for files of other tools or where nothing is.

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
    """Import into the project's store, or the user's. `anyway`: also what was another tier's."""
    tier = _tier(place, user=user)
    found = archive_format.read(path)
    if found.tier not in ("", tier) and not anyway:
        flag = " --user" if found.tier == labels.USER else ""
        raise StoreError(
            f"{path} is the export of a {found.tier} store, and this would go to the {tier} store",
            f"memfs import{flag} puts it where it belongs; --anyway puts it here",
        )
    done = _take(place, tier, found.files, origin, dry_run=dry_run)
    taken = (store_paths.CONFIG, _JOURNAL)
    others = (
        len(found.files) - import_merge.memory(found.files) - sum(n in taken for n in found.files)
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

    Without `paths` it is looked for: what is found says what would become of it, and nothing is
    written.
    """
    tier = _tier(place, user=user)
    sources = _named(place, paths, home) if paths else _around(place, home)
    settings = config.load(place)
    found = import_plan.plan_import(_apart(place, sources), settings.limit, user=user, pin=pin)
    members = {name: data for each in found for name, data in each.files.items()}
    done = _take(place, tier, members, origin, dry_run=dry_run or not paths)
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
        and blocks.resolve_label(place, labels.qualified(tier, each.label))
    ]
    says = (
        [f"too long for a block now, and still one from before: {', '.join(grown)}"]
        if grown
        else []
    )
    return replace(
        done,
        items=(*refused, *done.items),
        files=tuple(found),
        note="; ".join(word for word in (*says, done.note) if word),
    )


def _named(place: Place, paths: tuple[str, ...], home: str) -> list[ForeignFile]:
    found: dict[str, ForeignFile] = {}
    for path in paths:
        if os.path.isdir(path) and store_paths.is_store(os.path.realpath(path)):
            raise StoreError(
                f"{path} is a store of memfs", "export it there: memfs export FILE, then import it"
            )
        for source in foreign_memory.find(path, place.home.top, home):
            found.setdefault(source.path, source)
    return list(found.values())


def _around(place: Place, home: str) -> list[ForeignFile]:
    """Look for what other tools keep of the project, in it and in their own folders."""
    if place.project is None:
        return []
    top = place.project.top
    found: dict[str, ForeignFile] = {}
    main = os.path.dirname(os.path.dirname(place.project.local))  # of a linked worktree
    for folder in (top, *foreign_memory.auto_memory(home, [top, main])):
        with suppress(NotFoundError):
            found |= {source.path: source for source in foreign_memory.find(folder, top, home)}
    return list(found.values())


def _apart(place: Place, sources: list[ForeignFile]) -> list[ForeignFile]:
    """Refuse what stands in a store of ours: it is memory already."""
    roots = [os.path.realpath(store.root) + os.sep for _, store in place.list_tiers()]
    return [
        source._replace(problem=source.problem or "it is in the store already")
        if os.path.realpath(source.path).startswith(tuple(roots))
        else source
        for source in sources
    ]


def _tier(place: Place, *, user: bool) -> str:
    if not user and place.project is None:
        raise StoreError("there is no project store here", "memfs init makes one; --user: yours")
    return labels.USER if user else labels.PROJECT


def _take(
    place: Place, tier: str, found: Mapping[str, bytes], origin: Origin, *, dry_run: bool
) -> Imported:
    """Put what a mapping of paths in a store to bytes holds into a store of ours."""
    store = place.store(tier)
    with ExitStack() as stack:
        made = None
        if not dry_run:
            stack.enter_context(lock.hold_lock(store, name=transcripts.LOCK))
            made = stack.enter_context(writer.writing(store, place))
        merging = _Merging(place, store, tier, made)
        items = merging.blocks(found) + import_merge.items(store, found)
        entries, note = [], ""
        if made:
            for item in items:
                import_merge.write(store, item)
            changes = [merging.stamped(change, origin) for change in merging.changes]
            entries = made.commit(changes, origin) if changes else []
    if made:
        paths = [change.path for change in merging.changes]
        paths += [item.path for item in items if item.text]
        subject = f"memory: import {origin.reason}".rstrip()
        told = [autocommit.commit_files(place, store, paths, OP, subject, origin)]
        told += [instruction_sections.renew_after_edit(place, {tier})] if entries else []
        note = "; ".join(each for each in told if each)
    unpinned = tuple(c.label for c in merging.changes if c.label in merging.unpinned)
    return Imported(tuple(items), tuple(entries), False, 0, 0, unpinned, note)


class _Merging:
    """The blocks of another store, and what they make of those here."""

    def __init__(self, place: Place, store: Store, tier: str, made: Writer | None) -> None:
        self.changes: list[Change] = []
        self.unpinned: list[str] = []
        self._place, self._store, self._tier, self._made = place, store, tier, made
        self._most = config.load(place).number("max_blocks")
        self._pinned = sum(block.pinned for block in blocks.load(place))

    def blocks(self, found: Mapping[str, bytes]) -> list[ImportItem]:
        """Merge each block; what changes is in `changes` afterwards."""
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
                out.append(self._block(label, data))
        return out

    def stamped(self, change: Change, origin: Origin) -> Change:
        """Return a change with the managed keys set."""
        head, _ = frontmatter.split(change.after or "")
        at = str(self._read(change.label, "", head).meta.get("updated_at") or "")
        when = at if _later(at) else clock.now()
        text = yaml_edit.set_keys(change.after or "", change.version, when, origin.actor)
        return Change(
            change.tier, change.label, change.path, change.before, text, OP, change.version
        )

    def _block(self, label: str, data: bytes) -> ImportItem:
        theirs, wrong = import_merge.read_part(f"'{label}'", data)
        if wrong:
            return ImportItem("block", label, "refused", wrong)
        path, ours, version = self._here(label)
        after = self._joined(label, path, ours, theirs)
        if isinstance(after, str):
            return ImportItem("block", label, "refused", after)
        if ours is not None and after.content == self._read(label, path, ours).content:
            return ImportItem("block", label, "same")
        wrong = self._refused(label, path, ours, after)
        if wrong:
            return ImportItem("block", label, "refused", wrong)
        self._pinned += after.pinned and not (ours and self._read(label, path, ours).pinned)
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

    def _here(self, label: str) -> tuple[str, str | None, int]:
        """Return (path, text, version) of a block here; without a writer nothing is adopted."""
        place, tier = self._place, self._tier
        found = blocks.resolve_label(place, labels.qualified(tier, label))
        path = found[2] if found else blocks.path_of(place, tier, label)
        if self._made and (found or self._made.get_head(tier, label)):
            text, version = self._made.adopt_current(tier, label, path)
            return path, text, version
        return path, blocks.read_whole_block(path) if found else None, 0

    def _read(self, label: str, path: str, text: str) -> Block:
        return blocks.make(self._tier, label, path, text)

    def _joined(self, label: str, path: str, ours: str | None, theirs: str) -> Block | str:
        """Return the block that both sides make, or why there is none."""
        other = self._read(label, path, theirs)
        if ours is None:
            return self._unpinned(label, path, other)
        mine = self._read(label, path, ours)
        if _later(str(other.meta.get("updated_at") or "")):  # what is newest wins: nobody is newer
            head = yaml_edit.write(other.head, {"updated_at": clock.now()}, "\n")
            theirs = head + other.body
        if mine.problem:
            return f"cannot import '{label}': its front matter here cannot be read ({mine.problem})"
        base = ours if self._untouched(label, ours) else None
        made = self._read(label, path, merge.merge(base, ours, theirs))
        if base is None and not merge_lines.list_added_lines(mine.body, other.body):
            made = self._read(label, path, made.head + mine.body)  # all of theirs is here
        return made if mine.pinned else self._unpinned(label, path, made)

    def _unpinned(self, label: str, path: str, block: Block) -> Block:
        """Return a block that is not pinned, where no more may be."""
        if not block.pinned or self._pinned < self._most:
            return block
        self.unpinned.append(label)
        head = yaml_edit.write(block.head, {"pinned": False}, frontmatter.line_end(block.raw))
        return self._read(label, path, head + block.body)

    def _untouched(self, label: str, ours: str) -> bool:
        """Tell whether a block is still as `memfs init` made it: nobody wrote anything in it."""
        head = journal_query.get_head(self._place, self._tier, label)
        last = journal.entry_at(self._store, head.offset) if head else None
        return bool(last and last.op == "create" and last.actor == "system" and last.after == ours)

    def _refused(self, label: str, path: str, ours: str | None, after: Block) -> str:
        """Say what forbids a change, or return an empty string."""
        mine = self._read(label, path, ours or "")
        if mine.read_only:
            return f"cannot import '{label}': it is read-only here"
        adopted = "limit" not in after.meta and after.chars >= WARN_AT * after.limit
        limit = len(after.value) if adopted else after.limit
        odd = edits.check_limit(
            label, mine.value, after.value, limit, after.tokens
        ) or edits.secret("import", label, after.raw, ours or "")
        return odd.message if odd else ""


def _later(at: str) -> bool:
    """Tell whether a time is in the future."""
    return (message_documents.epoch(at) or 0) > (message_documents.epoch(clock.now()) or 0)


def _diff(label: str, before: str | None, after: str) -> str:
    return compare.of_blocks(before, after, f"{label} here", f"{label} imported")
