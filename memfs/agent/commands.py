"""`memfs agent`."""

import os
import sys
from contextlib import closing

import click

from memfs.agent import configured_model, usage_limits
from memfs.agent.loop import AgentTurn, LoopLimits
from memfs.agent.session import AgentSession
from memfs.agent.usage_limits import MeteredModel
from memfs.cli import console, options
from memfs.core.errors import MemfsError, UsageError
from memfs.core.records import Origin
from memfs.hosts import OWN
from memfs.store import clock
from memfs.store.blocks import Place
from memfs.tools.calls import Result
from memfs.tools.tool_context import ToolContext

_ENDS = ("/quit", "/exit", "quit", "exit")
_RESULT_CHARS = 100  # characters of a tool's result


@click.command("agent")
@click.argument("text", nargs=-1)
@click.option(
    "-i",
    "--interactive",
    is_flag=True,
    help="Ask for the next prompt after each answer; type /quit to stop.",
)
@click.option("-c", "--continue", "again", is_flag=True, help="Continue the latest session.")
@click.option(
    "--session",
    "named",
    default="",
    metavar="ID",
    help="Continue or start the session with this id.",
)
@options.number_option("--steps", help="Maximum number of model answers per turn (default: 16).")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the answer and the tool calls as JSON."
)
def agent_command(
    text: tuple[str, ...],
    interactive: bool,
    again: bool,
    named: str,
    steps: int | None,
    as_json: bool,
) -> None:
    """Talk with a model that manages this memory.

    Set the model in your own configuration, as `llm`: an OpenAI-compatible endpoint, or a command
    such as claude -p. The model has the blocks in its context, edits them with the tools, and
    searches older messages. TEXT, or - for standard input, is one turn.
    """
    prompt = " ".join(text)
    if prompt == "-":
        prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not prompt.strip() and not interactive:
        raise UsageError(
            "no text was given",
            'give a text, as in memfs agent "what did we decide?", or add --interactive',
        )
    settings = configured_model.settings()
    rules = LoopLimits(
        steps or settings.number("llm.max_steps"), settings.number("llm.max_retries")
    )
    with (
        closing(configured_model.load_model()) as model,
        AgentSession(_find_place(named, again), model, rules) as chat,
    ):
        for problem in chat.problems:
            console.talk(f"! {problem}")
        _Talk(chat, model, as_json=as_json).run(prompt, interactive=interactive)


def _find_place(named: str, again: bool) -> Place:
    """Return the place of the named, latest or a new session, of stores that the user trusts."""
    found = ToolContext(os.getcwd(), Origin("agent", OWN)).place()
    latest = usage_limits.find_latest_session(found.home) if again and not named else ""
    if again and not named and not latest:
        raise MemfsError("there is no session to continue", "start a session with memfs agent TEXT")
    return Place(found.project, found.user, named or latest or f"agent-{clock.unique()}")


class _Talk:
    """A conversation at a terminal, or in a pipe."""

    def __init__(self, chat: AgentSession, model: MeteredModel, *, as_json: bool) -> None:
        self._chat, self._model, self._json = chat, model, as_json
        self._streams = not as_json and sys.stdout.isatty()
        self._results: list[Result] = []
        self._column = False  # whether the cursor is inside a line

    def run(self, prompt: str, *, interactive: bool) -> None:
        """Send a prompt, then with `interactive` each that a person types, until they end it."""
        if prompt.strip():
            self._run_turn(prompt)
        while interactive:
            try:
                prompt = click.prompt("you", prompt_suffix="> ", err=True)
            except (click.Abort, EOFError):
                break
            if prompt.strip().lower() in _ENDS:
                break
            try:
                self._run_turn(prompt)
            except MemfsError as error:  # the queue is on disk: the turn can be repeated
                console.error(error.message, error.hint)
        if interactive:
            try:
                self._chat.review(self._print_result, at_end=True)
            except MemfsError as error:
                console.error(error.message, error.hint)
        if not self._json:
            console.talk(
                f"{self._model.format_spent()}; continue with memfs agent --continue, or --session "
                f"{self._chat.queue.session}"
            )

    def _run_turn(self, prompt: str) -> None:
        self._results.clear()
        turn = self._chat.say(prompt, self._write if self._streams else None, self._print_result)
        if self._json:
            console.as_json(self._build_record(turn))
        elif self._streams:
            self._end_line()
        elif turn.text:
            console.data(turn.text)
        if turn.problem:
            console.error(turn.problem)
            console.refuse()

    def _write(self, text: str) -> None:
        console.print_piece(text)
        self._column = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._column:
            sys.stdout.write("\n")
            self._column = False

    def _print_result(self, result: Result) -> None:
        self._results.append(result)
        if self._json:
            return
        self._end_line()
        mark = "✗" if result.is_error else "·"
        text = " ".join(result.text.split())
        more = "…" if len(text) > _RESULT_CHARS else ""
        console.talk(f"{mark} {result.call.name}: {text[:_RESULT_CHARS]}{more}")

    def _build_record(self, turn: AgentTurn) -> dict[str, object]:
        return {
            "session": self._chat.queue.session,
            "text": turn.text,
            "problem": turn.problem,
            "steps": turn.steps,
            "refused": turn.refused,
            "calls": [
                {
                    "tool": each.call.name,
                    "arguments": each.call.arguments,
                    "result": each.text,
                    "error": each.is_error,
                }
                for each in self._results
            ],
            "tokens": {"read": turn.usage.read, "written": turn.usage.written},
            "spent": {"calls": self._model.run.calls, "tokens": self._model.run.tokens},
        }
