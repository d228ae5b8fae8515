"""Text files of other tools: read within limits, with their front matter, tags and dates."""

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from memfs.core import body_edits, encodings, front_matter_lines, frontmatter, yaml_edit
from memfs.core.block import MANAGED
from memfs.core.errors import MemfsError
from memfs.core.privacy import public
from memfs.files import outside
from memfs.importers import foreign_files
from memfs.store import clock

LARGEST = 2 << 20  # bytes of a file
KEY = re.compile(r"[A-Za-z][\w-]{0,60}", re.ASCII)


def read_text(path: str, shown: str) -> str:
    """Read a file with LF line ends; raises `MemfsError` if it is no text."""
    try:
        raw, size = outside.beginning(path, LARGEST, 0)
    except OSError as error:
        raise MemfsError(f"it cannot be read ({error.strerror})") from None
    if raw is None:
        raise MemfsError("the path is not a file")
    if size > LARGEST:
        raise MemfsError(f"it is too large ({size:,} bytes)")
    codec = encodings.codec(raw)
    if codec:
        raise MemfsError(f"it is {codec[:6].upper()}, not UTF-8")
    text = raw.removeprefix(frontmatter.BOM).replace("\r\n", "\n").replace("\r", "\n")
    odd = body_edits.check_text("import", shown, text)
    if odd:
        raise MemfsError(f"it contains {odd.message.rpartition(' contains ')[2]}")
    return text


def read_below(path: str, folder: str, shown: str) -> tuple[str, str]:
    """Return (text, why it cannot be read or "") of a file of a folder; no link out is followed."""
    wrong = foreign_files.find_problem(path, folder)
    if wrong:
        return "", wrong
    try:
        return read_text(path, shown), ""
    except MemfsError as error:
        return "", error.message


def split_note(raw: str) -> tuple[str, str]:
    """Split a note into front matter and body. Of one with properties alone they are the body.

    That is not so for an empty block as `memfs export` writes it.
    """
    head, body = frontmatter.split(raw)
    inner = frontmatter.strip_fences(head)
    if body.strip() or not inner.strip() or "limit" in parse_meta(inner):
        return head, body
    return "", inner


def write_head(
    head: str, changes: Mapping[str, object], defaults: Mapping[str, object] | None = None
) -> str:
    """Return the front matter that a text gets: that of its source with `changes`.

    Its other keys stay as they are written. Of `defaults` those are set that it has not. What is no
    YAML, or holds something private, is written anew; what memfs sets by itself goes.
    """
    inner = frontmatter.strip_fences(head)
    meta = parse_meta(inner)
    wanted = {key: value for key, value in (defaults or {}).items() if meta.get(key) in (None, "")}
    wanted |= {**dict.fromkeys(MANAGED), **changes}
    made = yaml_edit.write(head, wanted, "\n") if public(head) == head else head
    found, wrong = yaml_edit.read(frontmatter.strip_fences(made))
    if head and (wrong or any(key in found for key, value in wanted.items() if value is None)):
        kept = {
            key: public(value) if isinstance(value, str) else value
            for key, value in meta.items()
            if KEY.fullmatch(key)
        }
        every = {
            key: value for key, value in (kept | wanted).items() if value not in (None, "", [])
        }
        made = yaml_edit.write("", every, "\n")
    return made


def format_head(fields: Mapping[str, object]) -> str:
    """Return front matter with those fields of an object whose names are keys; "" for none."""
    found = {
        key: value for key, value in fields.items() if KEY.fullmatch(key) and value is not None
    }
    return yaml_edit.write("", found, "\n") if found else ""


def parse_meta(inner: str) -> dict[str, object]:
    """Read front matter; where it is no YAML (Cursor's `globs: *.ts`) line by line.

    Its known keys are read as those of a block.
    """
    found, wrong = yaml_edit.read(inner)
    if wrong:
        return {**_parse_lines(inner), **front_matter_lines.read(inner)}
    return front_matter_lines.restore_words(found, inner)


def _parse_lines(inner: str) -> dict[str, object]:
    found: dict[str, object] = {}
    key = ""
    for line in inner.split("\n"):
        name, colon, rest = line.partition(":")
        bare = line.strip()
        if colon and KEY.fullmatch(name.rstrip()):
            key = name.rstrip()
            parsed = (frontmatter.read(f"{key}: {rest.strip()}") or {}).get(key)
            plain = rest.strip().strip("\"'")
            found[key] = parsed if isinstance(parsed, bool | list) else plain
        elif bare.startswith("- ") and key and found[key] in ("", []):
            found[key] = [bare[2:].strip("\"'")]
        elif bare and key:
            before = found[key]
            more = bare.removeprefix("- ").strip("\"'")
            found[key] = [*before, more] if isinstance(before, list) else f"{before} {more}"
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
