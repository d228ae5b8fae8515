"""Limits of a model's usage, checked before each call; the log of a conversation."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from memfs import files
from memfs.agent.model import (
    Message,
    Model,
    ModelAnswer,
    ModelError,
    ModelRequest,
    SystemNote,
    Tell,
    TokenUsage,
    UserPrompt,
)
from memfs.core.errors import UNREADABLE, StoreError
from memfs.core.privacy import storable
from memfs.core.settings import Settings
from memfs.core.tokens import estimate
from memfs.files import atomic, logs
from memfs.hosts import OWN
from memfs.store import clock, hook_log, local_folder, lock, store_paths
from memfs.store.store_paths import Store
from memfs.tools import tool_budget
from memfs.tools.calls import Result, ToolCall

FOLDER = "agent"
SUFFIX = ".jsonl"
_DEEPEST = 20  # levels of a call's arguments
_CUT = (
    "error: this call was interrupted; it may or may not have taken effect\n"
    "hint: check the result before you repeat the call"
)

_FILE, _LOCK = "spent.json", "spent.lock"


class SpentError(ModelError):
    """The budget of a run or a day is used up."""


@dataclass(frozen=True)
class SpentBudget:
    """Calls of a model, and their input and output tokens."""

    calls: int = 0
    tokens: int = 0

    def __add__(self, other: SpentBudget) -> SpentBudget:
        return SpentBudget(self.calls + other.calls, self.tokens + other.tokens)


@dataclass(frozen=True)
class UsageLimits:
    """The budgets of a run and a day; 0 is no limit."""

    run: SpentBudget
    day: SpentBudget


def limits(settings: Settings) -> UsageLimits:
    """Return the limits of `llm` in the user's configuration."""
    number = settings.number
    return UsageLimits(
        SpentBudget(number("llm.calls_per_run"), number("llm.tokens_per_run")),
        SpentBudget(number("llm.calls_per_day"), number("llm.tokens_per_day")),
    )


class MeteredModel:
    """A model with a budget; that of a day is the user's, over all projects."""

    def __init__(self, model: Model, user: Store, allowed: UsageLimits) -> None:
        self._model, self._user, self._limits = model, user, allowed
        self.run = SpentBudget()
        self.day = today(user)

    @property
    def name(self) -> str:
        return self._model.name

    def ask(self, request: ModelRequest, tell: Tell | None = None) -> ModelAnswer:
        """Ask the model, and log its errors. Raises `SpentError` if the budget is used up."""
        self._check_limit("run", self.run, self._limits.run)
        self._check_limit("day", today(self._user), self._limits.day)
        self._record_spent(SpentBudget(1, 0))  # before it: a kill makes no call free
        try:
            answer = self._model.ask(request, tell)
        except ModelError as error:
            hook_log.log_error(os.getcwd(), self.name, error, "model.log")
            raise
        usage = answer.usage
        if not usage.read + usage.written:  # a command reports no usage
            usage = TokenUsage(_count_request(request), estimate(answer.text))
        self._record_spent(SpentBudget(0, usage.read + usage.written))
        return answer

    def close(self) -> None:
        """End the connection."""
        self._model.close()

    def format_spent(self) -> str:
        """Return the usage of the run and the day, for people."""
        run, day = self._limits.run, self._limits.day
        return f"{format_usage(self.run, run)}; today {format_usage(self.day, day)}"

    def _check_limit(self, span: str, spent: SpentBudget, limit: SpentBudget) -> None:
        for what, used, most in (
            ("calls", spent.calls, limit.calls),
            ("tokens", spent.tokens, limit.tokens),
        ):
            if most and used >= most:
                raise SpentError(
                    f"the model's limit for this {span} is reached: {used:,} of {most:,} {what} "
                    "are used",
                    f"raise llm.{what}_per_{span} in your own config.yaml",
                )

    def _record_spent(self, more: SpentBudget) -> None:
        self.run += more
        with lock.hold_lock(self._user, name=_LOCK):
            self.day = today(self._user) + more
            record = {"day": _get_date(), "calls": self.day.calls, "tokens": self.day.tokens}
            path = f"{self._user.local}/{_FILE}"
            atomic.write(path, json.dumps(record), private=True, durable=False, locked=True)


def today(user: Store) -> SpentBudget:
    """Read the calls and tokens that this user spent today."""
    local_folder.make(user)
    try:
        found = json.loads(files.read(os.path.join(user.local, _FILE)) or "{}")
        same = found.get("day") == _get_date()
        return SpentBudget(int(found["calls"]), int(found["tokens"])) if same else SpentBudget()
    except UNREADABLE:
        return SpentBudget()


def _get_date() -> str:
    return datetime.fromisoformat(clock.now()).astimezone().date().isoformat()


def _count_request(request: ModelRequest) -> int:
    messages = sum(estimate(each.text) for each in request.messages)
    return estimate(request.system) + tool_budget.tokens(request.tools) + messages


def format_usage(spent: SpentBudget, limit: SpentBudget) -> str:
    """Return spent calls and tokens with their limits, for people."""
    calls = f"{spent.calls:,} of {limit.calls:,}" if limit.calls else f"{spent.calls:,}"
    tokens = f"{spent.tokens:,} of {limit.tokens:,}" if limit.tokens else f"{spent.tokens:,}"
    return f"{calls} calls, {tokens} tokens"


class QueueEntry(NamedTuple):
    """One message of the queue. Ids count from 1 on, in the order of the messages."""

    id: int
    message: Message


