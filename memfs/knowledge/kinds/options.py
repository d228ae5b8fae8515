"""The options of a kind as they are configured, read with errors that name them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Self

from memfs.core.errors import MemfsError, UsageError
from memfs.knowledge.kinds import protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class Options:
    """Options that are read one by one; what nobody reads is an error, so is a wrong type."""

    def __init__(self, id: str, given: Mapping[str, object], section: str = "config") -> None:
        self._where = f"memory_blocks.{id}.{section}"
        self._given = given
        self._read: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        unknown = sorted(self._given.keys() - self._read)
        if error is None and unknown:
            near = get_close_matches(unknown[0], sorted(self._read), 1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(self._read)}"
            raise UsageError(f"{self._where} has no {unknown[0]}", hint)

    def number(self, name: str, usual: int) -> int:
        """Return a whole number that is not negative."""
        value = self._get(name, usual)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._wrong(name, "a number")
        return value

    def share(self, name: str, usual: float) -> float:
        """Return a number from 0 to 1."""
        value = self._get(name, usual)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise self._wrong(name, "a number from 0 to 1")
        return float(value)

    def seconds(self, name: str) -> float:
        """Return a duration in seconds, 0 for none."""
        return protocol.seconds(self._get(name, 0))

    def flag(self, name: str, *, usual: bool) -> bool:
        """Return true or false."""
        value = self._get(name, usual)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def words(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self._get(name, [])
        if not isinstance(value, list | tuple) or not all(isinstance(e, str) for e in value):
            raise self._wrong(name, "a list of texts")
        return tuple(value)

    def one(self, name: str, usual: str, *others: str) -> str:
        """Return one of several texts."""
        value = self._get(name, usual)
        if value not in (usual, *others):
            raise self._wrong(name, " or ".join((usual, *others)))
        return str(value)

    def _get(self, name: str, usual: object) -> object:
        self._read.add(name)
        return self._given.get(name, usual)

    def _wrong(self, name: str, what: str) -> MemfsError:
        said = f"{self._where}.{name} is {self._given.get(name)!r}"
        return UsageError(said, f"it has to be {what}")
