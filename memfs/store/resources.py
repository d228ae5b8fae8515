"""The files that ship with memfs: `hooks/` and `templates/`. Hot path."""

import os

from memfs.core.errors import BUG, StoreError

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def path(*parts: str) -> str:
    """Return the path of a shipped file: `memfs/_shipped` in the wheel, else beside `memfs/`."""
    for root in (f"{_PACKAGE}/_shipped", os.path.dirname(_PACKAGE)):
        found = os.path.join(root, *parts)
        if os.path.exists(found):
            return found
    raise StoreError(
        f"{'/'.join(parts)} is missing from the installation", "install memfs again", BUG
    )


def read_text(*parts: str) -> str:
    """Return the text of a shipped file."""
    with open(path(*parts), encoding="utf-8") as handle:
        return handle.read()
