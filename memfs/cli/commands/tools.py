"""`memfs tools`."""

from __future__ import annotations

import os

import click

from memfs.cli import context, screen
from memfs.tools import shapes, table
from memfs.tools.desk import Desk


@click.command("tools")
@click.option("--format", "form", type=click.Choice(shapes.FORMATS),
              help="Print the definitions as JSON, as this provider takes them.")  # fmt: skip
@context.json_option
def command(form: str | None, as_json: bool) -> None:
    """List the tools by which a model edits and searches memory."""
    offer = table.offered(Desk(os.getcwd(), context.origin()))
    for problem in offer.problems:
        screen.talk(problem)
    tools = offer.tools.values()
    if form or as_json:
        screen.as_json(shapes.definitions(tools, form or "mcp"))
        return
    for tool in tools:
        arguments = ", ".join(
            each.name if each.required else f"[{each.name}]"
            for each in tool.parameters
            if each.name not in tool.fixed
        )
        screen.styled(f"{screen.style(tool.name, 'cyan')}({arguments})")
        screen.styled(screen.wrapped(tool.description.splitlines()[0], 5))
