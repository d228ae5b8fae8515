"""Import an export, or other tools' files, into a store: all is checked before any is written.

Blocks are merged in one patch that keeps what either side wrote; the rest is added. Importing the
same file again changes nothing, so a run that was killed is finished by running it again.
"""

import os
import shlex
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace

from memfs.core import label as labels
from memfs.core.errors import NotFoundError, StoreError, UsageError
from memfs.core.records import JournalEntry, Origin
from memfs.files import account
from memfs.importers import export_format, foreign_files, merge, plan, readers, tool_members, undo
from memfs.importers.block_import import OP, BlockImport
from memfs.importers.foreign_files import ForeignFile
from memfs.importers.merge import ImportItem
from memfs.importers.plan import ImportedFile
from memfs.importers.readers.items import Importer
from memfs.importers.undo import AddedPart, ImportRecord
from memfs.store import blocks, clock, commit_writer, config, git, lock, store_paths, writer
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from memfs.sync import instruction_sections

_JOURNAL = "local/journal.jsonl"
_INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")  # that assistants read in any folder, too
_MOST_NESTED = 200
_LINK = "120000"  # the mode of a link in git


@dataclass(frozen=True)
class Imported:
    """The outcome of each item (`dry_run`: the outcome it would have), and the edits of blocks.

    `config` and `edits` tell what is never imported: settings, and the other store's history.
    `left_out` counts files that are no memory; `unpinned` are blocks that lost their pin because
    the limit of pinned blocks is reached. `note` says why a commit or sync that is configured
    failed. `files` are those of other tools, where it was not an export. `id` takes all of it back.
    Of a tool's memory, `taken` and `left` (it is of other projects) count by (noun, project),
    `omitted` (it is no memory) by (noun, why), and `own` the sessions that went to the user's store
    instead of the project's.
    """

    items: tuple[ImportItem, ...] = ()
    entries: tuple[JournalEntry, ...] = ()
    config: bool = False
    edits: int = 0
    left_out: int = 0
    unpinned: tuple[str, ...] = ()
    note: str = ""
    files: tuple[ImportedFile, ...] = ()
    id: str = ""
    taken: Mapping[tuple[str, str], int] = field(default_factory=dict)
    left: Mapping[tuple[str, str], int] = field(default_factory=dict)
    own: int = 0
    omitted: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True)
class FoundTool:
    """The memory of another tool on this machine; `counts` by (noun, project), or a `problem`."""

    name: str
    path: str
    counts: Mapping[tuple[str, str], int]
    problem: str = ""


def find_export(paths: tuple[str, ...]) -> str:
    """Return the export in `paths`, "" if there are only files of other tools, or no paths.

    Raises `MemfsError` for both kinds in one call, and for two exports.
    """
    found = [path for path in paths if not foreign_files.is_text_path(path)]
    if found and len(paths) > 1:
        raise UsageError(
            f"{found[0]} has no .md, .mdc or .txt ending, so it is read as an export, "
            "which cannot be imported together with other paths",
            f"import the export by itself: memfs import {shlex.quote(found[0])}",
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
            f"{path} is from a {found.tier} store, but this import goes to the {tier} store",
            f"use memfs import{flag} for the {found.tier} store, or add --anyway to import it here",
        )
    known = merge.memory(found.files) + sum(
        n in found.files for n in (store_paths.CONFIG, _JOURNAL)
    )
    about = Imported(
        config=store_paths.CONFIG in found.files,
        edits=found.files.get(_JOURNAL, b"").count(b"\n"),
        left_out=found.left_out + len(found.files) - known,
    )
    return _import_members(place, about, {tier: found.files}, origin, dry_run=dry_run)


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
    found = plan.plan_import(_mark_own(place, sources), settings.get_limit, user=user, pin=pin)
    members = {tier: _list_members(found)}
    about = Imported(_list_refused(found), files=tuple(found))
    done = _import_members(place, about, members, origin, dry_run=dry_run or not paths)
    long = [each.label for each in found if each.files and not each.block]
    grown = [each for each in long if blocks.resolve_label(place, labels.qualify(tier, each))]
    note = f"now too long for a block, so the earlier block stays: {', '.join(grown)}"
    return replace(done, note=_join_notes(note if grown else "", done.note))


def import_assistants(
    place: Place, origin: Origin, *, home: str, dry_run: bool, only: Collection[str] | None = None
) -> Imported:
    """Import what assistants remember by themselves of a project and of its user, under one id.

    What is of the project goes to its store, what is of the user to their own. `only` are the names
    of the files to take, None: all. A name is the label in its tier: "user:codex-memory".
    """
    if place.project is None:
        raise StoreError("there is no project store here", "create one: memfs init")
    settings = config.load(place)
    sources = _mark_own(place, _find_assistants(place.project, home))
    shared = plan.plan_import(sources, settings.get_limit, user=False, pin=False)
    names = {each.path for each in shared if each.left == plan.PRIVATE}
    private = [each for each in sources if each.shown in names and place.user]
    own = plan.plan_import(private, settings.get_limit, user=True, pin=False)
    own = [replace(each, label=labels.qualify(labels.USER, each.label)) for each in own]
    kept = {each.path for each in own}
    planned = [each for each in shared if each.path not in kept] + own
    if only is not None:
        planned = [each for each in planned if each.label in only]
    about = Imported(_list_refused(planned), files=tuple(planned))
    members = {
        tier: _list_members([each for each in every if each in planned])
        for tier, every in ((labels.PROJECT, shared), (labels.USER, own))
    }
    members = {tier: found for tier, found in members.items() if found}
    return _import_members(place, about, members, origin, dry_run=dry_run)


