"""`memfs install`."""

from __future__ import annotations

import os

import click

from memfs import hosts
from memfs.cli import context, screen
from memfs.core.errors import StoreError
from memfs.ops import init, install


@click.command("install")
@click.argument("host", nargs=-1, type=click.Choice(hosts.NAMES))
@click.option("--user", is_flag=True, help="For all your projects: in your home folder's settings.")
@click.option("--local", is_flag=True, help="In the project's settings that are not committed.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
def command(host: tuple[str, ...], user: bool, local: bool, dry_run: bool) -> None:
    """Wire assistants to the memory: put our hooks into their settings.

    Without HOST, every assistant that is found. Entries of others are never touched; `memfs
    uninstall` takes ours out again.
    """
    wire(host, user=user, local=local, dry_run=dry_run, remove=False)


def wire(names: tuple[str, ...], *, user: bool, local: bool, dry_run: bool, remove: bool) -> None:
    """Install or uninstall, and say what happened."""
    if user and local:
        raise click.UsageError("--user and --local exclude each other")
    place = context.place()
    found = names or tuple(init.installed(context.home()))
    if not found:
        raise StoreError("no assistant was found on this machine", "name one: memfs install claude")
    top = place.project.top if place.project else os.getcwd()
    for name in found:
        path = install.path_of(name, context.home() if user else top, local=local)
        wired = install.run(place, name, path, remove=remove, dry_run=dry_run)
        if dry_run:
            if wired.diff:
                screen.data(wired.diff.rstrip("\n"))
            screen.talk(f"{hosts.get(name).TITLE}: {path} would be {wired.outcome}")
        else:
            screen.done(f"{hosts.get(name).TITLE}: {path} {wired.outcome}")
            if wired.outcome in ("created", "updated") and not (user or local or remove):
                screen.talk(
                    "  It names this machine's Python: in a repository that is shared, "
                    "--local keeps it out of git."
                )
