"""`memfs hook`."""

from __future__ import annotations

import click

from memfs import hosts
from memfs.hook.main import main
from memfs.ipc.client import HookCall


@click.command("hook")
@click.argument("host", type=click.Choice([*hosts.NAMES, "auto", "line"]))
@click.argument("tools", required=False, type=click.Choice(["mcp"]))
def command(host: str, tools: str | None) -> None:
    """Answer one hook call of HOST: its event as JSON on stdin, the reply on stdout.

    Assistants call this themselves once `memfs install` or the plugin has wired them. `auto` is
    the host that the event is from, `line` prints a status line, and `mcp` says that the host has
    our tools. Whatever goes wrong is one line in `.agent-memory/local/hook.log`; the exit code is
    always 0.
    """
    main(HookCall([host, tools] if tools else [host]))
