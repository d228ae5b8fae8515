"""What is wrong in `config.yaml` and the `MEMFS_…` variables, and writing a setting into it."""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from ruamel.yaml.error import YAMLError

from memfs import files
from memfs.core import frontmatter, settings, yaml_edit
from memfs.core.errors import UNREADABLE, StoreError
from memfs.files import atomic
from memfs.store import config, data_sources, lock, store_paths
from memfs.store.store_paths import Store

_ANY = ("<label>", "<name>")  # keys that stand for names
_KNOWN = settings.nest({each.name: each for each in settings.SETTINGS})
_Problem = tuple[tuple[str, ...], str]  # the keys of a setting, and what is wrong with it

_VERSION = "memfs"
_EXPECTED: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    str: "a word",
    list: "a list",
    dict: "a mapping",
    float: "a number between 0 and 1",
}
_MODELS = "bundled, none, a folder (./x, ~/x, /x) or a model from the Hugging Face hub (owner/name)"


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
    out = [] if found.get(_VERSION) == 1 else [f"{path}: the line 'memfs: 1' is missing or wrong"]
    for section, value in found.items():
        if section == _VERSION:
            continue
        if (
            section not in _KNOWN
            and isinstance(value, dict)
            and not _KNOWN.keys().isdisjoint(value)
        ):
            keys = ", ".join(f"'{key}'" for key in value if key in _KNOWN)
            wrong = f"'{section}' is not a section: move {keys} to the top level"
            problems: Iterable[_Problem] = [((section,), wrong)]
        elif section in settings.DEFAULTS and section not in allowed:
            problems = [((section,), _describe_refusal(section, value))]
        elif section == data_sources.SECTION and isinstance(value, dict):
            problems = _check_sources(store, value)
        else:
            problems = chain(
                _check_keys((), {section: value}, _KNOWN),
                _find_refused(section, value, allowed.get(section)),
            )
        out += [f"{path}:{_find_line(lines, keys)}: {text}" for keys, text in problems]
    return out


