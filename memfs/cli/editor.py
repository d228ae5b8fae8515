"""Texts in the user's editor."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import click

from memfs.core.errors import MemfsError, UsageError
from memfs.files import account

_EDITORS = ("sensible-editor", "vim", "nano", "vi", "notepad")


@contextmanager
def open_editor(text: str, name: str) -> Iterator[str]:
    """Let the user edit a text in a temporary file; yield what it is then.

    If it is refused, the file stays, and the error's hint names it. Raises `UsageError` where no
    editor can be opened.
    """
    if not sys.stdin.isatty() and not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        raise UsageError("no editor can be opened here", "EDITOR names one; --set takes the text")
    editor = _find_editor()
    handle, path = tempfile.mkstemp(prefix=f"{name.replace('/', '-')}-", suffix=".md")
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    click.edit(filename=path, editor=editor)
    with open(path, "rb") as file:
        after = file.read().decode("utf-8", "surrogateescape")
    try:
        yield after
    except MemfsError as error:
        error.hint = "; ".join(filter(None, (error.hint, f"what you wrote is kept in {path}")))
        raise
    os.unlink(path)


def _find_editor() -> str:
    """Return the command of the user's editor. Raises `UsageError` for one in the project."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    for command in [named] if named else _EDITORS:
        words = shlex.split(command)
        program = account.find_program(words[0]) if words else ""
        if program:
            return shlex.join([program, *words[1:]])
    if named:
        raise UsageError(
            f"the editor {named} is not there, or in a project, which could have set EDITOR",
            "set EDITOR to a program outside of the project; --set takes the text",
        )
    raise UsageError("there is no editor", "EDITOR names one; --set takes the text")
