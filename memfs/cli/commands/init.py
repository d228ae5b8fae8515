"""`memfs init`."""

from __future__ import annotations

import os
import sys

import click

from memfs import hosts
from memfs.cli import console, options
from memfs.cli.commands.install import obtain_trust, print_wiring
from memfs.ops import init as op
from memfs.ops import install


@click.command("init")
@click.option("-y", "--yes", is_flag=True, help="Wire the assistants that are found, too.")
def command(yes: bool) -> None:
    """Make a store for this project, and one for you.

    The project's store is `.agent-memory/` at the top of the repository; yours is in your home
    folder and holds what is known about you. What is there already is kept as it is.
    """
    made = op.run(os.getcwd(), options.home())
    for path in made.created:
        console.talk(f"  + {_shorten_path(path)}")
    if made.foreign:
        console.talk(
            f"  {len(made.foreign)} files of others in {_shorten_path(made.store)} were left alone"
        )
    console.print_done(
        f"the store is {_shorten_path(made.store)}" + ("" if made.created else " (as before)")
    )
    if not made.trusted:
        console.talk("It was here before: hooks use nothing of it until you have run memfs trust.")
    place = options.place(untrusted=True)
    if place.project is None:
        console.talk("It is your own, for all projects; a project gets one with memfs init in it.")
        return
    for name in made.hosts:
        title = hosts.get(name).TITLE
        other = install.find_elsewhere(place, name, "", options.home())
        if other:
            console.talk(f"{title} is wired already, in {_shorten_path(other)}")
        elif yes or (sys.stdin.isatty() and click.confirm(f"Wire {title} to it?", default=True)):
            print_wiring(install.run(place, name, "project", options.home()), "project")
            obtain_trust(place, name)
        else:
            console.talk(f"{title} is installed; wire it with: memfs install {name}")
    if not made.hosts:
        console.talk("No assistant was found; when you have one: memfs install")


def _shorten_path(path: str) -> str:
    """Write a path relative to here where that is shorter, or with `~`."""
    relative = os.path.relpath(path)
    home = path.replace(options.home() + os.sep, "~/", 1)
    return relative if not relative.startswith("..") else home
