"""All settings in words, and what is wrong in `config.yaml` and the `MEMFS_…` variables."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from memfs import files
from memfs.core import settings
from memfs.store import config, data_sources, resources, store_paths
from memfs.store.store_paths import Store

_ANY = ("<label>", "<name>")  # keys that stand for names
_KNOWN: dict[str, object] = {
    **settings.DEFAULTS,
    "blocks": {"<label>": settings.BLOCK},
    "sources": {"<name>": settings.SOURCE},
}
_Problem = tuple[tuple[str, ...], str]  # the keys of a setting, and what is wrong with it

_VERSION = "memfs"
_CHOICES = {  # as told to a person, and as values
    "enabled": ("true or false", (True, False, "off")),
    "hooks.recall": ("off, auto or 3", ("off", "auto", False)),
    "hooks.sources": ("off or auto", ("off", "auto", False)),
    "hooks.team": ("off or auto", ("off", "auto", False)),
    "hooks.rules": ("off or auto", ("off", "auto", False)),
    "hooks.handoff": ("off or auto", ("off", "auto", False)),
    "trust.pulled": ("name or hold", (settings.NAME, settings.HOLD)),
    "service.mode": ("auto or off", ("auto", "off", False)),
    "service.pause": ("auto or off", ("auto", "off", False)),
    "git.commit": ("off, edit or session", ("off", "edit", "session", False)),
    "git.history": ("auto or off", ("auto", "off", False)),
    "orchestrator.compression": ("smart or aggressive", ("smart", "aggressive")),
    "tools.profile": ("small or full", ("small", settings.FULL)),
    "review.mode": (
        "off, nudge, inline or background",
        ("off", "nudge", "inline", "background", False),
    ),
}
_EXPECTED: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    str: "a word",
    list: "a list",
    dict: "a mapping",
    float: "a number between 0 and 1",
}
_COUNTS = ("max_blocks", "limit", "search_top_k")  # 1 or more
_MODELS = "bundled, none, a folder (./x, ~/x, /x) or a name of the hub (owner/name)"


def find_problems(store: Store) -> list[str]:
    """Return what is wrong in a store's configuration, each with its line and what is expected."""
    path = f"{store.root}/{store_paths.CONFIG}"
    found, wrong = config.read(path)
    if wrong:
        return [f"{path}: {wrong}"]
    allowed = dict(found) if store.private else settings.of_project(found)
    if config.is_model_refused(store, found.get("embedding")):
        allowed.pop("embedding", None)
    lines = (files.read(path) or "").splitlines()
    out = [] if found.get(_VERSION) == 1 else [f"{path}: memfs is not 1, the only version there is"]
    for section, value in found.items():
        if section == _VERSION:
            continue
        if (
            section not in _KNOWN
            and isinstance(value, dict)
            and not _KNOWN.keys().isdisjoint(value)
        ):
            keys = ", ".join(key for key in value if key in _KNOWN)
            wrong = f"'{section}' is not used: write {keys} at the beginning of a line, without it"
            problems: Iterable[_Problem] = [((section,), wrong)]
        elif section in settings.DEFAULTS and section not in allowed:
            problems = [((section,), _describe_refusal(section, value))]
        elif section == data_sources.SECTION and isinstance(value, dict):
            problems = _check_sources(store, value)
        else:
            problems = _check_keys((), {section: value}, _KNOWN)
        out += [f"{path}:{_find_line(lines, keys)}: {text}" for keys, text in problems]
    return out


