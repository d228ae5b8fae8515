"""Text files of other tools: read within limits, with their front matter, tags and dates."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime

from memfs.core import body_edits, encodings, frontmatter, yaml_edit, yaml_fast
from memfs.core.errors import MemfsError
from memfs.files import outside
from memfs.store import clock

LARGEST = 2 << 20  # bytes of a file
KEY = re.compile(r"[A-Za-z][\w-]{0,60}", re.ASCII)


def read_text(path: str, shown: str) -> str:
    """Read a file with LF line ends; raises `MemfsError` if it is no text."""
    try:
        raw, size = outside.beginning(path, LARGEST, 0)
    except OSError as error:
        raise MemfsError(f"it cannot be read: {error.strerror}") from None
    if raw is None:
        raise MemfsError("it is not a file")
    if size > LARGEST:
        raise MemfsError(f"it is too large ({size:,} bytes)")
    codec = encodings.codec(raw)
    if codec:
        raise MemfsError(f"it is {codec[:6].upper()}, not UTF-8")
    text = raw.removeprefix(frontmatter.BOM).replace("\r\n", "\n").replace("\r", "\n")
    odd = body_edits.check_text("import", shown, text)
    if odd:
        raise MemfsError(f"it holds {odd.message.rpartition(' holds ')[2]}")
    return text


def parse_meta(inner: str) -> dict[str, object]:
    """Read front matter; where it is no YAML (Cursor's `globs: *.ts`) line by line."""
    found = yaml_fast.read(inner)
    if found is None:
        found, wrong = yaml_edit.read(inner)
        found = _parse_lines(inner) if wrong else found
    return found


def _parse_lines(inner: str) -> dict[str, object]:
    found: dict[str, object] = {}
    key = ""
    for line in inner.split("\n"):
        name, colon, rest = line.partition(":")
        bare = line.strip()
        if colon and KEY.fullmatch(name.rstrip()):
            key, value = name.rstrip(), rest.strip().strip("\"'")
            found[key] = value == "true" if value in ("true", "false") else value
        elif bare and key:
            found[key] = f"{found[key]} {bare.removeprefix('- ')}".strip()  # of a list, too
    return found


def list_tags(meta: dict[str, object], *more: str) -> list[str]:
    """Return the tags that front matter names, a list or words between commas, and some more."""
    value = meta.get("tags")
    named = [str(tag) for tag in value] if isinstance(value, list) else str(value or "").split(",")
    clean = (" ".join(tag.lower().split()) for tag in [*named, *more])
    return list(dict.fromkeys(tag for tag in clean if tag))


def get_modified_at(path: str) -> str:
    """Return when a file was last written, at most now."""
    try:
        at = datetime.fromtimestamp(os.stat(path).st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OSError, ValueError, OverflowError):
        return clock.now()
    return min(at, clock.now())
