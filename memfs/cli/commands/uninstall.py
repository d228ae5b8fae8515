"""`memfs uninstall`."""

from __future__ import annotations

import click

from memfs import hosts
from memfs.cli import console, options
from memfs.cli.commands.install import parse_scope, print_plan, print_wiring
from memfs.ops import install
from memfs.store.blocks import Place


@click.command("uninstall")
@click.argument("host", nargs=-1, type=click.Choice(hosts.NAMES))
@click.option("--local", is_flag=True, help="From the project's settings that are not committed.")
@click.option(
    "--user", is_flag=True, help="From your home folder's settings, for all your projects."
)
@click.option("--project", is_flag=True, help="From the project's settings that are committed.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
def command(host: tuple[str, ...], local: bool, user: bool, project: bool, dry_run: bool) -> None:
    """Take our hooks and tools out of this project's settings. The memory itself stays.

    A settings file that nobody changed meanwhile gets back the very bytes it had before.
    """
    scope = parse_scope(local=local, user=user, project=project)
    place = options.place(untrusted=True)
    scopes = (scope,) if scope else ("project", "local")
    changed = 0
    names = host or hosts.NAMES
    for number, name in enumerate(names):
        for each in scopes:
            wired = install.run(
                place, name, each, options.home(), remove=True, dry_run=dry_run, gone=names[:number]
            )
            out = [found for found in wired if found.outcome != "unchanged"]
            changed += len(out)
            (print_plan if dry_run else print_wiring)(out)
    if not changed:
        console.print_done("nothing of ours is in those settings")
    for name in names:
        _print_others(place, name, scopes)


def _print_others(place: Place, host: str, scopes: tuple[str, ...]) -> None:
    """Print where a host is wired beside the given scopes, and how to take that out."""
    title = hosts.get(host).TITLE
    for found in install.list_wired(place, host, options.home()):
        if found.scope not in scopes:
            how = f"memfs uninstall {host} --{found.scope}"
            console.talk(f"{title} is wired in {found.path}: {how}")
    for path in install.list_plugged(place, host, options.home()):
        console.talk(f"{title} has the memfs plugin, enabled in {path}: uninstall that there")
