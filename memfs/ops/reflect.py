"""Decide on the proposals of a model between sessions: accept or reject them."""

from contextlib import ExitStack
from dataclasses import dataclass

from memfs.core import body_edits, yaml_edit
from memfs.core import label as labels
from memfs.core.errors import NotFoundError, RejectedError
from memfs.core.merge import merge
from memfs.core.records import JournalEntry, Origin
from memfs.store import archive, blocks, proposals, writer
from memfs.store.blocks import Place
from memfs.store.proposals import Proposal, ProposedChange
from memfs.store.writer import Change
from memfs.sync import instruction_sections

OP = "reflect"


@dataclass(frozen=True)
class AcceptedProposal:
    """The accepted changes: an entry for each changed block, and the number of new passages."""

    entries: tuple[JournalEntry, ...]
    passages: int
    note: str = ""


def accept(place: Place, ident: str, origin: Origin) -> AcceptedProposal:
    """Apply a proposal to the blocks: all of it, or none.

    A block that was edited since is merged: what either side wrote stays. Raises `NotFoundError`,
    and `RejectedError` if a rule of a block forbids it.
    """
    found = _find_proposal(place, ident)
    with ExitStack() as stack:
        tiers = {change.tier for change in found.changes}
        stores = {store.root: store for tier, store in place.list_tiers() if tier in tiers}
        writers = {
            root: stack.enter_context(writer.writing(stores[root], place))
            for root in sorted(stores)
        }
        parts: dict[str, list[Change]] = {}
        for each in found.changes:
            root = place.store(each.tier).root
            if change := _build_change(place, writers[root], each):
                parts.setdefault(root, []).append(change)
        writes = [(writers[root], parts[root]) for root in writers if root in parts]
        entries = writer.commit(writes, origin) if writes else []
        passages = _archive_passages(place, found)
    proposals.remove(place.home, found.id, found.branch)
    changes = [change for _, some in writes for change in some]
    note = instruction_sections.finish_edit(place, changes, origin) if changes else ""
    return AcceptedProposal(tuple(entries), passages, note)


def reject(place: Place, ident: str) -> Proposal:
    """Remove a proposal, and return it. Raises `NotFoundError`."""
    found = _find_proposal(place, ident)
    proposals.remove(place.home, found.id, found.branch)
    return found


def _find_proposal(place: Place, ident: str) -> Proposal:
    found = proposals.list_pending(place.home)
    some = [each for each in found if each.id.startswith(ident)]
    if len(some) == 1:
        return some[0]
    what = f"{len(some)} proposals have ids that start with" if some else "no proposal has the id"
    raise NotFoundError(f"{what} '{ident}'", "list the ids: memfs review")


def _build_change(place: Place, store_writer: writer.Writer, each: ProposedChange) -> Change | None:
    located = blocks.resolve_label(place, labels.qualify(each.tier, each.label))
    path = located[2] if located else blocks.path_of(place, each.tier, each.label)
    known = located or store_writer.get_head(each.tier, each.label)
    now, version = store_writer.adopt_current(each.tier, each.label, path) if known else (None, 0)
    _check_changeable(each, now)
    if each.after is None:
        text = None if now == each.before else now
    elif now is None:
        text = each.after
    else:
        text = merge(each.before, now, each.after)
    if text is not None:
        text = yaml_edit.drop_outdated(text)
    before, after = (blocks.make(each.tier, each.label, "", known or "") for known in (now, text))
    if text is not None:
        odd = body_edits.check_limit(
            each.label, before.value, after.value, after.limit, after.tokens
        ) or body_edits.check_secret("change", each.label, after.value, before.value)
        if odd:
            raise RejectedError(odd.message, odd.hint)
    if text == now or (None not in (text, now) and before.content == after.content):
        return None
    return Change(each.tier, each.label, path, now, text, OP, version + 1)


def _check_changeable(each: ProposedChange, now: str | None) -> None:
    if each.before is not None and now is None and each.after is not None:
        raise RejectedError(
            f"'{each.label}' was deleted or renamed after the proposal was made",
            "restore the block (memfs undo), or dismiss the proposal: memfs review dismiss ID",
        )
    if each.before is None and now is not None:
        raise RejectedError(
            f"the proposal would create '{each.label}', but a block with that label exists now",
            "rename the existing block, or dismiss the proposal: memfs review dismiss ID",
        )
    block = blocks.make(each.tier, each.label, "", now or "")
    if block.problem or block.codec:
        raise RejectedError(
            f"cannot change '{each.label}': {block.problem}", "run memfs doctor --fix"
        )
    if block.read_only:
        raise RejectedError(
            f"cannot change '{each.label}': the block is read-only",
            "set 'read_only: false' in its file (only a person may do so)",
        )


def _archive_passages(place: Place, found: Proposal) -> int:
    known = {
        archive.merge_passages(passage.text)
        for path in archive.sources(place.home)
        if (passage := archive.read(path))
    }
    new = [each for each in found.passages if archive.merge_passages(each.text) not in known]
    for each in new:
        archive.write_passage(place.home, each.text, importance=each.importance, tags=each.tags)
    return len(new)
