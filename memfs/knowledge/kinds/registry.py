"""The configured kinds: our own, and those of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from memfs.core import settings
from memfs.core.errors import MemfsError, UsageError
from memfs.core.settings import Settings
from memfs.knowledge.kinds import base
from memfs.knowledge.kinds.base import Form
from memfs.knowledge.kinds.protocol import Capacity, Kind, Make
from memfs.store import config
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.recall.open_store import OpenStore

GROUP = "memfs.kinds"
_ANY = Form("anything", lambda _: True)
_BOUNDS: dict[str, Form] = {
    "max_items": base.NUMBER,
    "max_bytes": base.NUMBER,
    "ttl": base.SECONDS,
    "compression_threshold": base.SHARE,
}
_KEYWORDS = {  # what options are in Python, where that is another name
    "confidence_threshold": "confidence",
    "pattern_detection": "patterns",
    "outcome_tracking": "outcomes",
}


def load_kinds(index: OpenStore) -> tuple[list[Kind], list[str]]:
    """Make the kinds of `memory_blocks`; if that is not set, one of each of our own types.

    Also returned is why others could not be made, and what kinds ask for and do not get.
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
            kind, missed = _load_kind(index.place, index, configured, str(name), each)
            kinds.append(kind)
            problems += missed
        except MemfsError as error:
            problems.append(f"{error.message} ({error.hint})" if error.hint else error.message)
    return kinds, problems


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
    return _load_kind(place, None, configured, name, each)


def _load_kind(
    place: Place, index: OpenStore | None, configured: Settings, name: str, each: object
) -> tuple[Kind, list[str]]:
    problems: list[str] = []
    given: dict[str, Any] = each if isinstance(each, dict) else {}
    where = f"memory_blocks.{name}"
    read = _read_options(where, given, dict.fromkeys(("type", "config", "capacity"), _ANY))
    options, capacity = read.get("config"), read.get("capacity")
    type = settings.get_type(each)
    if not isinstance(options, dict | None):
        raise UsageError(f"{where}.config is not a mapping")
    if not isinstance(type, str):
        raise UsageError(f"{where} has no `type`", "add a `type`, such as vector")
    options = dict(options or {})
    model = options.pop("embedding_model", None)
    usual = configured.get("embedding")
    if model is not None and model != usual:
        problems.append(
            f"{where}.config.embedding_model: {model} is not used, because all memory is searched "
            f"with the model of the setting `embedding` ({usual})"
        )
    asked = options.get("extraction_model")
    if (
        type == "facts"
        and isinstance(asked, str)
        and asked not in (settings.NONE, settings.CONFIGURED)
    ):
        is_same = configured.asks_for_facts(asked)
        options["extraction_model"] = settings.CONFIGURED if is_same else settings.NONE
        if not is_same:
            problems.append(
                f"{where}.config.extraction_model: {asked} is not used, because rules find "
                "facts; to use "
                "a model, set `llm.model` and `llm.endpoint`"
            )
    if not isinstance(capacity, dict | None):
        raise UsageError(f"{where}.capacity is not a mapping")
    bounds = Capacity(**_read_options(f"{where}.capacity", capacity or {}, _BOUNDS))
    if type not in settings.KINDS:
        kind: Kind = _load_plugin(type)(place, name, bounds, options)
    else:  # each is a module here, and some import much
        module = import_module(f"memfs.knowledge.kinds.{type}")
        own = getattr(module, type.capitalize())
        given = _read_options(f"{where}.config", options, own.OPTIONS)
        given.pop("extraction_model", None)  # only `memfs facts extract` uses it
        given = {_KEYWORDS.get(option, option): value for option, value in given.items()}
        kind = own(place, name, bounds, index=index, **given)
    return kind, [*problems, *getattr(kind, "problems", ())]


def _read_options(
    where: str, given: Mapping[str, object], forms: Mapping[str, Form]
) -> dict[str, Any]:
    """Return the options that are given, each by its form. Raises `UsageError` for others."""
    found = {name: form for name, form in forms.items() if name in given}
    for name, form in found.items():
        if not form.fits(given[name]):
            raise UsageError(f"{where}.{name} cannot be {given[name]!r}", f"give {form.what}")
    unknown = sorted(given.keys() - forms.keys())
    if unknown:
        near = [get_close_matches(each, sorted(forms), 1) for each in unknown]
        meant = " and ".join(repr(match[0]) for match in near if match)
        hint = f"did you mean {meant}?" if meant else f"use one of {', '.join(forms)}"
        raise UsageError(f"{where} cannot have {' and '.join(map(repr, unknown))}", hint)
    return {name: form.convert(given[name]) for name, form in found.items()}


def _load_plugin(type: str) -> Make:
    for entry in entry_points(group=GROUP, name=type):
        try:
            found: Make = entry.load()
        except Exception as error:
            raise MemfsError(
                f"the kind of memory '{type}' cannot be loaded: {error}",
                f"fix or uninstall the package that provides '{type}'",
            ) from error
        return found
    known = ", ".join([*settings.KINDS, *sorted(entry_points(group=GROUP).names)])
    raise UsageError(f"unknown kind of memory: {type!r}", f"use one of {known}")
