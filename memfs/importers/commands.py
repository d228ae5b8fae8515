"""`memfs import` and `export`."""

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial

import click

from memfs.cli import console, options
from memfs.cli.layout import format_size
from memfs.cli.progress import stoppable_stages
from memfs.core.errors import RejectedError, UsageError
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count
from memfs.importers import exporting, importing, report, writers
from memfs.importers import undo as undo_module
from memfs.importers.plan import ImportedFile
from memfs.store import git
from memfs.store.blocks import Place

_NOUNS = {
    "blocks": "block",
    "passages": "passage",
    "facts": "fact",
    "static": "static entry",
    "sessions": "session",
    "windows": "window",
    "edits": "edit",
    "keys": "front matter key",
}


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option(
    "--from",
    "source",
    metavar="assistants",
    type=click.Choice(["assistants"]),
    help="Import assistants' own notes: show each as a diff and ask.",
)
@click.option("--yes", is_flag=True, help="With --from: import all new notes.")
@click.option("--take", metavar="NAME", multiple=True, help="With --from: import the note NAME.")
@click.option(
    "--project", metavar="NAME", default="", help="Import the project NAME from another tool."
)
@click.option("--user", is_flag=True, help="Import into your own store, not the project's.")
@click.option(
    "--pin",
    is_flag=True,
    help="Pin blocks from other tools, so that assistants always get them in full.",
)
@click.option(
    "--anyway",
    is_flag=True,
    help="Import an export of your own store into the project's, or vice versa.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be imported; write nothing.")
@click.option(
    "--undo", metavar="ID", default="", help="Remove everything that the import ID added."
)
@click.option("--list", "listed", is_flag=True, help="List the imports that can be undone.")
@options.json_option
def import_command(
    paths: tuple[str, ...],
    source: str | None,
    yes: bool,
    take: tuple[str, ...],
    project: str,
    user: bool,
    pin: bool,
    anyway: bool,
    dry_run: bool,
    undo: str,
    listed: bool,
    as_json: bool,
) -> None:
    """Import memory: an export of memfs, or the memory of other tools.

    PATH can be the name of a tool (claude-mem, server-memory, mem0, letta, cline and others: see
    docs/importers.md), or a file or folder of a tool. Its observations and notes become passages,
    its conversations sessions. If the tool has several projects, only the project in this folder is
    imported. An export from ChatGPT or Claude.ai goes into your own store. In any other folder with
    only text files, each file becomes a block or passages.

    Without PATH, memfs looks for files of other tools and lists what each would become: CLAUDE.md,
    AGENTS.md, GEMINI.md, MEMORY.md, the rules of Cursor, Cline, Copilot and Windsurf, memory-bank,
    Serena's memories, and Claude Code's own memory. PATH can also name such files and folders. A
    short text becomes a block, a longer one passages. The files do not change.

    --from assistants reads the memory that Claude Code, Codex, Gemini CLI and Windsurf keep
    themselves, shows new notes and asks about each. Notes about you go into your own store.

    An export (or a zip or tar of an .agent-memory folder) is checked as a whole first. Settings and
    history are never imported.

    Existing blocks are merged without losing a line; memfs undo reverts one block. Items with a
    secret, over their limit or read-only here are listed and left out, with exit code 1. An
    assistant will read the imported text, so review it.
    """
    place = options.place()
    if undo or listed:
        if paths or (undo and listed):
            raise click.UsageError("--undo and --list take no PATH, and cannot be combined")
        _undo(place, undo, as_json=as_json)
        return
    if source:
        if paths or project or user or pin or anyway:
            raise click.UsageError("--from takes no PATH, only --dry-run, --yes, --take and --json")
        _import_assistants(place, yes=yes, take=take, dry_run=dry_run, as_json=as_json)
        return
    if yes or take:
        raise click.UsageError("--yes and --take work only with --from assistants")
    home = options.home()
    tool = importing.find_tool(paths, home)
    if tool and (pin or anyway):
        raise click.UsageError("--pin and --anyway do not work when you import from a tool")
    if project and not tool:
        raise click.UsageError("--project works only if you import from a tool: memfs import TOOL")
    into = {"user": user, "dry_run": dry_run}
    export = "" if tool else importing.find_export(paths)
    if export and pin:
        raise click.UsageError("--pin works only with files of other tools, not with an export")
    name = tool[0][0].name if tool else "".join(paths[:1])
    name = f"{len(paths)} files and folders" if len(paths) > 1 else name
    origin = options.get_origin(f"from {os.path.basename(name.rstrip('/')) or name}")
    if tool:
        done = importing.import_tool(place, tool, origin, project=project, **into)
    elif export:
        done = importing.run(place, export, origin, anyway=anyway, **into)
    else:
        done = importing.import_files(place, paths, origin, home=home, pin=pin, **into)
    if as_json:
        console.as_json(_build_record(done))
    elif tool:
        report.print_tool(done, name, dry_run=dry_run)
    elif export:
        report.print_export(done, dry_run=dry_run)
    else:
        tools = [] if paths else importing.list_tools(home)
        report.print_import(place, done, tools, list_only=not paths, pin=pin, **into)
    if paths and any(item.outcome == "refused" for item in done.items):
        console.refuse()


