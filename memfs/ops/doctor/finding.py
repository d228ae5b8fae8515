"""What a look at something gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, or mended."""

    level: Level
    text: str
    hint: str = ""
