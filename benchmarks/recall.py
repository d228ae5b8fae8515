"""Whether the answer reaches the prompt: scenarios played through ingestion and the prompt hook.

Each session of a scenario becomes a transcript, and all are ingested into a new project store. Each
prompt is the first one of a new session: SessionStart, then UserPromptSubmit, through the hook that
`memfs install` wires. What is judged is all that the session was given by then; where a prompt
names a file, once more after it was read.
"""

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from statistics import fmean

import click

from benchmarks import command as runner
from benchmarks import program, project, scenarios, scratch_store
from benchmarks.scenarios import Scenario, ScenarioPrompt
from memfs.cli import console, layout, options, progress
from memfs.core.brief_layout import units
from memfs.ipc import service_status
from memfs.ops.install import commands
from memfs.recall.index_sources import Stage
from memfs.store import prompt_log

_HEADINGS = (
    "KIND PROMPTS ANSWERED MISLED SILENT BRIEF REPLY TIME WORDS CPU FOUND WHOLE OUTDATED COVERED "
    "FILE"
)
_OFF = "service:\n  mode: off"
_ON = "service:\n  mode: auto\n  pause: off"


@dataclass(frozen=True)
class PromptOutcome:
    """The result of one prompt: `brief` and `reply` in UTF-16 units, `milliseconds` of the hook.

    `answered` and `misled` are as in `scenarios.ScenarioPrompt`; `silent`: the reply is empty;
    `by_words`: it was searched for by words alone. `processor`: milliseconds that the service took.
    `found` is the share of the prompt's sessions that the reply quotes, `covered` that of its
    rule's words; None if it has none. `outdated` is as in `scenarios.Scenario`.
    `answered_with_file` is what holds once the prompt's file was read (None: it names none), and
    `of_file` the UTF-16 units that came with it.
    """

    project: str
    id: str
    kind: str
    answered: bool
    misled: bool
    silent: bool
    brief: int
    reply: int
    milliseconds: float
    by_words: bool = False
    processor: float = 0.0
    found: float | None = None
    covered: float | None = None
    outdated: bool = False
    answered_with_file: bool | None = None
    of_file: int = 0


@dataclass(frozen=True)
class RecallRow:
    """The outcomes of one kind of prompts: counts, mean sizes, the median time, the mean CPU.

    `found` is the share of prompts of which a session is quoted, `whole` of which all are, and
    `covered` a mean; None where no prompt names a session or rule. `with_file` is how many of the
    prompts with a file were answered before and after it was read, and the mean size of that.
    """

    kind: str
    prompts: int
    answered: int
    misled: int
    silent: int
    brief: float
    reply: float
    milliseconds: float
    by_words: int
    processor: float
    found: float | None
    whole: float | None
    covered: float | None
    outdated: int
    with_file: str


def run(played: Sequence[Scenario], stage: Stage, *, service: bool) -> list[PromptOutcome]:
    """Play scenarios and return the outcome of each prompt, with the service warm or without it."""
    found: list[PromptOutcome] = []
    for scenario in played:
        with tempfile.TemporaryDirectory(prefix="memfs-bench-") as folder:
            path, env = scenarios.ingest(scenario, folder, _ON if service else _OFF)
            program.memfs(["search", "anything"], env, path)  # builds the rest of the index
            try:
                found += _play(scenario, path, env, stage, service=service)
            finally:
                program.memfs(["service", "stop"], env, folder)
    return found


def _play(
    scenario: Scenario, path: str, env: dict[str, str], stage: Stage, *, service: bool
) -> list[PromptOutcome]:
    ask = partial(_ask, commands.python("claude"), path, env)
    ask("0", "SessionStart", source="startup")
    if service:
        greet = partial(ask, "0", "UserPromptSubmit", prompt="hello there")
        program.await_service(greet, env, path, stage("warming", 0))
    tick = stage(scenario.project, len(scenario.prompts))
    found = []
    with scratch_store.home(env["MEMFS_HOME"]):
        store = project.open_own(path).home
        for number, prompt in enumerate(scenario.prompts, 1):
            outcome = _judge_prompt(scenario, prompt, partial(ask, f"{number}"))
            log = prompt_log.read(store, 1)  # one by words is there before its hook ends
            by_words = any(each.by_words for each in log if each.session == f"{number}")
            found.append(replace(outcome, by_words=by_words))
            tick(1)
    return found


def _measure_processor() -> float:
    """Return the seconds that the service had a processor for; 0 if it does not run."""
    status = service_status.load_status()
    return status.processor if status else 0.0


def _judge_prompt(
    scenario: Scenario, prompt: ScenarioPrompt, ask: Callable[..., tuple[str, float]]
) -> PromptOutcome:
    brief, _ = ask("SessionStart", source="startup")
    before = _measure_processor()
    reply, milliseconds = ask("UserPromptSubmit", prompt=prompt.text)
    processor = 1000 * (_measure_processor() - before)
    context = f"{brief}\n{reply}"
    read = {"tool_name": "Read", "tool_input": {"file_path": prompt.opened}}
    of_file = ask("PreToolUse", **read)[0] if prompt.opened else ""
    quoted = scenario.list_quoted(prompt, reply)
    return PromptOutcome(
        scenario.project,
        prompt.id,
        prompt.kind,
        prompt.is_answered(context),
        prompt.is_misled(context),
        not reply,
        units(brief),
        units(reply),
        milliseconds,
        processor=processor,
        found=len(quoted) / len(prompt.sessions) if prompt.sessions else None,
        covered=prompt.measure_coverage(context) if prompt.rule else None,
        outdated=scenario.is_outdated(prompt, reply),
        answered_with_file=prompt.is_answered(f"{context}\n{of_file}") if prompt.opened else None,
        of_file=units(of_file),
    )


