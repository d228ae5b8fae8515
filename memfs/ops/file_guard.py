"""Check the files of a store that a host's own tools write, by the rules of edits. Hot path."""

import os

from memfs import files
from memfs.core import label as labels
from memfs.core.events import Event, Reply
from memfs.store import blocks, store_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.store.blocks import Place
    from memfs.store.store_paths import Store

_BLOCKS, _ARCHIVE = "blocks", "archive"


class GuardedFile:
    """A file of a store. `tier` and `label` are those of its block; "" if it is not one."""

    __slots__ = ("label", "path", "place", "store", "tier", "within")

    def __init__(self, place: "Place", store: "Store", path: str, within: str) -> None:
        self.place = place
        self.store = store
        self.path = path
        self.within = within  # relative to the store
        self.tier = self.label = ""


def find(place: "Place", event: Event) -> list[GuardedFile]:
    """Return the files that an event writes in a store of its place."""
    found = [_find(place, event.cwd, file) for file in event.files]
    return [each for each in found if each is not None]


def _find(place: "Place", folder: str, file: str) -> GuardedFile | None:
    path = os.path.realpath(os.path.join(folder or ".", file))
    for tier, store in place.list_tiers():
        root = os.path.realpath(store.root)
        if path.startswith(root + os.sep):
            guarded = GuardedFile(place, store, path, path[len(root) + 1 :].replace(os.sep, "/"))
            folder = os.path.realpath(store_paths.block_folder(store, tier, place.session))
            if path.startswith(folder + os.sep) and path.endswith(blocks.SUFFIX):
                label = path[len(folder) + 1 :].removesuffix(blocks.SUFFIX)
                guarded.tier, guarded.label = tier, label.replace(os.sep, "/")
            if guarded.tier or tier != labels.SESSION:
                return guarded
    return None


def check_write(file: GuardedFile) -> Reply:
    """Refuse writes to the private files of memfs and to read-only blocks."""
    if file.tier:
        if not files.is_file(file.path):
            return Reply()
        block = blocks.read(file.tier, file.label, file.path)
        if block.read_only:
            return _refuse(
                f"the memory block '{file.label}' is read-only: only a person may change the "
                "block, or set 'read_only: false' in its front matter"
            )
        # The journal gets the earlier text, except one that `after` would not journal either.
        if not labels.problem(file.label) and not _find_secrets(file, block.raw):
            _adopt(file, None)
        return Reply()
    if store_paths.is_local(file.within):
        return _refuse(
            f"{file.within} belongs to memfs and must not be edited; edit memory in "
            "blocks/, or with the memory tools (memfs tools lists them)"
        )
    return Reply()


def _refuse(why: str) -> Reply:
    return Reply(refusal=_flatten(why))


def _flatten(text: str) -> str:
    from memfs.core.escaping import flatten_text  # not needed for files outside stores

    return flatten_text(text)


def after(file: GuardedFile, event: Event) -> Reply:
    """Journal an edit, and reply with the problems of the file and how to fix them."""
    if file.tier:
        problems = _check_block(file, event)
    elif file.within.startswith(f"{_BLOCKS}/"):
        problems = [
            f"only files whose names end in {blocks.SUFFIX} are memory blocks: rename the file"
        ]
    elif file.within.startswith(f"{_ARCHIVE}/"):
        problems = _find_secrets(file, files.read(file.path) or "")
    else:
        problems = []
    text = f"memfs: {file.within}: {'; '.join(problems)}"
    return Reply(_flatten(text)) if problems else Reply()


def _check_block(file: GuardedFile, event: Event) -> list[str]:
    wrong = labels.problem(file.label)
    if wrong:
        return [f"the file's name is not a valid label ({wrong}): rename the file"]
    block = blocks.read(file.tier, file.label, file.path)
    problems = _find_secrets(file, block.raw)
    if not problems:  # the journal would keep them
        from memfs.sync import instruction_sections

        _adopt(file, event)
        note = instruction_sections.renew_after_edit(file.place, (file.tier,))
        problems = [note] if note else []
    if block.problem:
        problems.append(f"{block.problem}: fix the front matter between the --- lines")
    if block.limit and block.chars > block.limit:
        problems.append(
            f"{block.chars:,} characters, the limit is {block.limit:,}: shorten the block by "
            f"{block.chars - block.limit:,}, or move details to the archive"
        )
    return problems


def _find_secrets(file: GuardedFile, text: str) -> list[str]:
    from memfs.core import body_edits

    odd = body_edits.check_text("keep", file.within, text) or body_edits.check_secret(
        "keep", file.within, text
    )
    return [f"{odd.message}: {odd.hint}"] if odd else []


def _adopt(file: GuardedFile, event: "Event | None") -> None:
    """Journal a block as it is: by the host's session, or for None by an unknown author."""
    from memfs.context import person_notices
    from memfs.core.records import Origin
    from memfs.store import journal, writer

    origin = Origin("agent", event.host, event.session, "written as a file") if event else None
    with writer.writing(file.store, file.place) as store_writer:
        before = store_writer.get_head(file.tier, file.label)
        store_writer.adopt(file.tier, file.label, file.path, origin)
        head = store_writer.get_head(file.tier, file.label)
    if event and head and (before is None or head.offset != before.offset):
        entry = journal.entry_at(file.store, head.offset)
        person_notices.queue_edits(file.place, event.session, [entry] if entry else [])
