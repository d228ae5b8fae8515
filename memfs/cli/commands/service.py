"""`memfs service`."""

from __future__ import annotations

import click

from memfs.cli import console, options
from memfs.cli.commands.status import of_service
from memfs.cli.group import CommandGroup
from memfs.ops import service

_LINES = 40


@click.group("service", cls=CommandGroup, invoke_without_command=True)
@options.json_option
@click.pass_context
def command(called: click.Context, as_json: bool) -> None:
    """Show the service, the background process that updates indexes and answers searches.

    Hooks and MCP servers start it when they need it, and it ends after half an hour without a
    request. Without it everything works more slowly, and prompts are searched by words alone.
    """
    if not called.invoked_subcommand:
        _show(as_json=as_json)


@command.command("start")
def start() -> None:
    """Start it, if it does not run."""
    found, new = service.start()
    console.print_done(f"the service runs{'' if new else ' already'}: process {found.process}")


@command.command("stop")
def stop() -> None:
    """Stop it at once, with its work; the next session starts it again.

    `service: {mode: off}` in your own configuration turns it off.
    """
    console.print_done("the service has stopped" if service.stop() else "the service does not run")


@command.command("status")
@options.json_option
def status(as_json: bool) -> None:
    """Show its open stores, and its current work."""
    _show(as_json=as_json)


@command.command("logs")
def logs() -> None:
    """Print the end of its log."""
    path, text = service.log()
    console.talk(path)
    console.data("\n".join(text.splitlines()[-_LINES:]))


def _show(*, as_json: bool) -> None:
    found = service.load_status()
    if as_json:
        console.as_json(found.build_record() if found else {})
        return
    for line in of_service(found):
        console.data(line)
    for store in found.stores if found else ():
        console.data(f"  {store}")
