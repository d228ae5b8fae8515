"""`memfs init`."""

from __future__ import annotations

import os
import sys

import click

from memfs import hosts
from memfs.cli import console, options
from memfs.cli.commands.install import wire_host
from memfs.ops import init as op
from memfs.ops import install
from memfs.store import git
from memfs.store.blocks import Place


@click.command("init")
@click.option(
    "-y", "--yes", is_flag=True, help="Wire all assistants that are found, as memfs install does."
)
def command(yes: bool) -> None:
    """Make a store for this project, and one for you.

    The project's store is `.agent-memory/` at the top of the repository; yours is in your home
    folder, for memory about you. Existing files are not changed.
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
    if (refused := git.find_refusal(made.store))[0]:
        console.talk(f"! {refused[0]}; {refused[1]}")
    if not made.trusted:
        console.talk("It was here before: hooks do not use it until you run memfs trust.")
    place = options.place(untrusted=True)
    if place.project is None:
        console.talk("It is your own, for all projects; a project gets one with memfs init in it.")
        return
    for name in made.hosts:
        title = hosts.get(name).TITLE
        wired = install.list_wired(place, name, options.home())
        if wired:
            console.talk(f"{title} is wired already, in {_shorten_path(wired[0].path)}")
        elif yes or (sys.stdin.isatty() and click.confirm(_ask(place, name), default=True)):
            wire_host(place, name, None)
        else:
            console.talk(f"{title} is installed; wire it with: memfs install {name}")
    if not made.hosts:
        console.talk("No assistant was found; when you have one: memfs install")


def _ask(place: Place, host: str) -> str:
    """Return the question whether to wire a host, which says where if that is not here alone."""
    own = install.select_scope(place, host, options.home()) == "local"
    return f"Wire {hosts.get(host).TITLE} to it" + ("?" if own else ", for all your projects?")


def _shorten_path(path: str) -> str:
    """Write a path relative to here where that is shorter, or with `~`."""
    relative = os.path.relpath(path)
    home = path.replace(options.home() + os.sep, "~/", 1)
    return relative if not relative.startswith("..") else home
