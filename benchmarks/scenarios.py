"""Scenarios: the sessions of a project, and the prompts that they are to help with weeks later.

A file holds one: `{project, sessions: [{id, date, turns: [{role, text, name, input}]}], prompts:
[{id, text, kind, expect, forbid, sessions, rule, opened}]}`. `role` is user, assistant or tool; a
tool's turn has its `name`, its `input` as text, and what it printed. `expect` are groups, of which
each must have one of its strings in what a session is given; `forbid` are strings that only
outdated texts have. `sessions` are those with the answer, the one that holds last; of a decision
`rule` is what was decided. `opened` is the file that the assistant reads for the prompt.

Two other forms are read: decisions, `{tasks: [{task_id, bug_report, policy, sessions, source}],
sessions: [{id, turns}]}`, and labelled queries, `NAME.queries.jsonl` beside `NAME.corpus.jsonl`
(see `benchmarks/retrieval.py`), whose first space is played.
"""

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec.structs import replace

from benchmarks import program, project, scratch_store
from memfs.core.errors import UsageError
from memfs.core.snippet import split_words
from memfs.search.stopwords import STOP

UNRELATED = "unrelated"  # the kind of a prompt about which nothing is known
# Kinds of prompts whose first session says what does not hold any more.
_UPDATED = ("superseded", "conversation-amended", "knowledge-update")
_LATER = "later on this"  # a reply names the days of what it does not quote
_FIRST = datetime(2026, 1, 5, 9, tzinfo=UTC)  # of sessions without a date, a day each
_QUERIES, _CORPUS = ".queries.jsonl", ".corpus.jsonl"
_LARGEST = 64 << 20  # bytes
_STEP = timedelta(seconds=40)  # from one turn to the next


class ScenarioTurn(msgspec.Struct, frozen=True):
    """One turn of a session."""

    role: str
    text: str
    name: str = "Bash"
    input: str = ""


class ScenarioSession(msgspec.Struct, frozen=True):
    """One past session; `date` is when it began, ISO 8601."""

    id: str
    date: str
    turns: tuple[ScenarioTurn, ...]


class ScenarioPrompt(msgspec.Struct, frozen=True):
    """A prompt, and the strings that must and must not reach it."""

    id: str
    text: str
    kind: str
    expect: tuple[tuple[str, ...], ...] = ()
    forbid: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    rule: str = ""
    opened: str = ""

    def is_answered(self, text: str) -> bool:
        """Return whether a text has one string of each expected group, ignoring case."""
        lowered = text.lower()
        return bool(self.expect) and all(
            any(word.lower() in lowered for word in group) for group in self.expect
        )

    def is_misled(self, text: str) -> bool:
        """Return whether a text has a forbidden string, and not the answer."""
        lowered = text.lower()
        return not self.is_answered(text) and any(word.lower() in lowered for word in self.forbid)

    def measure_coverage(self, text: str) -> float:
        """Return the share of the rule's words that a text has."""
        words = {*split_words(self.rule)}.difference(STOP)
        return len(words.intersection(split_words(text))) / max(1, len(words))


class Scenario(msgspec.Struct, frozen=True):
    """A project's past sessions and the prompts that are tried."""

    project: str
    sessions: tuple[ScenarioSession, ...]
    prompts: tuple[ScenarioPrompt, ...]

    def list_quoted(self, prompt: ScenarioPrompt, reply: str) -> list[str]:
        """Return those of a prompt's sessions that a reply quotes."""
        known = {each.id: _name_session(at) for at, each in enumerate(self.sessions, 1)}
        return [each for each in prompt.sessions if f"session {known[each]}" in reply]

    def is_outdated(self, prompt: ScenarioPrompt, reply: str) -> bool:
        """Return whether a reply quotes what was superseded, and does not name the later session.

        That is the one that holds; the reply quotes it, or says that there is more on its day.
        """
        quoted = self.list_quoted(prompt, reply)
        if prompt.kind not in _UPDATED or not quoted or prompt.sessions[-1] in quoted:
            return False
        day = next(each.date[:10] for each in self.sessions if each.id == prompt.sessions[-1])
        return not any(_LATER in line and day in line for line in reply.split("\n"))


def read(path: str) -> Scenario:
    """Read a scenario file. Raises `MemfsError` if it cannot be read or is invalid."""
    try:
        if path.endswith(_QUERIES):
            return _convert_queries(path)
        found = msgspec.json.decode(_read_text(path))
        if isinstance(found, dict) and "tasks" in found:
            found = _convert_decisions(found)
        scenario = msgspec.convert(found, Scenario)
        for session in scenario.sessions:
            datetime.fromisoformat(session.date)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError) as error:
        hint = "memfs help bench says which form a scenario has"
        raise UsageError(f"{path} is no scenario: {error}", hint) from error
    return scenario


def join(scenarios: Sequence[Scenario]) -> Scenario:
    """Return one large project with the sessions and prompts of all."""
    sessions, prompts = [], []
    for number, each in enumerate(scenarios):
        sessions += [replace(one, id=f"{number}/{one.id}") for one in each.sessions]
        for prompt in each.prompts:
            named = tuple(f"{number}/{name}" for name in prompt.sessions)
            prompts.append(replace(prompt, id=f"{each.project}/{prompt.id}", sessions=named))
    return Scenario("all", tuple(sessions), tuple(prompts))


