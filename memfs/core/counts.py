"""Numbers with their nouns, as people read them."""

from __future__ import annotations


def format_count(number: int, noun: str = "") -> str:
    """Write a number, with its noun if one is given: 1 file, 2 files, 2 entries."""
    if not noun:
        return f"{number:,}"
    if number != 1:
        ends_in_y = noun.endswith("y") and noun[-2:-1] not in ("a", "e", "o", "u")
        noun = f"{noun[:-1]}ies" if ends_in_y else f"{noun}s"
    return f"{number:,} {noun}"
