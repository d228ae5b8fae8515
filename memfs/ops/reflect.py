"""Decide on what a model proposed between sessions: take it into the blocks, or drop it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.core import edits, yaml_edit
from memfs.core import label as labels
from memfs.core.errors import NotFoundError, RejectedError
from memfs.core.merge import merge
from memfs.store import archive, blocks, clock, proposals, writer
from memfs.store.writer import Change
from memfs.sync import instruction_sections

if TYPE_CHECKING:
    from memfs.core.records import JournalEntry, Origin
    from memfs.store.blocks import Place
    from memfs.store.proposals import Proposal, ProposedChange

OP = "reflect"


@dataclass(frozen=True)
class AcceptedProposal:
    """What was taken: an entry for each block that changed, and the passages that are new."""

    entries: tuple[JournalEntry, ...]
    passages: int
    note: str = ""


def list_pending(place: Place) -> list[Proposal]:
    """List the proposals that nobody decided on."""
    return proposals.list_pending(place.home)


def accept(place: Place, ident: str, origin: Origin) -> AcceptedProposal:
    """Take a proposal into the blocks: all of it, or none.

    A block that was edited since is merged: what either side wrote stays. Raises `NotFoundError`,
    and `RejectedError` where a rule of a block forbids it.
    """
    found = _named(place, ident)
    with ExitStack() as stack:
        tiers = {change.tier for change in found.changes}
        stores = {store.root: store for tier, store in place.list_tiers() if tier in tiers}
        writers = {
            root: stack.enter_context(writer.writing(stores[root], place))
            for root in sorted(stores)
        }
        parts: dict[str, list[Change]] = {root: [] for root in writers}
        for each in found.changes:
            root = place.store(each.tier).root
            change = _change(place, writers[root], each, origin)
            if change is not None:
                parts[root].append(change)
        wanted = [(writers[root], changes) for root, changes in parts.items() if changes]
        entries = writer.commit(wanted, origin) if wanted else []
        passages = _archived(place, found)
    proposals.remove(place.home, found.id, found.branch)
    changes = [change for _, some in wanted for change in some]
    note = instruction_sections.finish_edit(place, changes, origin) if changes else ""
    return AcceptedProposal(tuple(entries), passages, note)


def reject(place: Place, ident: str) -> Proposal:
    """Drop a proposal. Raises `NotFoundError`."""
    found = _named(place, ident)
    proposals.remove(place.home, found.id, found.branch)
    return found


def _named(place: Place, ident: str) -> Proposal:
    """Return the proposal with an id, or the only one; the beginning of an id will do."""
    found = list_pending(place)
    some = [each for each in found if each.id.startswith(ident)]
    if len(some) == 1:
        return some[0]
    what = f"which proposal? there are {len(some)}" if some else "there is no such proposal"
    raise NotFoundError(what, "memfs review lists them, with their ids")


def _change(
    place: Place, made: writer.Writer, each: ProposedChange, origin: Origin
) -> Change | None:
    located = blocks.resolve_label(place, labels.qualified(each.tier, each.label))
    path = located[2] if located else blocks.path_of(place, each.tier, each.label)
    known = located or made.get_head(each.tier, each.label)
    now, version = made.adopt_current(each.tier, each.label, path) if known else (None, 0)
    _changeable(each, now)
    if each.after is None:
        text = None if now == each.before else now
    elif now is None:
        text = each.after
    else:
        text = merge(each.before, now, each.after)
    if text is not None:
        text = yaml_edit.set_keys(text, version + 1, clock.now(), origin.actor)
        _permitted(each, now, text)
    if text == now or (text is not None and now is not None and _same(text, now)):
        return None
    return Change(each.tier, each.label, path, now, text, OP, version + 1)


def _changeable(each: ProposedChange, now: str | None) -> None:
    """Raise `RejectedError` where a block is not any more what a proposal speaks of, or fixed."""
    if each.before is not None and now is None and each.after is not None:
        raise RejectedError(
            f"'{each.label}' was deleted or renamed since",
            "bring it back (memfs undo), or drop the proposal: memfs review --reject",
        )
    if each.before is None and now is not None:
        raise RejectedError(
            f"there is a block '{each.label}' of your own by now",
            "rename yours first, or drop the proposal: memfs review --reject",
        )
    block = blocks.make(each.tier, each.label, "", now or "")
    if block.problem or block.codec:
        raise RejectedError(f"cannot change '{each.label}': {block.problem}", "memfs doctor --fix")
    if block.read_only:
        raise RejectedError(
            f"cannot change '{each.label}': it is read-only",
            "a person can change that in its file (read_only: false)",
        )


def _permitted(each: ProposedChange, now: str | None, text: str) -> None:
    """Raise `RejectedError` where a rule of the block forbids a text."""
    before = blocks.make(each.tier, each.label, "", now or "")
    after = blocks.make(each.tier, each.label, "", text)
    over = edits.check_limit(each.label, before.value, after.value, after.limit, after.tokens)
    odd = over or edits.secret("change", each.label, after.value, before.value)
    if odd:
        raise RejectedError(odd.message, odd.hint)


def _same(one: str, other: str) -> bool:
    return blocks.make("", "", "", one).content == blocks.make("", "", "", other).content


def _archived(place: Place, found: Proposal) -> int:
    """Archive the passages that are not there yet."""
    known = {
        archive.merge_passages(passage.text)
        for path in archive.sources(place.home)
        if (passage := archive.read(path))
    }
    new = [each for each in found.passages if archive.merge_passages(each.text) not in known]
    for each in new:
        archive.write_passage(place.home, each.text, importance=each.importance, tags=each.tags)
    return len(new)
