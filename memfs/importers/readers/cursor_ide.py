"""Cursor's chats and agents in its editor, of which `state.vscdb` has millions of rows.

A session ("composer") is a row, in which old ones have their turns ("bubbles"); since 2025 each
turn is a row of its own. Rows are read one by one by their keys: other keys hold tokens. When a
turn was is not told reliably, so that all are of the time of their session.
"""

import os
from collections.abc import Iterator, Mapping

from memfs.core.records import Identity, Message
from memfs.files import database, outside
from memfs.files.database import Database
from memfs.hosts.jsonl import arguments, cap, text_of
from memfs.importers.readers import json_files, task_folders
from memfs.importers.readers.field_values import (
    Fields,
    get_object,
    get_time,
    list_objects,
    parse_list,
    parse_object,
)
from memfs.importers.readers.items import AnyItem, Importer, ToolSession, UnreadItem
from memfs.importers.readers.row_tools import has_tables

_HOST = "cursor-ide"
_FILE = "state.vscdb"
_ROWS, _ITEMS = "cursorDiskKV", "ItemTable"
_COMPOSER, _BUBBLE = "composerData:", "bubbleId:"
_COMPOSERS, _CHATS = "composer.composerData", "workbench.panel.aichat.view.aichat.chatdata"
_ROLES = {1: "user", 2: "assistant", "user": "user", "ai": "assistant"}
_TEXTS = ("text", "rawText", "content", "message")


def _find(home: str, environment: Mapping[str, str]) -> list[str]:
    found = [
        f"{folder}/globalStorage/{_FILE}"
        for folder in task_folders.list_user_folders(home, environment)
    ]
    return [path for path in found if _sniff(path)]


def _sniff(path: str) -> bool:
    path = _locate(path)
    return database.is_database(path) and has_tables(path, {_ROWS: set()})


def _locate(path: str) -> str:
    inside = [f"{path}/{_FILE}", f"{path}/globalStorage/{_FILE}"]
    return next((each for each in inside if os.path.isfile(each)), path)


def _read(path: str) -> Iterator[AnyItem]:
    path = _locate(path)
    workspaces = _Workspaces(os.path.dirname(os.path.dirname(os.path.abspath(path))))
    yield from workspaces.read()
    with database.open_database(path) as base:
        for row in base.read_rows("composerHeaders", ("composerId", "workspaceId")):
            workspaces.tie(row.text("composerId"), row.text("workspaceId"))
        for key in base.list_keys(_ROWS, "key", _COMPOSER):
            yield from _read_composer(base, key.removeprefix(_COMPOSER), workspaces)


class _Workspaces:
    def __init__(self, user: str) -> None:
        self._user = user
        self._folders: dict[str, str] = {}
        self._sessions: dict[str, str] = {}

    def read(self) -> Iterator[AnyItem]:
        """Read which there are, and yield the chats that they hold themselves."""
        for name in outside.list_names(f"{self._user}/workspaceStorage"):
            top = f"{self._user}/workspaceStorage/{name}"
            about = json_files.read_object(f"{top}/workspace.json")
            self._folders[name] = task_folders.parse_folder(text_of(about.get("folder")))
            if not database.is_database(f"{top}/{_FILE}"):
                continue
            try:
                with database.open_database(f"{top}/{_FILE}") as base:
                    composers = _read_value(base, _ITEMS, _COMPOSERS)
                    chats = _read_value(base, _ITEMS, _CHATS)
            except OSError as error:
                yield UnreadItem(f"workspace {name}", error.strerror or str(error))
                continue
            for each in list_objects(composers, "allComposers"):
                self.tie(text_of(each.get("composerId")), name)
            for tab in list_objects(chats, "tabs"):
                yield from _read_tab(tab, self._folders[name])

    def tie(self, session: str, workspace: str) -> None:
        """Note that a session was in a workspace."""
        if self._folders.get(workspace):
            self._sessions[session] = self._folders[workspace]

    def find_folder(self, session: str, composer: Fields) -> str:
        """Return the folder in which a session was, "" where nothing tells it."""
        workspace = get_object(composer, "workspaceIdentifier")
        uri = get_object(workspace, "uri")
        return (
            self._sessions.get(session)
            or self._folders.get(text_of(workspace.get("id")))
            or task_folders.parse_folder(text_of(uri.get("fsPath")) or text_of(uri.get("path")))
        )


