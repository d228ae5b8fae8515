"""`memfs edit`."""

from __future__ import annotations

import os
import sys

import click

from memfs.cli import options
from memfs.cli.edit_output import in_editor, report, text_of
from memfs.cli.patch import read
from memfs.core.edits import Append, Describe, Edit, Insert, Remove, Replace, Rethink
from memfs.ops import edit as op

_KEYS = {"description": "description", "limit": "limit", "pin": "pinned", "priority": "priority"}


@click.command("edit")
@click.argument("label", required=False, default="", type=options.LabelType())
@click.option("--append", metavar="TEXT", help="Add TEXT on a new line at the end.")
@click.option("--replace", nargs=2, metavar="OLD NEW", help="Replace OLD, which must occur once.")
@click.option("--remove", metavar="TEXT", help="Remove TEXT, which must occur once.")
@click.option("--insert", nargs=2, metavar="LINE TEXT", help="Insert TEXT after LINE (0: first).")
@click.option("--set", "rethink", metavar="TEXT", help="Write the whole body.")
@click.option("--all", "every", is_flag=True, help="With --replace, --remove: every occurrence.")
@click.option("--description", metavar="TEXT", help="Say what belongs into the block.")
@options.number_option("--limit", help="Characters at most.")
@click.option("--pin/--unpin", default=None, help="Show it in the brief, or only its name.")
@click.option("--priority", type=int, help="Order and survival under a budget; higher first.")
@click.option("--patch", metavar="FILE", help="Several edits from a JSON list: all or nothing.")
@click.option("--expect", type=int, metavar="VERSION", help="Refuse if it is at another version.")
@options.reason_option
@options.session_option
def command(
    label: str, patch: str | None, expect: int | None, reason: str, session: str, **given: object
) -> None:
    """Edit a block; with no operation, in your editor.

    A TEXT of `-` is read from stdin. One operation at a time; --patch takes several, over several
    blocks: [{"op": "append", "label": "human", "text": "…"}, …], from a file or `-`. Ops and their
    keys: append (text), replace (old, new, every), remove (text, every), insert (line, text),
    rethink (text), create (description, value, limit, pinned, tags), delete, rename (new),
    describe (changes).
    """
    place = options.place(session)
    who = options.get_origin(reason, session)
    wanted = _wanted(label, given)
    if patch:
        if label or wanted:
            raise click.UsageError("--patch names its blocks and operations itself")
        wanted = read(patch)
    elif not label:
        raise click.UsageError("which block? memfs blocks lists them")
    if wanted:
        report(op.run(place, wanted, who, [expect] * len(wanted)))
    elif not sys.stdin.isatty() and not _has_editor():
        raise click.UsageError("no operation; to write the block from stdin: --set -")
    else:
        in_editor(place, label, who)


def _wanted(label: str, given: dict[str, object]) -> list[Edit]:
    every = bool(given["every"])
    wanted: list[Edit] = []
    if given["append"] is not None:
        wanted.append(Append(label, text_of(str(given["append"]))))
    pair = given["replace"]
    if isinstance(pair, tuple):
        wanted.append(Replace(label, text_of(pair[0]), text_of(pair[1]), every))
    if given["remove"] is not None:
        wanted.append(Remove(label, text_of(str(given["remove"])), every))
    pair = given["insert"]
    if isinstance(pair, tuple):
        wanted.append(Insert(label, _line(pair[0]), text_of(pair[1])))
    if given["rethink"] is not None:
        wanted.append(Rethink(label, text_of(str(given["rethink"]))))
    if len(wanted) > 1:
        raise click.UsageError("one operation at a time; --patch takes several, in order")
    changes = {key: given[name] for name, key in _KEYS.items() if given[name] is not None}
    if changes:
        wanted.append(Describe(label, changes))
    return wanted


def _line(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise click.UsageError(f"{text!r} is not a line number") from error


def _has_editor() -> bool:
    """Tell whether the user named an editor: scripts may, and then it need not be a terminal."""
    return bool(os.environ.get("VISUAL") or os.environ.get("EDITOR"))