def _list_members(found: list[ImportedFile]) -> dict[str, bytes]:
    return {name: data for each in found for name, data in each.files.items()}


def _list_refused(found: list[ImportedFile]) -> tuple[ImportItem, ...]:
    return tuple(
        ImportItem("file", each.path, "refused", f"cannot import {each.path}: {each.left}")
        for each in found
        if each.refused
    )


def _join_notes(*notes: str) -> str:
    return "; ".join(filter(None, notes))


def list_new(done: Imported) -> list[ImportedFile]:
    """Return the files of which an import adds something, or would add it."""
    added = {(item.kind, item.name) for item in done.items if item.outcome in ("new", "merged")}
    return [each for each in done.files if added & set(each.list_items())]


def _find_assistants(store: Store, home: str) -> list[ForeignFile]:
    main = os.path.dirname(store.main)  # of a linked worktree
    refused, hint = git.find_refusal(store.top)
    if refused:
        raise StoreError(f"cannot tell which files are committed: {refused}", hint)
    known = {f"{store.top}/{name}".casefold() for _, name in _list_tracked(store.top)}

    def is_committed(path: str) -> bool:
        name = path.casefold()
        while name not in known and name != os.path.dirname(name):
            name = os.path.dirname(name)  # of a link, or of another repository
        return name in known

    return foreign_files.find_assistants(home, store.top, main, is_committed)


def _list_tracked(top: str) -> list[tuple[str, str]]:
    listed = (git.run(top, "ls-files", "-s", "-z") or "").split("\0")
    return [(line.partition("\t")[0], line.partition("\t")[2]) for line in listed if line]


def _find_named_files(place: Place, paths: tuple[str, ...], home: str) -> list[ForeignFile]:
    found: dict[str, ForeignFile] = {}
    for path in paths:
        if os.path.isdir(path) and store_paths.is_store(os.path.realpath(path)):
            raise StoreError(
                f"{path} is a memfs store, which cannot be imported directly",
                "run memfs export FILE in its project, then memfs import FILE here",
            )
        for source in (
            *foreign_files.find(path, place.home.top, home),
            *_find_nested(place, path, home),
            *foreign_files.find_others(path, place.home.top, home),
        ):
            found.setdefault(source.path, source)
    return list(found.values())


def _discover_files(place: Place, home: str) -> list[ForeignFile]:
    if place.project is None:
        return []
    top = place.project.top
    found: dict[str, ForeignFile] = {}
    with suppress(NotFoundError):
        found |= {source.path: source for source in foreign_files.find(top, top, home)}
    remembered = _find_assistants(place.project, home)
    found |= {each.path: each for each in remembered if foreign_files.is_auto_memory(each.label)}
    for source in _find_nested(place, top, home):
        found.setdefault(source.path, source)
    return list(found.values())


def _find_nested(place: Place, path: str, home: str) -> list[ForeignFile]:
    """Find the instruction files deeper in the project that git knows; `path` has to be its top."""
    top = place.project.top if place.project else ""
    if not top or os.path.realpath(path) != top:
        return []
    names = [name for about, name in _list_tracked(top) if not about.startswith(_LINK)]
    nested = [name for name in names if "/" in name and os.path.basename(name) in _INSTRUCTIONS]
    return [
        source
        for name in nested[:_MOST_NESTED]
        if os.path.isfile(f"{top}/{name}")
        for source in foreign_files.find(f"{top}/{name}", top, home)
    ]


def _mark_own(place: Place, sources: list[ForeignFile]) -> list[ForeignFile]:
    roots = [os.path.realpath(store.root) + os.sep for _, store in place.list_tiers()]
    return [
        source._replace(problem=source.problem or "the file is already in the store")
        if os.path.realpath(source.path).startswith(tuple(roots))
        else source
        for source in sources
    ]


def _choose_tier(place: Place, *, user: bool) -> str:
    if not user and place.project is None:
        raise StoreError(
            "there is no project store here",
            "create one with memfs init, or add --user for your own store",
        )
    return labels.USER if user else labels.PROJECT


def list_tools(home: str) -> list[FoundTool]:
    """Return the memory of other tools on this machine. Writes nothing."""
    found = []
    for tool in map(readers.get, readers.NAMES):
        for path in tool.find(home, account.list_variables()):
            counts: Counter[tuple[str, str]] = Counter()
            problem = ""
            try:
                counts = tool_members.count_items(tool.read(path))
            except StoreError as error:
                problem = error.message
            except OSError as error:
                problem = error.strerror or str(error)
            found.append(FoundTool(tool.name, path, counts, problem))
    return found