def _import_assistants(
    place: Place, *, yes: bool, take: tuple[str, ...], dry_run: bool, as_json: bool
) -> None:
    origin, home = options.get_origin("from assistants"), options.home()
    found = importing.import_assistants(place, origin, home=home, dry_run=True)
    new = importing.list_new(found)
    if unknown := [name for name in take if name not in {each.label for each in new}]:
        names = ", ".join(each.label for each in new)
        hint = (
            f"choose one of: {names}" if names else "list the notes: memfs import --from assistants"
        )
        raise UsageError(f"no new note is named '{unknown[0]}'", hint)
    if not as_json:
        report.print_assistants(found, new)
    chosen = [each.label for each in new if yes or each.label in take]
    if dry_run or not new:
        if as_json:
            console.as_json(_build_record(found))
        return
    if origin.actor == "agent":
        raise RejectedError(
            "only a person can import the notes of assistants, "
            f"but this is a shell of {origin.host}",
            "run memfs import --from assistants in your own terminal",
        )
    if not (yes or take):
        chosen = _choose(new)
    if chosen:
        found = importing.import_assistants(
            place, origin, home=home, dry_run=False, only=frozenset(chosen)
        )
    if as_json:
        console.as_json(_build_record(found))
    elif chosen:
        report.print_taken(found)
    else:
        console.talk("no note was imported")


def _choose(new: list[ImportedFile]) -> list[str]:
    if not console.can_ask():
        raise UsageError(
            f"cannot ask about {format_count(len(new), 'new note')} without a terminal",
            "import all with --yes, or one with --take NAME",
        )
    chosen: list[str] = []
    for number, each in enumerate(new):
        answer = click.prompt(
            f"import {flatten_text(each.label)}?",
            type=click.Choice(["y", "n", "all", "quit"]),
            default="n",
            err=True,
        )
        if answer == "all":
            return [*chosen, *(other.label for other in new[number:])]
        if answer == "quit":
            break
        chosen += [each.label] if answer == "y" else []
    return chosen


def _undo(place: Place, ident: str, *, as_json: bool) -> None:
    """Take an import back, or list those that can be (`ident` is "")."""
    if not ident:
        found = undo_module.list_imports(place)
        console.as_json([asdict(each) for each in found]) if as_json else report.print_list(found)
        return
    done = undo_module.run(place, ident, options.get_origin(f"undo of the import {ident}"))
    console.as_json(asdict(done)) if as_json else report.print_undo(done)
    if done.kept:
        console.refuse()


