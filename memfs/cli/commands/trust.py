"""`memfs trust`."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from memfs.cli import console, layout, options
from memfs.cli.diff import show
from memfs.core.counts import format_count
from memfs.core.errors import RejectedError
from memfs.core.escaping import flatten_text
from memfs.ops import trust as op

if TYPE_CHECKING:
    from memfs.ops.trust import BlockReview, TrustReport

_MOST_SIGNS = 20
_MOST_SETTINGS = 200  # lines


@click.command("trust")
@click.option("-y", "--yes", is_flag=True, help="Do not ask, at a terminal all the same.")
@click.option("--revoke", is_flag=True, help="Trust it no more: hooks use nothing of it.")
@click.option(
    "--local",
    is_flag=False,
    flag_value="",
    metavar="[DIR]",
    help="Use a local/ that memfs did not make for you: it is yours all the same.",
)
@options.json_option
def command(yes: bool, revoke: bool, local: str | None, as_json: bool) -> None:
    """Look at a project's memory that came with a clone, and let assistants be given it.

    Until then hooks use nothing of it. Shown are the blocks with their sizes and authors, and
    what in them looks as if it was written to steer an assistant; of a store that is trusted
    already, what others changed. What is accepted is what was shown.

    It is for a person to decide, so it wants a terminal, and no assistant's. That proves that no
    assistant or script did it in passing. It is no lock: a program that runs as you, an assistant
    with a shell for one, can open a terminal of its own.
    """
    place = options.place(untrusted=True)
    if revoke:
        revoked = op.revoke(place)
        console.print_done("hooks use nothing of it any more" if revoked else "it was not trusted")
        return
    if local is not None:
        _require_person()
        other = op.adopt_local(place, local)
        console.print_done(
            f"it is used now; the one until now is {other}"
            if other
            else "there is no local folder but the one in use"
        )
        return
    report = op.review_store(place)
    if as_json:
        console.as_json(_build_record(report))
    else:
        _show(report)
    if report.trusted and not report.changed:
        console.print_done(f"{report.root} is trusted, and others changed nothing since you looked")
        return
    _require_person()
    if not yes:
        click.confirm("Give this to your assistants?", abort=True, err=True)
    op.accept(place, report)
    console.print_done(f"{report.root} is trusted")


def _require_person() -> None:
    """Raise `RejectedError` in the shell of an assistant, and where there is no terminal."""
    if options.get_origin().actor == "agent":
        raise RejectedError(
            "an assistant cannot trust a store", "run memfs trust in a terminal of your own"
        )
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise RejectedError(
            "nothing was decided: a person decides it, at a terminal",
            "run memfs trust in a terminal of your own",
        )


def _show(report: TrustReport) -> None:
    if report.trusted:
        for change in report.changed:
            why = f": {change.why}" if change.why else ""
            label = change.key.partition(":")[2]
            _echo(f"{label}, {change.what} by {change.author}{why}")
            show(change.diff)
        return
    rows = [("BLOCK", "CHARS", "IN THE PROMPT", "WRITTEN BY")]
    for review in report.blocks:
        pinned = "whole" if review.block.pinned else "its name"
        rows.append((review.block.label, f"{review.block.chars:,}", pinned, _name_authors(review)))
    if report.blocks:
        console.echo(layout.table(rows, right=(1,)))
    else:
        console.talk("it holds no blocks")
    if report.passages:
        _echo(f"{format_count(report.passages, 'passage')} may be recalled at a prompt")
    if report.sessions:
        _echo(f"{format_count(report.sessions, 'session')} of recall may be, too")
    if report.facts or report.entries:
        entries = f"{report.entries:,} static entr{'y' if report.entries == 1 else 'ies'}"
        _echo(f"{format_count(report.facts, 'fact')} and {entries} may be composed into a context")
    settings = [line for line in report.config.splitlines() if line.strip()]
    if len(settings) > 1:
        _echo("config.yaml says:")
        for line in settings[:_MOST_SETTINGS]:
            console.echo(layout.wrap(line, 2))
        if len(settings) > _MOST_SETTINGS:
            _echo(f"  and {len(settings) - _MOST_SETTINGS:,} more lines")
    for problem in report.problems:
        _echo(f"! {problem}")
    if report.tracked:
        _echo(
            f"! {format_count(report.tracked, 'file')} in local/ came with the repository: "
            "memfs never commits that folder"
        )
    _show_signs(report)
    console.talk("The text itself: memfs show, or memfs show LABEL")


def _echo(text: str) -> None:
    """Print a line that others may have written: without control characters, into a pipe too."""
    console.echo(flatten_text(text))


def _show_signs(report: TrustReport) -> None:
    found = [(review.block.label, sign) for review in report.blocks for sign in review.signs]
    found += report.elsewhere
    for label, sign in found[:_MOST_SIGNS]:
        mark = console.style("!", "yellow")
        quoted = f": {layout.shorten(sign.text, 60)}" if sign.text else ""
        console.echo(f"{mark} {flatten_text(label)}:{sign.line} {sign.what}{quoted}")
    if len(found) > _MOST_SIGNS:
        _echo(f"! and {len(found) - _MOST_SIGNS:,} more lines to look at")


def _name_authors(review: BlockReview) -> str:
    if not review.authors:
        return "not committed"
    first, *others = [author.partition(" <")[0] for author in review.authors]
    return layout.shorten(first, 30) + (f" and {len(others)} more" if others else "")


def _build_record(report: TrustReport) -> dict[str, object]:
    found = asdict(replace(report, found=None))
    del found["found"]
    found["elsewhere"] = [{"file": name, **sign._asdict()} for name, sign in report.elsewhere]
    found["blocks"] = [
        {
            "label": review.block.label,
            "chars": review.block.chars,
            "pinned": review.block.pinned,
            "authors": list(review.authors),
            "signs": [sign._asdict() for sign in review.signs],
        }
        for review in report.blocks
    ]
    return found
