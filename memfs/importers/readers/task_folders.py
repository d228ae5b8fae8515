"""The folders of tasks that Cline keeps, and its forks: one reader for all of them."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote

from memfs.core.errors import StoreError
from memfs.core.records import Identity, Message
from memfs.files import outside
from memfs.hosts.jsonl import (
    call,
    cap,
    flatten_content,
    remove_elements,
    split_elements,
    tags,
    text_of,
)
from memfs.importers.readers import json_files
from memfs.importers.readers.field_values import (
    Fields,
    get_object,
    get_time,
    list_objects,
    parse_object,
    parse_time,
)
from memfs.importers.readers.items import AnyItem, Importer, ToolSession, UnreadItem

_INJECTED = tags(
    "environment_details", "explicit_instructions", "file_content", "final_file_content",
    "folder_content", "url_content", "workspace_diagnostics", "terminal_output", "mode_notice",
    "git_working_state", "git_commit", "custom_instructions",
)  # fmt: skip
_THOUGHT = tags("thinking", "think")
_WORDS = tags("task", "feedback", "answer", "user_message", "user_input", "new_instructions")
_SPEECH = {  # tools by which the assistant speaks, and where its words are
    "attempt_completion": "result",
    "plan_mode_respond": "response",
    "plan_mode_response": "response",
    "ask_followup_question": "question",
}
_SAID = tags(*dict.fromkeys(_SPEECH.values()))
_CALLS = tags(
    *_SPEECH, "access_mcp_resource", "apply_diff", "browser_action", "codebase_search",
    "delete_file", "edit_file", "execute_command", "fetch_instructions", "insert_content",
    "list_code_definition_names", "list_files", "new_task", "read_file", "replace_in_file",
    "search_and_replace", "search_files", "switch_mode", "update_todo_list", "use_mcp_tool",
    "web_fetch", "write_to_file",
)  # fmt: skip
_RESULT = re.compile(r"\[[a-z_]+(?: for [^\n]{0,5000})?\] Result:\s*")
_NOTICES = ("[TASK RESUMPTION]", "[ERROR]", "[NOTE] The previous conversation history")
_WORKSPACE = re.compile(r"# Current W\w{1,20} Directory \(([^()\n]{1,4000})\)")


_EXTENSIONS = {
    "saoudrizwan.claude-dev": "cline",
    "rooveterinaryinc.roo-cline": "roo",
    "kilocode.kilo-code": "kilo",
}
_SHOWN = "ui_messages.json"
_FILES = ("api_conversation_history.json", "claude_messages.json", _SHOWN)  # the best first
_FORKED = "history_item.json"  # which Cline itself does not write
_FOLDERS = (
    "workspace",
    "cwdOnTaskInitialization",
    "cwd",
    "workspace_root",
    "shadowGitConfigWorkTree",
)
_LOOKED_AT = 100  # folders, to recognise one of a task


def _find(tool: str, home: str, environment: Mapping[str, str]) -> list[str]:
    extension = next(each for each, name in _EXTENSIONS.items() if name == tool)
    folders = list_user_folders(home, environment)
    found = [f"{folder}/globalStorage/{extension}" for folder in folders]
    if tool == "cline":
        own = environment.get("CLINE_DIR") or f"{home}/.cline"
        found.append(environment.get("CLINE_DATA_DIR") or f"{own}/data")
    return [path for path in found if next(_iter_tasks(path), "")]


def _read(tool: str, path: str) -> Iterator[AnyItem]:
    history: dict[str, Fields] = {}
    above = ""
    for folder in _iter_tasks(path):
        if os.path.dirname(folder) != above:
            above = os.path.dirname(folder)
            history = _read_history(above)
        yield from _read_task(tool, folder, history.get(os.path.basename(folder), {}))


def _read_task(tool: str, folder: str, known: Fields) -> Iterator[AnyItem]:
    """Yield the session of a task, from the best of its files that has messages."""
    ident = os.path.basename(folder)
    about = [json_files.read_object(f"{folder}/{name}") for name in (_FORKED, f"{ident}.json")]
    about.append(known)
    project = next(
        (text for each in about for key in _FOLDERS if (text := text_of(each.get(key)))), ""
    )
    start = parse_time(
        int(ident) if len(ident) == 13 and ident.isdecimal() else 0,
        *(each.get(key) for each in about for key in ("started_at", "ts")),
    )
    times = _read_times(f"{folder}/{_SHOWN}")
    for name in (*_FILES, f"{ident}.messages.json"):
        if outside.status(f"{folder}/{name}") is None:
            continue
        make_message = partial(Identity(ident, "").make_message, tool)
        messages: list[Message] = []
        folders = [project]
        try:
            messages.extend(_read_file(f"{folder}/{name}", make_message, start, times, folders))
        except (StoreError, OSError) as error:  # what is before it counts
            why = error.message if isinstance(error, StoreError) else error.strerror or str(error)
            yield UnreadItem(f"task {ident}", why)
        if messages:
            project = next(filter(None, folders), "")
            found = tuple(each._replace(project=project) for each in messages)
            yield ToolSession(ident, "task", found, project)
            return


def _read_file(
    path: str,
    make_message: Callable[..., Message],
    at: str,
    times: Mapping[int, str],
    folders: list[str],
) -> Iterator[Message]:
    """Yield the messages of a file, and add the folders that it names to `folders`.

    The id of one is a hash, which stays when the task goes on: a rewritten history has other
    numbers. Raises `OSError`, `StoreError`.
    """
    counts: Counter[str] = Counter()
    with outside.open_stream(path) as stream:
        elements = json_files.iter_elements(stream, os.path.basename(path))
        for number, message in enumerate(_iter_messages(elements)):
            at = get_time(message, "ts", "timestamp") or times.get(number, "") or at
            folders.append(find_workspace(message))
            for turn in filter(lambda turn: turn.text.strip(), read_message(message)):
                first = not counts and message.get("type") == "say"
                said = turn._replace(role="user") if first else turn
                data = "\0".join(said).encode("utf-8", "replace")
                name = hashlib.sha256(data).hexdigest()[:16]
                counts[name] += 1
                yield make_message(f"{name}.{counts[name]}", at, said.role, said.text, said.tool)


def _iter_messages(elements: Iterator[object]) -> Iterator[Fields]:
    for element in elements:
        if isinstance(element, dict) and "messages" in element:
            yield from list_objects(element, "messages")
        elif isinstance(element, dict):
            yield element


def _sniff(tool: str, path: str) -> bool:
    """Tell whose folder this is: by its name, or by what only forks write."""
    task = next(_iter_tasks(path), "")
    parts = os.path.abspath(path).replace("\\", "/").lower().split("/")
    named = next((_EXTENSIONS[part] for part in parts if part in _EXTENSIONS), "")
    forked = f"{task}/{_FORKED}", f"{os.path.dirname(task)}/_index.json"
    other = "roo" if any(outside.status(each) for each in forked) else "cline"
    return task != "" and (named or other) == tool


def _iter_tasks(path: str) -> Iterator[str]:
    """Yield the folders of tasks at a path: it is one, or has them, or is the extension's."""
    if _is_task(path):
        yield path.rstrip("/")
        return
    for top in (f"{path}/tasks", f"{path}/sessions", path):
        names = outside.list_names(top)
        if top == path and not any(_is_task(f"{top}/{name}") for name in names[:_LOOKED_AT]):
            continue
        for name in names:
            if _is_task(f"{top}/{name}"):
                yield f"{top}/{name}"


