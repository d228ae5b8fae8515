"""How well a model manages memory: it plays conversations, each in stores of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from tempfile import TemporaryDirectory

import click

from memfs.agent import conversations, endpoint, loop
from memfs.agent.conversations import Kind, MemorySnapshot, Miss, ScriptedConversation
from memfs.agent.loop import AgentTurn
from memfs.agent.model import Model, ModelError, RefusedError, TokenUsage
from memfs.agent.session import AgentWindow
from memfs.agent.usage_limits import Queue
from memfs.cli import console, layout, options, progress
from memfs.cli.layout import format_duration
from memfs.context import brief_contents
from memfs.core.body_edits import Create, Edit, Rejected, Rethink
from memfs.core.errors import UsageError
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count
from memfs.core.records import Origin
from memfs.core.settings import Settings
from memfs.ops import edit, init
from memfs.store import config, store_paths
from memfs.store.blocks import Place
from memfs.tools import registry
from memfs.tools.tool_context import ToolContext

_SESSION = "eval"


@dataclass(frozen=True)
class PlayedConversation:
    """A played conversation: its misses, and the memory after it.

    `problem` says why it could not be played to its end, where the model's side refused; it is not
    scored then. `endless`: a turn did not end by itself, and what followed was left out.
    """

    conversation: ScriptedConversation
    misses: tuple[Miss, ...]
    found: MemorySnapshot
    turns: tuple[AgentTurn, ...]
    problem: str = ""

    @property
    def answers(self) -> int:
        return sum(turn.steps for turn in self.turns)

    @property
    def usage(self) -> TokenUsage:
        return sum((turn.usage for turn in self.turns), TokenUsage())

    @property
    def endless(self) -> bool:
        return not all(turn.ended for turn in self.turns)

    @property
    def passed(self) -> bool:
        return not self.misses and not self.problem

    def record(self) -> dict[str, object]:
        """Return the JSON record."""
        return {
            "name": self.conversation.name,
            "kind": self.conversation.kind,
            "passed": self.passed,
            "missed": [asdict(miss) for miss in self.misses],
            "problem": self.problem,
            "blocks": self.found.values,
            "archive": list(self.found.passages),
            "answers": self.answers,
            "calls": sum(turn.calls for turn in self.turns),
            "refused": sum(turn.refused for turn in self.turns),
            "endless": self.endless,
            "tokens": asdict(self.usage),
        }


@dataclass(frozen=True)
class EvaluationReport:
    """All that was played, and the rows it makes. `stopped`: why the rest was not."""

    played: tuple[PlayedConversation, ...]
    stopped: ModelError | None = None

    @property
    def rows(self) -> list[ScoreRow]:
        passed: dict[Kind, list[bool]] = {}
        for each in self.played:
            if not each.problem:
                passed.setdefault(each.conversation.kind, []).append(each.passed)
        return [
            ScoreRow(kind, name, passed[kind].count(not fewer), len(passed[kind]), target, fewer)
            for kind, name, target, fewer in _ROWS
            if kind in passed
        ]

    @property
    def score(self) -> float:
        """The mean of the rows' scores, from 0 to 1."""
        return sum(row.score for row in self.rows) / max(1, len(self.rows))

    @property
    def ok(self) -> bool:
        """Whether all was scored, and all targets are met."""
        complete = not self.stopped and not any(each.problem for each in self.played)
        return complete and all(row.ok for row in self.rows)

    @property
    def usage(self) -> TokenUsage:
        return sum((each.usage for each in self.played), TokenUsage())

    def record(self) -> dict[str, object]:
        """Return the JSON record."""
        return {
            "ok": self.ok,
            "score": round(self.score, 3),
            "stopped": self.stopped.message if self.stopped else "",
            "rows": [row.record() for row in self.rows],
            "tokens": asdict(self.usage),
            "conversations": [each.record() for each in self.played],
        }


