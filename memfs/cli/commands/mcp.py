"""`memfs mcp`."""

from __future__ import annotations

import os

import click

from memfs import __version__


@click.command("mcp")
@click.option("--folder", default="", metavar="DIR", help="The project; the current folder.")
@click.option("--session", default="", metavar="ID", help="The assistant's session.")
def command(folder: str, session: str) -> None:
    """Serve memory as MCP tools on standard input and output; assistants start this."""
    from memfs.mcp import server  # with the SDK: help lists this command too

    server.run(os.path.abspath(folder or os.getcwd()), session, __version__)
