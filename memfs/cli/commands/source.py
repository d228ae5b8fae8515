"""`memfs source`."""

from typing import Any

import click

from memfs.cli import console, layout, options
from memfs.cli.console import paged
from memfs.cli.edit_output import format_remainder
from memfs.cli.group import CommandGroup
from memfs.cli.layout import format_age, shorten_path
from memfs.cli.options import CompletedType
from memfs.cli.progress import stoppable_stages
from memfs.core import settings
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count
from memfs.ops import source as op
from memfs.ops.source import ListedSource, SourceState

_NAME = CompletedType(
    "name", lambda place, _: [each.source.name for each in op.list_sources(place)[0]]
)
_SHOWN = 5  # files that are left out for a reason
_GO_ON = "run memfs source sync to continue"


@click.group("source", cls=CommandGroup)
def command() -> None:
    """Include folders and files outside the memory in searches: documentation, notes, code."""


@command.command("add")
@click.argument("name")
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
@click.option(
    "--glob",
    "globs",
    multiple=True,
    metavar="GLOB",
    help="Only files that match GLOB, such as '*.md'.",
)
@click.option(
    "--exclude",
    "excludes",
    multiple=True,
    metavar="GLOB",
    help="Leave out files that match GLOB, such as 'drafts/'.",
)
@options.number_option(
    "--chunk-size",
    help=f"Maximum number of characters in a chunk (default: {settings.DEFAULT_CHUNK_SIZE}).",
)
@options.number_option(
    "--overlap",
    help="Number of characters that a chunk repeats from the previous chunk "
    f"(default: {settings.DEFAULT_OVERLAP}).",
    least=0,
)
@click.option(
    "--user", is_flag=True, help="Add the source to your own configuration, for all projects."
)
@options.json_option
def add(name: str, paths: tuple[str, ...], user: bool, as_json: bool, **given: Any) -> None:
    """Include PATHs in searches, as the source NAME. Files are indexed, not copied.

    The source goes into the project's configuration, which others share, so PATHs must be in the
    project. With --user they can be anywhere. Files that .gitignore or .memfsignore lists are left
    out, and so are hidden, binary and large files, and files that contain a secret.
    """
    place = options.find_target(user=user)
    with stoppable_stages(lambda: f"the source was added; {_GO_ON}") as stage:
        done = op.add(place, name, paths, options.get_origin(), stage, user=user, **given)
    if as_json:
        console.as_json({"name": done.name, "path": done.path, "index": _build_index(done.state)})
        return
    console.print_done(f"added the source '{done.name}' to {shorten_path(done.path)}")
    if done.state:
        _print_state(done.name, done.state)
    else:
        console.talk("the source is not indexed until you trust the store: run memfs trust")
    format_remainder(done.note)


@command.command("list")
@options.json_option
@paged
def list_(as_json: bool) -> None:
    """List the project's sources and your own, and the refused ones."""
    found, refused = op.list_sources(options.place())
    if as_json:
        console.as_json({"sources": [_build_record(each) for each in found], "refused": refused})
        return
    if not found and not refused:
        console.talk("no sources; memfs source add NAME PATH adds a folder to searches")
    rows = [("NAME", "TIER", "FILES", "CHUNKS", "LEFT OUT", "PATHS")]
    for each in found:
        state = each.state
        counts = ("-", "-", "-")
        if state:
            counts = (f"{state.files:,}", f"{state.chunks:,}", f"{sum(state.left.values()):,}")
        paths = ", ".join(map(shorten_path, each.source.paths))
        rows.append((each.source.name, each.source.tier, *counts, paths))
    if found:
        console.echo(layout.table(rows, right=(2, 3, 4), cut=5))
    if any(each.state is None for each in found):
        console.talk("'-' means not indexed yet; to index, run memfs source sync")
    for reason in refused:
        console.talk(f"! {reason}")


