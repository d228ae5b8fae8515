"""Texts in the user's editor."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from memfs.core.errors import MemfsError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def open_editor(text: str, name: str) -> Iterator[str]:
    """Let the user edit a text in a temporary file; yield what it is then.

    If it is refused, the file stays, and the error's hint names it. Raises `UsageError` where no
    editor can be opened.
    """
    if not sys.stdin.isatty() and not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        raise UsageError("no editor can be opened here", "EDITOR names one; --set takes the text")
    handle, path = tempfile.mkstemp(prefix=f"{name.replace('/', '-')}-", suffix=".md")
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    click.edit(filename=path)
    with open(path, "rb") as file:
        after = file.read().decode("utf-8", "surrogateescape")
    try:
        yield after
    except MemfsError as error:
        error.hint = "; ".join(filter(None, (error.hint, f"what you wrote is kept in {path}")))
        raise
    os.unlink(path)