def _ask(
    command: list[str], path: str, env: dict[str, str], session: str, event: str, **more: object
) -> tuple[str, float]:
    """Call the hook; return the context for the model, and the milliseconds."""
    payload = {"session_id": session, "cwd": path, "hook_event_name": event, **more}
    data = json.dumps(payload).encode()
    start = time.perf_counter()
    output = program.run(command, data, env)
    milliseconds = (time.perf_counter() - start) * 1000
    found = json.loads(output) if output else {}
    return str(found.get("hookSpecificOutput", {}).get("additionalContext", "")), milliseconds


def by_kind(outcomes: Sequence[PromptOutcome]) -> list[RecallRow]:
    """Return a row for each kind of prompts, in the order they come, and one for all with answers.

    Sizes are means over all prompts, those without a reply too.
    """
    kinds = list(dict.fromkeys(each.kind for each in outcomes))
    rows = [_summarize(kind, [each for each in outcomes if each.kind == kind]) for kind in kinds]
    known = [each for each in outcomes if each.kind != scenarios.UNRELATED]
    return [*rows, _summarize("all with an answer", known)]


def _summarize(kind: str, outcomes: Sequence[PromptOutcome]) -> RecallRow:
    most = max(1, len(outcomes))
    times = sorted(each.milliseconds for each in outcomes) or [0.0]
    found = [each.found for each in outcomes if each.found is not None]
    covered = [each.covered for each in outcomes if each.covered is not None]
    read = [each for each in outcomes if each.answered_with_file is not None]
    before, after = sum(each.answered for each in read), sum(map(_is_answered_with_file, read))
    size = sum(each.of_file for each in read) / max(1, len(read))
    return RecallRow(
        kind,
        len(outcomes),
        sum(each.answered for each in outcomes),
        sum(each.misled for each in outcomes),
        sum(each.silent for each in outcomes),
        sum(each.brief for each in outcomes) / most,
        sum(each.reply for each in outcomes) / most,
        times[len(times) // 2],
        sum(each.by_words for each in outcomes),
        sum(each.processor for each in outcomes) / most,
        fmean(each > 0 for each in found) if found else None,
        fmean(each == 1 for each in found) if found else None,
        fmean(covered) if covered else None,
        sum(each.outdated for each in outcomes),
        f"{before} > {after} of {len(read)}, {size:,.0f}" if read else "-",
    )


def _is_answered_with_file(outcome: PromptOutcome) -> bool:
    return bool(outcome.answered_with_file)


@click.command("recall", cls=runner.Measurement)
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE.json…")
@click.option("--no-service", is_flag=True, help="Without the service: by words alone.")
@click.option("--joined", is_flag=True, help="The sessions of all files in one large project.")
@options.json_option
def command(files: tuple[str, ...], no_service: bool, joined: bool, as_json: bool) -> None:
    """Measure how often the answer reaches the prompt: scenarios, end to end.

    Each file holds the past sessions of a project and prompts of later sessions, with what must
    reach them (benchmarks/scenarios.py describes the form). The sessions are ingested, and each
    prompt goes through the hook. BRIEF and REPLY are mean sizes in UTF-16 units. WORDS counts the
    prompts that were searched for by words alone. CPU is the mean processor time of the service for
    a prompt.

    Where a prompt names the sessions with its answer, FOUND is how often the reply quotes one of
    them, WHOLE all of them, and OUTDATED counts the replies with what was superseded, where the
    session that holds is neither quoted nor named by its day. COVERED is the mean share of a
    decision's words that are there. FILE is for prompts that name a file which is then read: how
    many were answered before and after that, and the mean size of what came with it.
    """
    played = [scenarios.read(path) for path in files]
    played = [scenarios.join(played)] if joined else played
    with progress.show_stages() as stage:
        outcomes = run(played, stage, service=not no_service)
    if as_json:
        console.as_json([asdict(outcome) for outcome in outcomes])
        return
    rows = [tuple(_HEADINGS.split())]
    rows += [
        (
            row.kind,
            str(row.prompts),
            f"{row.answered / max(1, row.prompts):.0%}",
            str(row.misled),
            f"{row.silent / max(1, row.prompts):.0%}",
            f"{row.brief:,.0f}",
            f"{row.reply:,.0f}",
            f"{row.milliseconds:.1f} ms",
            str(row.by_words),
            f"{row.processor:.1f} ms",
            *("-" if each is None else f"{each:.0%}" for each in (row.found, row.whole)),
            str(row.outdated),
            "-" if row.covered is None else f"{row.covered:.0%}",
            row.with_file,
        )
        for row in by_kind(outcomes)
    ]
    console.echo(layout.table(rows, right=tuple(range(1, 15))))


if __name__ == "__main__":
    runner.run(command)
