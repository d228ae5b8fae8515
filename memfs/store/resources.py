"""The files that ship with memfs, `hooks/` and `templates/`, and the default blocks. Hot path."""

import os

from memfs.core.errors import BUG, StoreError
from memfs.core.settings import Settings

_LIMIT, _END = "limit: 5000\n", "---\n"  # of the templates

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def path(*parts: str) -> str:
    """Return the path of a shipped file: `memfs/_shipped` in the wheel, else beside `memfs/`."""
    for root in (f"{_PACKAGE}/_shipped", os.path.dirname(_PACKAGE)):
        found = os.path.join(root, *parts)
        if os.path.exists(found):
            return found
    raise StoreError(
        f"{'/'.join(parts)} is missing from the installation of memfs", "reinstall memfs", BUG
    )


def read_text(*parts: str) -> str:
    """Return the text of a shipped file."""
    with open(path(*parts), encoding="utf-8") as handle:
        return handle.read()


def render(settings: Settings, label: str) -> str:
    """Return the text of a default block.

    Its limits and its content are those of `blocks.<label>`, else those of the template.
    """
    text = read_text("templates", "blocks", f"{label}.md")
    head, _, body = text.removeprefix(_END).partition(_END)
    cap = settings.get_token_cap(label)
    limits = f"limit: {settings.get_limit(label)}\n" + (f"tokens: {cap}\n" if cap else "")
    content = settings.get_default_content(label)
    body = f"{content}\n" if content else body
    return f"{_END}{head.replace(_LIMIT, limits)}{_END}{body}"
