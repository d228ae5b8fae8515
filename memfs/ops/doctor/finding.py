"""The result of one check."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """One thing that was checked, or fixed."""

    level: Level
    text: str
    hint: str = ""


def confirm(text: str, hint: str = "") -> Finding:
    """Return what is well."""
    return Finding("ok", text, hint)


def warn(text: str, hint: str = "") -> Finding:
    """Return what is worth a look."""
    return Finding("warning", text, hint)


def fail(text: str, hint: str = "") -> Finding:
    """Return what has to be mended."""
    return Finding("error", text, hint)
