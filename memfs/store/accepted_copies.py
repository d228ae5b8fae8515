"""Copies of the texts that a user accepted last, read in place of what is held back."""

from __future__ import annotations

import os
from collections.abc import Mapping

from memfs import files
from memfs.files import atomic
from memfs.store import commits, trust
from memfs.store.store_paths import Store
from memfs.store.trust import AcceptedTexts

_LONGEST_NAME = 200  # bytes of a path of a copy; while it is written, a part of it has some more
_SHORT = 50  # characters, each of at most four bytes


def map_copies(
    store: Store, known: AcceptedTexts, left: Mapping[str, str], *, write: bool
) -> dict[str, str]:
    """Map each quarantined file to a copy of the text accepted last, "" where there is none.

    `left` maps quarantined files to git's id of the text before, "" for a new file. The texts are
    read from git: most accepted texts were committed. A copy never changes: its name has the id.
    """
    candidates = {
        name: [before, *reversed(known.ids.get(name, ()))] if before else []
        for name, before in left.items()
    }
    texts = commits.read_blobs(store.root, [ident for ids in candidates.values() for ident in ids])
    found = {}
    for name, ids in candidates.items():
        ident = next((i for i in ids if i in texts and commits.is_blob(texts[i], i)), "")
        path = f"{trust.held_folder()}/{ident}/{_short(name)}" if ident else ""
        if ident and write and not files.is_file(path):
            files.make_folder(os.path.dirname(path), private=True)
            atomic.write(path, texts[ident], private=True)
        found[name] = path if ident and files.is_file(path) else ""
    return found


def _short(name: str) -> str:
    """Shorten a path so that it can be written below any folder: keep the end of its last part.

    That part tells a passage from others, and its suffix what it is.
    """
    return name if len(os.fsencode(name)) <= _LONGEST_NAME else name.rpartition("/")[2][-_SHORT:]