@command.command("show")
@click.argument("name", type=_NAME)
@options.json_option
@paged
def show(name: str, as_json: bool) -> None:
    """Show a source: indexed files, and files left out, by reason."""
    found = op.find_source(options.place(), name)
    if as_json:
        console.as_json(_build_record(found))
        return
    for label, value in _list_facts(found):
        console.echo(f"{console.style(f'{label:<10}', 'bright_black')} {flatten_text(value)}")
    state = found.state
    if state is None:
        console.talk(f"the source '{name}' is not indexed yet: run memfs source sync {name}")
        return
    for reason, count in sorted(state.left.items(), key=lambda each: -each[1]):
        console.echo(f"{console.style('left out', 'bright_black')}   {count:,}: {reason}")
        named = [path for path, why in state.named if why == reason]
        for path in named[:_SHOWN]:
            console.echo(layout.wrap(flatten_text(path), 13))
        if len(named) > _SHOWN:
            console.talk(
                f"             … {count - _SHOWN:,} more; to list {len(named):,}, add --json"
            )
    for path in state.missing:
        console.talk(f"! {shorten_path(path)} does not exist")


@command.command("sync")
@click.argument("name", required=False, default="", type=_NAME, metavar="[NAME]")
@options.json_option
def sync(name: str, as_json: bool) -> None:
    """Index changed files of one source, or of all sources.

    The service does this automatically. You can stop the command at any time and run it again.
    """
    with stoppable_stages(lambda: _GO_ON) as stage:
        found = op.sync(options.place(), name, stage)
    if as_json:
        console.as_json([_build_record(each) for each in found])
        return
    if not found:
        console.talk("no sources; memfs source add NAME PATH adds a folder to searches")
    for each in found:
        if each.state:
            _print_state(each.source.name, each.state)


@command.command("rm")
@click.argument("name", type=_NAME)
@options.json_option
def rm(name: str, as_json: bool) -> None:
    """Remove a source and its index. Its files stay."""
    done = op.remove(options.place(), name, options.get_origin())
    if as_json:
        console.as_json({"name": done.name, "path": done.path})
        return
    console.print_done(f"removed the source '{done.name}' from {shorten_path(done.path)}")
    format_remainder(done.note)


def _print_state(name: str, state: SourceState) -> None:
    files, chunks = format_count(state.files, "file"), format_count(state.chunks, "chunk")
    left = sum(state.left.values())
    more = f"; {left:,} left out (see memfs source show {name})" if left else ""
    console.print_done(f"{name}: {files}, {chunks}{more}")
    for path in state.missing:
        console.talk(f"! {shorten_path(path)} does not exist")


def _list_facts(found: ListedSource) -> list[tuple[str, str]]:
    source, state = found.source, found.state
    facts = [("source", f"{source.name} ({source.tier})")]
    facts += [("path", shorten_path(path)) for path in source.paths]
    facts += [("glob", each) for each in source.globs]
    facts += [("exclude", each) for each in source.excludes]
    facts.append(("chunk", f"{source.chunk_size:,} characters, {source.overlap:,} repeated"))
    if state:
        files, chunks = format_count(state.files, "file"), format_count(state.chunks, "chunk")
        when = format_age(state.at) if state.whole else "the last run was not finished"
        facts.append(("index", f"{files}, {chunks}, {when}"))
    return facts


def _build_record(found: ListedSource) -> dict[str, object]:
    source, state = found.source, found.state
    return {
        "name": source.name,
        "tier": source.tier,
        "paths": source.paths,
        "glob": source.globs,
        "exclude": source.excludes,
        "chunk_size": source.chunk_size,
        "overlap": source.overlap,
        "index": _build_index(state),
    }


def _build_index(state: SourceState | None) -> dict[str, object] | None:
    if state is None:
        return None
    return {
        "files": state.files,
        "chunks": state.chunks,
        "left_out": state.left,
        "files_left_out": [{"file": path, "reason": why} for path, why in state.named],
        "missing": state.missing,
        "at": state.at,
        "whole": state.whole,
    }
