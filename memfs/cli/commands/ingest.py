"""`memfs ingest`."""

from collections import Counter
from dataclasses import asdict

import click

from memfs.cli import console, options
from memfs.cli.layout import shorten_path
from memfs.cli.progress import stoppable_stages
from memfs.core import label as labels
from memfs.core.errors import UsageError
from memfs.core.formats import format_count
from memfs.ingest.routing import UnroutedSession
from memfs.ingest.transcripts import FORGOTTEN, Tally
from memfs.ops import ingest as op

_GO_ON = "run memfs ingest again to continue"
_MAX_NAMED = 5  # files, and folders without a store, that are named


@click.command("ingest")
@click.argument("paths", nargs=-1, type=click.Path())
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Read all sessions on this machine, each into the store of its project.",
)
@click.option(
    "--dry-run", is_flag=True, help="List the files that would be read, without reading them."
)
@options.json_option
def command(paths: tuple[str, ...], everything: bool, dry_run: bool, as_json: bool) -> None:
    """Read transcripts into recall: files, folders, or (without PATHS) all from this project.

    Without PATHS it also reads the project's commits. It reads each message exactly once: you can
    stop it at any time and run it again. It recognises formats by content, not by name. With --all,
    sessions from folders without a store go into your own store.
    """
    if everything and paths:
        raise UsageError(
            "--all cannot be combined with PATHS",
            "run memfs ingest PATHS to read files and folders into this folder's store",
        )
    if dry_run and everything:
        batches, left = op.plan_everything(options.home())
        _print_plans({each.place.home.root: list(each.sessions) for each in batches}, as_json)
        _print_unrouted(left)
        return
    if everything:
        _ingest_all(as_json)
        return
    place = options.find_target(user=dry_run)
    planned = op.plan(place, list(paths), options.home())
    if dry_run:
        _print_plans({place.home.root: planned.paths}, as_json)
        return
    tally = Tally()
    with stoppable_stages(lambda: _describe_stop(tally), ("reading",)) as stage:
        op.run(place, planned, stage, tally)
    if as_json:
        console.as_json(_build_record(tally))
        return
    if tally.commits:
        console.print_done(f"{format_count(tally.commits, 'commit')} from this project")
    if not tally.files and not tally.messages:
        where = "in these paths" if paths else f"for {shorten_path(place.home.top)}"
        console.talk(f"no transcripts found {where}")
        if not paths:
            console.talk("to read the transcripts of all projects, run: memfs ingest --all")
        return
    _print_totals(tally)
    _print_skipped(tally)


def _describe_stop(tally: Tally) -> str:
    count = format_count(tally.sessions, "session")
    return f"{count} read; {_GO_ON}"


def _ingest_all(as_json: bool) -> None:
    done = op.MachineIngest()
    with stoppable_stages(lambda: _describe_stop(done.total), ("reading",)) as stage:
        op.ingest_everything(options.home(), stage, done)
    if any(each.problem for each in done.stores):
        console.refuse()
    if as_json:
        stores = [
            {
                "store": each.store.root,
                **_build_record(each.tally),
                "problem": each.problem,
                "hint": each.hint,
            }
            for each in done.stores
        ]
        left = [asdict(each) for each in done.left]
        console.as_json({**_build_record(done.total), "stores": stores, "no_store": left})
        return
    if not done.total.files:
        console.talk("no assistant transcripts found on this machine")
        return
    problem = any(each.problem for each in done.stores)
    _print_totals(done.total, is_whole=not (problem or done.left))
    for each in done.stores:
        own = " (sessions from folders without a store)" if each.store.tier == labels.USER else ""
        folder = each.store.root if own else each.store.top
        console.talk(f"  {shorten_path(folder)}: {_format_counts(each.tally)}{own}")
        if each.problem:
            console.error(f"not all sessions were read: {each.problem}", each.hint)
    _print_unrouted(done.left)
    _print_skipped(done.total)


def _print_plans(plans: dict[str, list[str]], as_json: bool) -> None:
    if as_json:
        console.as_json([{"store": top, "files": paths} for top, paths in plans.items()])
        return
    for top, paths in plans.items():
        if paths:
            count = format_count(len(paths), "file")
            console.talk(f"{shorten_path(top)}: new messages from {count} would be read")
        _print_paths(paths)
    if not any(plans.values()):
        console.talk("no transcripts found")


def _print_unrouted(left: list[UnroutedSession]) -> None:
    for reason, hint in dict.fromkeys((each.reason, each.hint) for each in left):
        some = [each for each in left if (each.reason, each.hint) == (reason, hint)]
        number = format_count(sum(each.sessions for each in some), "session")
        console.talk(f"  {number} left out: {reason}; {hint}")
        _print_paths([each.folder for each in some if each.folder])


def _print_totals(tally: Tally, *, is_whole: bool = True) -> None:
    """Print what was read, with a ✓ if nothing was left out against your will."""
    counts = f"{_format_counts(tally)}, from {format_count(tally.files, 'file')}"
    unread = any(reason != FORGOTTEN for _, reason in tally.skipped or [])
    if is_whole and not (tally.malformed or unread):
        console.print_done(counts)
    else:
        console.talk(f"! {counts}")


def _format_counts(tally: Tally) -> str:
    messages = format_count(tally.messages, "new message")
    return f"{messages} in {format_count(tally.sessions, 'session')}"


def _print_skipped(tally: Tally) -> None:
    if tally.unplaced:
        files = format_count(len(tally.unplaced), "file")
        console.talk(f"  {files} with sessions that name no folder: read into your own store")
        _print_paths(tally.unplaced)
    if tally.malformed:
        console.talk(f"  {format_count(tally.malformed, 'malformed line')} skipped")
    skipped = tally.skipped or []
    for reason, number in Counter(reason for _, reason in skipped).most_common():
        console.talk(f"  {format_count(number, 'file')} skipped: {reason}")
        _print_paths([path for path, why in skipped if why == reason])


def _print_paths(paths: list[str]) -> None:
    for path in paths[:_MAX_NAMED]:
        console.talk(f"    {shorten_path(path)}")
    if paths[_MAX_NAMED:]:
        console.talk(f"    … and {len(paths) - _MAX_NAMED:,} more; --json lists all")


def _build_record(tally: Tally) -> dict[str, object]:
    found = {**asdict(tally), "skipped": tally.skipped or []}
    del found["logs"]
    return found
