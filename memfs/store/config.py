"""`config.yaml` of the tiers, and the `MEMFS_…` variables over them. Hot path."""

import os

from memfs.core import settings, yamlmini
from memfs.core.settings import Settings
from memfs.store import blocks, files, layout
from memfs.store.blocks import Place

_LARGEST = 64 << 10  # bytes; a hook has no time for more
_WORDS = {  # what may be said, and what it may be besides
    "hooks.recall": ("off, auto or 3", ("off", "auto", False)),
    "trust.pulled": ("name or hold", (settings.NAME, settings.HOLD)),
    "git.commit": ("off, edit or session", ("off", "edit", "session", False)),
}
_SECTIONS = (
    "memfs", "context", "paging", "archival", "recall", "review", "memory_blocks", "orchestrator",
    "llm", *settings.DEFAULTS,
)  # fmt: skip


def load(place: Place) -> Settings:
    """Return the settings of a place: variables over project over user over defaults."""
    layers = [_variables()]
    if place.project:
        layers.append(settings.of_project(read(f"{place.project.root}/{layout.CONFIG}")[0]))
    if place.user:
        layers.append(read(f"{place.user.root}/{layout.CONFIG}")[0])
    return Settings(layers)


def read(path: str) -> tuple[dict[str, object], str]:
    """Read one file: (mapping, what is wrong with its YAML or "")."""
    text = files.read(path, cap=_LARGEST + 1) or ""
    if len(text) > _LARGEST:
        return {}, f"it is longer than {_LARGEST >> 10} kB; nothing in it is used"
    found = yamlmini.read(text)
    return (found, "") if found is not None else blocks.full_reader(text)


def problems(store: layout.Store) -> list[str]:
    """Say what is wrong in the configuration of a store, with the line and what was expected."""
    import difflib

    path = f"{store.root}/{layout.CONFIG}"
    found, wrong = read(path)
    if wrong:
        return [f"{path}: {wrong}"]
    allowed = found if store.private else settings.of_project(found)
    out = [] if found.get("memfs") == 1 else [f"{path}: memfs is not 1, the only version there is"]
    for key, value in found.items():
        if key not in _SECTIONS:
            close = difflib.get_close_matches(key, _SECTIONS, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            out.append(f"{path}:{_line(path, key)}: unknown key '{key}'{hint}")
            continue
        if key not in allowed:
            out.append(
                f"{path}:{_line(path, key)}: {key} is not used: only your own configuration "
                f"({layout.user_root()}/{layout.CONFIG}) may set it"
            )
            continue
        default = settings.DEFAULTS.get(key)
        if isinstance(default, dict) and isinstance(value, dict):
            out.extend(_wrong_types(path, key, value, default))
        elif default is not None and not settings.right_type(value, default):
            out.append(_expected(path, key, key, value, default))
        if key == "max_blocks" and isinstance(value, int) and value < 1:
            out.append(f"{path}:{_line(path, key)}: max_blocks is {value}, expected 1 or more")
    return out


def _wrong_types(
    path: str, section: str, values: dict[str, object], defaults: dict[str, object]
) -> list[str]:
    out = []
    for key, value in values.items():
        name = f"{section}.{key}"
        if key in defaults and not settings.right_type(value, defaults[key]):
            out.append(_expected(path, key, name, value, defaults[key]))
        elif name in _WORDS and value not in _WORDS[name][1] and not isinstance(value, int):
            said = _WORDS[name][0]
            out.append(f"{path}:{_line(path, key)}: {name} is {value!r}, expected {said}")
        elif section == "blocks":
            limit = value.get("limit", 1) if isinstance(value, dict) else None
            if not isinstance(limit, int) or limit < 1:
                out.append(f"{path}:{_line(path, key)}: {name} needs a limit of 1 or more")
    return out


def _expected(path: str, key: str, name: str, value: object, default: object) -> str:
    kind = {int: "a whole number", str: "a word", list: "a list", dict: "a mapping"}.get(
        type(default), "a value"
    )
    return f"{path}:{_line(path, key)}: {name} is {value!r}, expected {kind}"


def _line(path: str, key: str) -> int:
    for number, line in enumerate((files.read(path) or "").splitlines(), 1):
        if line.strip().startswith(f"{key}:"):
            return number
    return 1


def _variables() -> dict[str, object]:
    """Turn `MEMFS_HOOKS_RECALL=off` into {"hooks": {"recall": "off"}}."""
    layer: dict[str, object] = {}
    for key, value in os.environ.items():
        if not key.startswith("MEMFS_"):
            continue
        section, _, name = key[len("MEMFS_") :].lower().partition("_")
        if isinstance(settings.DEFAULTS.get(section), dict) and name:
            inner = layer.setdefault(section, {})
            if isinstance(inner, dict):
                inner[name] = int(value) if value.isdigit() else value
        elif key == "MEMFS_MAX_BLOCKS" and value.isdigit():
            layer["max_blocks"] = int(value)
    return layer
