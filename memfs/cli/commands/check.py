"""`memfs check`."""

import os
from dataclasses import asdict

import click

from memfs import hosts
from memfs.cli import console, options
from memfs.core.errors import RejectedError, StoreError
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count
from memfs.ops import check as op
from memfs.ops.check import CheckFinding
from memfs.store.blocks import Place


@click.command("check")
@click.argument("files", nargs=-1, type=click.Path(dir_okay=False))
@click.option(
    "--changed",
    default="",
    metavar="BASE",
    help="Report only problems caused by commits after BASE, such as origin/main.",
)
@options.json_option
def command(files: tuple[str, ...], changed: str, as_json: bool) -> None:
    """Check the memory against the project: files, functions, scripts, versions.

    It checks the project's blocks, static entries, passages and facts, or FILES such as AGENTS.md.
    It reports names that were removed or moved since an earlier commit, contradictions to a
    manifest such as pyproject.toml, and texts past their `review_after` or `expires_at` date. It
    does not report uncertain names, and does not change files.

    Exit code 1 if it reports a problem.
    """
    try:
        place = options.place(untrusted=True)
    except StoreError:
        if not files:
            raise
        place = Place(None, None)  # files can be checked without a memory
    if options.hides_content(place) and hosts.find_running_session(os.environ)[1]:
        raise RejectedError(
            "this project's memory came with the clone, and is not trusted yet",
            "ask the user to run memfs trust",
        )
    try:
        report = op.run(place, files, changed)
    except TimeoutError as error:
        raise StoreError("git took too long to read the history", "try again") from error
    if as_json:
        console.as_json({**asdict(report)})
    else:
        for finding in report.findings:
            _print_finding(finding)
        if report.shallow:
            console.talk(
                "! this clone is shallow, so memfs cannot find removed names. Run git fetch "
                "--unshallow; in a GitHub workflow, set fetch-depth: 0 for actions/checkout"
            )
        looked = f"{format_count(report.anchors, 'name')} in {format_count(report.texts, 'text')}"
        if not report.findings:
            console.print_done(f"{looked} checked: no problems found")
        else:
            console.talk(f"{format_count(len(report.findings), 'problem')} found; {looked} checked")
    if report.findings:
        console.refuse()


def _print_finding(finding: CheckFinding) -> None:
    line = f":{finding.line}" if finding.line else f" {finding.label[:8]}"
    console.data(
        flatten_text(f"{finding.path}{line} {finding.state} {finding.kind}: {finding.said}")
    )
    why = finding.explain()
    if why:
        console.data(f"  {flatten_text(why)}")
    if finding.mend:
        console.data(f"  → {flatten_text(finding.mend)}")
