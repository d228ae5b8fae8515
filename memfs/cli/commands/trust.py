"""`memfs trust`."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from memfs.cli import console, options
from memfs.cli.diff import show
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
@click.option("--local", is_flag=True, help="Use the local/ again that was put aside: it is yours.")
@options.json_option
def command(yes: bool, revoke: bool, local: bool, as_json: bool) -> None:
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
        gone = op.revoke(place)
        console.done("hooks use nothing of it any more" if gone else "it was not trusted")
        return
    if local:
        _require_person()
        other = op.revert_changes(place)
        console.done(f"the other one is in {other}" if other else "nothing was put aside")
        return
    report = op.review_store(place)
    if as_json:
        console.as_json(_record(report))
    else:
        _show(report)
    if report.trusted and not report.changed:
        console.done(f"{report.root} is trusted, and others changed nothing since you looked")
        return
    _require_person()
    if not yes:
        click.confirm("Give this to your assistants?", abort=True, err=True)
    op.accept(place, report)
    console.done(f"{report.root} is trusted")


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
            _say(f"{label}, {change.what} by {change.author}{why}")
            show(change.diff)
        return
    rows = [("BLOCK", "CHARS", "IN THE PROMPT", "WRITTEN BY")]
    for looked in report.blocks:
        pinned = "whole" if looked.block.pinned else "its name"
        rows.append((looked.block.label, f"{looked.block.chars:,}", pinned, _who(looked)))
    if report.blocks:
        console.styled(console.table(rows, right=(1,)))
    else:
        console.talk("it holds no blocks")
    if report.passages:
        _say(f"{console.format_count(report.passages, 'passage')} may be recalled at a prompt")
    if report.sessions:
        _say(f"{console.format_count(report.sessions, 'session')} of recall may be, too")
    if report.facts or report.entries:
        entries = f"{report.entries:,} static entr{'y' if report.entries == 1 else 'ies'}"
        _say(
            f"{console.format_count(report.facts, 'fact')} and {entries} may be composed into "
            "a context"
        )
    settings = [line for line in report.config.splitlines() if line.strip()]
    if len(settings) > 1:
        _say("config.yaml says:")
        for line in settings[:_MOST_SETTINGS]:
            _say(f"  {line}")
        if len(settings) > _MOST_SETTINGS:
            _say(f"  and {len(settings) - _MOST_SETTINGS:,} more lines")
    for problem in report.problems:
        _say(f"! {problem}")
    if report.tracked:
        _say(
            f"! {console.format_count(report.tracked, 'file')} in local/ came with the repository: "
            "memfs never commits that folder"
        )
    _show_signs(report)
    console.talk("The text itself: memfs show, or memfs show LABEL")


def _say(text: str) -> None:
    """Print what may hold words of others: without control characters, into a pipe too."""
    console.styled(flatten_text(text))


def _show_signs(report: TrustReport) -> None:
    found = [(looked.block.label, sign) for looked in report.blocks for sign in looked.signs]
    found += report.elsewhere
    for label, sign in found[:_MOST_SIGNS]:
        mark = console.style("!", "yellow")
        quoted = f": {console.shorten(sign.text, 60)}" if sign.text else ""
        console.styled(f"{mark} {flatten_text(label)}:{sign.line} {sign.what}{quoted}")
    if len(found) > _MOST_SIGNS:
        _say(f"! and {len(found) - _MOST_SIGNS:,} more lines to look at")


def _who(looked: BlockReview) -> str:
    if not looked.authors:
        return "not committed"
    first, *others = [author.partition(" <")[0] for author in looked.authors]
    return console.shorten(first, 30) + (f" and {len(others)} more" if others else "")


def _record(report: TrustReport) -> dict[str, object]:
    found = asdict(replace(report, found=None))
    del found["found"]
    found["elsewhere"] = [{"file": name, **sign._asdict()} for name, sign in report.elsewhere]
    found["blocks"] = [
        {
            "label": looked.block.label,
            "chars": looked.block.chars,
            "pinned": looked.block.pinned,
            "authors": list(looked.authors),
            "signs": [sign._asdict() for sign in looked.signs],
        }
        for looked in report.blocks
    ]
    return found
