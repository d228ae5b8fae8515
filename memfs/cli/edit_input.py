"""Where the texts of edits come from: arguments, stdin, an editor, a patch."""

import json
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields

import click

from memfs.cli import console
from memfs.cli.edit_output import report
from memfs.core import body_edits
from memfs.core.body_edits import Edit, Rethink
from memfs.core.errors import MemfsError, UsageError
from memfs.core.records import Origin
from memfs.files import account
from memfs.ops import edit, show
from memfs.store.blocks import Place

_EDITORS = ("sensible-editor", "vim", "nano", "vi", "notepad")

_OPS: dict[str, type[Edit]] = {
    "append": body_edits.Append,
    "replace": body_edits.Replace,
    "remove": body_edits.Remove,
    "insert": body_edits.Insert,
    "rethink": body_edits.Rethink,
    "create": body_edits.Create,
    "delete": body_edits.Delete,
    "rename": body_edits.Rename,
    "describe": body_edits.Describe,
}
_TYPES: dict[object, tuple[type, str]] = {  # of a field, and of its JSON
    str: (str, "a string"),
    int: (int, "a whole number"),
    bool: (bool, "true or false"),
    tuple[str, ...]: (list, "a list of strings"),
    dict[str, object]: (dict, "an object"),
}


def text_of(argument: str) -> str:
    """Return an argument, or all of stdin for `-`, as UTF-8 whatever the locale is."""
    if argument == "-":
        if sys.stdin.isatty():
            console.talk("reading from the terminal; press Ctrl-D to finish")
        data = sys.stdin.buffer.read()
    else:
        data = argument.encode("utf-8", "surrogateescape")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"the text is not UTF-8: byte {error.start} is invalid", "convert the text to UTF-8"
        ) from error


def in_editor(place: Place, label: str, who: Origin) -> None:
    """Let the user edit a block in an editor.

    An unchanged text is not written. An edit that somebody else made meanwhile is not overwritten.
    A refused text stays in the temporary file.
    """
    shown = show.run(place, label)
    block = shown.block
    with open_editor(block.body, block.label) as text:
        if text == block.body:
            console.print_done(f"'{block.label}' is unchanged")
            return
        name = f"{block.tier}:{block.label}"
        report(edit.run(place, [Rethink(name, text)], who, [shown.version]))


def read_patch(path: str) -> list[Edit]:
    """Read a patch from a file or `-`. Raises `MemfsError` that names the item and its error."""
    try:
        with click.open_file(path, encoding="utf-8") as handle:
            found = json.load(handle)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise _error(path, f"invalid JSON ({error})") from error
    if not isinstance(found, list) or not found:
        raise _error(path, "expected a JSON list of edits")
    return [_parse_edit(path, number, item) for number, item in enumerate(found, 1)]


def _parse_edit(path: str, number: int, item: object) -> Edit:
    if not isinstance(item, dict):
        raise _error(path, f"edit {number} is not a JSON object")
    kind = _OPS.get(str(item.get("op")))
    if kind is None:
        raise _error(path, f"edit {number} has op {item.get('op')!r}, not one of {', '.join(_OPS)}")
    values = {key: value for key, value in item.items() if key != "op"}
    known = {field.name: field for field in fields(kind)}
    for key, value in values.items():
        if key not in known:
            raise _error(
                path, f"edit {number} ({item['op']}) does not take '{key}', only {', '.join(known)}"
            )
        expected, words = _TYPES[known[key].type]
        if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
            raise _error(path, f"'{key}' in edit {number} is {value!r}, expected {words}")
    for name, field in known.items():
        needed = field.default is MISSING and field.default_factory is MISSING
        if needed and name not in values:
            raise _error(path, f"edit {number} ({item['op']}) needs '{name}'")
    if "tags" in values:
        values["tags"] = tuple(str(tag) for tag in values["tags"])
    return kind(**values)


def _error(path: str, what: str) -> MemfsError:
    return UsageError(
        f"{path} is not a valid patch: {what}",
        'write the edits like this: [{"op": "append", "label": "human", "text": "…"}]',
    )


@contextmanager
def open_editor(text: str, name: str) -> Iterator[str]:
    """Let the user edit a text in a temporary file; yield what it is then.

    If it is refused, the file stays, and the error's hint names it. Raises `UsageError` where no
    editor can be opened.
    """
    if not sys.stdin.isatty() and not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        raise UsageError(
            "cannot open an editor: there is no terminal", "pass the text with --set, or set EDITOR"
        )
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
        error.hint = "; ".join(filter(None, (error.hint, f"recover your text from {path}")))
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
            f"cannot find the editor '{named}'; memfs runs no editor from inside the project",
            "set EDITOR to another program, or pass the text with --set",
        )
    raise UsageError("no editor was found", "set EDITOR, or pass the text with --set")