def find_tool(paths: tuple[str, ...], home: str) -> list[tuple[Importer, str]]:
    """Return the tool, and where it keeps its memory, that `paths` name; [] for something else.

    They name one by its name, or by a file or folder of it. Raises `NotFoundError` for a tool that
    keeps nothing here, `UsageError` for several paths of which one is a tool's.
    """
    if len(paths) == 1 and paths[0] in readers.NAMES and not os.path.lexists(paths[0]):
        tool = readers.get(paths[0])
        found = tool.find(home, account.list_variables())
        if not found:
            raise NotFoundError(
                f"found no memory of {tool.name} in its usual place",
                "give the path of its file or folder: memfs import PATH",
            )
        return [(tool, path) for path in found]
    known = [(each, path) for path in paths if (each := readers.recognise(path))]
    if known and len(paths) > 1:
        raise UsageError(
            f"{known[0][1]} is the memory of {known[0][0].name}, which cannot be imported "
            "together with other paths",
            f"import this memory by itself: memfs import {shlex.quote(known[0][1])}",
        )
    return known


def import_tool(
    place: Place,
    sources: list[tuple[Importer, str]],
    origin: Origin,
    *,
    user: bool,
    project: str,
    dry_run: bool,
) -> Imported:
    """Import the memory that another tool keeps at paths (see `find_tool`).

    Of several projects that of the place is taken, or the one named `project`; what is of its user
    goes to their own store.
    """
    if user or place.project is None:
        tier = _choose_tier(place, user=user or place.user is not None)
        user = tier == labels.USER
    tool = sources[0][0]
    items = (item for each, path in sources for item in each.read(path))
    made = tool_members.collect_members(place, tool.name, items, user=user, project=project)
    about = Imported(tuple(made.damage), taken=made.counts, left=made.left, omitted=made.omitted)
    done = _import_members(place, about, made.files, origin, dry_run=dry_run)
    if place.project is None or place.user is None:
        return done
    own = f"{place.user.local}/"
    count = sum(item.kind == "session" and item.path.startswith(own) for item in done.items)
    return replace(done, own=count)


def _import_members(
    place: Place,
    about: Imported,
    members: Mapping[str, Mapping[str, bytes]],
    origin: Origin,
    *,
    dry_run: bool,
) -> Imported:
    """Import files into the stores of a place: by tier, paths in a store to bytes; under one id.

    `about` is what is known of the import already.
    """
    ident = undo.make_id()
    for tier, found in members.items():
        more = _import_into(place, tier, found, origin, ident, dry_run=dry_run)
        about = replace(
            about,
            items=about.items + more.items,
            entries=about.entries + more.entries,
            unpinned=about.unpinned + more.unpinned,
            note=_join_notes(about.note, more.note),
            id=more.id or about.id,
        )
    return about


def _import_into(
    place: Place,
    tier: str,
    found: Mapping[str, bytes],
    origin: Origin,
    ident: str,
    *,
    dry_run: bool,
) -> Imported:
    store = place.store(tier)
    with ExitStack() as stack:
        store_writer = None
        if not dry_run:
            stack.enter_context(lock.hold_locks([store], lock.INGEST, lock.KINDS))
            undo.clear_temporary(store)
            store_writer = stack.enter_context(writer.writing(store, place))
        merging = BlockImport(place, store, tier, store_writer)
        items = merging.merge_blocks(found) + merge.items(store, found)
        outdated = merge.find_outdated(store, found, _name_source(origin))
        entries, note, noted = [], outdated.describe(), ""
        if store_writer:
            noted = _note_import(store, items, [], origin, ident)  # also of what a kill interrupts
            for item in items:
                merge.write(store, item)
            merge.remove_outdated(store, outdated)
            entries = store_writer.commit(merging.changes, origin) if merging.changes else []
            if entries:
                noted = _note_import(store, items, entries, origin, ident)
    if store_writer:
        paths = [change.path for change in merging.changes]
        paths += [item.path for item in items if item.text] + [*outdated.replaced]
        subject = f"memory: import {origin.reason}".rstrip()
        committed = commit_writer.commit_files(place, store, paths, OP, subject, origin)
        renewed = instruction_sections.renew_after_edit(place, {tier}) if entries else ""
        note = _join_notes(note, committed, renewed)
    unpinned = tuple(c.label for c in merging.changes if c.label in merging.unpinned)
    return Imported(tuple(items), tuple(entries), unpinned=unpinned, note=note, id=noted)


def _note_import(
    store: Store, items: list[ImportItem], entries: list[JournalEntry], origin: Origin, ident: str
) -> str:
    added = [part for item in items if (part := merge.describe_added(store, item))]
    added += [AddedPart("block", entry.label, (entry.id,)) for entry in entries]
    if not added:
        return ""
    record = ImportRecord(ident, clock.now(), _name_source(origin), tuple(added))
    undo.save(store, record)
    return ident


def _name_source(origin: Origin) -> str:
    return origin.reason.removeprefix("from ")
