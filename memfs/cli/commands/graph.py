"""`memfs graph`."""

from dataclasses import asdict

import click

from memfs.cli import console, layout, options
from memfs.cli.console import paged
from memfs.core.errors import UsageError
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count, format_time
from memfs.knowledge.session_graph.turns import Flow
from memfs.ops import graph as op
from memfs.store.blocks import Place

_MARKS = {1: ("\u2713", "green"), -1: ("\u2717", "red"), 0: ("\u00b7", "bright_black")}
_LINE = 100  # characters of a prompt
_ID = 8  # characters of a session's id in a list


@click.command("graph")
@click.argument("name", required=False, default="")
@click.option(
    "--svg", type=click.Path(dir_okay=False), help="Write a drawing of NAME to this file."
)
@click.option(
    "--similar",
    "text",
    default="",
    metavar="TEXT",
    help="Show turns similar to TEXT, with their solutions and next steps.",
)
@click.option("--patterns", is_flag=True, help="Show recurring sequences of steps and outcomes.")
@click.option(
    "--path",
    "node",
    default="",
    metavar="NODE",
    help="Show the turns that follow NODE (topic:NAME or message:ID).",
)
@options.number_option(
    "--depth", help="With --path: maximum number of steps to follow.", default=10, most=100
)
@options.count_option(5, "With --similar: maximum number of turns to show.", most=100)
@options.json_option
@paged
def command(
    name: str, svg: str, text: str, patterns: bool, node: str, depth: int, count: int, as_json: bool
) -> None:
    """Show the course of past sessions: requests, actions and outcomes.

    NAME is a session (the start of its id is enough) or a topic. Without NAME, see all sessions.
    """
    if sum(map(bool, (name, text, patterns, node))) > 1:
        raise UsageError("use only one of NAME, --similar, --patterns and --path")
    if svg and not name:
        raise UsageError(
            "--svg needs the name of a session or topic", "run memfs graph NAME --svg FILE"
        )
    place = options.place()
    if node:
        _print_paths(place, node, depth, as_json=as_json)
    elif text:
        _print_similar(place, text, count, as_json=as_json)
    elif name:
        _print_graph(place, name, svg, as_json=as_json)
    else:
        _print_overview(place, patterns=patterns, as_json=as_json)


def _print_overview(place: Place, *, patterns: bool, as_json: bool) -> None:
    found = op.load_overview(place)
    if as_json:
        whole = asdict(found)
        console.as_json(whole["patterns"] if patterns else whole)
        return
    if not patterns:
        totals = [format_count(number, name) for name, number in found.counts.items()]
        console.data(", ".join(totals))
        if found.topics:
            topics = ", ".join(f"{name} ({count})" for name, count in found.topics)
            console.echo(layout.wrap(f"topics: {topics}", 0))
        for flow in found.latest:
            _print_flow(flow, session=True)
    for each in found.patterns[: None if patterns else 3]:
        counts = f"{each.worked} worked, {each.failed} did not"
        console.data(f"{' > '.join(each.steps)}: {format_count(each.turns, 'turn')}, {counts}")


def _print_graph(place: Place, name: str, svg: str | None, *, as_json: bool) -> None:
    found = op.draw_graph(place, name)
    if svg:
        with open(svg, "w", encoding="utf-8") as handle:
            handle.write(op.draw_svg(found))
        console.print_done(
            f"wrote {format_count(len(found.flows), 'turn')} of {found.title} to {svg}"
        )
        return
    if as_json:
        console.as_json(asdict(found))
        return
    console.echo(console.style(flatten_text(found.title), "cyan"))
    for flow in found.flows:
        _print_flow(flow, found.topics.get(flow.id, ()), session=found.title.startswith("topic"))


def _print_similar(place: Place, text: str, limit: int, *, as_json: bool) -> None:
    found = op.find_similar(place, text, limit)
    if as_json:
        console.as_json(asdict(found))
        return
    if not found.flows:
        console.talk("no similar turns found")
    for flow, fixed in found.flows:
        _print_flow(flow, session=True)
        if fixed is not None:
            console.echo(layout.wrap(f"what worked: {_shorten(fixed.reply)}", 8))
    if found.steps:
        line = ", ".join(f"{step.name} ({step.share:.0%})" for step in found.steps)
        console.data(f"usual first steps: {line}")


def _print_paths(place: Place, node: str, depth: int, *, as_json: bool) -> None:
    found = op.find_paths(place, node, depth)
    if as_json:
        console.as_json([asdict(edge) for edge in found])
        return
    for edge in found:
        console.data(f"{edge.source} {edge.type} {edge.target}")
    if not found:
        console.talk(f"no turns follow '{node}' in the graph")


def _print_flow(flow: Flow, topics: tuple[str, ...] = (), *, session: bool) -> None:
    mark, colour = _MARKS[flow.outcome]
    where = f"session {flow.session[:_ID]} " if session else ""
    head = f"{format_time(flow.at)}  {where}{flow.number}  {flow.intent}"
    console.echo(f"  {console.style(mark, colour)} {layout.format_head(head)}")
    console.echo(layout.wrap(_shorten(flow.prompt), 8))
    more = [" > ".join(flow.steps), flow.why, " ".join(f"#{name}" for name in topics)]
    line = "; ".join(part for part in more if part)
    if line:
        console.echo(console.style(layout.wrap(line, 8), "bright_black"))


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LINE else flat[: _LINE - 1] + "\u2026"
