"""`memfs eval`."""

from __future__ import annotations

import time

import click

from memfs.agent import conversations, endpoint, evaluation, loop
from memfs.agent.evaluation import EvaluationReport, PlayedConversation
from memfs.cli import console, layout, options, progress
from memfs.cli.wording import format_duration
from memfs.core.counts import format_count
from memfs.core.escaping import flatten_text
from memfs.store import config, store_paths
from memfs.store.blocks import Place


@click.command("eval")
@click.option(
    "--endpoint",
    "url",
    default="",
    metavar="URL",
    help="An OpenAI-compatible endpoint: http://localhost:11434/v1.",
)
@click.option("--model", default="", metavar="NAME", help="The model's name there.")
@click.option(
    "--key-env", default="", metavar="VARIABLE", help="The environment variable that holds the key."
)
@click.option(
    "--only",
    multiple=True,
    metavar="KIND|NAME",
    help="Conversations of this kind, or this one; may be repeated.",
)
@click.option(
    "--set",
    "folder",
    default="",
    metavar="FOLDER",
    help="Your own conversations: YAML files like those of templates/eval.",
)
@options.number_option(
    "--steps", help="Answers of the model in one turn at most.", default=loop.STEPS
)
@click.option(
    "--timeout",
    type=click.IntRange(1),
    default=None,
    metavar="SECONDS",
    help="How long an answer may take; 120 if nothing is configured.",
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Show what was expected and what is there, where that differs.",
)
@options.json_option
def command(
    url: str,
    model: str,
    key_env: str,
    only: tuple[str, ...],
    folder: str,
    steps: int,
    timeout: int | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """Find out how well a model manages memory.

    Scripted conversations are played with it, each in a temporary store of its own, with the brief
    as system prompt and the tools it would have. What counts is what is in memory afterwards. The
    model is the one that is named, or that of the section llm (endpoint, model, key_env, timeout)
    in your own configuration. Exit code 1: a target was missed.
    """
    selected = conversations.select_conversations(conversations.load(folder), only)
    settings = config.load(Place(None, store_paths.user_store()))
    asked = endpoint.select_endpoint(settings, url, model, key_env, timeout or 0)
    started = time.monotonic()
    try:
        with progress.show_progress(len(selected), f"asking {flatten_text(asked.name)}") as tick:
            report = evaluation.run(asked, selected, steps, tick)
    finally:
        asked.close()
    if not report.ok:
        console.refuse()
    if as_json:
        console.as_json({"model": asked.name, **report.record()})
        return
    _show(report, verbose=verbose)
    _sum_up(report, asked.name, time.monotonic() - started)


def _show(report: EvaluationReport, *, verbose: bool) -> None:
    table = [("WHAT", "COUNT", "SHARE", "TARGET", "")]
    for row in report.rows:
        mark = console.style("ok", "green") if row.ok else console.style("missed", "red")
        count = f"{row.counted}/{row.total}"
        table.append((row.name, count, f"{row.share:.0f} %", row.aim, layout.StyledText(mark)))
    console.echo(layout.table(table, right=(1, 2, 3)))
    for played in report.played if verbose else ():
        if not played.passed:
            _explain(played)


def _explain(played: PlayedConversation) -> None:
    name = f"{flatten_text(played.conversation.name)} ({played.conversation.kind})"
    console.echo(f"\n{console.style('✗', 'red')} {name}")
    if played.problem:
        console.echo(layout.wrap(f"not scored: {played.problem}", 2))
        return
    for miss in played.misses:
        console.echo(layout.wrap(f"expected {miss.expected}", 2))
        console.echo(layout.wrap(f"there is {miss.there or 'nothing'}", 4))


def _sum_up(report: EvaluationReport, name: str, seconds: float) -> None:
    played = report.played
    calls, refused = sum(each.calls for each in played), sum(each.refused for each in played)
    console.talk(
        f"{format_count(len(played), 'conversation')} with {name} in "
        f"{format_duration(seconds)}: "
        f"{format_count(sum(each.answers for each in played), 'answer')}, "
        f"{format_count(calls, 'tool call')} ({refused:,} refused), "
        f"{report.usage.read:,} tokens read, {report.usage.written:,} written"
    )
    endless = [each.conversation.name for each in played if each.endless]
    if endless:
        console.talk(f"! a turn did not end within its steps: {', '.join(endless)}")
    for each in played:
        if each.problem:
            console.talk(f"! not scored: {each.conversation.name}: {each.problem}")
    if report.stopped:
        console.error(report.stopped.message, report.stopped.hint)
