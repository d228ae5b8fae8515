"""Letta's agent files (.af) of both generations, and the list of archival passages beside them.

An agent file holds tools, models, variables of the environment and secrets, too: their values are
never looked at.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from memfs.core import label as labels
from memfs.core.block import DEFAULT_LIMIT
from memfs.core.records import Message
from memfs.files import outside
from memfs.hosts.jsonl import arguments, cap, dumps, flatten_content, remove_elements, tags, text_of
from memfs.importers import text_files
from memfs.importers.readers import json_files
from memfs.importers.readers.field_values import (
    Fields,
    get_object,
    get_time,
    list_objects,
    parse_list,
    parse_object,
)
from memfs.importers.readers.items import (
    AnyItem,
    OmittedItem,
    ToolBlock,
    ToolSession,
    ToolText,
    UnreadItem,
    find_nowhere,
)
from memfs.importers.writers.letta import FRONT_MATTER

INJECTED = tags("system-reminder", "system-alert")  # what its programs put before what was said
PINNED = "system/"  # the folder of what is always in the prompt
DERIVED = f"{PINNED}memory_filesystem"  # a list of the others, which its program writes
GENERATED = "which its program makes of the others"
NO_MEMORY = "which are no memory"
_HUMAN = "human"
_LARGEST = 10**15  # a larger limit is a mistake

NAME = "letta"
_HEAD = 1 << 16  # bytes
_NEW = re.compile(r'"?\{[\sn]*"agents"[\sn]*:')  # the second line ends are those of a JSON text
_OLD = re.compile(r'"?\{[\sn]*"agent_type"[\sn]*:')
_AGENT = re.compile(r"\bAGENT_ID: (agent-[0-9a-f-]{8,60})", re.ASCII)
_SAYING = "send_message"  # the tool by which agents of the first generation speak
_LISTS = ("agents", "blocks", "files", "skills")
find = find_nowhere


def sniff(path: str) -> bool:
    """Tell whether a file begins as an agent file does, or as a list of archival passages."""
    head = json_files.read_head(path, _HEAD).replace("\\", "")
    if head.startswith("["):
        return '"passage-' in head and '"text"' in head
    new = _NEW.match(head) and any(f'"{name}"' in head for name in ("block_ids", "tool_ids"))
    return bool(new or (_OLD.match(head) and '"core_memory"' in head))


def read(path: str) -> Iterator[AnyItem]:
    """Yield the blocks, a session for each agent, and files and passages as texts."""
    if json_files.read_head(path).startswith("["):
        yield from _read_passages(path)
        return
    whole = parse_object(json_files.load(path))
    agents = [whole] if "core_memory" in whole else list_objects(whole, "agents")
    yield from _list_blocks(whole, agents)
    for agent in agents:
        yield from _make_sessions(agent)
    for each in list_objects(whole, "files"):  # documents that were given to an agent
        name = text_of(each.get("file_name")) or text_of(each.get("original_file_name"))
        text = text_of(each.get("content"))
        if text.strip():
            yield ToolText(name or text_of(each.get("id")) or "file", "file", f"# {name}\n\n{text}")
    if skills := len(list_objects(whole, "skills")):
        yield OmittedItem("skill", NO_MEMORY, skills)
    if variables := sum(map(_count_variables, agents)):
        yield OmittedItem("environment variable", "which may hold secrets", variables)
    odd = sum(_count_odd(whole, name) for name in _LISTS)
    odd += sum(_count_odd(agent, "messages") + _count_odd(agent, "core_memory") for agent in agents)
    if odd:
        yield UnreadItem("a part of a list", "it is no object", odd)


def _read_passages(path: str) -> Iterator[AnyItem]:
    odd = deleted = 0
    with outside.open_stream(path) as handle:
        for element in json_files.iter_elements(handle, path):
            row = parse_object(element)
            text, ident = text_of(row.get("text")), text_of(row.get("id"))
            if row.get("is_deleted") is True:
                deleted += 1
            elif text.strip() and ident:
                tags, at = parse_list(row.get("tags")), get_time(row, "created_at")
                about = get_object(row, "metadata")
                named = {
                    "source": text_of(about.get("source")) or None,
                    **get_object(about, FRONT_MATTER),
                }
                importance = about.get("importance")
                yield ToolText(
                    ident,
                    "passage",
                    text,
                    at,
                    tuple(tags),
                    importance if isinstance(importance, int) else 5,
                    head=text_files.format_head(named),
                    own="importance" in about,
                )
            else:
                odd += 1
    if deleted:
        yield OmittedItem("passage", "which were deleted there", deleted)
    if odd:
        yield UnreadItem("an element of the list", "it has no text or no id", odd)


def _count_odd(fields: Fields, name: str) -> int:
    value = fields.get(name)
    return len(value) - len(list_objects(fields, name)) if isinstance(value, list) else 0


def _count_variables(agent: Fields) -> int:
    values = (agent.get(name) for name in ("tool_exec_environment_variables", "secrets"))
    return sum(len(value) for value in values if isinstance(value, dict | list))


def _list_blocks(whole: Fields, agents: list[Fields]) -> Iterator[AnyItem]:
    """Yield the blocks; those that no agent has in its prompt come last, and are not pinned."""
    owners: dict[str, str] = {}
    found: list[tuple[str, Fields, bool]] = []  # of which agent, and whether one has it
    for agent in agents:
        name = text_of(agent.get("name"))
        own = [*list_objects(agent, "core_memory"), *list_objects(agent, "memory_blocks")]
        found += [(name, block, True) for block in own]
        for ident in parse_list(agent.get("block_ids")):
            owners.setdefault(ident, name)
    for block in list_objects(whole, "blocks"):
        ident = text_of(block.get("id"))
        found.append((owners.get(ident, ""), block, ident in owners))
    # An agent whose memory is a folder of files has only those in its prompt that are below this.
    labels = [text_of(block.get("label")) for _, block, _ in found]
    folder = any(label.startswith(PINNED) for label in labels)
    made: list[tuple[str, ToolBlock]] = []
    for name, row, is_owned in sorted(found, key=lambda each: not each[2]):
        label = text_of(row.get("label")).strip()
        inside = not folder or label.startswith(PINNED)
        item = _make_block(row, label, pinned=is_owned and inside)
        if isinstance(item, ToolBlock):
            made.append((name, item))
        else:
            yield item
    yield from name_blocks(made)


def _make_block(row: Fields, label: str, *, pinned: bool) -> ToolBlock | UnreadItem | OmittedItem:
    value, bare = row.get("value"), label.removeprefix(PINNED)
    if f"{PINNED}{bare}" == DERIVED:
        return OmittedItem("block", GENERATED)
    if not bare or not isinstance(value, str | None):
        why = "its value is no text" if bare else "it has no label"
        return UnreadItem(f"block {bare or text_of(row.get('id'))}", why)
    about = get_object(row, "metadata")
    front = get_object(about, FRONT_MATTER)
    return make_block(
        bare,
        text_of(value),
        pinned=pinned and front.get("pinned") is not False,
        head=text_files.format_head(front),
        own=FRONT_MATTER in about,
        limit=row.get("limit"),
        read_only=row.get("read_only"),
        description=text_of(row.get("description")),
        tags=parse_list(row.get("tags")),
    )


def _make_sessions(agent: Fields) -> Iterator[AnyItem]:
    """Yield what was said with an agent. Ids in the file are places in it: these are hashes."""
    rows = list_objects(agent, "messages")
    ident = _name_session(agent, rows)
    messages: dict[str, Message] = {}
    names = {
        text_of(call.get("id")): text_of(get_object(call, "function").get("name"))
        for row in rows
        for call in list_objects(row, "tool_calls")
    }
    for row in rows:
        at = get_time(row, "created_at")
        for role, text, tool in _list_parts(row, names):
            key = _hash("\0".join((text_of(row.get("created_at")), role, tool, text)))
            mark = f"{ident}:{key}"
            messages.setdefault(mark, Message(mark, ident, NAME, "", "", at, role, text, tool))
    if messages:
        yield ToolSession(ident, "session", tuple(messages.values()))


def _name_session(agent: Fields, rows: list[Fields]) -> str:
    """Return a name that is the same for each export of an agent: they number all from zero."""
    system = next((row for row in rows if row.get("role") == "system"), {})
    known = _AGENT.search(flatten_content(system.get("content")))
    if known:
        return known[1]
    made = text_of(system.get("created_at")) or text_of(agent.get("created_at"))
    return f"agent-{_hash(chr(0).join((text_of(agent.get('name')), made)))}"


def _list_parts(row: Fields, names: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield (role, text, tool) of a message that somebody wrote, or that a tool made."""
    role = text_of(row.get("role"))
    text = remove_elements(INJECTED, flatten_content(row.get("content")))
    if role == "user":
        yield role, _unpack_event(text), ""
    elif role == "tool":
        tool = names.get(text_of(row.get("tool_call_id"))) or text_of(row.get("name"))
        if tool != _SAYING:
            yield role, cap(_unpack_result(text)), tool
    elif role in ("assistant", "approval"):
        calls = [get_object(call, "function") for call in list_objects(row, "tool_calls")]
        said = [
            text_of(parse_object(call.get("arguments")).get("message"))
            for call in calls
            if call.get("name") == _SAYING
        ]
        # Beside a call of that tool, the text is what the agent only thought.
        yield "assistant", "\n\n".join(said) if said else text, ""
        for call in calls:
            if call.get("name") != _SAYING:
                yield "tool", arguments(call.get("arguments")), text_of(call.get("name"))


