"""Letta's agent files (.af) of both generations, archival passages, and Letta Code's memory.

An agent file holds tools, models, variables of the environment and secrets, too: their values are
never looked at.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice

from memfs.core import frontmatter
from memfs.core import label as labels
from memfs.core.block import DEFAULT_LIMIT
from memfs.core.records import Identity, Message
from memfs.files import outside
from memfs.hosts.jsonl import arguments, cap, dumps, flatten_content, remove_elements, tags, text_of
from memfs.importers import foreign_files, text_files
from memfs.importers.readers import json_files
from memfs.importers.readers.field_values import (
    Fields,
    get_object,
    get_time,
    list_objects,
    parse_list,
    parse_object,
    parse_time,
)
from memfs.importers.readers.items import (
    AnyItem,
    Importer,
    OmittedItem,
    ToolBlock,
    ToolSession,
    ToolText,
    UnreadItem,
)
from memfs.importers.writers import FRONT_MATTER
from memfs.store import blocks

_INJECTED = tags("system-reminder", "system-alert")  # what its programs put before what was said
_PINNED = "system/"  # the folder of what is always in the prompt
_DERIVED = f"{_PINNED}memory_filesystem"  # a list of the others, which its program writes
GENERATED = "which its program makes of the others"
NO_MEMORY = "which are no memory"
_LARGEST = 10**15  # a larger limit is a mistake
_HEAD = 1 << 16  # bytes
_NEW = re.compile(r'"?\{[\sn]*"agents"[\sn]*:')  # the second line ends are those of a JSON text
_OLD = re.compile(r'"?\{[\sn]*"agent_type"[\sn]*:')
_AGENT = re.compile(r"\bAGENT_ID: (agent-[0-9a-f-]{8,60})", re.ASCII)
_SAYING = "send_message"  # the tool by which agents of the first generation speak


def _sniff_letta(path: str) -> bool:
    head = json_files.read_head(path, _HEAD).replace("\\", "")
    if head.startswith("["):
        return '"passage-' in head and '"text"' in head
    new = _NEW.match(head) and any(f'"{name}"' in head for name in ("block_ids", "tool_ids"))
    return bool(new or (_OLD.match(head) and '"core_memory"' in head))


def _read_letta(path: str) -> Iterator[AnyItem]:
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
    yield from [OmittedItem("skill", NO_MEMORY)] * len(list_objects(whole, "skills"))
    variables = [
        agent.get(name)
        for agent in agents
        for name in ("tool_exec_environment_variables", "secrets")
    ]
    count = sum(len(each) for each in variables if isinstance(each, dict | list))
    yield from [OmittedItem("environment variable", "which may contain secrets")] * count
    odd = sum(_count_odd(whole, name) for name in ("agents", "blocks", "files", "skills"))
    odd += sum(_count_odd(agent, "messages") + _count_odd(agent, "core_memory") for agent in agents)
    yield from [UnreadItem("a part of a list", "it is no object")] * odd


def _read_passages(path: str) -> Iterator[AnyItem]:
    with outside.open_stream(path) as handle:
        for element in json_files.iter_elements(handle, path):
            row = parse_object(element)
            text, ident = text_of(row.get("text")), text_of(row.get("id"))
            if row.get("is_deleted") is True:
                yield OmittedItem("passage", "which were deleted there")
            elif text.strip() and ident:
                tags, at = tuple(parse_list(row.get("tags"))), get_time(row, "created_at")
                about = get_object(row, "metadata")
                named = {"source": text_of(about.get("source")) or None}
                head = text_files.format_head({**named, **get_object(about, FRONT_MATTER)})
                number, own = about.get("importance"), "importance" in about
                importance = number if isinstance(number, int) else 5
                yield ToolText(ident, "passage", text, at, tags, importance, head=head, own=own)
            else:
                yield UnreadItem("an element of the list", "it has no text or no id")


def _count_odd(fields: Fields, name: str) -> int:
    value = fields.get(name)
    return len(value) - len(list_objects(fields, name)) if isinstance(value, list) else 0


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
    folder = any(label.startswith(_PINNED) for label in labels)
    made: list[tuple[str, ToolBlock]] = []
    for name, row, is_owned in sorted(found, key=lambda each: not each[2]):
        label = text_of(row.get("label")).strip()
        inside = not folder or label.startswith(_PINNED)
        item = _make_block(row, label, pinned=is_owned and inside)
        if isinstance(item, ToolBlock):
            made.append((name, item))
        else:
            yield item
    yield from _name_blocks(made)


def _make_block(row: Fields, label: str, *, pinned: bool) -> ToolBlock | UnreadItem | OmittedItem:
    value, bare = row.get("value"), label.removeprefix(_PINNED)
    if f"{_PINNED}{bare}" == _DERIVED:
        return OmittedItem("block", GENERATED)
    if not bare or not isinstance(value, str | None):
        why = "its value is no text" if bare else "it has no label"
        return UnreadItem(f"block {bare or text_of(row.get('id'))}", why)
    about = get_object(row, "metadata")
    front = get_object(about, FRONT_MATTER)
    return _make_whole_block(
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
            messages.setdefault(mark, Message(mark, ident, "letta", "", "", at, role, text, tool))
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
    role = text_of(row.get("role"))
    text = remove_elements(_INJECTED, flatten_content(row.get("content")))
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
    event = parse_object(text) if text.startswith("{") else {}
    if not ("time" in event and isinstance(event.get("type"), str)):
        return text
    said = text_of(event.get("message")) if event["type"] == "user_message" else ""
    return remove_elements(_INJECTED, said)


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


def _make_whole_block(
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
    private = labels.normalise(label).partition("/")[0] == "human"
    about = label, "block", value, description, most, read_only is True, pinned, tuple(tags)
    return ToolBlock(*about, private=private, head=head, own=own)


def _name_blocks(found: Iterable[tuple[str, ToolBlock]]) -> Iterator[ToolBlock]:
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


LETTA = Importer("letta", _sniff_letta, _read_letta)

# Letta Code: an agent's memory is a folder of Markdown. Known are one such folder, that with those
# of its cloud's agents (`agents/ID/memory`), and that of its local backend (`agents`,
# `memfs/ID/memory`, `conversations`).
_MOST_LOOKED_AT = 20  # files, to recognise a folder
_INDEX = "MEMORY.md"  # of a folder in the second layout
_SKILLS = "skills/"
_INVENTED = "2026-01-01"  # the day that its local backend begins to count at
_FOLDER = re.compile(r"\*\*Current working directory\*\*: ([^\n]{1,1000})")


def _find_letta_code(home: str, environment: Mapping[str, str]) -> list[str]:
    local = environment.get("LETTA_LOCAL_BACKEND_DIR") or f"{home}/.letta/lc-local-backend"
    return [path for path in (local, f"{home}/.letta/agents") if _sniff_letta_code(path)]


def _sniff_letta_code(path: str) -> bool:
    try:
        return any(map(_is_memory, _find_memories(path).values()))
    except OSError:
        return False


def _read_letta_code(path: str) -> Iterator[AnyItem]:
    memories = {agent: each for agent, each in _find_memories(path).items() if _is_memory(each)}
    names = _read_names(path)
    found: list[tuple[str, ToolBlock]] = []
    for agent, folder in memories.items():
        name = names.get(agent, agent)
        for item in _read_memory(folder, name):
            if isinstance(item, ToolBlock):
                found.append((name, item))
            else:
                yield item
    yield from _name_blocks(found)
    top = f"{path}/conversations"
    for each in outside.list_names(top):
        yield from _read_conversation(f"{top}/{each}")


def _find_memories(path: str) -> dict[str, str]:
    for top in (f"{path}/memfs", path):
        found = {name: f"{top}/{name}/memory" for name in outside.list_names(top)}
        found = {name: folder for name, folder in found.items() if os.path.isdir(folder)}
        if found:
            return found
    inside = f"{path}/memory"
    return {"": inside if _is_memory(inside) else path}


def _is_memory(folder: str) -> bool:
    if _is_second(folder):
        return True
    system = f"{folder}/{_PINNED}".rstrip("/")
    if not os.path.isdir(system):
        return False
    found = islice(foreign_files.walk_folder(system, (".md",)), _MOST_LOOKED_AT)
    return any("description" in _parse_head(each) for each in found)


def _is_second(folder: str) -> bool:
    return set(_parse_head(f"{folder}/{_INDEX}")) == {"name", "description"}


def _parse_head(path: str) -> dict[str, object]:
    return blocks.make("", "", path, json_files.read_head(path, 2 * frontmatter.MOST)).meta


def _read_names(path: str) -> dict[str, str]:
    found = {}
    for name in outside.list_names(f"{path}/agents"):
        row = json_files.read_object(f"{path}/agents/{name}")
        ident = text_of(row.get("id"))
        found[ident] = text_of(row.get("name")).strip() or ident
    return found


def _read_memory(folder: str, agent: str) -> Iterator[AnyItem]:
    """Yield the files of one agent's memory; what is always in its prompt comes first."""
    second = _is_second(folder)
    paths = [
        path[len(folder) + 1 :].replace(os.sep, "/")
        for path in foreign_files.walk_folder(folder, ("",))
    ]
    known = set(paths)
    memory = [name for name in paths if _is_part(name, known, second=second)]
    for name in sorted(memory, key=lambda name: (not _is_pinned(name, second=second), name)):
        yield _read_item(folder, name, agent, second=second)
    skills = [name for name in paths if name.startswith(_SKILLS)]
    others = len(paths) - len(memory) - len(skills)
    count = sum(name.endswith("/SKILL.md") for name in skills)
    yield from [OmittedItem("skill", NO_MEMORY)] * count
    yield from [OmittedItem("file", NO_MEMORY)] * others


