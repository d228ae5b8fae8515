"""Merging the blocks of another store into those here: nothing either side wrote is lost."""

from collections.abc import Mapping

from memfs.core import body_edits, frontmatter, injection_signs, merge, merge_lines, yaml_edit
from memfs.core import changes as compare
from memfs.core import label as labels
from memfs.core.block import WARN_AT, Block
from memfs.core.privacy import storable
from memfs.importers import merge as merge_module
from memfs.importers.merge import ImportItem
from memfs.store import blocks, config, journal, journal_query
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from memfs.store.writer import Change, Writer

OP = "import"


class BlockImport:
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
        for name, data in merge_module.list_files(found, merge_module.BLOCKS):
            label = "/".join(
                labels.normalise(part)
                for part in name[len("blocks/") : -len(blocks.SUFFIX)].split("/")
            )
            wrong = labels.problem(label)
            if label in seen:
                wrong = "another file of the import has the same label"
            seen.add(label)
            if storable(label) != label:
                label, wrong = storable(label), "its name contains a secret"
            refused = ImportItem("block", label, "refused", f"cannot import '{label}': {wrong}")
            out.append(refused if wrong else self._plan_block(label, data))
        return out

    def _plan_block(self, label: str, data: bytes) -> ImportItem:
        theirs, wrong = merge_module.read_part(f"'{label}'", data)
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
        text = yaml_edit.drop_outdated(after.raw)
        self.changes.append(Change(self._tier, label, path, ours, text, OP, version + 1))
        outcome: merge_module.Outcome = "new" if ours is None else "merged"
        known, lines = set((ours or "").split("\n")), after.raw.split("\n")
        found = injection_signs.find_signs(after.raw)
        signs = tuple(sign for sign in found if lines[sign.line - 1] not in known)
        diff = compare.of_blocks(ours, after.raw, f"{label} here", f"{label} imported")
        return ImportItem("block", label, outcome, diff, signs=signs)

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
        other = self._parse(label, path, theirs)
        if ours is None:
            return self._unpin_if_full(label, path, other)
        mine = self._parse(label, path, ours)
        if mine.problem:
            return (
                f"cannot import '{label}': the front matter of the existing block cannot be read "
                f"({mine.problem})"
            )
        base = ours if self._is_untouched(label, ours) else self._find_imported(label, other)
        merged = self._parse(label, path, merge.merge(base, ours, theirs))
        if base is None and not merge_lines.list_added_lines(mine.body, other.body):
            merged = self._parse(label, path, merged.head + mine.body)  # they add nothing
        return merged if mine.pinned else self._unpin_if_full(label, path, merged)

    def _unpin_if_full(self, label: str, path: str, block: Block) -> Block:
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

    def _find_imported(self, label: str, other: Block) -> str | None:
        """Return the text that the newest import from the same source gave a block, if any did."""
        source = other.meta.get("source")
        if not source:
            return None
        texts = [
            each.after
            for each in journal.read(self._store)
            if (each.label, each.op, each.tier) == (label, OP, self._tier) and each.after
        ]
        read = ((text, self._parse(label, "", text)) for text in reversed(texts))
        return next((text for text, block in read if block.meta.get("source") == source), None)

    def _find_refusal(self, label: str, path: str, ours: str | None, after: Block) -> str:
        """Return the message of what forbids a change, or ""."""
        mine = self._parse(label, path, ours or "")
        if mine.read_only:
            return f"cannot import '{label}': the existing block is read-only"
        adopted = "limit" not in after.meta and after.chars >= WARN_AT * after.limit
        limit = len(after.value) if adopted else after.limit
        odd = body_edits.check_limit(
            label, mine.value, after.value, limit, after.tokens
        ) or body_edits.check_secret("import", label, after.raw, ours or "")
        return odd.message if odd else ""
