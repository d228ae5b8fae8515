"""Page memory out of a block and in again: MemGPT's way to keep what is in context small.

What leaves is archived, summarised and archived, or discarded, by its kind. The journal has the
block as it was, so everything comes back as it stood: lines that changed meanwhile are merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.context import paging, relief, sections, summary
from memfs.core import edits, frontmatter, mergelines, yamlhead
from memfs.core import label as labels
from memfs.core.errors import NotFoundError, RejectedError
from memfs.core.records import Origin
from memfs.store import archive, autocommit, blocks, clock, config, files, writer
from memfs.store import history as versions
from memfs.store.writer import Change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.context.paging import Candidate
    from memfs.core.block import Block
    from memfs.core.events import Event
    from memfs.core.records import Entry
    from memfs.store.blocks import Place

OUT, IN = "page-out", "page-in"
TAG = "paged-out"
_SUMMARY = 8  # of so many parts is what stays of a long one


@dataclass(frozen=True)
class Paged:
    """What left a block, or would: `passages` are the ids of what was archived."""

    label: str
    gone: tuple[Candidate, ...]
    before: str
    after: str
    passages: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Back:
    """A block with what had left it. `parts` says how many; `shortened`: not all had room."""

    label: str
    parts: int
    shortened: bool
    note: str = ""


def out(
    place: Place, label: str, origin: Origin, *, task: str = "", free: float = 0.0,
    dry: bool = False,
) -> Paged:  # fmt: skip
    """Page out what a task does not need, else as much as frees a share of a block's limit.

    Without a task it is what the session's last prompts say. `dry`: nothing is written. Raises
    `RejectedError` for a block that is read-only, `NotFoundError`.
    """
    tier, name = versions.resolve(place, label)
    path = blocks.get(place, labels.qualified(tier, name)).path
    with writer.writing(place.store(tier), place) as made:
        text, version = made.settle(tier, name, path)
        block = blocks.make(tier, name, path, text or "")
        _refuse(block)
        gone = relief.leaving(place, block, task, free)
        kept = _archived(place, block, gone, dry=dry)
        left = {
            each.part.start: _shortened(each, frontmatter.line_end(block.raw))
            for each in gone
            if each.fate == "summarise"
        }
        body = paging.without(block.body, gone, left)
        ids = tuple(ident for ident, _ in kept)
        planned = Paged(name, tuple(gone), block.body, body, ids)
        if dry or not gone:
            return planned
        count = len(gone) + block.paged_out
        after = _stamped(block, body, version, origin, count)
        discarded = sum(each.fate == "discard" for each in gone)
        why = f"{len(ids)} archived, {discarded} discarded"
        change = Change(tier, name, path, text, after, OUT, version + 1, why)
        made.commit([change], origin)
    notes = [autocommit.archived(place, place.home, where, origin) for _, where in kept]
    notes.append(sections.after(place, [change], origin))
    return Paged(name, tuple(gone), block.body, body, ids, "; ".join(filter(None, notes)))


def compacted(event: Event) -> None:
    """Page out of a session's scratch what its host is about to forget the reason of.

    Nothing but blocks of the session is touched, and only where they are over the threshold of
    `paging.page_out_threshold`: as much goes as brings them under that of a warning.
    """
    place = blocks.answering(event)
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
            out(place, name, origin, free=max(0.01, share - least))


def back(place: Place, label: str, origin: Origin) -> Back:
    """Bring back all that was paged out of a block since it was whole.

    An untouched block gets its former bytes; else what left is merged into it. What has no room any
    more comes as a summary. Raises `NotFoundError` where nothing was paged out, `RejectedError`.
    """
    tier, name = versions.resolve(place, label)
    path = blocks.get(place, labels.qualified(tier, name)).path
    with writer.writing(place.store(tier), place) as made:
        text, version = made.settle(tier, name, path)
        block = blocks.make(tier, name, path, text or "")
        _refuse(block)
        entries = _outs(versions.entries(place, tier, name))
        if not entries:
            raise NotFoundError(
                f"nothing was paged out of '{name}'", f"memfs log {name} shows what happened to it"
            )
        body = block.body
        for entry in reversed(entries):
            body = _merged(entry, body, frontmatter.line_end(block.raw))
        whole = len(blocks.make("", "", "", block.head + body).value) <= block.limit
        if not whole:
            body = _fitted(block, body)
        after = _stamped(block, body, version, origin, 0 if whole else block.paged_out)
        change = Change(tier, name, path, text, after, IN, version + 1, f"{len(entries)} page-outs")
        made.commit([change], origin)
    if whole:
        _unarchive(place, tier, name, body)
    return Back(name, block.paged_out, not whole, sections.after(place, [change], origin))


def _archived(
    place: Place, block: Block, gone: Sequence[Candidate], *, dry: bool
) -> list[tuple[str, str]]:  # fmt: skip
    """Archive what is not discarded: (id, path) of each. A kill before the edit loses nothing."""
    kept = []
    for each in gone:
        text = each.part.text.strip()
        if dry or each.fate == "discard" or edits.secret("archive", block.label, text):
            continue  # a secret that somebody typed into the file stays in the journal alone
        passage, path = archive.add(
            place.home, text[: archive.LONGEST],
            importance=each.importance,
            tags=(TAG, block.label),
            source=_source(block.tier, block.label),
        )  # fmt: skip
        kept.append((passage.id, path))
    return kept


def _source(tier: str, label: str) -> str:
    return f"block {labels.qualified(tier, label)}"


def _shortened(candidate: Candidate, eol: str) -> str:
    text = summary.extract(candidate.part.text, max(20, candidate.tokens // _SUMMARY))
    return f"{' '.join(text.split())} [shortened]{eol}" if text else ""


def _stamped(block: Block, body: str, version: int, origin: Origin, count: int) -> str:
    keys = {
        "paged_out": count or None,
        "version": version + 1, "updated_at": clock.now(), "updated_by": origin.actor,
    }  # fmt: skip
    return yamlhead.write(block.head, keys, frontmatter.line_end(block.raw)) + body


def _refuse(block: Block) -> None:
    if block.read_only or block.codec or block.problem:
        why = "it is read-only" if block.read_only else block.problem
        raise RejectedError(f"cannot page '{block.label}': {why}", f"its file is {block.path}")


def _outs(entries: Sequence[Entry]) -> list[Entry]:
    """Return the page-outs that no page-in and no undo took back, oldest first."""
    stands: list[Entry] = []
    for entry in entries:
        if entry.op != "undo":
            stands.append(entry)
        elif stands:
            stands.pop()
    last = max((n for n, entry in enumerate(stands) if entry.op == IN), default=-1)
    return [entry for entry in stands[last + 1 :] if entry.op == OUT]


def _merged(entry: Entry, body: str, eol: str) -> str:
    """Return a body with what one page-out took from it."""
    before, after = (frontmatter.split(text or "")[1] for text in (entry.before, entry.after))
    if body == after:
        return before
    return mergelines.merge(after, body, before, eol)


def _fitted(block: Block, body: str) -> str:
    """Return the block with a summary of what does not fit into it whole."""
    eol = frontmatter.line_end(block.raw)
    missing = "\n".join(mergelines.written(block.body, body))
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
    held = archive.folded(body)
    for path in archive.sources(place.home):
        passage = archive.read(path)
        ours = passage and passage.source == _source(tier, label) and TAG in passage.tags
        if passage and ours and archive.folded(passage.text) in held:
            files.remove(path)
