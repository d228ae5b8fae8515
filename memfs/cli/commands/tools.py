"""`memfs tools`."""

from __future__ import annotations

import click

from memfs.cli import context, screen
from memfs.tools import shapes, table


@click.command("tools")
@click.option("--format", "form", type=click.Choice(shapes.FORMATS),
              help="Print the definitions as JSON, as this provider takes them.")  # fmt: skip
@context.json_option
def command(form: str | None, as_json: bool) -> None:
    """List the tools by which a model edits and searches memory."""
    tools = table.built_in().values()
    if form or as_json:
        screen.as_json(shapes.definitions(tools, form or "mcp"))
        return
    for tool in tools:
        arguments = ", ".join(
            each.name if each.required else f"[{each.name}]" for each in tool.parameters
        )
        screen.styled(f"{screen.style(tool.name, 'cyan')}({arguments})")
        screen.styled(screen.wrapped(tool.description.splitlines()[0], 5))
