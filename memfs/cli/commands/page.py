"""`memfs page`."""

from typing import Any

import click

from memfs.cli import console, layout, options
from memfs.cli.edit_output import format_remainder
from memfs.cli.group import CommandGroup
from memfs.cli.options import LABEL
from memfs.core.formats import format_count
from memfs.ops import page as op
from memfs.ops.page import PagedOut

_FATES = {
    "archive": "to the archive",
    "summarise": "shortened (whole in archive)",
    "discard": "deleted (still in the history)",
}
_SHOWN = 90  # characters of a part


@click.group("page", cls=CommandGroup)
def command() -> None:
    """Move parts of a block out of context, and back."""


@command.command("out")
@click.argument("label", type=LABEL)
@click.option(
    "--task",
    default="",
    metavar="TEXT",
    help="Your current task (default: the session's last prompts).",
)
@click.option(
    "--free",
    type=click.IntRange(1, 100),
    metavar="PERCENT",
    help="Free this share of the block's limit, the least useful parts first.",
)
@click.option("--all", "everything", is_flag=True, help="Move everything except headings and code.")
@click.option(
    "--dry-run",
    "dry",
    is_flag=True,
    help="Show the parts and their destinations, and write nothing.",
)
@options.reason_option
@options.session_option
@options.json_option
def page_out_command(
    label: str,
    free: int | None,
    everything: bool,
    reason: str,
    session: str,
    as_json: bool,
    **how: Any,
) -> None:
    """Move parts that the current task does not need out of a block.

    Each part gets a score: its closeness to the task, mentions in recent prompts, how important it
    sounds, how new it is. Important parts go to the archive. Long parts go there too, and are
    shortened in the block. Passing notes are dropped. memfs page in LABEL brings all of it back,
    memfs undo takes the last step back.
    """
    place, origin = options.place(session), options.get_origin(reason, session)
    done = op.page_out(place, label, origin, free=1e9 if everything else (free or 0) / 100, **how)
    if as_json:
        console.as_json(_build_record(done))
        return
    if not done.gone:
        console.talk(f"every part of '{done.label}' is about the task; the block is unchanged")
        return
    rows = [("RELEVANCE", "WORTH", "", "PART")]
    for each in done.gone:
        text = " ".join(each.part.text.split())[:_SHOWN]
        rows.append((f"{each.relevance:.2f}", f"{each.worth:.2f}", _FATES[each.fate], text))
    console.echo(layout.table(rows, right=(0, 1)))
    parts = format_count(len(done.gone), "part")
    if how["dry"]:
        console.talk(f"{parts} of '{done.label}' would be moved; no file was written")
        return
    console.print_done(
        f"{parts} paged out of '{done.label}'; to restore: memfs page in {done.label}"
    )
    format_remainder(done.note)


@command.command("in")
@click.argument("label", type=LABEL)
@options.reason_option
@options.session_option
def page_in_command(label: str, reason: str, session: str) -> None:
    """Bring paged out parts back into a block.

    A block that did not change meanwhile gets the same bytes as before. Otherwise the parts are
    merged into it. Without enough room, they come back shortened.
    """
    done = op.page_in(options.place(session), label, options.get_origin(reason, session))
    if done.shortened:
        console.print_done(f"restored a summary in '{done.label}': there is no room for all parts")
        console.talk("to restore the rest, make room and run the command again")
    else:
        console.print_done(f"restored the parts of '{done.label}'")
    format_remainder(done.note)


def _build_record(done: PagedOut) -> dict[str, object]:
    keys = ("fate", "relevance", "worth", "importance", "tokens")
    parts = [
        {"text": each.part.text, **{key: getattr(each, key) for key in keys}} for each in done.gone
    ]
    return {"label": done.label, "passages": list(done.passages), "parts": parts}
