"""`memfs tools` and `apply`."""

import json
import os
import sys

import click

from memfs.cli import console, layout, options
from memfs.tools import batch, provider_formats, registry
from memfs.tools.request_cost import measure_tool
from memfs.tools.tool_context import ToolContext


@click.command("tools")
@click.option(
    "--format",
    "form",
    type=click.Choice(provider_formats.FORMATS),
    help="Print the definitions as JSON, in the format of this provider.",
)
@options.json_option
def tools_command(form: str | None, as_json: bool) -> None:
    """List the tools with which a model edits and searches memory, and their cost in tokens.

    The assistant sends the definitions with each request. To send all, add `tools: full` to
    config.yaml. --format and --json print every tool that can be called.
    """
    offer = registry.offer_tools(ToolContext(os.getcwd(), options.get_origin()))
    for problem in offer.problems:
        console.talk(problem)
    if form or as_json:
        console.as_json(provider_formats.definitions(list(offer.tools.values()), form or "mcp"))
        return
    costs = list(map(measure_tool, offer.listed))
    for tool, cost in zip(offer.listed, costs, strict=True):
        asked = tool.list_asked()
        arguments = ", ".join(each.name if each.required else f"[{each.name}]" for each in asked)
        call = layout.wrap(f"{tool.name}({arguments})", 0)
        console.echo(console.style(tool.name, "cyan") + call.removeprefix(tool.name))
        about = tool.description.splitlines()[0]
        console.echo(layout.wrap(f"{about} ({cost} tokens)", 5))
    console.talk(f"{len(costs)} tools, {sum(costs):,} tokens in each request")
    listed = {tool.name for tool in offer.listed}
    others = ", ".join(name for name in offer.tools if name not in listed)
    if others:
        console.talk(f"more tools that can be called: {others}")


@click.command("apply")
@click.option("--atomic", is_flag=True, help="Run all calls, or none if one fails.")
@options.session_option
def apply_command(atomic: bool, session: str) -> None:
    """Run the tool calls from standard input, and print each result as a line of JSON.

    Calls have the format of Anthropic, OpenAI (chat and responses) or Gemini, or are {"name": …,
    "arguments": …}: one or many, as JSON or JSONL; whole replies work, too. A result has the format
    of its call. A failed call's result has the reason and the next step. The exit code is 1 if a
    call failed.
    """
    written = provider_formats.read(sys.stdin.read())
    origin = options.get_origin(session=session)._replace(actor="agent")  # a model wrote the calls
    context = ToolContext(os.getcwd(), origin)
    do = batch.run_together if atomic else batch.run_in_order
    results = do(context, registry.offer_tools(context).tools, [each.call for each in written])
    for each, result in zip(written, results, strict=True):
        console.data(json.dumps(provider_formats.write(result, each.shape), ensure_ascii=False))
    if any(result.is_error for result in results):
        raise SystemExit(1)