def run(
    model: Model,
    conversations: Sequence[ScriptedConversation],
    steps: int,
    settings: Settings,
    tick: Callable[[int], object],
) -> EvaluationReport:
    """Play conversations one after the other, in the window of the user's `settings`.

    Raises `ModelError` where the model cannot be asked. One that answered before and refuses a
    conversation is asked the next one; where it cannot be asked any more, what was played until
    then is reported.
    """
    played: list[PlayedConversation] = []
    for conversation in conversations:
        answered = any(each.answers for each in played)
        try:
            played.append(_play(model, conversation, steps, settings, answered))
        except ModelError as error:
            if not answered:
                raise
            return EvaluationReport(tuple(played), error)
        tick(1)
    return EvaluationReport(tuple(played))


def _play(
    model: Model, conversation: ScriptedConversation, steps: int, settings: Settings, answered: bool
) -> PlayedConversation:
    turns: list[AgentTurn] = []
    problem = ""
    with TemporaryDirectory(prefix="memfs-eval-") as folder:
        place = init.make_separate_place(os.path.realpath(folder), _SESSION)
        brief_contents.create_scratch_block(place)
        _prepare(place, conversation)
        before = conversations.take_snapshot(place)
        context = ToolContext(place.home.top, Origin("agent", "", _SESSION), place)
        tools = registry.offer_tools(context).tools
        queue = Queue(place.home, _SESSION, list(tools))
        window = AgentWindow(place, queue, list(tools.values()), settings, model, lambda: None)
        rules = loop.LoopLimits(steps)
        try:
            for prompt in conversation.turns:
                turns.append(loop.run_turn(model, context, tools, window, prompt, rules))
                if not turns[-1].ended:
                    break
        except RefusedError as error:
            if not answered and not turns:
                raise
            problem = error.message
        after = conversations.take_snapshot(place)
    missed = tuple(conversations.misses(conversation.expected, before, after))
    return PlayedConversation(conversation, missed, after, tuple(turns), problem)


def _prepare(place: Place, conversation: ScriptedConversation) -> None:
    known = conversations.take_snapshot(place).values
    edits: list[Edit] = [
        Rethink(label, block.value)
        if label in known
        else Create(label, block.description, block.value, 0, pinned=True)
        for label, block in conversation.blocks.items()
    ]
    outcome = edit.run(place, edits, Origin("system")) if edits else None
    if isinstance(outcome, Rejected):
        raise UsageError(f"{conversation.name}: {outcome.message}")


@dataclass(frozen=True)
class ScoreRow:
    """One kind of conversation. `counted` of `total`, which is `share` percent; `target` likewise.

    `fewer`: what is counted went wrong, and its share has to be below the target.
    """

    kind: Kind
    name: str
    counted: int
    total: int
    target: int
    fewer: bool = False

    @property
    def share(self) -> float:
        return 100 * self.counted / self.total

    @property
    def score(self) -> float:
        """From 0 to 1, which is the best also where `fewer` is better."""
        return abs(self.fewer - self.counted / self.total)

    @property
    def ok(self) -> bool:
        return self.share < self.target if self.fewer else self.share >= self.target

    def record(self) -> dict[str, object]:
        """Return the JSON record."""
        return {**asdict(self), "percent": round(self.share, 1), "ok": self.ok}


# The targets of the first design of active memory; forbidden things must always be kept out.
_ROWS: tuple[tuple[Kind, str, int, bool], ...] = (
    ("personal", "personal facts saved", 70, False),
    ("preference", "changed preferences updated", 50, False),
    ("decision", "decisions saved", 70, False),
    ("detail", "details archived", 30, False),
    ("topic", "blocks created", 60, False),
    ("trivia", "false saves", 20, True),
    ("forbidden", "unwanted texts not saved", 100, False),
)