def _build_record(done: importing.Imported) -> dict[str, object]:
    items = [
        {name: getattr(item, name) for name in ("kind", "name", "outcome", "detail")}
        | {"signs": [sign._asdict() for sign in item.signs]}
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
    same = ("config", "edits", "left_out", "unpinned", "id")
    return {
        "items": items,
        **{name: getattr(done, name) for name in same},
        "files": files,
        "taken": _list_counts(done.taken, "project"),
        "left": _list_counts(done.left, "project"),
        "omitted": _list_counts(done.omitted, "why"),
    }


def _list_counts(counts: Mapping[tuple[str, str], int], of: str) -> list[dict[str, object]]:
    return [{"noun": noun, of: name, "count": count} for (noun, name), count in counts.items()]


@click.command("export")
@click.argument("file", metavar="FILE", type=click.Path(allow_dash=True))
@click.option(
    "--to",
    "tool",
    type=click.Choice(list(writers.EXPORTERS)),
    help="Export in the format of another tool.",
)
@click.option("--user", is_flag=True, help="Export your own store, not the project's.")
@click.option(
    "--all", "everything", is_flag=True, help="Include sessions and the history of edits."
)
@click.option("--force", is_flag=True, help="Overwrite an existing FILE.")
@click.option(
    "--with-secrets", "secrets", is_flag=True, help="Export even if the memory contains secrets."
)
def export_command(
    file: str, tool: str | None, user: bool, everything: bool, force: bool, secrets: bool
) -> None:
    """Write the project's memory to the zip FILE: config, blocks, archive, facts, static.

    `-` writes to stdout. The same memory gives the same bytes. Only you can read the file. If the
    memory contains a secret, the command names it and stops, unless you give --with-secrets.

    --to writes blocks, passages, static entries and current facts for another tool: an agent file
    of Letta (with the passages in a second file), a folder of notes for basic-memory, a folder of
    plain Markdown, or the memory.jsonl of MCP's server-memory. --all adds sessions to the folders.
    The command lists data that the format cannot contain.
    """
    path = "" if file == "-" else file
    if tool and not path:
        raise UsageError("--to cannot write to stdout", "give the path of a file or a folder")
    if not path and sys.stdout.isatty():
        raise UsageError(
            "a zip cannot be printed on a terminal", "redirect it: memfs export - > memory.zip"
        )
    place = options.place()
    write = partial(exporting.convert, place, tool) if tool else partial(exporting.run, place)
    with stoppable_stages(
        lambda: "no file was written; run memfs export again", (exporting.SCAN,)
    ) as stage:
        done = write(
            path, user=user, everything=everything, force=force, anyway=secrets, stage=stage
        )
    done = _check_secrets(done)
    for left in done.left_out:
        console.talk(
            f"! not exported, because memfs could not import a file with this name: {left}"
        )
    if not path:
        console.write_bytes(done.data)
    what = _format_counts(done.counts) or ("nothing" if tool else "only settings")
    what += f" for {tool}" if tool else ""
    console.print_done(f"{what}{f': {path}' if path else ''}, {format_size(done.size)}")
    for beside in done.paths if len(done.paths) == 2 else ():
        if beside != path:
            console.talk(f"  passages: {beside}")
    if unplaced := _format_counts(done.unplaced):
        console.talk(f"  not exported: {unplaced} (the {tool} format cannot contain them)")
    if path and (user or everything) and not git.is_ignored(path):
        console.talk("  git does not ignore the export: do not commit it.")


def _format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(
        format_count(number, _NOUNS[kind]) for kind, number in counts.items() if number
    )


def _check_secrets(done: exporting.Exported | exporting.SecretsFound) -> exporting.Exported:
    for name, leak in done.secrets:
        console.talk(f"! {name}:{leak.line} {leak.type} {leak.masked}")
    if isinstance(done, exporting.SecretsFound):
        raise RejectedError(
            f"cannot export: the memory contains {format_count(len(done.secrets), 'secret')}",
            "remove secrets with memfs doctor --secrets --purge, or add --with-secrets",
        )
    return done
