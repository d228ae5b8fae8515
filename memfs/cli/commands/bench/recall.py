"""`memfs bench recall`."""

from __future__ import annotations

from dataclasses import asdict

import click

from memfs.bench import recall as bench
from memfs.bench import scenarios
from memfs.cli import console, layout, options, progress


@click.command("recall")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE.json…")
@click.option("--no-service", is_flag=True, help="Without the service: by words alone.")
@options.json_option
def command(files: tuple[str, ...], no_service: bool, as_json: bool) -> None:
    """Measure how often the answer reaches the prompt: scenarios, end to end.

    Each file holds the past sessions of a project and prompts of later sessions, with what must
    reach them (memfs/bench/scenarios.py describes the form). The sessions are ingested, and each
    prompt goes through the hook. BRIEF and REPLY are mean sizes in UTF-16 units.
    """
    played = [scenarios.read(path) for path in files]
    with progress.show_stages() as stage:
        outcomes = bench.run(played, stage, service=not no_service)
    if as_json:
        console.as_json([asdict(outcome) for outcome in outcomes])
        return
    rows = [("KIND", "PROMPTS", "ANSWERED", "MISLED", "SILENT", "BRIEF", "REPLY", "TIME")]
    rows += [
        (
            row.kind,
            str(row.prompts),
            f"{row.answered / max(1, row.prompts):.0%}",
            str(row.misled),
            f"{row.silent / max(1, row.prompts):.0%}",
            f"{row.brief:,.0f}",
            f"{row.reply:,.0f}",
            f"{row.milliseconds:.1f} ms",
        )
        for row in bench.by_kind(outcomes)
    ]
    console.echo(layout.table(rows, right=tuple(range(1, 8))))