def _read_tab(tab: Fields, folder: str) -> Iterator[AnyItem]:
    ident = text_of(tab.get("tabId"))
    identity = Identity(ident, "", folder)
    at = get_time(tab, "lastSendTime")
    messages: list[Message] = []
    for place, bubble in enumerate(list_objects(tab, "bubbles")):
        messages += _make_messages(bubble, identity, f"@{place}", at)
    if messages and ident:
        yield ToolSession(ident, "chat", tuple(messages), folder)


def _read_composer(base: Database, ident: str, workspaces: _Workspaces) -> Iterator[AnyItem]:
    try:
        composer = _read_value(base, _ROWS, f"{_COMPOSER}{ident}")
    except OSError as error:
        yield UnreadItem(f"session {ident}", error.strerror or str(error))
        return
    at = get_time(composer, "createdAt", "lastUpdatedAt")
    folder = workspaces.find_folder(ident, composer)
    side = bool(get_object(composer, "subagentInfo"))
    messages: list[Message] = []
    for place, header in enumerate(_list_turns(composer)):
        name = text_of(header.get("bubbleId"))
        bubble = header
        if name and not any(text_of(header.get(key)) for key in _TEXTS):
            try:
                bubble = _read_value(base, _ROWS, f"{_BUBBLE}{ident}:{name}") or header
            except OSError:
                yield UnreadItem(f"session {ident}", "one of its turns is damaged or too large")
        folder = folder or _find_folder(bubble)
        messages += _make_messages(bubble, Identity(ident, ""), name or f"@{place}", at)
    if messages and ident:
        found = tuple(each._replace(project=folder, side=side) for each in messages)
        yield ToolSession(ident, "session", found, folder, recorded_by="cursor")


def _list_turns(composer: Fields) -> list[Fields]:
    """Return the turns of a session: themselves, or what names the row of each."""
    for key in ("fullConversationHeadersOnly", "conversation"):
        if found := list_objects(composer, key):
            return found
    by_name = get_object(composer, "conversationMap")
    return [each for each in by_name.values() if isinstance(each, dict)]


def _make_messages(bubble: Fields, identity: Identity, name: str, at: str) -> Iterator[Message]:
    kind = bubble.get("type")
    role = _ROLES.get(kind, "") if isinstance(kind, int | str) else ""
    text = next((text for key in _TEXTS if (text := text_of(bubble.get(key)).strip())), "")
    if role and not text:
        text = "\n\n".join(
            f"```{text_of(each.get('languageId'))}\n{code}\n```"
            for each in list_objects(bubble, "codeBlocks")
            if (code := text_of(each.get("content")).strip("\n"))
        )
    if role and text:
        yield identity.make_message(_HOST, name, at, role, text)
    tool = get_object(bubble, "toolFormerData")
    called = text_of(tool.get("name")) or "tool"
    given = arguments(tool.get("rawArgs") or tool.get("params"))
    if tool and given:
        yield identity.make_message(_HOST, f"{name}.tool", at, "tool", given, called)
    if result := cap(arguments(tool.get("result")).strip()):
        yield identity.make_message(_HOST, f"{name}.result", at, "tool", result, "result")


def _find_folder(bubble: Fields) -> str:
    named = [*parse_list(bubble.get("workspaceUris")), text_of(bubble.get("workspaceProjectDir"))]
    found = map(task_folders.parse_folder, [*named, text_of(bubble.get("cwd"))])
    return next((folder for folder in found if folder), "")


def _read_value(base: Database, table: str, key: str) -> Fields:
    """Return the object in the row of a key; {} for none. Raises `OSError`."""
    rows = base.read_rows(table, ("value",), where=("key", key))
    return parse_object(next((row.values.get("value") for row in rows), None))


CURSOR_IDE = Importer(_HOST, _sniff, _read, _find)
