"""`memfs init`."""

from __future__ import annotations

import os
import sys

import click

from memfs import hosts
from memfs.cli import console, options
from memfs.cli.commands.install import wire_host
from memfs.cli.edit_output import report
from memfs.ops import draft, edit, install
from memfs.ops import init as op
from memfs.store import git
from memfs.store.blocks import Place


@click.command("init")
@click.option(
    "-y", "--yes", is_flag=True, help="Wire all assistants that are found, as memfs install does."
)
@click.option(
    "--from-project",
    is_flag=True,
    help="Show a block made from the project's own files; with -y, write it.",
)
def command(yes: bool, from_project: bool) -> None:
    """Make a store for this project, and one for you.

    The project's store is `.agent-memory/` at the top of the repository; yours is in your home
    folder, for memory about you. Existing files are not changed.

    If the project has commits but no sessions yet, the command offers a block with the content of
    its manifests, version files and CODEOWNERS. It shows the block first, and asks. The block
    leaves out what AGENTS.md and the like contain already.
    """
    made = op.run(os.getcwd(), options.home())
    for path in made.created:
        console.talk(f"  + {_shorten_path(path)}")
    if made.foreign:
        console.talk(
            f"  {len(made.foreign)} other files in {_shorten_path(made.store)} stay as they are"
        )
    console.print_done(
        f"the store is {_shorten_path(made.store)}" + ("" if made.created else " (as before)")
    )
    if (refused := git.find_refusal(made.store))[0]:
        console.talk(f"! {refused[0]}; {refused[1]}")
    if not made.trusted:
        console.talk("It already existed: hooks use it only after you run memfs trust.")
    place = options.place(untrusted=True)
    if place.project is None:
        console.talk(
            "This store is your own, for all projects. For a project, run memfs init in it."
        )
        return
    _offer_block(place, yes=yes, asked=from_project)
    for name in made.hosts:
        title = hosts.get(name).TITLE
        wired = install.list_wired(place, name, options.home())
        if wired:
            console.talk(f"{title} is already wired in {_shorten_path(wired[0].path)}")
        elif yes or (sys.stdin.isatty() and click.confirm(_ask(place, name), default=True)):
            wire_host(place, name, None)
        else:
            console.talk(f"{title} is installed; wire it with: memfs install {name}")
    if not made.hosts:
        console.talk("No assistant was found. Once you have one, run: memfs install")


def _offer_block(place: Place, *, yes: bool, asked: bool) -> None:
    """Show the block that the project's own files make, and write it if the person says so."""
    can_ask = console.can_ask() and not yes
    if not asked and not (can_ask and draft.is_due(place)):
        return
    if place.project and not place.project.trusted:
        console.talk("Run memfs trust first: then a block can be made of the project's files.")
        return
    if draft.is_written(place):
        console.talk(f"The block {draft.LABEL} already exists: memfs show {draft.LABEL}")
        return
    lines = draft.run(place)
    if not lines:
        if asked:
            console.talk("The project's files add nothing to its instructions.")
        return
    console.talk("Found in the project's files, and not in its memory yet:")
    for line in lines:
        console.talk(f"  {line.render()}")
    question = f"Write it into the block {draft.LABEL}?"
    if yes or (can_ask and click.confirm(question, default=True)):
        origin = options.get_origin("memfs init: from the project's own files")
        report(edit.run(place, [draft.make_edit(lines)], origin))
    else:
        console.talk("Not written. To write it: memfs init --from-project -y")


def _ask(place: Place, host: str) -> str:
    """Return the question whether to wire a host, which says where if that is not here alone."""
    own = install.select_scope(place, host, options.home()) == "local"
    return f"Wire {hosts.get(host).TITLE} to it" + ("?" if own else ", for all your projects?")


def _shorten_path(path: str) -> str:
    """Write a path relative to here where that is shorter, or with `~`."""
    relative = os.path.relpath(path)
    home = path.replace(options.home() + os.sep, "~/", 1)
    return relative if not relative.startswith("..") else home
