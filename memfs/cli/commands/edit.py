"""`memfs create`, `edit`, `delete` and `rename`."""

from typing import Any

import click

from memfs.cli import console, options
from memfs.cli.edit_input import in_editor, read_patch, text_of
from memfs.cli.edit_output import report
from memfs.cli.options import LABEL, block_options
from memfs.core import label as labels
from memfs.core.body_edits import (
    Append,
    Create,
    Delete,
    Describe,
    Edit,
    Insert,
    Remove,
    Rename,
    Replace,
    Rethink,
)
from memfs.ops import edit

_KEYS = ("description", "limit", "pinned", "priority")


@click.command("edit")
@click.argument("label", required=False, default="", type=LABEL)
@click.option("--append", metavar="TEXT", help="Add TEXT at the end, unless it is already there.")
@click.option(
    "--replace", nargs=2, metavar="OLD NEW", help="Replace OLD, which must occur exactly once."
)
@click.option("--remove", metavar="TEXT", help="Remove TEXT, which must occur exactly once.")
@click.option(
    "--insert",
    type=(int, str),
    metavar="LINE TEXT",
    help="Insert TEXT after line LINE (0: at the top).",
)
@click.option("--set", "rethink", metavar="TEXT", help="Replace the whole text of the block.")
@click.option(
    "--all", "every", is_flag=True, help="With --replace or --remove: change every occurrence."
)
@block_options
@click.option("--patch", metavar="FILE", help="Apply all edits listed in FILE (JSON), or none.")
@click.option(
    "--expect", type=int, metavar="VERSION", help="Edit only if the block is still at this version."
)
@options.reason_option
@options.session_option
def edit_command(
    label: str, patch: str | None, expect: int | None, reason: str, session: str, **values: Any
) -> None:
    """Edit a block. Without an operation, open it in your editor.

    A TEXT of `-` is read from stdin. Use one operation at a time; --patch takes several, for
    several blocks, from a file or `-`: [{"op": "append", "label": "human", "text": "…"}, …]. Ops
    and their keys: append (text), replace (old, new, every), remove (text, every), insert
    (line, text), rethink (text), create (description, value, limit, pinned, tags), delete, rename
    (new), describe (changes).
    """
    place = options.place(session)
    who = options.get_origin(reason, session)
    edits = _build_edits(label, values)
    if patch:
        if label or edits:
            raise click.UsageError("--patch cannot be combined with LABEL or another operation")
        edits = read_patch(patch)
    elif not label:
        raise click.UsageError("give the label of a block; see memfs show --list")
    if edits:
        report(edit.run(place, edits, who, [expect] * len(edits)))
    else:
        in_editor(place, label, who)


def _build_edits(label: str, values: dict[str, Any]) -> list[Edit]:
    edits: list[Edit] = []
    if values["append"] is not None:
        edits.append(Append(label, text_of(values["append"])))
    if values["replace"]:
        old, new = map(text_of, values["replace"])
        edits.append(Replace(label, old, new, values["every"]))
    if values["remove"] is not None:
        edits.append(Remove(label, text_of(values["remove"]), values["every"]))
    if values["insert"]:
        line, text = values["insert"]
        edits.append(Insert(label, line, text_of(text)))
    if values["rethink"] is not None:
        edits.append(Rethink(label, text_of(values["rethink"])))
    if len(edits) > 1:
        raise click.UsageError("use one operation at a time; --patch takes several operations")
    changes = {key: values[key] for key in _KEYS if values[key] is not None}
    if values["tags"]:
        changes["tags"] = list(values["tags"])
    return [*edits, Describe(label, changes)] if changes else edits


@click.command("create")
@click.argument("label")
@click.argument("value", default="")
@block_options
@options.reason_option
def create_command(label: str, value: str, reason: str, **keys: Any) -> None:
    """Create a block. VALUE is its text (`-` reads it from stdin).

    The description explains the block's purpose to the assistant.
    LABEL may include a tier (user:human).
    """
    tier, name = labels.parse(label)
    place = options.find_target(user=tier is not None)
    _tell_label(label, name)
    given = {key: each for key, each in keys.items() if each is not None}
    create = Create(label, value=text_of(value), **given)
    report(edit.run(place, [create], options.get_origin(reason)))


@click.command("delete")
@click.argument("label", type=LABEL)
@options.reason_option
@options.session_option
def delete_command(label: str, reason: str, session: str) -> None:
    """Delete a block. Its text stays in the history: `memfs undo LABEL` restores it."""
    place = options.place(session)
    report(edit.run(place, [Delete(label)], options.get_origin(reason, session)))


@click.command("rename")
@click.argument("label", type=LABEL)
@click.argument("new")
@options.reason_option
def rename_command(label: str, new: str, reason: str) -> None:
    """Give a block another label, in the same tier."""
    _tell_label(new, labels.parse(new)[1])
    report(edit.run(options.place(), [Rename(label, new)], options.get_origin(reason)))


def _tell_label(typed: str, label: str) -> None:
    if typed.rpartition(":")[2] != label:
        console.talk(
            f"! the label was changed to '{label}': labels are lower case, with _ instead of spaces"
        )
