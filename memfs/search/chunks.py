"""Long texts are cut into windows: each gets a vector of its own."""

from __future__ import annotations

WINDOW = 150  # words
OVERLAP = 30


def split(text: str, window: int = WINDOW, overlap: int = OVERLAP) -> list[str]:
    """Cut a text into windows of `window` words that share `overlap` words; one at least."""
    words = text.split()
    if len(words) <= window:
        return [text]
    step = window - overlap
    starts = range(0, max(1, len(words) - overlap), step)
    return [" ".join(words[start : start + window]) for start in starts]
