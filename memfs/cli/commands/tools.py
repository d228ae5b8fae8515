"""`memfs tools`."""

from __future__ import annotations

import os

import click

from memfs.cli import console, layout, options
from memfs.tools import provider_formats, registry
from memfs.tools.tool_context import ToolContext


@click.command("tools")
@click.option(
    "--format",
    "form",
    type=click.Choice(provider_formats.FORMATS),
    help="Print the definitions as JSON, as this provider takes them.",
)
@options.json_option
def command(form: str | None, as_json: bool) -> None:
    """List the tools by which a model edits and searches memory."""
    offer = registry.offer_tools(ToolContext(os.getcwd(), options.get_origin()))
    for problem in offer.problems:
        console.talk(problem)
    tools = offer.tools.values()
    if form or as_json:
        console.as_json(provider_formats.definitions(tools, form or "mcp"))
        return
    for tool in tools:
        arguments = ", ".join(
            each.name if each.required else f"[{each.name}]"
            for each in tool.parameters
            if each.name not in tool.fixed
        )
        call = layout.wrap(f"{tool.name}({arguments})", 0)
        console.echo(console.style(tool.name, "cyan") + call.removeprefix(tool.name))
        console.echo(layout.wrap(tool.description.splitlines()[0], 5))
