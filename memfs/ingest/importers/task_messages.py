"""What was said in a task of Cline or a fork of it: the messages as the model got them.

What the extension put around a person's words goes. Calls of tools are blocks of their own, or, of
models without these, elements in the assistant's text, whose results begin the next message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memfs.hosts.jsonl import (
    call,
    cap,
    flatten_content,
    remove_elements,
    split_elements,
    tags,
    text_of,
)
from memfs.ingest.importers.field_values import list_objects, parse_object

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
            yield _read_call(text_of(block.get("name")) or "tool", block.get("input"))
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
    """Yield the words of a person, and (`result`) what a tool put out beside them."""
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
    """Yield the words of the assistant, and the calls that stand between them."""
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


def _read_call(name: str, given: object) -> TaskTurn:
    key = _SPEECH.get(name, "")
    said = text_of(given.get(key)).strip() if isinstance(given, dict) else ""
    return TaskTurn("assistant", said) if said else TaskTurn("tool", call(given), name)


def _read_shown(message: dict[str, object]) -> Iterator[TaskTurn]:
    """Yield the words of a message as the extension shows it."""
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
