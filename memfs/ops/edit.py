"""Edit blocks, for all callers. Either all edits of one call are applied, or none."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, repeat

from memfs import files
from memfs.context import person_notices
from memfs.core import body_edits, frontmatter, yaml_edit
from memfs.core import label as labels
from memfs.core.block import WARN_AT, Block
from memfs.core.block_states import ContradictedLine, find_contradicted
from memfs.core.body_edits import BodyEdit, Create, Delete, Describe, Edit, Rejected, Rename
from memfs.core.errors import Remedy, StoreError
from memfs.core.privacy import public
from memfs.core.records import JournalEntry, Origin
from memfs.store import blocks, config, writer
from memfs.store.blocks import Place
from memfs.store.journal_query import RENAME
from memfs.store.writer import Change, Writer
from memfs.sync import instruction_sections


@dataclass(frozen=True)
class Edited:
    """Done: one journal entry for each block file that changed.

    `note` says why a commit or sync that is configured failed. `contradicted` are the lines that
    stayed beside an added one which says otherwise.
    """

    entries: tuple[JournalEntry, ...]
    note: str = ""
    contradicted: tuple[ContradictedLine, ...] = ()


@dataclass(frozen=True)
class Unchanged:
    """The edit changed no text; nothing was written."""

    label: str


Outcome = Edited | Unchanged | Rejected
_ADDING = ("append", "insert", "patch")


@dataclass
class _Draft:
    """The state of a block file while the edits of one call are applied.

    `former` is the label that the block had before the call, if they rename it.
    """

    tier: str
    label: str
    path: str
    before: str | None
    text: str | None
    version: int
    op: str = ""
    reason: str = ""
    former: str = ""

    def block(self) -> Block:
        return blocks.make(self.tier, self.label, self.path, self.text or "")


def run(
    place: Place, requested: list[Edit], origin: Origin, expected: Sequence[int | None] = ()
) -> Outcome:
    """Apply the `requested` edits in order.

    `expected` has a version for each, which the block must be at; None or missing: any version.
    """
    secret = body_edits.check_secret("keep", "the reason", origin.reason)  # it would be journalled
    if secret:
        return secret
    with ExitStack() as stack:
        session = _Session(place, stack)
        session.open_stores(requested)
        for edit, version in zip(requested, chain(expected, repeat(None)), strict=False):
            if rejected := session.apply(edit, version):
                return rejected
        if too_large := session.check_size():
            return too_large
        changes = session.build_changes()
        entries = session.commit(changes, origin)
    if not entries:
        return Unchanged(requested[0].label if requested else "")
    if origin.actor == "agent":
        person_notices.queue_edits(place, origin.session, entries)
    note = instruction_sections.finish_edit(place, changes, origin)
    return Edited(
        tuple(entries), note, tuple(chain.from_iterable(map(_list_contradicted, changes)))
    )


def _list_contradicted(change: Change) -> list[ContradictedLine]:
    """Return the lines that stayed beside an added one which says otherwise."""
    if change.op not in _ADDING or change.before is None or change.after is None:
        return []
    before, after = (
        blocks.make(change.tier, change.label, change.path, text).body.replace("\r\n", "\n")
        for text in (change.before, change.after)
    )
    return find_contradicted(labels.qualify(change.tier, change.label), before, after)


class _Session:
    def __init__(self, place: Place, stack: ExitStack) -> None:
        self.place = place
        self.settings = config.load(place)
        self._usual_tier = labels.PROJECT if place.project else labels.USER
        self._stack = stack
        self._drafts: dict[tuple[str, str], _Draft] = {}
        self._writers: dict[str, Writer] = {}

    def open_stores(self, requested: list[Edit]) -> None:
        """Lock the stores the edits need, always in the same order: no two calls deadlock."""
        tiers = {self._find_tier(edit) for edit in requested}
        stores = {store.root: store for tier, store in self.place.list_tiers() if tier in tiers}
        for store in sorted(stores.values(), key=lambda store: os.path.realpath(store.local)):
            opened = writer.writing(store, self.place)
            self._writers[store.root] = self._stack.enter_context(opened)

    def apply(self, edit: Edit, expected_version: int | None) -> Rejected | None:
        if isinstance(edit, Create):
            return self._create(edit)
        draft = self._find_draft(edit.label)
        if isinstance(draft, Rejected):
            return draft
        verb = body_edits.operation(edit)
        if expected_version is not None and draft.version != expected_version:
            return Rejected(
                f"{body_edits.word_refusal(verb, draft.label)}: it is at version {draft.version}, "
                f"not {expected_version}",
                Remedy("read the changed block again: {read}", draft.label),
            )
        block = draft.block()
        if block.codec and not isinstance(edit, Delete):
            return Rejected(
                f"{body_edits.word_refusal(verb, draft.label)}: {block.problem}",
                Remedy("{mend} converts the file to UTF-8, and keeps a copy of the original"),
            )
        if block.read_only:
            return Rejected(
                f"{body_edits.word_refusal(verb, draft.label)}: the block is read-only",
                f"set 'read_only: false' in {draft.path} (only a person may do so)",
            )
        match edit:
            case Delete():
                self._record_edit(draft, None, verb)
            case Rename():
                return self._rename(draft, edit)
            case Describe():
                return self._describe(draft, edit)
            case _:
                return self._change_body(draft, edit)
        return None

    def check_size(self) -> Rejected | None:
        """Refuse a block file larger than memfs reads."""
        for draft in self._drafts.values():
            size = len(files.encode(draft.text or ""))
            if size > blocks.LARGEST and draft.text != draft.before:
                return Rejected(
                    f"cannot write '{draft.label}': {size:,} bytes, the limit is "
                    f"{blocks.LARGEST:,}",
                    Remedy(
                        "move details to the archive ({archive}), or create another block for them"
                    ),
                )
        return None

    def build_changes(self) -> list[Change]:
        """Return the changes to write, without the keys that earlier versions of memfs wrote."""
        changes = []
        for each in self._drafts.values():
            if each.text != each.before:
                text = None if each.text is None else yaml_edit.drop_outdated(each.text)
                block, how = (each.tier, each.label, each.path), (each.version + 1, each.reason)
                changes.append(Change(*block, each.before, text, each.op, *how))
        return changes

    def commit(self, changes: list[Change], origin: Origin) -> list[JournalEntry]:
        """Write the changes, to all stores or to none."""
        parts: dict[str, list[Change]] = {}
        for change in changes:
            parts.setdefault(self.place.store(change.tier).root, []).append(change)
        written = [(self._writers[root], parts[root]) for root in self._writers if root in parts]
        return writer.commit(written, origin) if written else []

    def _find_draft(self, text: str) -> _Draft | Rejected:
        tier, label = labels.parse(text)
        for (drafted_tier, drafted), draft in self._drafts.items():
            if drafted == label and tier in (None, drafted_tier) and draft.text is not None:
                return draft
        found = blocks.resolve_label(self.place, text)
        if found is None or (found[0], found[1]) in self._drafts:
            error = blocks.missing(self.place, text)
            return Rejected(error.message, error.hint)
        tier, label, path = found
        try:
            raw, version = self._get_writer(tier).adopt_current(tier, label, path)
        except StoreError as error:  # too large to read
            return Rejected(error.message, error.hint)
        draft = self._drafts[tier, label] = _Draft(tier, label, path, raw, raw, version)
        return draft

    def _find_tier(self, edit: Edit) -> str:
        """Return the tier of an edit's block, which an earlier edit of the call may create."""
        tier, _ = labels.parse(edit.label)
        found = None if isinstance(edit, Create) else blocks.resolve_label(self.place, edit.label)
        return found[0] if found else tier or self._usual_tier

    def _get_writer(self, tier: str) -> Writer:
        root = self.place.store(tier).root
        if root not in self._writers:  # before the lock the label was of another tier
            raise StoreError(
                "the blocks were changed in the meantime; nothing was written", "try again"
            )
        return self._writers[root]

    def _adopt_former(self, tier: str, label: str, path: str) -> tuple[str | None, int]:
        """Return the text and version of the block that had a label, (None, 0) for none."""
        known = self._get_writer(tier).get_head(tier, label)
        return self._get_writer(tier).adopt_current(tier, label, path) if known else (None, 0)

    def _is_taken(self, tier: str, label: str) -> bool:
        drafted = self._drafts.get((tier, label))
        if drafted is not None:
            return drafted.text is not None
        return blocks.resolve_label(self.place, labels.qualify(tier, label)) is not None

    def _check_pinned_limit(self, verb: str, label: str) -> Rejected | None:
        drafted = [draft.block() for draft in self._drafts.values() if draft.text is not None]
        others = (b for b in blocks.load(self.place) if (b.tier, b.label) not in self._drafts)
        most, count = self.settings.number("max_blocks"), sum(b.pinned for b in (*others, *drafted))
        if count < most:
            return None
        return Rejected(
            f"cannot {verb} '{label}': {count} blocks are already pinned, the limit is {most}",
            Remedy("{unpin}"),
        )

    def _record_edit(self, draft: _Draft, text: str | None, op: str) -> None:
        if draft.op != RENAME:  # which says more: the block has a lineage
            draft.op = op if not draft.op else "patch"
        draft.text = text

    def _change_body(self, draft: _Draft, edit: BodyEdit) -> Rejected | None:
        block = draft.block()
        eol = frontmatter.line_end(block.raw)
        body = body_edits.apply(replace(edit, label=draft.label), block.body, eol)
        if isinstance(body, Rejected):
            return body
        after = blocks.make(draft.tier, draft.label, draft.path, block.head + body)
        if after.head != block.head:  # a body that looks like front matter must stay a body
            return Rejected(
                f"cannot write '{draft.label}': the text would be read as front matter",
                "start the text with something other than '---'",
            )
        # The default limit does not lock a file that was added near it and sets no limit itself.
        adopted = "limit" not in block.meta and block.chars >= WARN_AT * block.limit
        limit = len(after.value) if adopted else block.limit
        over = body_edits.check_limit(draft.label, block.value, after.value, limit, block.tokens)
        if over:
            return over
        if body != block.body:
            verb = body_edits.operation(edit)
            secret = body_edits.check_secret(verb, draft.label, after.value, block.value)
            if secret:
                return secret
            self._record_edit(draft, block.head + body, verb)
        return None

    def _create(self, edit: Create) -> Rejected | None:
        tier, label = labels.parse(edit.label)
        tier = tier or self._usual_tier
        if wrong := self._check_create(tier, label, edit):
            return wrong
        limit = edit.limit or self.settings.get_limit(label)
        cap = self.settings.get_token_cap(label) or None
        value = public(edit.value or self.settings.get_default_content(label)).rstrip("\n")
        over = body_edits.check_limit(label, "", value, limit, cap)
        words = " ".join((label, *edit.tags))
        secret = body_edits.check_secret("create", label, f"{edit.description}\n{value}\n{words}")
        if over or secret:
            return over or secret
        head = {
            "description": edit.description,
            "limit": limit,
            "tokens": cap,
            "read_only": False,
            "pinned": edit.pinned,
            "priority": edit.priority or None,
            "tags": list(edit.tags) or None,
        }
        text = yaml_edit.write("", head, "\n") + (value + "\n" if value else "")
        path = blocks.path_of(self.place, tier, label)
        before, version = self._adopt_former(tier, label, path)
        self._drafts[tier, label] = _Draft(tier, label, path, before, text, version, "create")
        return None

    def _check_create(self, tier: str, label: str, edit: Create) -> Rejected | None:
        if label == labels.WORKING and edit.label == label:  # no tier was named
            return Rejected(
                f"cannot create '{label}': this label is reserved for a session's scratch block",
                "choose another label",
            )
        # Where no tier is named, one label is one block: a second one would hide the other.
        tiers = [tier] if ":" in edit.label else [each for each, _ in self.place.list_tiers()]
        if any(self._is_taken(each, label) for each in tiers):
            return Rejected(
                f"cannot create '{label}': the block already exists",
                Remedy("add to the block: {add}", label),
            )
        if "\n" in edit.description.strip():
            return Rejected(f"cannot create '{label}': the description must be a single line")
        return body_edits.check_text("create", label, edit.value, edit.description) or (
            self._check_pinned_limit("create", label) if edit.pinned else None
        )

    def _rename(self, draft: _Draft, edit: Rename) -> Rejected | None:
        tier, label = labels.parse(edit.new)
        if tier not in (None, draft.tier):
            return Rejected(
                f"cannot rename '{draft.label}' into the {tier} tier: a rename keeps the tier",
                "create a block in that tier, then delete this one",
            )
        if secret := body_edits.check_secret("rename", draft.label, label):
            return secret
        if self._is_taken(draft.tier, label):
            return Rejected(
                f"cannot rename '{draft.label}' to '{label}': the block '{label}' already exists",
                "choose another label",
            )
        path = blocks.path_of(self.place, draft.tier, label)
        before, version = self._adopt_former(draft.tier, label, path)
        version = max(version, draft.version)
        former = draft.former or draft.label
        self._drafts[draft.tier, label] = _Draft(
            draft.tier, label, path, before, draft.text, version, RENAME, f"from {former}", former
        )
        draft.text = None
        start = self._drafts[draft.tier, former]
        if start.text is None:  # no other block took that label meanwhile
            start.op, start.reason = RENAME, f"to {label}"
        return None

    def _describe(self, draft: _Draft, edit: Describe) -> Rejected | None:
        block = draft.block()
        changes = dict(edit.changes)
        limit = changes.get("limit")
        if limit is not None and (not isinstance(limit, int) or limit < 1):
            return Rejected(
                f"cannot set the limit of '{draft.label}' to {limit!r}, expected a number above 0"
            )
        if isinstance(limit, int) and limit < block.chars and limit < block.limit:
            return Rejected(
                f"cannot set the limit of '{draft.label}' to {limit:,}: the block has "
                f"{block.chars:,} characters",
                f"shorten the block first: memfs edit {draft.label}",
            )
        unpinned = changes.get("pinned") is True and not block.pinned
        odd = (
            self._check_pinned_limit("pin", draft.label) if unpinned else None
        ) or body_edits.check_text("describe", draft.label, str(changes.get("description") or ""))
        if odd:
            return odd
        head = yaml_edit.write(block.head, changes, frontmatter.line_end(block.raw))
        if secret := body_edits.check_secret("describe", draft.label, head, block.head):
            return secret
        if block.problem and (head == block.head or not frontmatter.has_fences(block.head)):
            return Rejected(
                f"cannot describe '{draft.label}': its front matter cannot be read "
                f"({block.problem})",
                f"run memfs doctor --fix, or correct {draft.path} in an editor",
            )
        if head != block.head:
            self._record_edit(draft, head + block.body, "describe")
        return None
