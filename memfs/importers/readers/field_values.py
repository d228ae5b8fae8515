"""Values of foreign fields, which may be of any type: texts, lists and times."""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from memfs.hosts.jsonl import replace_surrogates, text_of

Fields = dict[str, object]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 32_503_680_000  # seconds, the year 3000: larger numbers are milliseconds


def parse_list(value: object) -> list[str]:
    """Return the texts of a list, of a list as JSON, or of one bare text."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    each = value if isinstance(value, list) else [value]
    return [text for item in each if (text := text_of(item).strip())]


def parse_object(value: object) -> dict[str, object]:
    """Return an object, or that of a JSON text; {} for anything else."""
    if isinstance(value, str | bytes):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return {str(key): each for key, each in value.items()} if isinstance(value, dict) else {}


def get_text(fields: Mapping[str, object], *names: str) -> str:
    """Return the first of these fields that holds a word, without space around it, else ""."""
    return next((text for name in names if (text := text_of(fields.get(name)).strip())), "")


def get_time(fields: Mapping[str, object], *names: str) -> str:
    """Return the first of these fields that holds a time (see `parse_time`), else ""."""
    return parse_time(*map(fields.get, names))


def get_object(fields: Mapping[str, object], name: str) -> dict[str, object]:
    """Return the object in a field; {} for anything else."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def list_objects(fields: Mapping[str, object], name: str) -> list[dict[str, object]]:
    """Return the objects of the list in a field; [] for anything else."""
    value = fields.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def list_branch(parents: Mapping[str, str], leaf: str) -> list[str]:
    """Return the way from the root of a tree to one of its leaves; a circle is left in time."""
    found: dict[str, None] = {}
    while leaf in parents and leaf not in found:
        found[leaf] = None
        leaf = parents[leaf]
    return [*reversed(found)]


def parse_time(*values: object) -> str:
    """Return the first of these that is a time, in UTC to the second; "" for none.

    Takes seconds or milliseconds since 1970, and ISO 8601; a time without a zone is one of UTC.
    """
    return next((at for at in map(_parse_time, values) if at), "")


def _parse_time(value: object) -> str:
    with suppress(ValueError, OverflowError):
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            seconds = value if value < _LATEST else value / 1000
            return _format_time(_EPOCH + timedelta(seconds=seconds))
        if isinstance(value, str) and value.strip():
            found = datetime.fromisoformat(value.strip())
            return _format_time(found if found.tzinfo else found.replace(tzinfo=UTC))
    return ""


def _format_time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def join_sections(*parts: str) -> str:
    """Join the texts that are not empty, with an empty line between them."""
    return replace_surrogates("\n\n".join(part.strip("\n") for part in parts if part.strip()))


def format_items(items: list[str]) -> str:
    """Return a Markdown list; further lines of an item are indented."""
    return "\n".join("- " + item.replace("\n", "\n  ") for item in items)
