"""`config.yaml` of the tiers, and the `MEMFS_…` variables over them. Hot path."""

import os

from memfs.core import settings, yamlmini
from memfs.core.settings import Settings
from memfs.store import blocks, files, layout
from memfs.store.blocks import Place

_RECALL = ("off", "auto", False)
_SECTIONS = (
    "memfs", "context", "paging", "archival", "recall", "review", "memory_blocks", "orchestrator",
    "git", "trust", "llm", *settings.DEFAULTS,
)  # fmt: skip


def load(place: Place) -> Settings:
    """Return the settings of a place: variables over project over user over defaults."""
    layers = [_variables()]
    for store in (place.project, place.user):
        if store:
            layers.append(read(f"{store.root}/{layout.CONFIG}")[0])
    return Settings(layers)


def read(path: str) -> tuple[dict[str, object], str]:
    """Read one file: (mapping, what is wrong with its YAML or "")."""
    text = files.read(path) or ""
    found = yamlmini.read(text)
    return (found, "") if found is not None else blocks.full_reader(text)


def problems(path: str) -> list[str]:
    """Say what is wrong in a configuration file, with the line and what was expected."""
    import difflib

    found, wrong = read(path)
    if wrong:
        return [f"{path}: {wrong}"]
    out = [] if found.get("memfs") == 1 else [f"{path}: memfs is not 1, the only version there is"]
    for key, value in found.items():
        if key not in _SECTIONS:
            close = difflib.get_close_matches(key, _SECTIONS, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            out.append(f"{path}:{_line(path, key)}: unknown key '{key}'{hint}")
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
        elif name == "hooks.recall" and value not in _RECALL and not isinstance(value, int):
            out.append(f"{path}:{_line(path, key)}: {name} is {value!r}, expected off, auto or 3")
        elif section == "blocks":
            limit = value.get("limit", 1) if isinstance(value, dict) else None
            if not isinstance(limit, int) or limit < 1:
                out.append(f"{path}:{_line(path, key)}: {name} needs a limit of 1 or more")
    return out


def _expected(path: str, key: str, name: str, value: object, default: object) -> str:
    kind = {int: "a whole number", str: "a word", dict: "a mapping"}.get(type(default), "a value")
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
