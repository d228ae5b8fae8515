"""`memfs web`."""

from __future__ import annotations

import os
import pathlib
import signal
import sys
import tempfile
import webbrowser
from typing import TYPE_CHECKING

import click

from memfs.cli import console, options
from memfs.core.errors import RejectedError
from memfs.store import blocks, local_folder, store_paths

if TYPE_CHECKING:
    from memfs.web.access import Access

_IDLE = 3600.0  # seconds without a look


@click.command("web")
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", type=click.Path(exists=True))
@click.option(
    "--all", "everything", is_flag=True, help="Show all trusted projects on this machine."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on (0: any free port)."
)
@click.option("--no-open", is_flag=True, help="Print the address; do not open a browser.")
@click.option("--read-only", is_flag=True, help="Show everything; allow no changes.")
def command(
    folders: tuple[str, ...], everything: bool, port: int, no_open: bool, read_only: bool
) -> None:
    """Show and edit the memory in your browser.

    The page shows the project of the current folder, or of each FOLDER.

    Only this machine can reach the page, with one browser: the browser that memfs opens, or the
    browser in which you enter the code from the terminal. Other users and web pages cannot read
    the page. The page stops with Ctrl-C, or an hour after the last request.
    """
    from memfs.web.server import PageServer  # with starlette and uvicorn

    origin = options.get_origin()
    if origin.actor == "agent" and not read_only:
        raise RejectedError(
            f"only a person can edit memory on a page, but this is a shell of {origin.host}",
            "run memfs web in your own terminal, or add --read-only",
        )
    page = PageServer(
        _list_folders(folders, everything=everything),
        options.home(),
        port=port,
        read_only=read_only,
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the folder goes in any case
    with tempfile.TemporaryDirectory(prefix="memfs-") as folder:  # of this user alone
        opener = pathlib.Path(page.access.write_opener(folder)).as_uri()
        _tell_way_in(page.access, opener)
        if not no_open:
            webbrowser.open(opener)
        page.run(_IDLE)


def _tell_way_in(access: Access, opener: str) -> None:
    """Print where the page is; what opens it is for a person's eyes, and for no file or log."""
    console.data(access.address)
    console.data(opener)
    code = access.ticket if sys.stderr.isatty() else "from the file"
    console.talk(
        f"  open the file in a browser here, or open the address and enter the code {code}"
    )
    console.talk("  the file and the code work once, within ten minutes; Ctrl-C stops the page")


def _list_folders(folders: tuple[str, ...], *, everything: bool) -> list[str]:
    """List the folders of the projects to show, the current one first unless others are named."""
    found = [blocks.find_place(os.path.abspath(folder)) for folder in folders]
    if not folders:
        found.append(options.place())
    tops = [place.project.top if place.project else os.getcwd() for place in found]
    if everything:
        for top in local_folder.list_projects():
            store = store_paths.find_trusted(top)
            if store is not None:
                tops.append(store.top)
    return list(dict.fromkeys(tops))
