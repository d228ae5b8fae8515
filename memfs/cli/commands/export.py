"""`memfs export`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from memfs.cli import console, options
from memfs.cli.interruption import stoppable_stages
from memfs.cli.wording import format_count, format_size
from memfs.core.errors import RejectedError, UsageError
from memfs.ops import export as op
from memfs.store import git

if TYPE_CHECKING:
    from memfs.core.file_redaction import FileSecret

_NOUNS = {
    "blocks": "block",
    "passages": "passage",
    "facts": "fact",
    "static": "static text",
    "sessions": "session",
    "windows": "window",
    "edits": "edit",
}


@click.command("export")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--user", is_flag=True, help="Your own store, instead of the project's.")
@click.option("--all", "everything", is_flag=True, help="Recall and the history of edits, too.")
@click.option("--force", is_flag=True, help="Write over FILE if it is there.")
@click.option("--with-secrets", "secrets", is_flag=True, help="Also if there are secrets in it.")
def command(file: str, user: bool, everything: bool, force: bool, secrets: bool) -> None:
    """Write the project's memory to FILE, one zip: config, blocks, archive, facts, static.

    `-` writes to stdout. The same memory gives the same bytes. Only you may read the file. If a
    secret is in it, it is named and nothing is written, unless --with-secrets is
    given.
    """
    if file == "-" and sys.stdout.isatty():
        raise UsageError("a zip is not for a terminal", "memfs export - > memory.zip")
    place = options.place()
    path = "" if file == "-" else file
    with stoppable_stages(lambda: "nothing was written; run it again", (op.SCAN,)) as stage:
        done = op.run(
            place, path, user=user, everything=everything, force=force, anyway=secrets, stage=stage
        )
    _print_secrets(done.secrets)
    if isinstance(done, op.SecretsFound):
        raise RejectedError(
            f"cannot export: {format_count(len(done.secrets), 'secret')} would be in it",
            "memfs doctor --secrets --purge takes them out; --with-secrets exports them, too",
        )
    for left in done.left_out:
        console.talk(f"! left out, its name is none that can be imported: {left}")
    if not path:
        console.write_bytes(done.data)
    what = ", ".join(
        format_count(number, _NOUNS[kind]) for kind, number in done.counts.items() if number
    )
    where = f": {path}" if path else ""
    console.print_done(f"{what or 'nothing but settings'}{where}, {format_size(done.size)}")
    if path and (user or everything) and not git.is_ignored(path):
        console.talk("  git does not ignore that file: it is not for a commit.")


def _print_secrets(secrets: tuple[tuple[str, FileSecret], ...]) -> None:
    for name, leak in secrets:
        console.talk(f"! {name}:{leak.line} {leak.type} {leak.masked}")