def _is_part(name: str, names: set[str], *, second: bool) -> bool:
    """Tell whether a file is memory: in the second layout, where each folder has its index."""
    if not name.endswith(".md") or name.startswith(_SKILLS):
        return False
    if not second:
        return name != f"{_DERIVED}.md"
    folders = name.split("/")[:-1]
    tops = ["/".join(folders[: at + 1]) for at in range(len(folders))]
    return all(f"{top}/{_INDEX}" in names for top in tops)


def _is_pinned(name: str, *, second: bool) -> bool:
    return "/" not in name if second else name.startswith(_PINNED)


def _read_item(folder: str, name: str, agent: str, *, second: bool) -> ToolBlock | UnreadItem:
    path = f"{folder}/{name}"
    text, wrong = text_files.read_below(path, folder, name)
    if wrong:
        return UnreadItem(f"{agent}/{name}" if agent else name, wrong)
    file = blocks.make("", "", path, text)  # also where its head is no YAML
    label = name.removesuffix(".md")
    return _make_whole_block(
        label if second else label.removeprefix(_PINNED),
        file.body.removesuffix("\n"),
        pinned=_is_pinned(name, second=second),
        limit=file.meta.get("limit"),
        read_only=file.read_only,
        description=file.description or text_of(file.meta.get("name")),
        tags=file.tags,
    )


