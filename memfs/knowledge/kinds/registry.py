"""The kinds that are configured, ours and those of others."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from memfs.core import settings
from memfs.core.errors import MemfsError, UsageError
from memfs.knowledge.kinds.options import Options
from memfs.knowledge.kinds.protocol import Capacity
from memfs.store import config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memfs.knowledge.kinds.protocol import Kind, Make
    from memfs.recall.index_session import IndexSession

GROUP = "memfs.kinds"


@dataclass(frozen=True)
class ConfiguredKinds:
    """The kinds that could be made, and what was wrong with others."""

    kinds: tuple[Kind, ...]
    problems: tuple[str, ...] = ()


def configured(kept: IndexSession) -> ConfiguredKinds:
    """Make the kinds of `memory_blocks`; without it one of each of ours, by its own name."""
    found = config.load(kept.place).get("memory_blocks")
    wanted = (
        found if isinstance(found, dict) and found else {n: {"type": n} for n in settings.KINDS}
    )
    kinds, problems = [], []
    for name, each in wanted.items():
        try:
            kinds.append(_configured(kept, str(name), each))
        except MemfsError as error:
            problems.append(f"{error.message} ({error.hint})" if error.hint else error.message)
    return ConfiguredKinds(tuple(kinds), tuple(problems))


def _configured(kept: IndexSession, name: str, each: object) -> Kind:
    given = each if isinstance(each, dict) else {}
    options = given.get("config")
    if not isinstance(options, dict | None) or not isinstance(given.get("type"), str):
        raise UsageError(
            f"memory_blocks.{name} names no kind", "it needs a `type`, and may have a `config`"
        )
    rest = dict(options or {})
    model = rest.pop("embedding_model", None)
    wanted = config.load(kept.place).get("embedding")
    if model is not None and model != wanted:
        raise UsageError(
            f"memory_blocks.{name}.config.embedding_model is {model!r}, `embedding` is {wanted!r}",
            "there is one index, with one model: name it as `embedding`",
        )
    return _made(kept, given["type"], name, _capacity(name, given.get("capacity")), rest)


def _capacity(name: str, given: object) -> Capacity:
    if given is None:
        return Capacity()
    if not isinstance(given, dict):
        raise UsageError(f"memory_blocks.{name}.capacity is no mapping")
    with Options(name, given, "capacity") as read:
        return Capacity(
            read.number("max_items", 0),
            read.number("max_bytes", 0),
            read.seconds("ttl"),
            read.share("compression_threshold", 0.0),
        )


def _made(
    kept: IndexSession, type: str, id: str, capacity: Capacity, options: Mapping[str, object]
) -> Kind:
    if type in settings.KINDS:  # each is a module here, and some load much
        made: Kind = import_module(f"memfs.knowledge.kinds.{type}").from_config(
            kept, id, capacity, options
        )
        return made
    return _of_others(type)(kept.place, id, capacity, options)


def _of_others(type: str) -> Make:
    for entry in entry_points(group=GROUP, name=type):
        try:
            found: Make = entry.load()
        except Exception as error:
            raise MemfsError(
                f"the kind {type} cannot be loaded: {error}", "mend or remove its package"
            ) from error
        return found
    known = ", ".join([*settings.KINDS, *sorted(entry_points(group=GROUP).names)])
    raise UsageError(f"there is no kind {type!r} of memory", f"known are {known}")