def _is_task(folder: str) -> bool:
    names = (*_FILES, f"{os.path.basename(folder.rstrip('/'))}.messages.json")
    return any(outside.status(f"{folder}/{name}") for name in names)


def _read_history(tasks: str) -> dict[str, Fields]:
    listed = list_objects(json_files.read_object(f"{tasks}/_index.json"), "entries")
    path = f"{os.path.dirname(tasks)}/state/taskHistory.json"
    try:
        with outside.open_stream(path) as stream:
            found = json_files.iter_elements(stream, path)
            listed += [each for each in found if isinstance(each, dict)]
    except (OSError, StoreError):
        pass  # without it a task is of no known folder
    return {text_of(each.get("id")): each for each in listed}


def _read_times(path: str) -> dict[int, str]:
    """Return when messages were sent, by their number: Cline notes it beside what it shows."""
    times: dict[int, str] = {}
    try:
        with outside.open_stream(path) as stream:
            for each in json_files.iter_elements(stream, path):
                index = each.get("conversationHistoryIndex") if isinstance(each, dict) else None
                if isinstance(each, dict) and isinstance(index, int):
                    times.setdefault(index + 1, get_time(each, "ts"))
    except (OSError, StoreError):
        pass  # the time is that of the task then
    return times


def list_user_folders(home: str, environment: Mapping[str, str]) -> list[str]:
    """List the folders `User` of such editors, whatever they are called, and of their servers."""
    settings = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    above = [settings, f"{home}/Library/Application Support", environment.get("APPDATA", "")]
    found = [f"{top}/{name}/User" for top in above if top for name in outside.list_names(top)]
    servers = [name for name in outside.list_names(home) if name[:1] == "." and "-server" in name]
    found += [f"{home}/{name}/data/User" for name in servers]
    return [folder for folder in dict.fromkeys(found) if os.path.isdir(f"{folder}/globalStorage")]


