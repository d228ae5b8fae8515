"""What each setting does, in words, with its default: for the help and the documentation."""

from __future__ import annotations

import json
from typing import NamedTuple

from memfs.core import settings
from memfs.store import resources

_LABEL, _SOURCE = "blocks.<label>.", "sources.<name>."


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


def list_known_names() -> list[str]:
    """Return the names of all settings that the program reads."""
    found = []
    for section, value in settings.DEFAULTS.items():
        inner = value if isinstance(value, dict) else {}
        found += [f"{section}.{key}" for key in inner] or [section]
    found.remove("blocks")
    found.remove("sources")
    found += [_LABEL + key for key in settings.BLOCK]
    return [*found, *(_SOURCE + key for key in settings.SOURCE)]


def _format_default(name: str) -> str:
    if name.startswith(_LABEL):
        value = settings.BLOCK[name.removeprefix(_LABEL)]
    elif name.startswith(_SOURCE):
        value = settings.SOURCE[name.removeprefix(_SOURCE)]
    else:
        value = settings.Settings([]).get(name)
    if value in ("", [], {}):
        return ""
    return value if isinstance(value, str) else json.dumps(value).replace('"', "")
