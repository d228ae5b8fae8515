"""Merge three versions of a block file, as a merge driver of git."""

import os

from memfs.core import merge
from memfs.core.errors import NotFoundError
from memfs.files import atomic, outside

_CAP = 1 << 30  # bytes; git may have stored any size


def run(base: str, ours: str, theirs: str) -> bool:
    """Merge `theirs` into the file `ours`; return whether that changed it.

    The arguments are paths; `base` may be empty or missing, where both sides added the file.
    """
    texts = [outside.read(path, cap=_CAP) for path in (base, ours, theirs)]
    if texts[1] is None or texts[2] is None:
        raise NotFoundError(f"there is no file {ours if texts[1] is None else theirs}")
    merged = merge.merge(texts[0], texts[1], texts[2])
    if merged != texts[1]:
        atomic.write(os.path.realpath(ours), merged, durable=False)
    return merged != texts[1]