def _read_conversation(folder: str) -> Iterator[AnyItem]:
    head = json_files.read_object(f"{folder}/conversation.json")
    ident = "-".join(filter(None, (text_of(head.get(name)) for name in ("agent_id", "id"))))
    path = f"{folder}/messages.jsonl"
    if outside.status(path) is None:
        return
    ident = ident or os.path.basename(folder)
    rows: dict[str, Fields] = {}
    project = ""
    for _, line in json_files.iter_lines(path):
        row = parse_object(line)
        if row.get("type") == "session":
            project = text_of(row.get("cwd")) or project
            continue
        row = get_object(row, "message") or row
        name = text_of(row.get("id"))
        if not name or not text_of(row.get("role")):
            yield UnreadItem(f"a line of {ident}", "it is no message")
            continue
        rows[name] = row  # a later line is how the message is now
        row["content"] = row.get("content") or row.get("parts")  # as it was called at first
        found = _FOLDER.search(flatten_content(row["content"]))
        project = project or (found[1].strip() if found else "")
    messages = [each for row in rows.values() for each in _list_messages(row, ident, project)]
    if messages:
        yield ToolSession(ident, "session", tuple(messages), project)


def _list_messages(row: Fields, session: str, project: str) -> Iterator[Message]:
    role, content = text_of(row.get("role")), row["content"]
    noted = get_object(row, "metadata")
    if noted.get("compaction"):  # it repeats what was said
        return
    at = parse_time(noted.get("created_at"), row.get("timestamp"))
    at = "" if at.startswith(_INVENTED) else at
    listed = content if isinstance(content, list) else [{"text": content}]
    texts = [flatten_content([part]) for part in listed]
    said = [remove_elements(_INJECTED, text) for text in texts]
    text, ident = "\n".join(filter(None, said)), f"{session}:{text_of(row.get('id'))}"
    make_message = partial(Identity(session, "", project).make_message, "letta-code")
    if role in ("user", "assistant") and text:
        yield make_message(ident, at, role, text)
    elif role == "toolResult" and text:
        yield make_message(ident, at, "tool", cap(text), text_of(row.get("toolName")))
    calls = [each for each in list_objects(row, "content") if each.get("type") == "toolCall"]
    for number, call in enumerate(calls):
        given, name = arguments(call.get("arguments")), text_of(call.get("name"))
        yield make_message(f"{ident}.{number}", at, "tool", given, name)


LETTA_CODE = Importer("letta-code", _sniff_letta_code, _read_letta_code, _find_letta_code)
