"""`memfs uninstall`."""

from __future__ import annotations

import click

from memfs import hosts
from memfs.cli.commands.install import wire


@click.command("uninstall")
@click.argument("host", nargs=-1, type=click.Choice(hosts.NAMES))
@click.option("--user", is_flag=True, help="From your home folder's settings.")
@click.option("--local", is_flag=True, help="From the project's settings that are not committed.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
def command(host: tuple[str, ...], user: bool, local: bool, dry_run: bool) -> None:
    """Take our hooks out of assistants' settings. The memory itself stays.

    A settings file that nobody changed meanwhile gets back the very bytes it had before.
    """
    wire(host or hosts.NAMES, user=user, local=local, dry_run=dry_run, remove=True)
