"""`memfs hook`, `mcp` and `merge-driver`: what programs call."""

import os

import click

from memfs import __version__, hosts
from memfs.core.errors import UsageError
from memfs.hook.main import main
from memfs.ipc.client import HookCall


@click.command("hook")
@click.argument("host", type=click.Choice([*hosts.NAMES, "auto", "line"]), metavar="HOST")
@click.argument("tools", required=False, type=click.Choice(["mcp"]))
def hook_command(host: str, tools: str | None) -> None:
    """Answer one hook call from HOST: the event is JSON on stdin, the reply goes to stdout.

    Assistants call this themselves once `memfs install` or the plugin has wired them. `auto` is
    the assistant that sent the event, `line` prints a status line, and `mcp` means that the
    assistant has the memfs tools. Errors go to `.agent-memory/local/hook.log`; the exit code is
    always 0.
    """
    main(HookCall([host, tools] if tools else [host]))


@click.command("mcp")
@click.option(
    "--folder",
    default="",
    metavar="DIR",
    help="The project's folder (default: the current folder).",
)
@click.option("--session", default="", metavar="ID", help="The id of the assistant's session.")
def mcp_command(folder: str, session: str) -> None:
    """Serve memory as MCP tools on standard input and output; assistants start this command."""
    if folder and not os.path.isdir(folder):
        raise UsageError(
            f"there is no folder {os.path.abspath(folder)}, so no memory is served",
            "set --folder to the project's folder, or leave out --folder",
        )
    from memfs.mcp import server  # help lists this command too

    server.run(os.path.abspath(folder or os.getcwd()), session, __version__)


@click.command("merge-driver")
@click.argument("base", type=click.Path())
@click.argument("ours", type=click.Path())
@click.argument("theirs", type=click.Path())
def merge_driver_command(base: str, ours: str, theirs: str) -> None:
    """Merge THEIRS into OURS, both changed from BASE; git calls this command for blocks.

    `memfs init` registers the driver in a clone. Front matter is merged by fixed rules, bodies
    line by line. No line from either side is lost.
    """
    from memfs.ops import merge  # with YAML, which assistants do not wait for

    merge.run(base, ours, theirs)
