"""Files of a store that a host's own tools write: what they may not, and what is wrong with it.

Whoever edits a block as a file is held to the rules of `edit`: before, where nothing may be
written; afterwards, in the same turn, where the text breaks a rule. Hot path: most are other files.
"""

import os

from memfs import files
from memfs.core import label as labels
from memfs.core.events import Event, Reply
from memfs.store import blocks, store_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.core.block import Block
    from memfs.store.blocks import Place
    from memfs.store.store_paths import Store

_BLOCKS, _ARCHIVE = "blocks", "archive"


class GuardedFile:
    """A file of a store. `tier` and `label` are those of the block it is or would be, else ""."""

    __slots__ = ("label", "path", "place", "store", "tier", "within")

    def __init__(self, place: "Place", store: "Store", path: str, within: str) -> None:
        self.place = place
        self.store = store
        self.path = path
        self.within = within  # relative to the store
        self.tier = self.label = ""


def find(event: Event) -> list[GuardedFile]:
    """Return those of the files that an event is about that are in a store serving its folder."""
    place = blocks.find_answering(event)
    if place is None:
        return []
    found = [_find(place, event.cwd, file) for file in event.files if "\0" not in file]
    return [each for each in found if each is not None]


def _find(place: "Place", folder: str, file: str) -> GuardedFile | None:
    path = os.path.realpath(os.path.join(folder or ".", file))
    for tier, store in place.list_tiers():
        root = os.path.realpath(store.root)
        if path.startswith(root + os.sep):
            found = GuardedFile(place, store, path, path[len(root) + 1 :].replace(os.sep, "/"))
            _name(found, tier, place.session)
            if found.tier or tier != labels.SESSION:
                return found
    return None


def _name(found: GuardedFile, tier: str, session: str) -> None:
    """Tell which block a file is, if it lies where blocks of the tier do."""
    folder = os.path.realpath(store_paths.block_folder(found.store, tier, session))
    if found.path.startswith(folder + os.sep) and found.path.endswith(blocks.SUFFIX):
        found.tier = tier
        inside = found.path[len(folder) + 1 :].removesuffix(blocks.SUFFIX)
        found.label = inside.replace(os.sep, "/")


def before(found: GuardedFile) -> Reply:
    """Refuse to write what memfs keeps itself, and blocks that are read-only."""
    if found.tier:
        if not files.is_file(found.path):
            return Reply()
        block = blocks.read(found.tier, found.label, found.path)
        if block.read_only:
            return _refused(
                f"the memory block '{found.label}' is read-only: only its user may change it, or "
                "that, in the file's front matter"
            )
        # So that the journal knows what was there before; nothing that `after` keeps out of it.
        if not labels.problem(found.label) and not _secrets(found, block.raw):
            _adopt(found, None)
        return Reply()
    if found.within.startswith("local/"):
        return _refused(
            f"{found.within} is kept by memfs itself and is not to be edited; memory is edited in "
            "blocks/, or with the memory tools (memfs tools lists them)"
        )
    return Reply()


def _refused(why: str) -> Reply:
    return Reply(refusal=_flat(why))


def _flat(text: str) -> str:
    """Return what is told about a file as one line: the names of files may hold anything."""
    from memfs.core.escaping import flatten_text  # most files are none of ours

    return flatten_text(text)


def after(found: GuardedFile, event: Event) -> Reply:
    """Take an edit into the journal, and say what is wrong with the file and how to mend it."""
    if found.tier:
        told = _block(found, event)
    elif found.within.startswith(f"{_BLOCKS}/"):
        told = [f"only files that end with {blocks.SUFFIX} are memory blocks: rename it"]
    elif found.within.startswith(f"{_ARCHIVE}/"):
        told = _secrets(found, _text(found.path))
    else:
        told = []
    text = f"memfs: {found.within}: {'; '.join(told)}"
    return Reply(_flat(text)) if told else Reply()


def _block(found: GuardedFile, event: Event) -> list[str]:
    wrong = labels.problem(found.label)
    if wrong:
        return [f"the file's name is no label ({wrong}): rename it"]
    block = blocks.read(found.tier, found.label, found.path)
    told = _secrets(found, block.raw)
    if not told:  # the journal keeps what it is given
        _adopt(found, event)
        told = _renewed(found)
    return told + _broken(block)


def _broken(block: "Block") -> list[str]:
    told = []
    if block.problem:
        told.append(f"{block.problem}: mend the front matter between the --- lines")
    if block.limit and block.chars > block.limit:
        told.append(
            f"{block.chars:,} characters, the limit is {block.limit:,}: shorten it by "
            f"{block.chars - block.limit:,}, or move details to the archive"
        )
    return told


def _secrets(found: GuardedFile, text: str) -> list[str]:
    from memfs.core import edits

    odd = edits.check_text("keep", found.within, text) or edits.secret("keep", found.within, text)
    return [f"{odd.message}: {odd.hint}"] if odd else []


def _adopt(found: GuardedFile, event: "Event | None") -> None:
    """Journal a block as it is: the text of the host's session, or of whoever wrote it before."""
    from memfs.core.records import Origin
    from memfs.store import writer

    origin = Origin("agent", event.host, event.session, "written as a file") if event else None
    with writer.writing(found.store, found.place) as made:
        made.adopt(found.tier, found.label, found.path, origin)


def _renewed(found: GuardedFile) -> list[str]:
    """Renew our section of instruction files, if that is wanted; return what went wrong."""
    from memfs.sync import instruction_sections

    note = instruction_sections.renew_after_edit(found.place, (found.tier,))
    return [note] if note else []


def _text(path: str) -> str:
    return files.read(path) or ""
