"""`memfs doctor`."""

import sys
from dataclasses import asdict, replace

import click

from memfs.cli import console, options
from memfs.cli.edit_output import format_remainder
from memfs.cli.progress import stoppable_stages
from memfs.core.errors import MemfsError
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count
from memfs.ops import doctor as op
from memfs.ops import purge as purge_op
from memfs.ops.purge import SecretScan, StoredSecret
from memfs.store.blocks import Place

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "error": ("✗", "red")}
_COMMITS = 20  # named at most


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Repair files; copies of the old files are kept.")
@click.option("--secrets", is_flag=True, help="Search for secrets in all stored texts, and in git.")
@click.option(
    "--purge", is_flag=True, help="With --secrets: redact the secrets found, permanently."
)
@click.option("-y", "--yes", is_flag=True, help="With --purge: do not ask for confirmation.")
@options.json_option
def command(fix: bool, secrets: bool, purge: bool, yes: bool, as_json: bool) -> None:
    """Check stores, blocks, journal and hooks; list problems, where they are and how to fix them.

    With --secrets: search blocks, archive, history, recall, sessions and logs, and print PATH:LINE
    TYPE with the first characters of each secret. --purge redacts the secrets, also in read-only
    blocks and in the history, so that no undo restores them. It keeps no copy. Exit code 1 if there
    is an error, or a secret is left.
    """
    if (purge or yes) and not secrets:
        raise click.UsageError("--purge and --yes need --secrets")
    if fix and secrets:
        raise click.UsageError("use --fix or --secrets, not both")
    place = options.place(untrusted=True)
    if secrets:
        _run_scan(place, purge=purge, yes=yes, as_json=as_json)
        return
    home = options.home()
    content = not options.hides_content(place)
    fixed = op.fix(place, home) if fix and content else []
    found = [*fixed, *op.run(place, home, content=content)]
    if as_json:
        console.as_json([asdict(finding) for finding in found])
    else:
        for finding in found:
            mark, colour = _MARKS[finding.level]
            console.echo(f"{console.style(mark, colour)} {flatten_text(finding.text)}")
            if finding.hint:
                console.echo(f"  → {flatten_text(finding.hint)}")
    if any(finding.level == "error" for finding in found):
        console.refuse()


def _run_scan(place: Place, *, purge: bool, yes: bool, as_json: bool) -> None:
    with stoppable_stages(lambda: "no file was changed; run the command again") as stage:
        scan = purge_op.find(place, options.home(), stage)
    own = sum(found.ours for found in scan.found)
    if not as_json:
        _print_secrets(scan)
    done: tuple[StoredSecret, ...] = ()
    if purge and own:
        if not yes:
            _ask(own)
        purged = purge_op.run(place)
        done, scan = purged.done, replace(scan, found=purged.left)
        format_remainder(purged.note)
    if as_json:
        console.as_json({**asdict(scan), "purged": [asdict(found) for found in done]})
    else:
        _print_summary(scan, len(done), purge=purge)
    if scan.found:
        console.refuse()


def _print_secrets(scan: SecretScan) -> None:
    for found in scan.found:
        console.data(flatten_text(f"{found.path}:{found.line} {found.type} {found.masked}"))


def _ask(count: int) -> None:
    if not sys.stdin.isatty():
        raise MemfsError("redacting secrets needs your confirmation", "add --yes to confirm")
    what = format_count(count, "secret")
    click.confirm(f"Redact {what}, also in the history? No copy is kept.", abort=True, err=True)


def _print_summary(scan: SecretScan, purged: int, *, purge: bool) -> None:
    others = [found for found in scan.found if not found.ours]
    if purged:
        console.print_done(f"{format_count(purged, 'place')} redacted; rotate these secrets anyway")
    if purge and others:
        where = format_count(len(others), "place")
        console.talk(f"! not redacted in {where}: these files belong to other programs or projects")
    if not scan.found and not purged:
        console.print_done("no secrets found")
    elif scan.found and not purge:
        console.talk("→ rotate these secrets, then run: memfs doctor --secrets --purge")
    for each in scan.commits[:_COMMITS]:
        console.talk(f"! git: commit {each.commit[:10]} {each.path} {each.type} {each.masked}")
    if scan.commits:
        more = len(scan.commits) - _COMMITS
        console.talk(
            (f"  and {more:,} more. " if more > 0 else "  ")
            + "git and every clone still contain these secrets: rotate them, then remove "
            "them from the history with git filter-repo"
        )
    for name in scan.unread:
        console.talk(f"! not searched, or only in part: {name}")
    for folder in scan.transcripts if scan.found or purged else ():
        console.talk(f"! not searched: the assistant's own transcripts in {folder}")
