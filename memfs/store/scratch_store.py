"""A user's store for a measurement: nothing of the real one has a part in it, and nothing is left.

What is measured runs in this process or in its children: the variable is what both go by.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_VARIABLE = "MEMFS_HOME"


@contextmanager
def home(folder: str = "") -> Iterator[str]:
    """Use `folder` (default: a new one) as the user's store in the context; yield its path."""
    if not folder:
        with tempfile.TemporaryDirectory(prefix="memfs-user-") as path, home(path) as found:
            yield found
        return
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = os.path.realpath(folder)
    try:
        yield os.environ[_VARIABLE]
    finally:
        os.environ.pop(_VARIABLE)
        if before is not None:
            os.environ[_VARIABLE] = before
