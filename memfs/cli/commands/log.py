"""`memfs log`."""

from __future__ import annotations

from dataclasses import asdict

import click

from memfs.cli import console, layout, options
from memfs.cli.completion import LABEL
from memfs.cli.pager import paged
from memfs.cli.wording import format_age
from memfs.core.records import JournalEntry
from memfs.ops import history
from memfs.store import blocks


@click.command("log")
@click.argument("label", required=False, default="", type=LABEL)
@options.count_option(20, "Edits shown at most.")
@options.session_option
@options.json_option
@paged
def command(label: str, count: int, session: str, as_json: bool) -> None:
    """Show who changed a block when and why, newest first; without LABEL, all blocks.

    Edits are from the journal; what teammates committed is from git.
    """
    found = history.log(options.place(session), label, count)
    if as_json:
        console.as_json([asdict(entry) for entry in found])
        return
    git = any(entry.commit for entry in found)
    commit = ("COMMIT",) if git else ()
    head = ("VERSION", *commit, "WHEN", "WHO", "BLOCK", "WHAT", "CHARS", "WHY")
    rows = [head, *(_render_row(entry, git=git) for entry in found)]
    if found:
        console.echo(layout.table(rows, right=(0, len(head) - 2), cut=len(head) - 1))
    else:
        console.talk("no edits yet")


def _render_row(entry: JournalEntry, *, git: bool) -> tuple[str, ...]:
    commit = (entry.commit[:7] or "-",) if git else ()
    return (
        str(entry.version or "-"),
        *commit,
        format_age(entry.at),
        options.format_author(entry),
        f"{entry.tier}:{entry.label}",
        entry.op,
        _format_growth(entry),
        entry.reason,
    )


def _format_growth(entry: JournalEntry) -> str:
    before, after = _count_chars(entry, entry.before), _count_chars(entry, entry.after)
    return f"{after - before:+,}" if after != before else "0"


def _count_chars(entry: JournalEntry, text: str | None) -> int:
    return 0 if text is None else blocks.make(entry.tier, entry.label, "", text).chars