class Queue:
    """The queue of one session of a store.

    Opening an existing one resumes it. `summary` covers the `evicted` first messages.
    The caller holds the lock of the session (see `lock_of`).
    """

    def __init__(self, store: Store, session: str, memory_tools: Sequence[str] = ()) -> None:
        self.path = path_of(store, session)
        self.session = session
        self.entries: list[QueueEntry] = []
        self.summary = ""
        self.evicted = 0
        self._memory_tools = frozenset(memory_tools)  # tools whose results are in memory anyway
        self._last = 0
        local_folder.make(store)
        files.make_folder(os.path.dirname(self.path), private=True)
        if not self._read():
            head = {"memfs_queue": 1, "session": session, "project": store.top}
            _LOG.append(self.path, [{**head, "at": clock.now()}])
            files.sync_folder(os.path.dirname(self.path))

    def add(self, message: Message) -> None:
        """Append a message."""
        entry = QueueEntry(self._last + 1, message)
        record = _encode_message(message, self._memory_tools)
        _LOG.append(self.path, [{"id": entry.id, "at": clock.now(), **record}])
        self._append_entry(entry)

    def evict(self, count: int, summary: str) -> None:
        """Remove the oldest `count` entries; `summary` covers all that were ever removed."""
        last = self.entries[count - 1].id
        record = {"evicted": last, "summary": storable(summary), "at": clock.now()}
        _LOG.append(self.path, [record])
        self._drop_entries(last, summary)

    def _append_entry(self, entry: QueueEntry) -> None:
        self.entries.append(entry)
        self._last = entry.id

    def _drop_entries(self, last: int, summary: str) -> None:
        gone = [entry for entry in self.entries if entry.id <= last]
        self.evicted += sum(not isinstance(each.message, SystemNote) for each in gone)
        self.entries, self.summary = self.entries[len(gone) :], summary

    def _read(self) -> bool:
        """Read the file; False for a new queue."""
        number = 0
        for number, (record, _) in enumerate(_LOG.read(self.path), 1):
            try:
                if record is None:
                    raise ValueError(number)
                if "evicted" in record:
                    self._drop_entries(operator.index(record["evicted"]), str(record["summary"]))
                elif "id" in record:
                    entry = QueueEntry(operator.index(record["id"]), _decode_message(record))
                    self._append_entry(entry)
            except UNREADABLE as error:
                raise StoreError(
                    f"cannot continue the session: line {number} of {self.path} is damaged",
                    "start a new session",
                ) from error
        self._answer_calls()
        return number > 0

    def _answer_calls(self) -> None:
        """Add an error to each unanswered call: models refuse a conversation with such calls."""
        open_calls: dict[str, ToolCall] = {}
        for entry in self.entries:
            match entry.message:
                case ModelAnswer() as answer:
                    open_calls = {call.id: call for call in answer.calls}
                case Result() as result:
                    open_calls.pop(result.call.id, None)
        for call in open_calls.values():
            self.add(Result(call, _CUT, is_error=True))


_LOG: logs.JsonLog[dict[str, Any]] = logs.JsonLog(
    lambda record: json.dumps(record, separators=(",", ":")).encode() + b"\n", json.loads
)


def path_of(store: Store, session: str) -> str:
    """Return the path of the queue of a session."""
    return f"{store.local}/{FOLDER}/{store_paths.file_name(session)}{SUFFIX}"


def lock_of(session: str) -> str:
    """Return the name of the lock that the process with an open session holds."""
    return f"{OWN}-{store_paths.file_name(session)}.lock"


def find_latest_session(store: Store) -> str:
    """Return the session whose queue was written last, "" if there is none."""
    folder = f"{store.local}/{FOLDER}"
    found = [f"{folder}/{name}" for name in files.names(folder) if name.endswith(SUFFIX)]
    statuses = [(status.st_mtime, path) for path in found if (status := files.status(path))]
    for _, path in sorted(statuses, reverse=True):
        with logs.open_stream(path) as handle:
            try:
                return str(json.loads(handle.readline(4096))["session"])
            except UNREADABLE:
                continue
    return ""


def _encode_message(message: Message, memory_tools: frozenset[str]) -> dict[str, object]:
    match message:
        case UserPrompt():
            return {"role": "user", "text": storable(message.text)}
        case SystemNote():
            return {"role": "system", "text": message.text}
        case ModelAnswer():
            calls = [
                {"id": call.id, "name": call.name, "arguments": clean_arguments(call.arguments)}
                for call in message.calls
            ]
            found: dict[str, object] = {"role": "assistant", "text": storable(message.text)}
            return {**found, "calls": calls} if calls else found
        case Result():
            call, ours = message.call, message.call.name in memory_tools
            found = {"role": "tool", "text": storable(message.text), "call": call.id}
            return {**found, "tool": call.name, "ours": ours, "error": message.is_error}


def clean_arguments(value: object, depth: int = 0) -> object:
    """Return the arguments of a call without secrets; levels deeper than `_DEEPEST` are None."""
    if isinstance(value, str):
        return storable(value)
    if depth > _DEEPEST:
        return None
    if isinstance(value, dict):
        return {storable(str(key)): clean_arguments(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [clean_arguments(each, depth + 1) for each in value]
    return value


def _decode_message(record: dict[str, object]) -> Message:
    text = str(record["text"])
    match record["role"]:
        case "user":
            return UserPrompt(text)
        case "assistant":
            listed: Any = record.get("calls") or ()
            calls = (ToolCall(str(c["name"]), c["arguments"], str(c["id"])) for c in listed)
            return ModelAnswer(text, tuple(calls))
        case "tool":
            call = ToolCall(str(record["tool"]), {}, str(record["call"]))
            return Result(call, text, is_error=record["error"] is True)
        case _:
            return SystemNote(text)
