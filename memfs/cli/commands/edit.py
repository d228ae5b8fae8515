"""`memfs edit`."""

from __future__ import annotations

import json

import click

from memfs.cli import context, screen
from memfs.cli.edits import report, text_of
from memfs.core import edits
from memfs.core.edits import Append, Describe, Edit, Insert, Remove, Replace, Rethink
from memfs.core.errors import USAGE, MemfsError
from memfs.ops import edit as op
from memfs.ops import show

_PATCH = {
    "append": Append, "replace": Replace, "remove": Remove, "insert": Insert, "rethink": Rethink,
    "create": edits.Create, "delete": edits.Delete, "rename": edits.Rename,
    "describe": Describe,
}  # fmt: skip


@click.command("edit")
@click.argument("label", required=False, default="", type=context.Label())
@click.option("--append", metavar="TEXT", help="Add TEXT on a new line at the end.")
@click.option("--replace", nargs=2, metavar="OLD NEW", help="Replace OLD, which must occur once.")
@click.option("--remove", metavar="TEXT", help="Remove TEXT, which must occur once.")
@click.option("--insert", nargs=2, metavar="LINE TEXT", help="Insert TEXT after LINE (0: first).")
@click.option("--set", "rethink", metavar="TEXT", help="Write the whole body.")
@click.option("--all", "every", is_flag=True, help="With --replace, --remove: every occurrence.")
@click.option("--description", metavar="TEXT", help="Say what belongs into the block.")
@click.option("--limit", type=click.IntRange(1), help="Characters at most.")
@click.option("--pin/--unpin", default=None, help="Show it in the brief, or only its name.")
@click.option("--priority", type=int, help="Order and survival under a budget; higher first.")
@click.option("--patch", metavar="FILE", help="Several edits from a JSON list: all or nothing.")
@click.option("--expect", type=int, metavar="VERSION", help="Refuse if it is at another version.")
@context.reason_option
@context.session_option
def command(label: str, patch: str | None, expect: int | None, reason: str, session: str,
            **given: object) -> None:  # fmt: skip
    """Edit a block; with no operation, in your editor.

    A TEXT of `-` is read from stdin. --patch takes [{"op": "append", "label": "human", "text":
    "…"}, …] from a file or `-`.
    """
    place = context.place(session)
    who = context.origin(reason, session)
    if patch:
        wanted = _patch(patch)
    elif not label:
        raise click.UsageError("which block? memfs blocks lists them")
    else:
        wanted = _wanted(label, given)
    if not wanted:
        block = show.run(place, label).block
        text = click.edit(block.value + "\n" if block.value else "", extension=".md")
        if text is None:
            screen.done(f"{block.label} is as it was")
            return
        wanted = [Rethink(label, text)]
    report(op.run(place, wanted, who, expect))


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
    keys = {"description": "description", "limit": "limit", "pin": "pinned", "priority": "priority"}
    changes = {key: given[name] for name, key in keys.items() if given[name] is not None}
    if changes:
        wanted.append(Describe(label, changes))
    return wanted


def _line(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise click.UsageError(f"{text!r} is not a line number") from error


def _patch(path: str) -> list[Edit]:
    try:
        with click.open_file(path, encoding="utf-8") as handle:
            found = json.load(handle)
        return [_PATCH[item.pop("op")](**item) for item in found]
    except FileNotFoundError as error:
        raise MemfsError(f"there is no file {path}", "", USAGE) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise MemfsError(
            f"{path} is not a patch: {type(error).__name__}: {error}",
            'a JSON list: [{"op": "append", "label": "human", "text": "…"}]', USAGE,
        ) from error  # fmt: skip