def find_variable_problems(environ: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the variables whose names begin with `MEMFS_`."""
    known = {
        config.PREFIX + each.name.replace(".", "_").upper(): each
        for each in settings.SETTINGS
        if "<" not in each.name and each.name != "memory_blocks"
    }
    out = []
    for name in sorted(environ):
        if not name.startswith(config.PREFIX) or name in settings.VARIABLES:
            continue
        if name not in known:
            near = _suggest(name, [*known, *settings.VARIABLES], config.PREFIX)
            out.append(f"unknown variable {name}{near}")
            continue
        setting, text = known[name], environ[name]
        value = config.parse_value(text)
        if isinstance(setting.default, list | dict):
            what = _EXPECTED[type(setting.default)]
            out.append(
                f"{name}: a variable cannot contain {what}; set {setting.name} in config.yaml"
            )
        elif expected := _find_expected(value, setting):
            out.append(f"{name} is {value!r}, expected {expected}")
        elif not _is_used(name, text, setting):
            out.append(
                f"{name} is not used: only your own configuration "
                f"({store_paths.user_root()}/{store_paths.CONFIG}) may set {setting.name} to "
                f"'{text}', because a project can set variables"
            )
    return out


def _check_sources(store: Store, section: Mapping[str, object]) -> Iterator[_Problem]:
    source = [each.name.rpartition(".")[2] for each in settings.SETTINGS if "<name>" in each.name]
    for name, value in section.items():
        keys = (data_sources.SECTION, str(name))
        reason = data_sources.parse_source(store, str(name), value)
        if isinstance(reason, str):
            yield keys, f"{'.'.join(keys)} is not used: {reason}"
        for key in value if isinstance(value, dict) else ():
            if key not in source:
                near = _suggest(str(key), source)
                yield (*keys, str(key)), f"unknown key '{'.'.join(keys)}.{key}'{near}"


def _check_keys(
    above: tuple[str, ...], value: Mapping[str, object], known: Mapping[str, object]
) -> Iterator[_Problem]:
    usual = next((known[name] for name in _ANY if name in known), None)
    for key, each in value.items():
        keys, found = (*above, str(key)), known.get(key, usual)
        if found is None:
            yield keys, f"unknown key '{'.'.join(keys)}'{_suggest(str(key), known)}"
        elif isinstance(found, dict) and isinstance(each, dict):
            yield from _check_keys(keys, each, found)
        elif expected := _find_expected(each, found):
            yield keys, f"{'.'.join(keys)} is {each!r}, expected {expected}"


def _find_expected(value: object, known: object) -> str:
    """Return what a setting, or a section, is to be, in words; "" where the value is right."""
    if not isinstance(known, settings.Setting):
        return _EXPECTED[dict]
    default = known.default
    if known.name == "embedding":
        return "" if settings.model_kind(value) else _MODELS
    if known.values and isinstance(default, bool | str):
        given = "off" if value is False else value  # what YAML makes of off
        for word in re.split(", | or ", known.values):
            allowed = (
                given if word == "a number" and type(given) is int else config.parse_value(word)
            )
            if type(given) is type(allowed) and given == allowed:
                return ""
        return known.values
    if not settings.right_type(value, default):
        return _EXPECTED[type(default)]
    if isinstance(default, float) and not 0 <= float(str(value)) <= 1:
        return _EXPECTED[float]
    return known.values if known.values and isinstance(value, int) and value < 1 else ""


def _find_refused(section: str, value: object, allowed: object) -> Iterator[_Problem]:
    """Yield what a repository may not say in a section that it may have."""
    if isinstance(value, dict) and isinstance(allowed, dict) and section != "memory_blocks":
        for key in value.keys() - allowed.keys():
            said = json.dumps(value[key]).strip('"')
            yield (section, key), _describe_refusal(f"'{section}.{key}: {said}'", None)


def _describe_refusal(name: str, value: object) -> str:
    if name == "embedding":
        return f"'embedding: {value}' is not used: a repository may only choose 'bundled' or 'none'"
    return (
        f"{name} is not used: only your own configuration "
        f"({store_paths.user_root()}/{store_paths.CONFIG}) may set it"
    )


def _is_used(name: str, text: str, setting: settings.Setting) -> bool:
    if setting.name == "embedding":
        return settings.model_kind(text) in (settings.NONE, settings.BUNDLED)
    used = config.read_variables({name: text})
    return settings.find_value(used, setting.name.split(".")) == config.parse_value(text)


def _suggest(key: str, known: Iterable[str], prefix: str = "") -> str:
    names = [name.removeprefix(prefix) for name in known]
    near = difflib.get_close_matches(key.removeprefix(prefix), names, 1)
    return f"; did you mean '{prefix}{near[0]}'?" if near else ""


def _find_line(lines: list[str], keys: tuple[str, ...]) -> int:
    """Return the line of a key: that of its section where it is not found below that."""
    start = 0
    for key in keys:
        pattern = re.compile(rf"(^|[\s{{,\"'-]){re.escape(key)}[\"']?\s*:")
        start = next((at for at in range(start, len(lines)) if pattern.search(lines[at])), start)
    return start + 1


def write(store: Store, key: str, value: str) -> str:
    """Set a key of a store's configuration, and return its path.

    Comments, order and line ends stay. Raises `StoreError` for a file that cannot be changed so.
    """

    def edit(text: str, eol: str) -> str:
        head = f"---{eol}{text}---{eol}"
        return frontmatter.strip_fences(yaml_edit.write(head, {key: value}, eol))

    return _change(store, edit, {key: value}, f"add the line '{key}: {yaml_edit.scalar(value)}'")


def write_entry(store: Store, section: str, name: str, value: dict[str, object] | None) -> str:
    """Add an entry to a section of a store's configuration, or remove it (None); return its path.

    Raises `StoreError` as `write` does.
    """
    found = config.read(f"{store.root}/{store_paths.CONFIG}")[0].get(section)
    entries = {**found} if isinstance(found, dict) else {}
    if value is None:
        entries.pop(name, None)
    else:
        entries[name] = value

    def edit(text: str, eol: str) -> str:
        try:
            return yaml_edit.write_entry(text, section, name, value, eol)
        except (YAMLError, *UNREADABLE, StopIteration):
            return text

    line = f"{section}: {json.dumps({name: value})}"
    told = f"add the line '{line}'" if value else f"remove {section}.{name}"
    return _change(store, edit, {section: entries} if entries else {section: None}, told)


def _change(
    store: Store, edit: Callable[[str, str], str], changes: dict[str, object], told: str
) -> str:
    """Edit a store's configuration, and return its path.

    `edit` is given the text, and the end of its lines. Afterwards its keys are to be as `changes`
    say (None: gone), and all others as they were; `told` is what to write by hand if they are not.
    """
    path = f"{store.root}/{store_paths.CONFIG}"
    with lock.hold_lock(store):
        before = files.read(path) or ""
        eol = frontmatter.line_end(before)
        after = edit(before if not before or before.endswith("\n") else before + eol, eol)
        wanted = config.parse(before)[0] | changes
        if {key: each for key, each in wanted.items() if each is not None} != config.parse(after)[
            0
        ]:
            raise StoreError(
                f"cannot change {path} without damaging its content", f"{told} in an editor"
            )
        if after != before:
            atomic.write(path, after, private=store.private, locked=True)
    return path
