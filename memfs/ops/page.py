"""Page memory out of a block, to the archive or for good, and in again from the journal."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from memfs import files
from memfs.context import page_scores, summary
from memfs.context.page_scores import PageCandidate
from memfs.core import body_edits, frontmatter, merge_lines, yaml_edit
from memfs.core import label as labels
from memfs.core.block import Block
from memfs.core.errors import NotFoundError, RejectedError, Remedy
from memfs.core.events import Event
from memfs.core.records import JournalEntry, Origin, Passage
from memfs.store import archive, blocks, commit_writer, config, journal_query, writer
from memfs.store.blocks import Place
from memfs.store.writer import Change, Writer
from memfs.sync import instruction_sections

OUT, IN = "page-out", "page-in"
TAG = "paged-out"
_SHORTENED = ", shortened"
_SUMMARY = 8  # a summary has this fraction (1/8) of the tokens of its part


@dataclass(frozen=True)
class PagedOut:
    """The parts that left a block, or would: `passages` are the ids of the archived ones."""

    label: str
    gone: tuple[PageCandidate, ...]
    before: str
    after: str
    passages: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class PagedIn:
    """A block with its paged-out parts restored. `shortened`: some only as a summary."""

    label: str
    shortened: bool
    note: str = ""


def page_out(
    place: Place,
    label: str,
    origin: Origin,
    *,
    task: str = "",
    former: str = "",
    free: float = 0.0,
    dry: bool = False,
) -> PagedOut:
    """Page out the parts a task does not need, or as many as free a share of a block's limit.

    The default task is the session's last prompts; `former` is the one before. `dry`: nothing is
    written. Raises `RejectedError` for a block that is read-only, `NotFoundError`.
    """
    with _open_block(place, label) as opened:
        block = opened.block
        gone = [
            # the journal has a part with a secret already
            replace(each, fate="discard")
            if body_edits.check_secret("archive", block.label, each.part.text)
            else each
            for each in page_scores.select_parts(place, block, task, free, former)
        ]
        archived = _archive_parts(place, block, gone, dry=dry)
        summaries = {
            each.part.start: _shorten(each, frontmatter.line_end(block.raw))
            for each in gone
            if each.fate == "summarise"
        }
        body = page_scores.remove_parts(block.body, gone, summaries)
        ids = tuple(ident for ident, _ in archived)
        planned = PagedOut(block.label, tuple(gone), block.body, body, ids)
        if dry or not gone:
            return planned
        discarded = sum(each.fate == "discard" for each in gone)
        why = f"{len(ids)} archived, {discarded} discarded"
        change = opened.write_body(OUT, body, origin, why, paged_out=True)
    store = place.store(block.tier)
    notes = [commit_writer.commit_passage(place, store, where, origin) for _, where in archived]
    notes.append(instruction_sections.finish_edit(place, [change], origin))
    return replace(planned, note="; ".join(filter(None, notes)))


def page_out_scratch(event: Event) -> None:
    """Page out of the session's blocks before its host compacts the context.

    Only those over `paging.page_out_threshold` are changed: as much is paged out as brings them
    under `paging.warn_threshold`.
    """
    place = blocks.find_answering(event)
    if place is None or not place.session:
        return
    share_of = config.load(place).get_share
    most, least = share_of("paging.page_out_threshold"), share_of("paging.warn_threshold")
    for block in blocks.load(place):
        share = block.chars / block.limit
        if block.tier == labels.SESSION and share >= most and not block.read_only:
            origin = Origin("system", event.host, event.session, "before a compaction")
            name = labels.qualify(block.tier, block.label)
            page_out(place, name, origin, free=max(0.01, share - least))


def page_in(place: Place, label: str, origin: Origin) -> PagedIn:
    """Restore all that was paged out of a block since it was last whole.

    A block that did not change gets its earlier bytes; else the parts are merged into it. If not
    all fits, it gets a summary. Raises `NotFoundError` if nothing was paged out, `RejectedError`.
    """
    with _open_block(place, label) as opened:
        block = opened.block
        tier, name = block.tier, block.label
        entries, shortened = _find_outs(journal_query.list_block_entries(place, tier, name))
        if not entries:
            raise NotFoundError(f"no part was paged out of '{name}'", Remedy("{page_in}", name))
        eol, body = frontmatter.line_end(block.raw), block.body
        for entry in shortened:  # without the summaries that they added
            lines = merge_lines.list_added_lines(*_split_bodies(entry))
            body = "".join(
                line for line in body.splitlines(keepends=True) if line.rstrip("\r\n") not in lines
            )
        for entry in reversed(entries):
            before, after = _split_bodies(entry)
            body = before if body == after else merge_lines.merge_texts(after, body, before, eol)
        whole = len(blocks.make("", "", "", block.head + body).value) <= block.limit
        if not whole:
            body = _add_summary(block, body)
        why = f"{len(entries)} page-outs" + ("" if whole else _SHORTENED)
        change = opened.write_body(IN, body, origin, why, paged_out=not whole)
    notes = [_unarchive(place, tier, name, body, origin) if whole else ""]
    notes += [instruction_sections.finish_edit(place, [change], origin)]
    return PagedIn(name, not whole, "; ".join(filter(None, notes)))


@dataclass(frozen=True)
class _LockedBlock:
    """A block under the lock of its store, and its version."""

    block: Block
    version: int
    _before: str | None
    _writer: Writer

    def write_body(
        self, op: str, body: str, origin: Origin, why: str, *, paged_out: bool
    ) -> Change:
        """Write a new body, of which parts are paged out or not, and return the change."""
        block, version = self.block, self.version + 1
        head = yaml_edit.write(  # on the head alone: the body may begin like front matter
            yaml_edit.drop_outdated(block.head),
            {"paged_out": paged_out or None},
            frontmatter.line_end(block.raw),
        )
        change = Change(
            block.tier, block.label, block.path, self._before, head + body, op, version, why
        )
        self._writer.commit([change], origin)
        return change


@contextmanager
def _open_block(place: Place, label: str) -> Iterator[_LockedBlock]:
    tier, name = journal_query.resolve(place, label)
    path = blocks.get(place, labels.qualify(tier, name)).path
    with writer.writing(place.store(tier), place) as store_writer:
        text, version = store_writer.adopt_current(tier, name, path)
        block = blocks.make(tier, name, path, text or "")
        why = "the block is read-only" if block.read_only else block.problem
        if not why and any(
            line.startswith(("<<<<<<< ", ">>>>>>> ")) for line in block.body.split("\n")
        ):
            why = "the block has conflict markers (memfs doctor --fix resolves them)"
        if block.codec or why:
            raise RejectedError(
                f"cannot page parts out of '{block.label}': {why}", f"check the file {block.path}"
            )
        yield _LockedBlock(block, version, text, store_writer)


def _archive_parts(
    place: Place, block: Block, gone: Sequence[PageCandidate], *, dry: bool
) -> list[tuple[str, str]]:
    """Archive the parts that are not discarded in the block's own store: (id, path) of each.

    A kill before the edit loses nothing. Passages that an undone page-out archived are reused.
    """
    store = place.store(block.tier)
    paged = [] if dry else _list_paged_out(place, block.tier, block.label)
    on_file = {archive.merge_passages(each.text): (each.id, path) for each, path in paged}
    archived = []
    for each in gone:
        text = each.part.text.strip()
        if dry or each.fate == "discard":
            continue
        known = on_file.get(archive.merge_passages(text))
        if known is None:
            passage, path = archive.write_passage(
                store,
                text[: archive.LONGEST],
                importance=each.importance,
                tags=(TAG, block.label),
                source=_format_source(block.tier, block.label),
            )
            known = passage.id, path
        archived.append(known)
    return archived


def _list_paged_out(place: Place, tier: str, label: str) -> list[tuple[Passage, str]]:
    """List the passages that were paged out of a block, under any label it had: (it, its path)."""
    spans = journal_query.trace(place, tier, label)

    def is_ours(passage: Passage) -> bool:
        known = (each for each in spans if _format_source(tier, each.label) == passage.source)
        return TAG in passage.tags and any(each.covers(passage.created_at) for each in known)

    read = ((archive.read(path), path) for path in archive.sources(place.store(tier)))
    return [(passage, path) for passage, path in read if passage and is_ours(passage)]


def _format_source(tier: str, label: str) -> str:
    return f"block {labels.qualify(tier, label)}"


def _shorten(candidate: PageCandidate, eol: str) -> str:
    text = summary.extract(candidate.part.text, max(20, candidate.tokens // _SUMMARY))
    return f"{' '.join(text.split())} [shortened]{eol}" if text else ""


def _find_outs(entries: Sequence[JournalEntry]) -> tuple[list[JournalEntry], list[JournalEntry]]:
    """Return the page-outs still in effect, and the shortened page-ins, oldest first."""
    stands: list[JournalEntry] = []
    for entry in entries:
        if entry.op != "undo":
            stands.append(entry)
        elif stands:
            stands.pop()
    last = max((n for n, entry in enumerate(stands) if _is_end(entry)), default=-1)
    since = stands[last + 1 :]
    return [e for e in since if e.op == OUT], [e for e in since if e.op == IN]


def _is_end(entry: JournalEntry) -> bool:
    whole = entry.op == IN and not entry.reason.endswith(_SHORTENED)
    return whole or entry.op in ("delete", "create", "restore")


def _split_bodies(entry: JournalEntry) -> tuple[str, str]:
    """Return the bodies of a block before and after an edit."""
    before, after = (frontmatter.split(text or "")[1] for text in (entry.before, entry.after))
    return before, after


def _add_summary(block: Block, body: str) -> str:
    eol = frontmatter.line_end(block.raw)
    missing = "\n".join(merge_lines.list_added_lines(block.body, body))
    room = block.limit - block.chars - 40
    text, tokens = "", room // 3
    while room > 0 and tokens > 0:
        text = summary.extract(missing, tokens).replace("\n", eol)
        if len(text) <= room:
            break
        tokens = tokens * 3 // 4
    if not text or len(text) > room:
        raise RejectedError(
            f"cannot page '{block.label}' in: the block has {block.chars:,} characters, the "
            f"limit is {block.limit:,}",
            f"shorten the block, or raise its limit: memfs edit {block.label} --limit NUMBER",
        )
    return f"{block.body.rstrip()}{eol}{text} [shortened]{eol}"


def _unarchive(place: Place, tier: str, label: str, body: str, origin: Origin) -> str:
    """Remove the passages whose lines are in the block again: a search would find both.

    Other lines may stand between them since. Returns why a commit of it failed, or "".
    """
    whole = archive.merge_passages(body)
    lines = {"", *map(archive.merge_passages, body.splitlines())}
    back = [
        path
        for passage, path in _list_paged_out(place, tier, label)
        if archive.merge_passages(passage.text) in whole
        or lines.issuperset(map(archive.merge_passages, passage.text.splitlines()))
    ]
    for path in back:
        files.remove(path)
    subject = origin.reason or f"memory: {IN} {label}"
    return commit_writer.commit_files(place, place.store(tier), back, IN, subject, origin)
