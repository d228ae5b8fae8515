"""Validated access to the configured options of a kind."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Self

from memfs.core.errors import MemfsError, UsageError
from memfs.knowledge.kinds import protocol


class Options:
    """Options that are read one by one. Raises `UsageError` for wrong types and unread options."""

    def __init__(self, id: str, given: Mapping[str, object], section: str = "config") -> None:
        self._where = f"memory_blocks.{id}.{section}".rstrip(".")
        self._given = given
        self._read: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        unknown = sorted(self._given.keys() - self._read)
        if error is None and unknown:
            near = [get_close_matches(each, sorted(self._read), 1) for each in unknown]
            meant = " and ".join(match[0] for match in near if match)
            hint = f"did you mean {meant}?" if meant else f"known are {', '.join(self._read)}"
            raise UsageError(f"{self._where} has no {' and no '.join(unknown)}", hint)

    def read_any(self, name: str) -> object:
        """Return an option of any type, None if it is not set."""
        return self._read_option(name, None)

    def read_number(self, name: str, default: int) -> int:
        """Return a whole number that is not negative."""
        value = self._read_option(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._make_error(name, "a number")
        return value

    def read_share(self, name: str, default: float) -> float:
        """Return a number from 0 to 1, the default if it is not set."""
        value = self._read_option(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise self._make_error(name, "a number from 0 to 1")
        return float(value)

    def read_seconds(self, name: str) -> float:
        """Return a duration in seconds, 0 for none."""
        return protocol.seconds(self._read_option(name, 0))

    def read_flag(self, name: str, *, default: bool) -> bool:
        """Return a boolean, the default if it is not set."""
        value = self._read_option(name, default)
        if not isinstance(value, bool):
            raise self._make_error(name, "true or false")
        return value

    def read_words(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, empty if it is not set."""
        value = self._read_option(name, [])
        if not isinstance(value, list | tuple) or not all(isinstance(e, str) for e in value):
            raise self._make_error(name, "a list of texts")
        return tuple(value)

    def read_choice(self, name: str, default: str, *others: str) -> str:
        """Return one of the allowed texts, the first of them if it is not set."""
        value = self._read_option(name, default)
        if value not in (default, *others):
            raise self._make_error(name, " or ".join((default, *others)))
        return str(value)

    def _read_option(self, name: str, default: object) -> object:
        self._read.add(name)
        return self._given.get(name, default)

    def _make_error(self, name: str, what: str) -> MemfsError:
        problem = f"{self._where}.{name} is {self._given.get(name)!r}"
        return UsageError(problem, f"it has to be {what}")
