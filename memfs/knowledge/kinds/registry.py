"""The configured kinds: our own, and those of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points

from memfs.core import settings
from memfs.core.errors import MemfsError, UsageError
from memfs.core.settings import Settings
from memfs.knowledge.kinds.options import Options
from memfs.knowledge.kinds.protocol import Capacity, Kind, Make
from memfs.recall.index_session import IndexSession
from memfs.store import config
from memfs.store.blocks import Place

GROUP = "memfs.kinds"
_CONFIGURED = settings.CONFIGURED


@dataclass(frozen=True)
class ConfiguredKinds:
    """The kinds that could be made, and the errors of the others."""

    kinds: tuple[Kind, ...]
    problems: tuple[str, ...] = ()


def load_kinds(index: IndexSession) -> ConfiguredKinds:
    """Make the kinds of `memory_blocks`; if that is not set, one of each of our own types.

    What a kind asks for and does not get is a problem, and the kind is made without it.
    """
    configured = config.load(index.place)
    given = configured.get("memory_blocks")
    problems = config.list_refused_kinds(index.place)
    blocks = given if isinstance(given, dict) else {}
    if not blocks and not problems:
        blocks = {name: {"type": name} for name in settings.KINDS}
    kinds: list[Kind] = []
    for name, each in blocks.items():
        try:
            kind, missed = _load_kind(index, configured, str(name), each)
            kinds.append(kind)
            problems += missed
        except MemfsError as error:
            problems.append(f"{error.message} ({error.hint})" if error.hint else error.message)
    return ConfiguredKinds(tuple(kinds), tuple(problems))


def load_kind(place: Place, type: str) -> tuple[Kind, list[str]]:
    """Return the first kind of a type in `memory_blocks`, with defaults if there is none.

    Also returned is what it asks for and does not get. Raises `UsageError` if its configuration is
    invalid.
    """
    configured = config.load(place)
    given = configured.get("memory_blocks")
    blocks = given if isinstance(given, dict) else {}
    some = ((str(name), each) for name, each in blocks.items() if settings.get_type(each) == type)
    name, each = next(some, (type, {"type": type}))
    return _load_kind(IndexSession(place), configured, name, each)


def _load_kind(
    index: IndexSession, configured: Settings, name: str, each: object
) -> tuple[Kind, list[str]]:
    """Make a kind; return it, and what it asks for and does not get."""
    problems: list[str] = []
    given = each if isinstance(each, dict) else {}
    with Options(name, given, "") as read:
        _, options, capacity = (read.read_any(key) for key in ("type", "config", "capacity"))
    type = settings.get_type(each)
    if not isinstance(options, dict | None) or not isinstance(type, str):
        raise UsageError(
            f"memory_blocks.{name} names no kind", "it needs a `type`, and may have a `config`"
        )
    options = dict(options or {})
    model = options.pop("embedding_model", None)
    usual = configured.get("embedding")
    where = f"memory_blocks.{name}.config"
    if model is not None and model != usual:
        problems.append(
            f"{where}.embedding_model: {model} is not used: there is one index, with one model, "
            f"and `embedding` is {usual}"
        )
    asked = options.get("extraction_model")
    if type == "facts" and isinstance(asked, str) and asked not in (settings.NONE, _CONFIGURED):
        is_same = configured.asks_for_facts(asked)
        options["extraction_model"] = _CONFIGURED if is_same else settings.NONE
        if not is_same:
            problems.append(
                f"{where}.extraction_model: {asked} is not used, rules find facts: name it as "
                "`llm.model`, with its endpoint"
            )
    kind = _make_kind(index, type, name, _capacity(name, capacity), options)
    return kind, [*problems, *getattr(kind, "problems", ())]


def _capacity(name: str, given: object) -> Capacity:
    if given is None:
        return Capacity()
    if not isinstance(given, dict):
        raise UsageError(f"memory_blocks.{name}.capacity is no mapping")
    with Options(name, given, "capacity") as read:
        return Capacity(
            read.read_number("max_items", 0),
            read.read_number("max_bytes", 0),
            read.read_seconds("ttl"),
            read.read_share("compression_threshold", 0.0),
        )


def _make_kind(
    index: IndexSession, type: str, id: str, capacity: Capacity, options: Mapping[str, object]
) -> Kind:
    if type in settings.KINDS:  # each is a module here, and some import much
        kind: Kind = import_module(f"memfs.knowledge.kinds.{type}").from_config(
            index, id, capacity, options
        )
        return kind
    return _load_plugin(type)(index.place, id, capacity, options)


def _load_plugin(type: str) -> Make:
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
