"""`memfs uninstall`."""

from __future__ import annotations

import click

from memfs import hosts
from memfs.cli import console, options
from memfs.cli.commands.install import print_wiring
from memfs.ops import install


@click.command("uninstall")
@click.argument("host", nargs=-1, type=click.Choice(hosts.NAMES))
@click.option("--user", is_flag=True, help="From your home folder's settings instead.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
def command(host: tuple[str, ...], user: bool, dry_run: bool) -> None:
    """Take our hooks and tools out of this project's settings. The memory itself stays.

    A settings file that nobody changed meanwhile gets back the very bytes it had before.
    """
    place = options.place(untrusted=True)
    scopes = ("user",) if user else ("project", "local")
    changed = 0
    names = host or hosts.NAMES
    for number, name in enumerate(names):
        for scope in scopes:
            wired = install.run(
                place,
                name,
                scope,
                options.home(),
                remove=True,
                dry_run=dry_run,
                gone=names[:number],
            )
            out = [each for each in wired if each.outcome != "unchanged"]
            changed += len(out)
            print_wiring(out, "", dry_run=dry_run)
    if not changed:
        console.print_done("nothing of ours is in those settings")
