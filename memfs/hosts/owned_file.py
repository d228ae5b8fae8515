"""A file that is ours as a whole: a plugin, whose first line says whose it is."""

from __future__ import annotations

import json

SUFFIX = ".js"
_MARK = "// memfs: "
_HOOK = "const HOOK = "


def is_owned_kind(path: str) -> bool:
    """Tell whether a settings file is of this kind."""
    return path.endswith(SUFFIX)


def is_ours(text: str) -> bool:
    """Tell whether memfs wrote a file: this version or another one."""
    return text.startswith(_MARK)


def fill_text(template: str, hook: list[str]) -> str:
    """Return a file of ours, with the words of the hook's command in it."""
    return template.replace('"{hook}"', json.dumps(hook))


def list_words(text: str) -> list[str]:
    """Return the words of the command that a file of ours runs as hook; none for one unknown."""
    for line in text.splitlines():
        if line.startswith(_HOOK):
            try:
                found = json.loads(line.removeprefix(_HOOK))
            except ValueError:
                return []
            return [str(word) for word in found] if isinstance(found, list) else []
    return []