def _read_text(path: str) -> str:
    if os.path.getsize(path) > _LARGEST:
        raise UsageError(f"{path} is larger than {_LARGEST >> 20} MB")
    with open(path, encoding="utf-8") as handle:
        return handle.read()


def _convert_decisions(found: dict[str, list[dict[str, object]]]) -> dict[str, object]:
    dated = [
        {**each, "date": (_FIRST + timedelta(days=day)).isoformat()}
        for day, each in enumerate(found["sessions"])
    ]
    prompts = [
        {
            "id": each["task_id"],
            "text": each["bug_report"],
            "kind": each["source"],
            "sessions": each["sessions"],
            "rule": each["policy"],
        }
        for each in found["tasks"]
    ]
    return {"project": "decisions", "sessions": dated, "prompts": prompts}


def _convert_queries(path: str) -> Scenario:
    """Return the first space of a labelled set whose passages are turns with a session each."""
    rows = [json.loads(line) for line in _read_text(path).splitlines()]
    asked = [row for row in rows if row["space"] == rows[0]["space"] and row["answerable"]]
    corpus = _read_text(path.removesuffix(_QUERIES) + _CORPUS).splitlines()
    owners: dict[str, str] = {}  # by turn
    said: dict[str, list[ScenarioTurn]] = {}
    dates: dict[str, str] = {}
    for row in (row for row in map(json.loads, corpus) if row["space"] == rows[0]["space"]):
        owners[row["id"]] = session = row["session"]
        said.setdefault(session, []).append(ScenarioTurn(row["role"], row["text"]))
        dates.setdefault(session, _parse_date(row["ts"]))
    sessions = [ScenarioSession(name, dates[name], tuple(said[name])) for name in said]
    prompts = []
    for row in asked:
        evidence = dict.fromkeys(owners[turn] for turn in row["relevant"])
        ordered = tuple(sorted(evidence, key=dates.__getitem__))
        text, kind = row["query"], row["category"]
        prompts.append(ScenarioPrompt(row["qid"], text, kind, sessions=ordered))
    name = os.path.basename(path).removesuffix(_QUERIES)
    return Scenario(name, tuple(sessions), tuple(prompts))


def _parse_date(text: str) -> str:
    """Return a date as ISO 8601; LongMemEval writes "2023/04/10 (Mon) 17:50"."""
    parts = text.split()
    plain = f"{parts[0].replace('/', '-')} {parts[-1]}" if "/" in text else text
    found = datetime.fromisoformat(plain)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat()


def _name_session(number: int) -> str:
    """Return the id that the session of a number, from 1, has in its transcript."""
    return f"5cea0000-0000-4000-8000-{number:012x}"


def write_transcripts(scenario: Scenario, folder: str, cwd: str) -> list[str]:
    """Write the sessions as transcripts of Claude Code run in `cwd`; return their paths."""
    os.makedirs(folder)
    paths = []
    for number, session in enumerate(scenario.sessions, 1):
        ident = _name_session(number)
        path = f"{folder}/{ident}.jsonl"
        with open(path, "w", encoding="utf-8") as handle:
            handle.writelines(_render_lines(session, ident, cwd))
        paths.append(path)
    return paths


def ingest(scenario: Scenario, folder: str, configured: str) -> tuple[str, dict[str, str]]:
    """Ingest a scenario into a new project of a new user in an empty folder.

    `configured` is the user's configuration. Return the project's path, and the environment.
    """
    env = program.make_user(folder, "user", configured)
    path = f"{folder}/project"
    project.make(path)
    with scratch_store.home(env["MEMFS_HOME"]):
        project.trust_own(path)
    program.memfs(["ingest", *write_transcripts(scenario, f"{folder}/said", path)], env, path)
    return path, env


def _render_lines(session: ScenarioSession, ident: str, cwd: str) -> list[str]:
    at = datetime.fromisoformat(session.date)
    lines: list[str] = []
    for number, turn in enumerate(session.turns):
        key = f"{session.id}-{number}"
        for role, content in _split_turn(turn, key):
            line = {
                "type": role,
                "message": {"role": role, "content": content},
                "uuid": f"{key}-{len(lines)}",
                "sessionId": ident,
                "cwd": cwd,
                "gitBranch": "main",
                "timestamp": at.isoformat().replace("+00:00", "Z"),
            }
            lines.append(json.dumps(line) + "\n")
        at += _STEP
    return lines


def _split_turn(turn: ScenarioTurn, key: str) -> list[tuple[str, object]]:
    """Return (role, content) of the lines of a turn: a tool is called, then it answers."""
    if turn.role == "tool":
        use = {"type": "tool_use", "id": key, "name": turn.name, "input": {"command": turn.input}}
        result = {"type": "tool_result", "tool_use_id": key, "content": turn.text}
        return [("assistant", [use]), ("user", [result])]
    if turn.role == "assistant":
        return [("assistant", [{"type": "text", "text": turn.text}])]
    return [("user", turn.text)]
