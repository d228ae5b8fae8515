"""Page memory out of a block and in again: MemGPT's way to keep what is in context small.

What leaves is archived, summarised and archived, or discarded, by its kind. The journal has the
block as it was, so everything comes back as it stood: lines that changed meanwhile are merged.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memfs import files
from memfs.context import page_candidates, paging, summary
from memfs.core import edits, frontmatter, merge_lines, yaml_edit
from memfs.core import label as labels
from memfs.core.errors import NotFoundError, RejectedError
from memfs.core.records import Origin
from memfs.store import archive, autocommit, blocks, clock, config, writer
from memfs.store import journal_query as versions
from memfs.store.writer import Change
from memfs.sync import instruction_sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memfs.context.paging import PageCandidate
    from memfs.core.block import Block
    from memfs.core.events import Event
    from memfs.core.records import JournalEntry
    from memfs.store.blocks import Place
    from memfs.store.store_paths import Store
    from memfs.store.writer import Writer

OUT, IN = "page-out", "page-in"
TAG = "paged-out"
_SHORTENED = ", shortened"
_SUMMARY = 8  # of so many parts is what stays of a long one


@dataclass(frozen=True)
class PagedOut:
    """What left a block, or would: `passages` are the ids of what was archived."""

    label: str
    gone: tuple[PageCandidate, ...]
    before: str
    after: str
    passages: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class PagedIn:
    """A block with what had left it. `parts` says how many; `shortened`: not all had room."""

    label: str
    parts: int
    shortened: bool
    note: str = ""


def page_out(
    place: Place,
    label: str,
    origin: Origin,
    *,
    task: str = "",
    free: float = 0.0,
    dry: bool = False,
) -> PagedOut:
    """Page out what a task does not need, else as much as frees a share of a block's limit.

    Without a task it is what the session's last prompts say. `dry`: nothing is written. Raises
    `RejectedError` for a block that is read-only, `NotFoundError`.
    """
    with _opened(place, label) as held:
        block = held.block
        gone = [
            _safe(each, block.label)
            for each in page_candidates.select_parts(place, block, task, free)
        ]
        kept = _archived(place, block, gone, dry=dry)
        left = {
            each.part.start: _shortened(each, frontmatter.line_end(block.raw))
            for each in gone
            if each.fate == "summarise"
        }
        body = paging.remove_parts(block.body, gone, left)
        ids = tuple(ident for ident, _ in kept)
        planned = PagedOut(block.label, tuple(gone), block.body, body, ids)
        if dry or not gone:
            return planned
        discarded = sum(each.fate == "discard" for each in gone)
        why = f"{len(ids)} archived, {discarded} discarded"
        change = held.change(OUT, body, len(gone) + block.paged_out, origin, why)
    store = place.store(block.tier)
    notes = [autocommit.commit_passage(place, store, where, origin) for _, where in kept]
    notes.append(instruction_sections.finish_edit(place, [change], origin))
    return replace(planned, note="; ".join(filter(None, notes)))


def compacted(event: Event) -> None:
    """Page out of a session's scratch what its host is about to forget the reason of.

    Nothing but blocks of the session is touched, and only where they are over the threshold of
    `paging.page_out_threshold`: as much goes as brings them under that of a warning.
    """
    place = blocks.find_answering(event)
    if place is None or not place.session:
        return
    settings = config.load(place)
    most, least = (
        settings.share("paging.page_out_threshold"),
        settings.share("paging.warn_threshold"),
    )
    for block in blocks.load(place):
        share = block.chars / block.limit
        if block.tier == labels.SESSION and share >= most and not block.read_only:
            origin = Origin("system", event.host, event.session, "before a compaction")
            name = labels.qualified(block.tier, block.label)
            page_out(place, name, origin, free=max(0.01, share - least))


def page_in(place: Place, label: str, origin: Origin) -> PagedIn:
    """Bring back all that was paged out of a block since it was whole.

    An untouched block gets its former bytes; else what left is merged into it. What has no room any
    more comes as a summary. Raises `NotFoundError` where nothing was paged out, `RejectedError`.
    """
    with _opened(place, label) as held:
        block = held.block
        tier, name = block.tier, block.label
        entries, shortened = _outs(_entries(place, tier, name))
        if not entries:
            raise NotFoundError(
                f"nothing was paged out of '{name}'", f"memfs log {name} shows what happened to it"
            )
        body = _without_summaries(block.body, shortened)
        for entry in reversed(entries):
            body = _merged(entry, body, frontmatter.line_end(block.raw))
        whole = len(blocks.make("", "", "", block.head + body).value) <= block.limit
        if not whole:
            body = _fitted(block, body)
        why = f"{len(entries)} page-outs" + ("" if whole else _SHORTENED)
        change = held.change(IN, body, 0 if whole else block.paged_out, origin, why)
    if whole:
        _unarchive(place, tier, name, body)
    return PagedIn(
        name, block.paged_out, not whole, instruction_sections.finish_edit(place, [change], origin)
    )


@dataclass(frozen=True)
class _Held:
    """A block that nobody else writes now, and the version it has."""

    block: Block
    version: int
    _before: str | None
    _made: Writer

    def change(self, op: str, body: str, out: int, origin: Origin, why: str) -> Change:
        """Write another body, of whose block so many parts are paged out; say what was done."""
        block, version = self.block, self.version + 1
        head = yaml_edit.set_keys(  # the body may begin like front matter
            block.head,
            version,
            clock.now(),
            origin.actor,
            eol=frontmatter.line_end(block.raw),
            paged_out=out or None,
        )
        change = Change(
            block.tier, block.label, block.path, self._before, head + body, op, version, why
        )
        self._made.commit([change], origin)
        return change


@contextmanager
def _opened(place: Place, label: str) -> Iterator[_Held]:
    """Hold a block that can be paged. Raises `RejectedError`, `NotFoundError`."""
    tier, name = versions.resolve(place, label)
    path = blocks.get(place, labels.qualified(tier, name)).path
    with writer.writing(place.store(tier), place) as made:
        text, version = made.adopt_current(tier, name, path)
        block = blocks.make(tier, name, path, text or "")
        _refuse(block)
        yield _Held(block, version, text, made)


def _archived(
    place: Place, block: Block, gone: Sequence[PageCandidate], *, dry: bool
) -> list[tuple[str, str]]:
    """Archive what is not discarded, in the block's own store: (id, path) of each.

    A kill before the edit loses nothing. What was archived by a page-out that was taken back is
    there already.
    """
    store = place.store(block.tier)
    there = {} if dry else _paged(store, block.tier, block.label)
    kept = []
    for each in gone:
        text = each.part.text.strip()
        if dry or each.fate == "discard":
            continue
        known = there.get(archive.merge_passages(text))
        if known is None:
            passage, path = archive.write_passage(
                store,
                text[: archive.LONGEST],
                importance=each.importance,
                tags=(TAG, block.label),
                source=_source(block.tier, block.label),
            )
            known = passage.id, path
        kept.append(known)
    return kept


def _paged(store: Store, tier: str, label: str) -> dict[str, tuple[str, str]]:
    """Map what was paged out of a block into the archive to (id, path)."""
    found = {}
    for path in archive.sources(store):
        passage = archive.read(path)
        if passage and passage.source == _source(tier, label) and TAG in passage.tags:
            found[archive.merge_passages(passage.text)] = passage.id, path
    return found


def _source(tier: str, label: str) -> str:
    return f"block {labels.qualified(tier, label)}"


def _shortened(candidate: PageCandidate, eol: str) -> str:
    text = summary.extract(candidate.part.text, max(20, candidate.tokens // _SUMMARY))
    return f"{' '.join(text.split())} [shortened]{eol}" if text else ""


def _safe(candidate: PageCandidate, label: str) -> PageCandidate:
    """Discard what holds a secret that somebody typed into the file: the journal has it."""
    held = edits.secret("archive", label, candidate.part.text)
    return replace(candidate, fate="discard") if held else candidate


def _refuse(block: Block) -> None:
    why = "it is read-only" if block.read_only else block.problem
    if not why and any(
        line.startswith(("<<<<<<< ", ">>>>>>> ")) for line in block.body.split("\n")
    ):
        why = "it has conflict markers (memfs doctor --fix resolves them)"
    if block.codec or why:
        raise RejectedError(f"cannot page '{block.label}': {why}", f"its file is {block.path}")


def _entries(place: Place, tier: str, label: str) -> list[JournalEntry]:
    """Return the entries of a block, and those of the name it had before, the oldest first."""
    found = versions.entries(place, tier, label)
    start = next((n for n, e in enumerate(found) if e.op == "rename"), None)
    if start is None or not found[start].reason.startswith("from "):
        return found
    before = versions.entries(place, tier, found[start].reason.removeprefix("from "))
    mine = [e for e in before if e.op != "rename"]
    return [*mine, *found[start + 1 :]]


def _outs(entries: Sequence[JournalEntry]) -> tuple[list[JournalEntry], list[JournalEntry]]:
    """Return the page-outs that nothing took back, and the shortened page-ins, oldest first."""
    stands: list[JournalEntry] = []
    for entry in entries:
        if entry.op != "undo":
            stands.append(entry)
        elif stands:
            stands.pop()
    last = max((n for n, entry in enumerate(stands) if _ends(entry)), default=-1)
    since = stands[last + 1 :]
    return [e for e in since if e.op == OUT], [e for e in since if e.op == IN]


def _ends(entry: JournalEntry) -> bool:
    """Tell whether what was paged out before an entry is not out any more."""
    whole = entry.op == IN and not entry.reason.endswith(_SHORTENED)
    return whole or entry.op in ("delete", "create", "restore")


def _without_summaries(body: str, shortened: Sequence[JournalEntry]) -> str:
    """Take out what shortened page-ins left."""
    for entry in shortened:
        before, after = (frontmatter.split(t or "")[1] for t in (entry.before, entry.after))
        lines = merge_lines.list_added_lines(before, after)
        kept = [line for line in body.splitlines(keepends=True) if line.rstrip("\r\n") not in lines]
        body = "".join(kept)
    return body


def _merged(entry: JournalEntry, body: str, eol: str) -> str:
    """Return a body with what one page-out took from it."""
    before, after = (frontmatter.split(text or "")[1] for text in (entry.before, entry.after))
    if body == after:
        return before
    return merge_lines.merge_texts(after, body, before, eol)


def _fitted(block: Block, body: str) -> str:
    """Return the block with a summary of what does not fit into it whole."""
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
            f"cannot page '{block.label}' in: it holds {block.chars:,} characters, the limit is "
            f"{block.limit:,}",
            "make room first, or raise the limit (memfs edit LABEL --limit)",
        )
    return f"{block.body.rstrip()}{eol}{text} [shortened]{eol}"


def _unarchive(place: Place, tier: str, label: str, body: str) -> None:
    """Remove the passages of what is in the block again: it would be found twice."""
    held = archive.merge_passages(body)
    for text, (_, path) in _paged(place.store(tier), tier, label).items():
        if text in held:
            files.remove(path)