def _unpack_event(text: str) -> str:
    """Return what a user said in an event of the first generation, "" for other events."""
    event = parse_object(text) if text.startswith("{") else {}
    if not ("time" in event and isinstance(event.get("type"), str)):
        return text
    said = text_of(event.get("message")) if event["type"] == "user_message" else ""
    return remove_elements(INJECTED, said)


def _unpack_result(text: str) -> str:
    found = parse_object(text) if text.startswith("{") else {}
    if "status" not in found or "message" not in found:
        return text
    message = found["message"]
    if isinstance(message, str | None):
        return "" if message == "None" else text_of(message)
    return dumps(message)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def make_block(
    label: str,
    value: str,
    *,
    pinned: bool,
    limit: object = 0,
    read_only: object = False,
    description: str = "",
    tags: Iterable[str] = (),
    head: str = "",
    own: bool = False,
) -> ToolBlock:
    """Make a block that loses nothing; what is about the user is for their own store.

    One that is over its limit, or is always in the prompt and has none, gets its size as limit.
    """
    most = limit if isinstance(limit, int) and not isinstance(limit, bool) else 0
    most = most if 0 < most < _LARGEST else 0
    if most or (pinned and len(value) > DEFAULT_LIMIT):
        most = max(most, len(value))
    name = labels.normalise(label)
    return ToolBlock(
        label=label,
        noun="block",
        text=value,
        description=description,
        limit=most,
        read_only=read_only is True,
        pinned=pinned,
        tags=tuple(tags),
        head=head,
        own=own,
        private=name == _HUMAN or name.startswith(f"{_HUMAN}/"),
    )


def name_blocks(found: Iterable[tuple[str, ToolBlock]]) -> Iterator[ToolBlock]:
    """Yield the blocks of (agent, block) once; one whose label others have is named by its agent.

    The same block of several agents is one, and keeps its label.
    """
    blocks: dict[ToolBlock, str] = {}
    for agent, block in found:
        blocks.setdefault(block, agent)
    agents: dict[str, set[str]] = {}
    for block, agent in blocks.items():
        if agent:
            agents.setdefault(labels.normalise(block.label), set()).add(agent)
    for block, agent in blocks.items():
        shared = agent and len(agents[labels.normalise(block.label)]) > 1
        yield replace(block, label=f"{agent}/{block.label}") if shared else block
