"""`memfs log`, `diff` and `blame`."""

from dataclasses import asdict

import click

from memfs.cli import console, layout, options
from memfs.cli.console import paged
from memfs.cli.layout import format_age
from memfs.cli.layout import print_diff as show
from memfs.cli.options import LABEL, split_version
from memfs.core.records import JournalEntry
from memfs.ops import history
from memfs.store import blocks
from memfs.store.block_history import COMMIT

_EARLIER = ("-", "-", "older than the history")


@click.command("log")
@click.argument("label", required=False, default="", type=LABEL)
@options.count_option(20, "Maximum number of edits to show.")
@click.option(
    "--since", metavar="DATE", help="Only edits since this day (2026-05-03, yesterday, 7d)."
)
@options.session_option
@options.json_option
@paged
def log_command(label: str, count: int, since: str | None, session: str, as_json: bool) -> None:
    """Show who changed a block, when and why, newest first; without LABEL, all blocks.

    Edits come from the journal, teammates' commits from git.
    """
    first = 0
    if since:
        from memfs.ops import search  # where a date is given

        first = search.parse_day(since, end=False)
    found = history.log(options.place(session), label, count, first)
    if as_json:
        console.as_json([asdict(entry) for entry in found])
        return
    git = any(entry.commit for entry in found)
    commit = ("COMMIT",) if git else ()
    head = ("VERSION", *commit, "WHEN", "WHO", "BLOCK", "WHAT", "CHARS", "WHY")
    rows = [head, *(_render_row(entry, git=git) for entry in found)]
    if found:
        chars, why = len(head) - 2, len(head) - 1
        drop = (chars, head.index("WHO"))
        console.echo(layout.table(rows, right=(0, chars), cut=why, drop=drop))
    else:
        console.talk("no edits found")


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


@click.command("diff")
@click.argument("label", type=LABEL)
@click.argument("old", required=False, default="")
@click.argument("new", required=False, default="")
@options.session_option
@options.json_option
@paged
def diff_command(label: str, old: str, new: str, session: str, as_json: bool) -> None:
    """Show the last change to a block, or the changes from OLD to NEW (without NEW: to now).

    OLD and NEW are versions or commit ids, as in memfs log. LABEL@OLD works too: LABEL@-1 is the
    version before the current one.
    """
    label, at = split_version(label)
    if at and new:
        raise click.UsageError(f"give one or two versions, not three: {at}, {old} and {new}")
    if at:
        old, new = at, old
    new = new.removeprefix(f"{label}@")
    found = history.diff(options.place(session), label, old, new)
    if as_json:
        console.as_json(asdict(found))
        return
    if not found.text:
        console.talk("no differences")
    show(found.text)


@click.command("blame")
@click.argument("label", type=LABEL)
@options.session_option
@options.json_option
@paged
def blame_command(label: str, session: str, as_json: bool) -> None:
    """Show who wrote each line of a block, when, and in which version or commit."""
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
