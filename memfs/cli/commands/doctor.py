"""`memfs doctor`."""

from __future__ import annotations

from dataclasses import asdict

import click

from memfs.cli import context, screen
from memfs.core.quoting import plain
from memfs.ops import doctor as op

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "error": ("✗", "red")}


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Resolve merge conflicts in blocks, with a backup.")
@context.json_option
def command(fix: bool, as_json: bool) -> None:
    """Check stores, blocks, journal and hooks; say what is wrong, where, and what to do.

    Exit code 1 if there is an error.
    """
    place = context.place()
    found = [*(op.fix(place) if fix else ()), *op.run(place, context.home())]
    if as_json:
        screen.as_json([asdict(finding) for finding in found])
    else:
        for finding in found:
            mark, colour = _MARKS[finding.level]
            screen.styled(f"{screen.style(mark, colour)} {plain(finding.text)}")
            if finding.hint:
                screen.styled(f"  → {plain(finding.hint)}")
    if any(finding.level == "error" for finding in found):
        screen.refuse()
