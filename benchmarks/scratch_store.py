"""A user's store for a measurement: the real one has no part in it, and nothing is left.

What is measured runs in this process or in its children: the variables are what both go by.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

_VARIABLES = ("HOME", "MEMFS_HOME")


@contextmanager
def home(folder: str = "") -> Iterator[str]:
    """Use `folder` (default: a new one) as the user's store in the context; yield its path."""
    if not folder:
        with tempfile.TemporaryDirectory(prefix="memfs-user-") as path, home(path) as found:
            yield found
        return
    before = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    root = os.path.realpath(folder)
    # The folder of a measurement holds its project, too: only a home may be beside one.
    os.environ.update(HOME=os.path.dirname(root), MEMFS_HOME=root)
    try:
        yield root
    finally:
        for name in _VARIABLES:
            os.environ.pop(name)
        os.environ.update(before)
