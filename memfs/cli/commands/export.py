"""`memfs export`."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from memfs.cli import console, options
from memfs.cli.interruption import stoppable_stages
from memfs.cli.wording import format_size
from memfs.core.counts import format_count
from memfs.core.errors import RejectedError, UsageError
from memfs.ops import export as op
from memfs.store import exporters, git

_NOUNS = {
    "blocks": "block",
    "passages": "passage",
    "facts": "fact",
    "static": "static text",
    "sessions": "session",
    "windows": "window",
    "edits": "edit",
    "keys": "front matter key",
}


@click.command("export")
@click.argument("file", metavar="FILE", type=click.Path(allow_dash=True))
@click.option(
    "--to",
    "tool",
    type=click.Choice(list(exporters.NAMES)),
    help="For another tool, as it reads it.",
)
@click.option("--user", is_flag=True, help="Your own store, instead of the project's.")
@click.option("--all", "everything", is_flag=True, help="Recall and the history of edits, too.")
@click.option("--force", is_flag=True, help="Write over FILE if it is there.")
@click.option("--with-secrets", "secrets", is_flag=True, help="Also if there are secrets in it.")
def command(
    file: str, tool: str | None, user: bool, everything: bool, force: bool, secrets: bool
) -> None:
    """Write the project's memory to FILE, one zip: config, blocks, archive, facts, static.

    `-` writes to stdout. The same memory gives the same bytes. Only you may read the file. If a
    secret is in it, it is named and nothing is written, unless --with-secrets is
    given.

    --to writes blocks, passages, static entries and the facts that hold as another tool reads them:
    an agent file of Letta (and beside it the passages, which such a file cannot hold), a folder of
    notes for basic-memory, a folder of plain Markdown, or the memory.jsonl of MCP's server-memory.
    --all adds sessions to the folders. What a format has no place for is named.
    """
    if tool:
        _convert(file, tool, user=user, everything=everything, force=force, secrets=secrets)
        return
    if file == "-" and sys.stdout.isatty():
        raise UsageError("a zip is not for a terminal", "memfs export - > memory.zip")
    place = options.place()
    path = "" if file == "-" else file
    with stoppable_stages(lambda: "nothing was written; run it again", (op.SCAN,)) as stage:
        done = op.run(
            place, path, user=user, everything=everything, force=force, anyway=secrets, stage=stage
        )
    done = _check_secrets(done)
    for left in done.left_out:
        console.talk(f"! left out, its name is none that can be imported: {left}")
    if not path:
        console.write_bytes(done.data)
    where = f": {path}" if path else ""
    what = _format_counts(done.counts) or "nothing but settings"
    console.print_done(f"{what}{where}, {format_size(done.size)}")
    if path and (user or everything) and not git.is_ignored(path):
        console.talk("  git does not ignore that file: it is not for a commit.")


def _convert(
    path: str, tool: str, *, user: bool, everything: bool, force: bool, secrets: bool
) -> None:
    """Write memory in the format of another tool, and tell what was written."""
    if path == "-":
        raise UsageError("--to writes files, not to stdout", "name a file or a folder")
    place = options.place()
    with stoppable_stages(lambda: "nothing was written; run it again", (op.SCAN,)) as stage:
        found = op.convert(
            place,
            tool,
            path,
            user=user,
            everything=everything,
            force=force,
            anyway=secrets,
            stage=stage,
        )
    done = _check_secrets(found)
    what = _format_counts(done.counts) or "nothing"
    console.print_done(f"{what} for {tool}: {path}, {format_size(done.size)}")
    for beside in done.paths if len(done.paths) == 2 else ():
        if beside != path:
            console.talk(f"  the passages: {beside}")
    if unplaced := _format_counts(done.unplaced):
        console.talk(f"  {tool} has no place for {unplaced}")
    if (user or everything) and not git.is_ignored(path):
        console.talk("  git does not ignore that: it is not for a commit.")


def _format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(
        format_count(number, _NOUNS[kind]) for kind, number in counts.items() if number
    )


def _check_secrets(done: op.Exported | op.SecretsFound) -> op.Exported:
    """Name the secrets that are, or would be, in an export. Raises `RejectedError` for those."""
    for name, leak in done.secrets:
        console.talk(f"! {name}:{leak.line} {leak.type} {leak.masked}")
    if isinstance(done, op.SecretsFound):
        raise RejectedError(
            f"cannot export: {format_count(len(done.secrets), 'secret')} would be in it",
            "memfs doctor --secrets --purge takes them out; --with-secrets exports them, too",
        )
    return done
