"""`memfs web`."""

from __future__ import annotations

import os
import webbrowser

import click

from memfs.cli import console, options
from memfs.core.errors import RejectedError
from memfs.store import blocks, local_folder, store_paths

_IDLE = 3600.0  # seconds without a look


@click.command("web")
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", type=click.Path(exists=True))
@click.option("--all", "everything", is_flag=True, help="All trusted projects of this machine.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Which port (0: a free one)."
)
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
@click.option("--read-only", is_flag=True, help="Show everything, and change nothing.")
def command(
    folders: tuple[str, ...], everything: bool, port: int, no_open: bool, read_only: bool
) -> None:
    """Show what is remembered in your browser, and mend it there.

    It shows the project of this folder, or those of each FOLDER.

    The page is served on this machine alone. The address that is printed lets in one browser; no
    other program, user or web page can read it. It ends with Ctrl-C, or an hour after the last
    look.
    """
    from memfs.web.server import PageServer  # with starlette and uvicorn

    if options.get_origin().actor == "agent" and not read_only:
        raise RejectedError(
            "a page that changes memory is for a person", "memfs web --read-only only shows it"
        )
    page = PageServer(
        _list_folders(folders, everything=everything),
        options.home(),
        port=port,
        read_only=read_only,
    )
    console.data(page.access.address)
    console.talk("  for one browser on this machine; Ctrl-C ends it")
    if not no_open:
        webbrowser.open(page.access.address)
    page.run(_IDLE)


def _list_folders(folders: tuple[str, ...], *, everything: bool) -> list[str]:
    """List the folders of the projects to show, the current one first unless others are named."""
    found = [blocks.find_place(os.path.abspath(folder)) for folder in folders]
    if not folders:
        found.append(options.place())
    tops = [place.project.top if place.project else os.getcwd() for place in found]
    if everything:
        for top in local_folder.list_projects():
            store = store_paths.find(top)
            if store is not None and store_paths.is_trusted(store):
                tops.append(store.top)
    return list(dict.fromkeys(tops))
