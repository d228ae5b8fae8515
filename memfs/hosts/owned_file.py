"""A file that memfs owns: a plugin, with our mark in its first line."""

from __future__ import annotations

import json

SUFFIX = ".js"
_MARK = "// memfs: "
_HOOK = "const HOOK = "


def is_owned_kind(path: str) -> bool:
    """Return whether a settings file is of this kind."""
    return path.endswith(SUFFIX)


def is_ours(text: str) -> bool:
    """Return whether memfs wrote a file, in any version."""
    return text.startswith(_MARK)


def fill_text(template: str, hook: list[str]) -> str:
    """Return a file of ours, with the words of the hook's command in it."""
    return template.replace('"{hook}"', json.dumps(hook))


def list_words(text: str) -> list[str]:
    """Return the words of the hook command in a file of ours; none if it is not found."""
    for line in text.splitlines():
        if line.startswith(_HOOK):
            try:
                found = json.loads(line.removeprefix(_HOOK))
            except ValueError:
                return []
            return [str(word) for word in found] if isinstance(found, list) else []
    return []
