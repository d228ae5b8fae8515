"""Engram: observations, summaries of sessions and prompts in one SQLite file, or its export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from memfs.core.records import Identity, Message
from memfs.files import database, outside
from memfs.hosts.jsonl import text_of
from memfs.importers.readers import json_files
from memfs.importers.readers.field_values import (
    join_sections,
    list_objects,
    parse_object,
    parse_time,
)
from memfs.importers.readers.items import AnyItem, OmittedItem, ToolSession, ToolText, UnreadItem

NAME = "engram"
_FILE = "engram.db"
_OBSERVATIONS = (
    "id", "session_id", "type", "title", "content", "project", "scope", "topic_key", "created_at",
    "updated_at", "deleted_at",
)  # fmt: skip
_SESSIONS = ("id", "project", "directory", "started_at", "ended_at", "summary")
_PROMPTS = ("id", "session_id", "content", "project", "created_at")
_EXPORT = ('"version"', '"exported_at"', '"sessions"')

_Fields = dict[str, object]


def find(home: str, environment: Mapping[str, str]) -> list[str]:
    """List its database, where the environment or its default has it."""
    folder = environment.get("ENGRAM_DATA_DIR") or f"{home}/.engram"
    path = f"{folder}/{_FILE}"
    return [path] if outside.status(path) else []


def sniff(path: str) -> bool:
    """Tell whether a path is its database, its folder, or its export."""
    path = outside.find_inside(path, _FILE)
    if database.is_database(path):
        return {"session_id", "title", "content"} <= {*database.find_columns(path, "observations")}
    head = json_files.read_head(path)
    return head.startswith("{") and all(name in head for name in _EXPORT)


def read(path: str) -> Iterator[AnyItem]:
    """Yield observations and summaries as texts, and prompts as sessions."""
    path = outside.find_inside(path, _FILE)
    if database.is_database(path):
        with database.open_database(path) as base:
            yield from _make_items(
                [row.values for row in base.read_rows("sessions", _SESSIONS, "id")],
                (row.values for row in base.read_rows("observations", _OBSERVATIONS, "id")),
                (row.values for row in base.read_rows("user_prompts", _PROMPTS, "id")),
            )
        return
    found = parse_object(json_files.load(path))
    lists = (list_objects(found, name) for name in ("sessions", "observations", "prompts"))
    yield from _make_items(*lists)


def _make_items(
    sessions: list[_Fields], observations: Iterable[_Fields], prompts: Iterable[_Fields]
) -> Iterator[AnyItem]:
    projects = {text_of(row.get("id")): _get(row, "directory", "project") for row in sessions}
    for row in observations:
        yield _make_observation(row, projects)
    for row in sessions:
        if _get(row, "summary"):
            yield ToolText(
                ident=f"session {_get(row, 'id')}",
                noun="summary",
                text=_get(row, "summary"),
                at=parse_time(row.get("ended_at"), row.get("started_at")),
                tags=("session-summary",),
                project=_get(row, "directory", "project"),
            )
    said: dict[str, list[Message]] = {}
    for row in prompts:
        name = _get(row, "session_id")
        project = projects.get(name) or _get(row, "project")
        if name and _get(row, "content"):
            at = parse_time(row.get("created_at"))
            message = Identity(name, "", project).make_message(
                NAME, f"{name}:{row.get('id')}", at, "user", _get(row, "content")
            )
            said.setdefault(name, []).append(message)
    for name, messages in said.items():
        project = messages[0].project
        yield ToolSession(name, "session", tuple(messages), project, recorded_by="claude")


def _make_observation(row: _Fields, projects: Mapping[str, str]) -> AnyItem:
    ident = f"observation {row.get('id')}"
    if row.get("deleted_at"):
        return OmittedItem("observation", "deleted there")
    title, content = _get(row, "title"), _get(row, "content")
    if not title and not content:
        return UnreadItem(ident, "it says nothing")
    return ToolText(
        ident=ident,
        noun="observation",
        text=join_sections(f"# {title}" if title else "", content),
        at=parse_time(row.get("updated_at"), row.get("created_at")),
        tags=(_get(row, "type"), _get(row, "topic_key")),
        project=_get(row, "project") or projects.get(_get(row, "session_id"), ""),
        private=_get(row, "scope") == "personal",
    )


def _get(row: _Fields, *names: str) -> str:
    """Return the first of these fields that holds a word, else ""."""
    return next((text for name in names if (text := text_of(row.get(name)).strip())), "")