@click.command("eval")
@click.option(
    "--endpoint",
    "url",
    default="",
    metavar="URL",
    help="An OpenAI-compatible endpoint, such as http://localhost:11434/v1.",
)
@click.option("--model", default="", metavar="NAME", help="The model's name at the endpoint.")
@click.option(
    "--key-env",
    default="",
    metavar="VARIABLE",
    help="The environment variable that contains the API key.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="KIND|NAME",
    help="Only conversations of this kind or name; may be repeated.",
)
@click.option(
    "--set",
    "folder",
    default="",
    metavar="FOLDER",
    help="Folder with your own conversations, as YAML files like those in templates/eval.",
)
@options.number_option(
    "--steps", help="Maximum number of model answers per turn.", default=loop.STEPS
)
@click.option(
    "--timeout",
    type=click.IntRange(1),
    default=None,
    metavar="SECONDS",
    help="Timeout for an answer, in seconds (default: 120).",
)
@click.option(
    "-v", "--verbose", is_flag=True, help="Show the expected and actual texts where they differ."
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
    """Measure how well a model manages memory.

    The command plays scripted conversations with the model, as memfs agent does, each in a
    temporary store. Then it checks the contents of the memory. Name the model with --endpoint and
    --model, or as `llm` (endpoint, model, key_env, timeout) in your own configuration.
    The exit code is 1 if a target was missed.
    """
    selected = conversations.select_conversations(conversations.load(folder), only)
    settings = config.load(Place(None, store_paths.user_store()))
    started = time.monotonic()
    with (
        closing(endpoint.select_endpoint(settings, url, model, key_env, timeout or 0)) as asked,
        progress.show_progress(len(selected), f"asking {flatten_text(asked.name)}") as tick,
    ):
        report = run(asked, selected, steps, settings, tick)
    if not report.ok:
        console.refuse()
    if as_json:
        console.as_json({"model": asked.name, **report.record()})
        return
    _show(report, verbose=verbose)
    _sum_up(report, asked.name, time.monotonic() - started)


def _show(report: EvaluationReport, *, verbose: bool) -> None:
    table: list[tuple[str, ...]] = [("WHAT", "COUNT", "SHARE", "TARGET", "")]
    for row in report.rows:
        mark = console.style("ok", "green") if row.ok else console.style("missed", "red")
        count, aim = f"{row.counted}/{row.total}", f"{'<' if row.fewer else '≥'} {row.target} %"
        table.append((row.name, count, f"{row.share:.0f} %", aim, layout.StyledText(mark)))
    console.echo(layout.table(table, right=(1, 2, 3)))
    for played in report.played if verbose else ():
        if played.passed:
            continue
        name = f"{flatten_text(played.conversation.name)} ({played.conversation.kind})"
        console.echo(f"\n{console.style('✗', 'red')} {name}")
        if played.problem:
            console.echo(layout.wrap(f"not scored: {played.problem}", 2))
            continue
        for miss in played.misses:
            console.echo(layout.wrap(f"expected: {miss.expected}", 2))
            console.echo(layout.wrap(f"found: {miss.there or 'nothing'}", 4))


def _sum_up(report: EvaluationReport, name: str, seconds: float) -> None:
    played = report.played
    turns = [turn for each in played for turn in each.turns]
    calls, refused = sum(turn.calls for turn in turns), sum(turn.refused for turn in turns)
    console.talk(
        f"{format_count(len(played), 'conversation')} with {name} in "
        f"{format_duration(seconds)}: score {report.score:.2f}, "
        f"{format_count(sum(each.answers for each in played), 'answer')}, "
        f"{format_count(calls, 'tool call')} ({refused:,} refused), "
        f"{report.usage.read:,} tokens read, {report.usage.written:,} written"
    )
    endless = [each.conversation.name for each in played if each.endless]
    if endless:
        console.talk(f"! the model did not finish a turn in {', '.join(endless)}")
    for each in played:
        if each.problem:
            console.talk(f"! '{each.conversation.name}' was not scored: {each.problem}")
    if report.stopped:
        console.error(report.stopped.message, report.stopped.hint)
