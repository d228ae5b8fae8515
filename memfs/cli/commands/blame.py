"""`memfs blame`."""

from __future__ import annotations

import click

from memfs.cli import console, layout, options
from memfs.cli.completion import LABEL
from memfs.cli.pager import paged
from memfs.cli.wording import format_age
from memfs.core.records import JournalEntry
from memfs.ops import history
from memfs.store.block_history import COMMIT

_EARLIER = ("-", "-", "before the history")


@click.command("blame")
@click.argument("label", type=LABEL)
@options.session_option
@options.json_option
@paged
def command(label: str, session: str, as_json: bool) -> None:
    """Show of each line of a block who wrote it, when, and in which version or commit."""
    lines = history.blame(options.place(session), label)
    if as_json:
        console.as_json(
            [
                {"line": number, "text": line.text, **_build_record(line.source)}
                for number, line in enumerate(lines, 1)
            ]
        )
        return
    rows = [("VERSION", "WHEN", "WHO", "", "TEXT")]
    for number, line in enumerate(lines, 1):
        version, when, who = _describe_source(line.source) if line.source else _EARLIER
        rows.append((version, when, who, str(number), line.text))
    if lines:
        console.echo(layout.table(rows, right=(0, 3)))
    else:
        console.talk("the block is empty")


def _describe_source(entry: JournalEntry) -> tuple[str, str, str]:
    version = entry.commit[:7] if entry.op == COMMIT else str(entry.version)
    return version, format_age(entry.at), options.format_author(entry)


def _build_record(entry: JournalEntry | None) -> dict[str, object]:
    if entry is None:
        return {"version": None, "commit": None, "at": None, "actor": None, "reason": None}
    return {
        "version": entry.version,
        "commit": entry.commit or None,
        "at": entry.at,
        "actor": entry.actor,
        "reason": entry.reason,
    }
