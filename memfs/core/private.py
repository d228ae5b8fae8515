"""What people mark as private, and what should never be written down."""

from __future__ import annotations

import re

from memfs.core.secrets import redact

# Up to the closing tag, or to the end where somebody forgot it.
_OPEN = re.compile("<private>", re.IGNORECASE)  # quick to look for
_PRIVATE = re.compile(r"[ \t]{0,80}<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)


def public(text: str) -> str:
    """Return a text without what stands in `<private>…</private>`."""
    return _PRIVATE.sub("", text) if _OPEN.search(text) else text


def storable(text: str) -> str:
    """Return what of a recorded text may be kept: no private parts, secrets by type alone."""
    return redact(public(text)).strip()
