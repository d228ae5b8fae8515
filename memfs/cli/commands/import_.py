"""`memfs import`."""

from __future__ import annotations

import os

import click

from memfs.cli import console, import_report, layout, options
from memfs.cli.edit_output import format_remainder
from memfs.cli.wording import format_count
from memfs.ops import import_ as op


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option("--user", is_flag=True, help="Into your own store, instead of the project's.")
@click.option("--pin", is_flag=True, help="Blocks of other tools' files: in full in the prompt.")
@click.option("--anyway", is_flag=True, help="Also if PATH is the export of the other store.")
@click.option("--dry-run", is_flag=True, help="Show what would be added, and write nothing.")
@options.json_option
def command(
    paths: tuple[str, ...], user: bool, pin: bool, anyway: bool, dry_run: bool, as_json: bool
) -> None:
    """Take memory from elsewhere: an export, or what other tools keep in files.

    Without PATH, the files of other tools are looked for, and it is said what each would become:
    CLAUDE.md, AGENTS.md, GEMINI.md, MEMORY.md, the rules of Cursor, Cline, Copilot and Windsurf,
    memory-bank, Serena's memories, and what Claude Code remembers by itself. PATH takes files and
    folders of them: a text that fits becomes a block, a longer one passages of the archive. The
    files stay as they are.

    An export (or a zip or tar of an .agent-memory) is checked as a whole first. Settings and
    history are never taken over.

    Blocks that are here too are merged: nothing either side wrote is missing, and memfs undo takes
    each back. What holds a secret, is over its limit or read-only here is left and named: exit
    code 1. It is somebody's text, and an assistant will read it: look at what was added.
    """
    place = options.place()
    export = op.find_export(paths)
    named = f"{len(paths)} files and folders" if len(paths) > 1 else "".join(paths)
    origin = options.get_origin(f"from {os.path.basename(named.rstrip('/')) or named}")
    if export and pin:
        raise click.UsageError("--pin is for the files of other tools: an export says it itself")
    if export:
        done = op.run(place, export, origin, user=user, anyway=anyway, dry_run=dry_run)
    else:
        done = op.import_files(
            place, paths, origin, home=options.home(), user=user, pin=pin, dry_run=dry_run
        )
    if as_json:
        console.as_json(_build_record(done))
    elif export:
        _print_report(done, dry_run=dry_run)
    else:
        import_report.print_import(
            place, done, list_only=not paths, dry_run=dry_run, pin=pin, user=user
        )
    if paths and any(item.outcome == "refused" for item in done.items):
        console.refuse()


def _build_record(done: op.Imported) -> dict[str, object]:
    items = [
        {
            "kind": item.kind,
            "name": item.name,
            "outcome": item.outcome,
            "detail": item.detail,
            "signs": [sign._asdict() for sign in item.signs],
        }
        for item in done.items
    ]
    files = [
        {
            "path": each.path,
            "label": each.label,
            "characters": each.chars,
            "block": each.block,
            "becomes": list(each.files),
            "imports": list(each.imports),
            "left": each.left,
        }
        for each in done.files
    ]
    return {
        "items": items,
        "config": done.config,
        "edits": done.edits,
        "left_out": done.left_out,
        "unpinned": done.unpinned,
        "files": files,
    }


def _print_report(done: op.Imported, *, dry_run: bool) -> None:
    for item in done.items:
        import_report.print_item(item)
    for item in done.items:
        if item.outcome == "refused":
            console.talk(f"! {item.detail}")
    for item in done.items:
        for sign in item.signs:
            quoted = f": {layout.shorten(sign.text, 60)}" if sign.text else ""
            console.talk(f"! {item.name}:{sign.line} {sign.what}{quoted}")
    for label in done.unpinned:
        console.talk(f"! {label} is not pinned here: enough blocks are (max_blocks)")
    if done.config:
        console.talk("  its config.yaml is not taken over; settings are yours")
    if done.edits:
        console.talk(f"  its history ({format_count(done.edits, 'edit')}) is not taken over")
    if done.left_out:
        console.talk(f"  {format_count(done.left_out, 'file')} in it are no memory")
    added = import_report.summary(done, dry_run=dry_run)
    format_remainder(done.note)
    if added and not dry_run:
        console.talk("  look at it: memfs show, memfs log; memfs undo LABEL takes a block back")
