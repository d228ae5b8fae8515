"""ChatGPT: the conversations of an export, as the person saw them. All goes to their own store.

A conversation is a tree, in which an edited prompt begins a branch: `current_node` is where the
person was. Left out are hidden and system messages, and what the model thought. Custom
instructions and saved memories stand in messages of their own, those that held last in the newest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memfs.core.records import Identity, Message
from memfs.hosts.jsonl import arguments, cap, text_of
from memfs.importers.readers import export_files
from memfs.importers.readers.field_values import (
    Fields,
    get_object,
    get_time,
    join_sections,
    list_branch,
    parse_time,
)
from memfs.importers.readers.items import AnyItem, ToolSession, ToolText, UnreadItem, find_nowhere

NAME = "chatgpt"
_FILES = re.compile(r"(^|/)conversations(-\d+)?\.json$")
_KEYS = ("mapping",)
_LEFT = ("thoughts", "reasoning_recap", "user_editable_context", "model_editable_context")
_CITATION = re.compile("\ue200[^\ue200\ue201]*\ue201|\u3010\\d+[^\u3010\u3011\n]{0,200}\u3011")
_FENCED = re.compile(r"```(.*)```", re.DOTALL)
_MEMORY = re.compile(r"^\d+\.\s*\[(\d{4}-\d\d-\d\d)\]\.?\s*(?=\S)", re.MULTILINE)
_CONTEXT = (("user_profile", "about_user_message"), ("user_instructions", "about_model_message"))
_ABOUT = ("About the user", "How to answer")


@dataclass
class _Context:
    """What held for all conversations at the latest time: instructions, and memories by day."""

    instructions: tuple[str, str] = "", ""
    memories: tuple[str, str] = "", ""


find = find_nowhere


def sniff(path: str) -> bool:
    """Tell whether a path is an export, a folder of one, or its conversations."""
    return export_files.find_element(path, _FILES, _KEYS)


def read(path: str) -> Iterator[AnyItem]:
    """Yield a session for each conversation, then the instructions and the memories."""
    context = _Context()
    for number, each in enumerate(export_files.iter_objects(path, _FILES), 1):
        made = each if isinstance(each, UnreadItem) else _make_session(each, number, context)
        if isinstance(made, UnreadItem) or made.messages:
            yield made
    yield from _make_texts(context)


def _make_session(conversation: Fields, number: int, context: _Context) -> ToolSession | UnreadItem:
    ident = text_of(conversation.get("conversation_id")) or text_of(conversation.get("id"))
    nodes = get_object(conversation, "mapping")
    if not ident or not nodes:
        return UnreadItem(f"conversation {ident or number}", "it has no id, or no messages")
    parents = {name: text_of(get_object(nodes, name).get("parent")) for name in nodes}
    current = text_of(conversation.get("current_node")) or _find_last(nodes, parents)
    created = get_time(conversation, "create_time", "update_time")
    identity, messages = Identity(ident, ""), []
    at = created
    for name in list_branch(parents, current):
        message = get_object(get_object(nodes, name), "message")
        at = get_time(message, "create_time") or at
        _note_context(message, at, context)
        if made := _make_message(message, identity, name, at):
            messages.append(made)
    return ToolSession(ident, "conversation", tuple(messages), private=True)


def _find_last(nodes: Fields, parents: Mapping[str, str]) -> str:
    """Return the latest message that nothing follows, where an export does not tell it."""
    above = set(parents.values())
    ends = [name for name in nodes if name not in above]
    times = {
        name: parse_time(get_object(get_object(nodes, name), "message").get("create_time"))
        for name in ends
    }
    return max(reversed(ends), key=lambda name: times[name], default="")


def _make_message(message: Fields, identity: Identity, name: str, at: str) -> Message | None:
    author, content = get_object(message, "author"), get_object(message, "content")
    metadata = get_object(message, "metadata")
    role, kind = text_of(author.get("role")), text_of(content.get("content_type"))
    hidden = metadata.get("is_visually_hidden_from_conversation") is True
    if hidden or role not in ("user", "assistant", "tool") or kind in _LEFT:
        return None
    text = _format_content(content)
    recipient = text_of(message.get("recipient"))
    ident = text_of(message.get("id")) or name
    if role == "tool":
        return identity.make_message(NAME, ident, at, "tool", cap(text), "result")
    if role == "assistant" and recipient not in ("", "all"):
        return identity.make_message(NAME, ident, at, "tool", arguments(text), recipient)
    if kind == "code" and text:
        text = f"```{text_of(content.get('language')).replace('unknown', '')}\n{text}\n```"
    return identity.make_message(NAME, ident, at, role, _CITATION.sub("", text).strip())


def _format_content(content: Fields) -> str:
    """Return the text of a message; pictures and sounds are left out, what was spoken is not."""
    parts = content.get("parts")
    texts = [
        text_of(part.get("text")) if isinstance(part, dict) else text_of(part)
        for part in (parts if isinstance(parts, list) else [])
    ]
    texts = [text for text in texts if text.strip()]
    names = ("text", "result", "summary")
    other = next((text for key in names if (text := text_of(content.get(key)))), "")
    return "\n".join(texts) or other.strip()


def _note_context(message: Fields, at: str, context: _Context) -> None:
    """Note instructions and memories, if these are later than what is known."""
    content = get_object(message, "content")
    given = get_object(get_object(message, "metadata"), "user_context_message_data")
    parts = [
        text_of(given.get(plain)).strip() or _unwrap(text_of(content.get(key)))
        for key, plain in _CONTEXT
    ]
    said = [f"{about}: {part}" for about, part in zip(_ABOUT, parts, strict=True) if part]
    if said and at >= context.instructions[0]:
        context.instructions = at, join_sections(*said)
    memories = text_of(content.get("model_set_context"))
    if memories.strip() and at >= context.memories[0]:
        context.memories = at, memories


def _unwrap(text: str) -> str:
    """Return what stands in the fence that ChatGPT puts around a person's words."""
    found = _FENCED.search(text)
    return (found[1] if found else text).strip()


def _make_texts(context: _Context) -> Iterator[ToolText]:
    at, instructions = context.instructions
    if instructions:
        heading = "# Custom instructions of ChatGPT"
        yield ToolText(
            "custom instructions",
            "custom instruction",
            join_sections(heading, instructions),
            at,
            ("custom-instructions",),
            importance=7,
            private=True,
        )
    at, memories = context.memories
    before, *found = _MEMORY.split(memories)
    days = [(before, "")] if not found else zip(found[1::2], found[::2], strict=True)
    for text, day in days:
        if text.strip():
            known = " ".join(text.split())[:200]
            tags = ("saved-memory",)
            yield ToolText(
                f"memory {known}", "memory", text.strip(), parse_time(day) or at, tags, private=True
            )