def find_variable_problems(environ: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the variables whose names begin with `MEMFS_`."""
    names = [name for name in list_known_names() if "<" not in name and name != "memory_blocks"]
    known = {_name_variable(name): tuple(name.split(".")) for name in names}
    out = []
    for name in sorted(environ):
        if not name.startswith(config.PREFIX) or name in settings.VARIABLES:
            continue
        if name not in known:
            near = _suggest(name, [*known, *settings.VARIABLES], config.PREFIX)
            out.append(f"{name}: memfs knows no such variable{near}")
            continue
        keys, value = known[name], config.parse_value(environ[name])
        default = settings.find_value(_KNOWN, keys)
        if isinstance(default, list | dict):
            what = _EXPECTED[type(default)]
            out.append(f"{name}: no variable holds {what}: write {'.'.join(keys)} into config.yaml")
            continue
        wrong = next((text for _, text in _check_value(keys, value, default)), "")
        if wrong:
            out.append(f"{name}: {wrong}")
        elif not _is_used(keys, value, environ[name]):
            out.append(
                f"{name} is not used: a project can set variables, so only your own configuration "
                f"({store_paths.user_root()}/{store_paths.CONFIG}) may say {'.'.join(keys)}: "
                f"{environ[name]}"
            )
    return out


def _check_sources(store: Store, section: Mapping[str, object]) -> Iterator[_Problem]:
    for name, value in section.items():
        keys = (data_sources.SECTION, str(name))
        reason = data_sources.parse_source(store, str(name), value)
        if isinstance(reason, str):
            yield keys, f"{'.'.join(keys)} is not used: {reason}"
        for key in value if isinstance(value, dict) else ():
            if key not in settings.SOURCE:
                near = _suggest(str(key), settings.SOURCE)
                yield (*keys, str(key)), f"unknown key '{'.'.join(keys)}.{key}'{near}"


def _check_keys(
    above: tuple[str, ...], value: object, known: Mapping[str, object]
) -> Iterator[_Problem]:
    """Yield (keys, problem) of what is in a mapping."""
    usual = next((known[name] for name in _ANY if name in known), None)
    for key, each in value.items() if isinstance(value, dict) and known else ():
        keys, default = (*above, str(key)), known.get(key, usual)
        if default is None:
            yield keys, f"unknown key '{'.'.join(keys)}'{_suggest(str(key), known)}"
            continue
        yield from _check_value(keys, each, default)
        if isinstance(default, dict):
            yield from _check_keys(keys, each, default)


def _check_value(keys: tuple[str, ...], value: object, default: object) -> Iterator[_Problem]:
    name = ".".join(keys)
    expected, choices = _CHOICES.get(name, ("", ()))
    if name == "embedding":
        expected = "" if settings.model_kind(value) else _MODELS
    elif choices:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if value in choices or (is_number and name == "hooks.recall"):
            expected = ""
    elif not settings.right_type(value, default):
        expected = _EXPECTED.get(type(default), "a value")
    elif isinstance(default, float) and not 0 <= float(str(value)) <= 1:
        expected = _EXPECTED[float]
    elif keys[-1] in _COUNTS and isinstance(value, int) and value < 1:
        expected = "1 or more"
    if expected:
        yield keys, f"{name} is {value!r}, expected {expected}"


def _describe_refusal(section: str, value: object) -> str:
    if section == "embedding":
        return f"embedding: {value} is not used: a repository may name bundled or none"
    return (
        f"{section} is not used: only your own configuration "
        f"({store_paths.user_root()}/{store_paths.CONFIG}) may set it"
    )


def _name_variable(name: str) -> str:
    return config.PREFIX + name.replace(".", "_").upper()


def _is_used(keys: tuple[str, ...], value: object, text: str) -> bool:
    if keys == ("embedding",):
        return settings.model_kind(value) in (settings.NONE, settings.BUNDLED)
    used = config.read_variables({_name_variable(".".join(keys)): text})
    return settings.find_value(used, keys) == value


def _suggest(key: str, known: Iterable[str], prefix: str = "") -> str:
    names = [name.removeprefix(prefix) for name in known]
    near = difflib.get_close_matches(key.removeprefix(prefix), names, 1)
    return f"; did you mean {prefix}{near[0]}?" if near else ""


def _find_line(lines: list[str], keys: tuple[str, ...]) -> int:
    """Return the line of a key: that of its section where it is not found below that."""
    start = 0
    for key in keys:
        pattern = re.compile(rf"(^|[\s{{,\"'-]){re.escape(key)}[\"']?\s*:")
        start = next((at for at in range(start, len(lines)) if pattern.search(lines[at])), start)
    return start + 1


class SettingEntry(NamedTuple):
    """One line of the list: settings that are told of together, their defaults, what they do."""

    names: tuple[str, ...]
    defaults: tuple[str, ...]
    text: str


def list_settings() -> list[SettingEntry]:
    """Return all settings with their defaults as YAML has them, "" for none."""
    found: list[SettingEntry] = []
    names: tuple[str, ...] = ()
    words: list[str] = []
    for line in [*resources.read_text("templates", "help", "settings.txt").splitlines(), "end"]:
        if line.startswith(" "):
            words.append(line.strip())
        elif line and not line.startswith("#"):
            if names:
                defaults = tuple(map(_format_default, names))
                found.append(SettingEntry(names, defaults, " ".join(words)))
            names, words = tuple(line.split(", ")), []
    return found


def list_known_names(known: Mapping[str, object] = _KNOWN, above: str = "") -> list[str]:
    """Return the names of all settings that the program reads."""
    found: list[str] = []
    for key, value in known.items():
        inside = list_known_names(value, f"{above}{key}.") if isinstance(value, dict) else []
        found += inside or [above + key]
    return found


def _format_default(name: str) -> str:
    value = settings.find_value(_KNOWN, name.split("."))
    if value in ("", [], {}):
        return ""
    return value if isinstance(value, str) else json.dumps(value).replace('"', "")
