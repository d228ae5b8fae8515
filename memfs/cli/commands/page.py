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
    "summarise": "shortened (full text in archive)",
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
    help="Page out the least useful parts until this percentage of the block's limit is free.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Page out everything except headings and code."
)
@click.option(
    "--dry-run",
    "dry",
    is_flag=True,
    help="Show the parts and their destinations without writing anything.",
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

    Each part gets a score for its closeness to the task, mentions in recent prompts, importance and
    age. Important parts move to the archive. Long parts move there too, and are shortened in the
    block. Passing notes are deleted. To restore all parts: memfs page in LABEL. To take back only
    the last step: memfs undo LABEL.
    """
    place, origin = options.place(session), options.get_origin(reason, session)
    done = op.page_out(place, label, origin, free=1e9 if everything else (free or 0) / 100, **how)
    if as_json:
        console.as_json(_build_record(done))
        return
    if not done.gone:
        console.talk(
            f"every part of '{done.label}' is relevant to the current task, "
            "so nothing was paged out"
        )
        return
    rows = [("RELEVANCE", "WORTH", "", "PART")]
    for each in done.gone:
        text = " ".join(each.part.text.split())[:_SHOWN]
        rows.append((f"{each.relevance:.2f}", f"{each.worth:.2f}", _FATES[each.fate], text))
    console.echo(layout.table(rows, right=(0, 1)))
    parts = format_count(len(done.gone), "part")
    if how["dry"]:
        console.talk(f"{parts} of '{done.label}' would be paged out; no file was written")
        return
    console.print_done(
        f"{parts} paged out of '{done.label}'; to restore them: memfs page in {done.label}"
    )
    format_remainder(done.note)


@command.command("in")
@click.argument("label", type=LABEL)
@options.reason_option
@options.session_option
def page_in_command(label: str, reason: str, session: str) -> None:
    """Restore the paged out parts of a block.

    A block that has not changed since is restored byte for byte. Otherwise the parts are merged
    into the block. Without enough room, they are shortened.
    """
    done = op.page_in(options.place(session), label, options.get_origin(reason, session))
    if done.shortened:
        console.print_done(
            f"restored only a summary in '{done.label}': there is not enough room for all parts"
        )
        console.talk("to restore the rest, shorten the block, then run the command again")
    else:
        console.print_done(f"restored all paged-out parts of '{done.label}'")
    format_remainder(done.note)


def _build_record(done: PagedOut) -> dict[str, object]:
    keys = ("fate", "relevance", "worth", "importance", "tokens")
    parts = [
        {"text": each.part.text, **{key: getattr(each, key) for key in keys}} for each in done.gone
    ]
    return {"label": done.label, "passages": list(done.passages), "parts": parts}
