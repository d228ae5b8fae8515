"""Limits of a model's usage: calls and tokens of a run and of a day, checked before each call.

A call is written down before it is made, so that a kill makes none of them free. The count of a day
is the user's, over all projects.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import datetime

from memfs import files
from memfs.agent.model import Model, ModelAnswer, ModelError, ModelRequest, Tell, TokenUsage
from memfs.core.errors import UNREADABLE
from memfs.core.settings import Settings
from memfs.core.tokens import estimate
from memfs.files import atomic
from memfs.store import clock, hook_log, local_folder, lock
from memfs.store.store_paths import Store
from memfs.tools import tool_budget

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
    """A model with a budget. `ask` raises `SpentError` once it is used up."""

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
        self._record_spent(SpentBudget(1, 0))
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
                    f"the model is not asked any more this {span}: {used:,} of {most:,} {what} "
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
