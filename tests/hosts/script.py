"""What a scripted model says, whatever the wire it is said on."""

import uuid
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias, cast

Json: TypeAlias = dict[str, object]


class ToolUse(NamedTuple):
    """A call of one of the host's tools, e.g. ``ToolUse("Bash", {"command": "ls"})``."""

    name: str
    input: Mapping[str, object]


class Reply(NamedTuple):
    """One model turn. ``input_tokens`` is what the turn claims to have read (drives auto-compaction)."""

    text: str = ""
    calls: tuple[ToolUse, ...] = ()
    input_tokens: int = 1_000


Scripted: TypeAlias = "str | ToolUse | Reply"

OUTPUT_TOKENS = 20  # what each turn claims to have written


class Said(NamedTuple):
    """One text of a request. ``role`` is user, assistant or system; a tool's result is the user's."""

    role: str
    text: str
    result: bool = False


def reply_of(entry: Scripted) -> Reply:
    if isinstance(entry, str):
        return Reply(text=entry)
    return Reply(calls=(entry,)) if isinstance(entry, ToolUse) else entry


def fresh(prefix: str) -> str:
    """An id that is unique over servers: readers of a transcript take the same id for one message."""
    return f"{prefix}_{uuid.uuid4().hex[:24]}"


def objects(value: object) -> list[Json]:
    """The objects in a list of a request; none where there is no list."""
    return (
        [cast("Json", each) for each in value if isinstance(each, dict)]
        if isinstance(value, list)
        else []
    )


def named(tools: object) -> list[str]:
    return [str(tool["name"]) for tool in objects(tools) if "name" in tool]


def block_texts(content: object) -> Iterator[str]:
    """The texts of a message's content: a string, or blocks with a ``text`` each."""
    if isinstance(content, str):
        yield content
    for block in objects(content):
        if "text" in block:
            yield str(block["text"])
