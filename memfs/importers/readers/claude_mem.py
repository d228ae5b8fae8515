"""claude-mem: observations, summaries and prompts of sessions, in one SQLite file.

Its schema has changed some fifty times: columns are read by name, those that are there. An export
and an answer of its worker hold the same rows as JSON.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from memfs.core.records import Message
from memfs.files import database, outside
from memfs.hosts.jsonl import text_of
from memfs.importers.readers import json_files
from memfs.importers.readers.field_values import (
    format_items,
    join_sections,
    list_objects,
    parse_list,
    parse_object,
    parse_time,
)
from memfs.importers.readers.items import AnyItem, ToolSession, ToolText, UnreadItem

NAME = "claude-mem"
_FILE = "claude-mem.db"
_TABLES = {"observations", "session_summaries", "sdk_sessions"}
_SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_OBSERVATION = (
    "id", "project", "merged_into_project", "type", "title", "subtitle", "narrative", "text",
    "facts", "concepts", "files_read", "files_modified", "content_hash", "created_at",
    "created_at_epoch",
)  # fmt: skip
_SUMMARIES = (
    "id", "project", "merged_into_project", "created_at", "created_at_epoch", "memory_session_id",
    *_SUMMARY,
)  # fmt: skip
_SESSIONS = ("id", "content_session_id", "claude_session_id", "project", "platform_source")
_PROMPTS = (
    "id", "session_db_id", "content_session_id", "claude_session_id", "prompt_number",
    "prompt_text", "created_at", "created_at_epoch", "project", "platform_source",
)  # fmt: skip
_ITEMS = (*_OBSERVATION, "kind", "project_id")

_Fields = dict[str, object]


def find(home: str, environment: Mapping[str, str]) -> list[str]:
    """List its database, where the environment, its settings or its default have it."""
    folder = environment.get("CLAUDE_MEM_DATA_DIR") or f"{home}/.claude-mem"
    settings = parse_object(json_files.read_head(f"{folder}/settings.json", 1 << 16))
    moved = text_of(settings.get("CLAUDE_MEM_DATA_DIR"))
    found = dict.fromkeys(f"{each}/{_FILE}" for each in (moved, folder) if each)
    return [path for path in found if os.path.isfile(path)]


def sniff(path: str) -> bool:
    """Tell whether a path is its database, its folder, or an export of its rows."""
    path = outside.find_inside(path, _FILE)
    if database.is_database(path):
        try:
            with database.open_database(path) as base:
                tables = set(base.list_tables())
        except OSError:
            return False
        return tables >= _TABLES or {"memory_items", "projects"} <= tables
    head = json_files.read_head(path)
    return head.startswith("{") and '"observations"' in head and '"memory_session_id"' in head


def read(path: str) -> Iterator[AnyItem]:
    """Yield observations and summaries as texts, and prompts as sessions."""
    path = outside.find_inside(path, _FILE)
    if not database.is_database(path):
        yield from _read_export(path)
        return
    with database.open_database(path) as base:
        for row in base.read_rows("observations", _OBSERVATION, "id"):
            yield _make_observation(row.values)
        for row in base.read_rows("session_summaries", _SUMMARIES, "id"):
            yield _make_summary(row.values)
        sessions = {
            row.values.get("id"): row.values for row in base.read_rows("sdk_sessions", _SESSIONS)
        }
        prompts = [row.values for row in base.read_rows("user_prompts", _PROMPTS, "id")]
        yield from _make_sessions(sessions, prompts)
        roots = {
            r.values.get("id"): r.text("root_path")
            for r in base.read_rows("projects", ("id", "root_path"))
        }
        for row in base.read_rows("memory_items", _ITEMS, "id"):
            yield _make_observation(
                {**row.values, "project": roots.get(row.values.get("project_id"), "")}
            )


def _read_export(path: str) -> Iterator[AnyItem]:
    found = parse_object(json_files.load(path))
    for row in list_objects(found, "observations"):
        yield _make_observation(row)
    summaries = [*list_objects(found, "summaries"), *list_objects(found, "sessions")]
    for row in summaries:
        if any(text_of(row.get(name)).strip() for name in _SUMMARY):
            yield _make_summary(row)
    yield from _make_sessions({}, list_objects(found, "prompts"))


def _make_observation(row: _Fields) -> AnyItem:
    ident = f"observation {row.get('id')}"
    files = dict.fromkeys(
        [*parse_list(row.get("files_read")), *parse_list(row.get("files_modified"))]
    )
    body = join_sections(
        _get(row, "subtitle"),
        _get(row, "narrative") or _get(row, "text"),
        format_items(parse_list(row.get("facts"))),
    )
    if not body and not _get(row, "title"):
        return UnreadItem(ident, "it says nothing")
    about = f"Files: {', '.join(files)}" if files else ""
    heading = f"# {_get(row, 'title')}" if _get(row, "title") else ""
    return ToolText(
        ident=ident,
        noun=_get(row, "kind") or "observation",
        text=join_sections(heading, body, about),
        at=parse_time(row.get("created_at_epoch"), row.get("created_at")),
        tags=tuple(filter(None, [_get(row, "type"), *parse_list(row.get("concepts"))])),
        project=_get(row, "merged_into_project") or _get(row, "project"),
    )


def _make_summary(row: _Fields) -> AnyItem:
    parts = [
        f"{name.replace('_', ' ').capitalize()}: {text}"
        for name in _SUMMARY
        if (text := _get(row, name))
    ]
    ident = f"summary {row.get('id')}"
    if not parts:
        return UnreadItem(ident, "it says nothing")
    return ToolText(
        ident=ident,
        noun="summary",
        text=join_sections(*parts),
        at=parse_time(row.get("created_at_epoch"), row.get("created_at")),
        tags=("session-summary",),
        project=_get(row, "merged_into_project") or _get(row, "project"),
    )


def _make_sessions(
    sessions: Mapping[object, _Fields], prompts: Iterable[_Fields]
) -> Iterator[AnyItem]:
    """Yield the prompts of each session, under the id that its assistant gave it."""
    found: dict[str, list[tuple[_Fields, _Fields]]] = {}
    for prompt in prompts:
        owner = sessions.get(prompt.get("session_db_id"), prompt)
        name = next(
            (
                text
                for row in (prompt, owner)
                for key in ("content_session_id", "claude_session_id")
                if (text := _get(row, key))
            ),
            "",
        )
        if name and _get(prompt, "prompt_text"):
            found.setdefault(name, []).append((prompt, owner))
    for name, rows in found.items():
        project = _get(rows[0][1], "project")
        messages = tuple(
            Message(
                id=f"{name}:{prompt.get('prompt_number') or prompt.get('id')}",
                session=name,
                host=NAME,
                project=project,
                branch="",
                at=parse_time(prompt.get("created_at_epoch"), prompt.get("created_at")),
                role="user",
                text=_get(prompt, "prompt_text"),
            )
            for prompt, _ in rows
        )
        yield ToolSession(name, "session", messages, project, recorded_by="claude")


def _get(row: _Fields, name: str) -> str:
    return text_of(row.get(name)).strip()