def parse_folder(uri: str) -> str:
    """Return the path of a URI of a folder, of another machine too; "" for something else."""
    scheme, found, rest = uri.partition("://")
    if not found:
        return uri if uri.startswith("/") or uri[1:2] == ":" else ""
    if scheme not in ("file", "vscode-remote"):
        return ""
    path = unquote(rest[rest.find("/") :]) if "/" in rest else ""
    return path[1:] if path[2:3] == ":" else path


class TaskTurn(NamedTuple):
    """What one of a task said, or what a tool (`tool`) was given or put out ("result")."""

    role: str
    text: str
    tool: str = ""


def read_message(message: dict[str, object]) -> Iterator[TaskTurn]:
    """Yield what is in one message of the model's interface, or of the extension's own list."""
    if message.get("type") in ("say", "ask"):
        yield from _read_shown(message)
        return
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant") or message.get("isSummary") is True:
        return
    blocks = list_objects(message, "content")
    if isinstance(content, str):
        blocks = [{"type": "text", "text": content}]
    result = False
    for block in blocks:
        kind = block.get("type")
        text = text_of(block.get("text"))
        if kind == "tool_use":
            name, given = text_of(block.get("name")) or "tool", block.get("input")
            said = text_of(get_object(block, "input").get(_SPEECH.get(name, ""))).strip()
            yield TaskTurn("assistant", said) if said else TaskTurn("tool", call(given), name)
        elif kind == "tool_result":
            yield from _read_prompt(flatten_content(block.get("content")), result=True)
        elif kind == "text" and role == "assistant":
            yield from _read_reply(text)
        elif kind == "text":
            result = result or _RESULT.match(text.lstrip()) is not None
            yield from _read_prompt(text, result=result)


def find_workspace(message: dict[str, object]) -> str:
    """Return the folder that the extension told the model it works in, "" for none."""
    text = text_of(message.get("content")) or flatten_content(message.get("content"))
    found = _WORKSPACE.search(text)
    return found[1].strip() if found else ""


def _read_prompt(text: str, *, result: bool) -> Iterator[TaskTurn]:
    text = remove_elements(_INJECTED, text)
    notice = text.startswith(_NOTICES)
    for tag, part in split_elements(_WORDS, _RESULT.sub("", text, count=1) if result else text):
        words = part.strip()
        if not words or (notice and not tag):
            continue
        yield (
            TaskTurn("tool", cap(words), "result")
            if result and not tag
            else TaskTurn("user", words)
        )


def _read_reply(text: str) -> Iterator[TaskTurn]:
    for tag, part in split_elements(_CALLS, remove_elements(_THOUGHT, text)):
        if not part.strip():
            continue
        if tag in _SPEECH:
            said = [inner for name, inner in split_elements(_SAID, part) if name]
            yield TaskTurn("assistant", "\n\n".join(said or [part]).strip())
        elif tag:
            yield TaskTurn("tool", cap(part.strip()), tag)
        else:
            yield TaskTurn("assistant", part.strip())


def _read_shown(message: dict[str, object]) -> Iterator[TaskTurn]:
    if message.get("partial") is True:
        return
    kind = message.get(str(message["type"]))
    text = text_of(message.get("text")).strip()
    if kind == "user_feedback":
        yield TaskTurn("user", text)
    elif kind in ("text", "completion_result"):
        yield TaskTurn("assistant", text)
    elif kind in ("followup", "plan_mode_respond"):
        asked = parse_object(text)
        yield TaskTurn("assistant", text_of(asked.get("question") or asked.get("response")) or text)


CLINE, ROO, KILO = (
    Importer(name, partial(_sniff, name), partial(_read, name), partial(_find, name))
    for name in ("cline", "roo", "kilo")
)
