"""The reference memory server of MCP: a graph of entities in one file of JSON lines."""

import os
from collections.abc import Iterator, Mapping

from memfs.files import outside
from memfs.hosts.jsonl import text_of
from memfs.importers import text_files
from memfs.importers.readers import json_files
from memfs.importers.readers.field_values import (
    format_items,
    join_sections,
    parse_list,
    parse_object,
    parse_time,
)
from memfs.importers.readers.items import AnyItem, Importer, ToolBlock, ToolText, UnreadItem
from memfs.importers.writers import BLOCK_ENTITY, KEPT_KEYS, PASSAGE_ENTITY

_FILES = ("memory.jsonl", "memory.json")
_PACKAGE = "node_modules/@modelcontextprotocol/server-memory/dist"
_NAMES = ("name", "entityName", "id")
_PEOPLE = ("person", "user")
_ABOUT = ("description", "limit", "read only", "tags", "created", "importance", "source", KEPT_KEYS)


def _find(home: str, environment: Mapping[str, str]) -> list[str]:
    found = [environment.get("MEMORY_FILE_PATH", "")]
    cache = f"{home}/.npm/_npx"
    installed = [f"{cache}/{each}" for each in outside.list_names(cache)]
    for folder in (*installed, f"{home}/.npm-global/lib", "/usr/local/lib", "/usr/lib"):
        found += [f"{folder}/{_PACKAGE}/{name}" for name in _FILES]
    return [path for path in found if path and os.path.isfile(path)]


def _sniff(path: str) -> bool:
    first = json_files.read_head(path).partition("\n")[0]
    return first.startswith("{") and any(
        f'"type":"{kind}"' in first.replace(" ", "") for kind in ("entity", "relation")
    )


def _read(path: str) -> Iterator[AnyItem]:
    entities: list[dict[str, object]] = []
    relations: dict[str, list[str]] = {}
    damaged = []
    for number, line in json_files.iter_lines(path):
        if not isinstance(line, dict) or line.get("type") not in ("entity", "relation"):
            damaged.append(number)
        elif line["type"] == "entity":
            entities.append(line)
        else:
            source = text_of(line.get("from") or line.get("from_id"))
            target = text_of(line.get("to") or line.get("to_id"))
            kind = text_of(line.get("relationType") or line.get("relation_type"))
            relations.setdefault(source, []).append(f"{kind or 'related to'} → {target}")
    for entity in entities:
        name = next((text for key in _NAMES if (text := text_of(entity.get(key)))), "")
        own = entity.get("entityType") in (BLOCK_ENTITY, PASSAGE_ENTITY)
        make = _make_own if own else _make_text
        yield make(name, entity, relations.pop(name, []))
    for name, found in relations.items():  # of entities that are not in the file
        yield ToolText(f"relations of {name}", "relation", f"# {name}\n\n{format_items(found)}")
    if damaged:
        lines = ", ".join(map(str, damaged[:5])) + ("…" if len(damaged) > 5 else "")
        odd = UnreadItem(f"line {lines}", "not a JSON entity or relation")
        yield from [odd] * len(damaged)


def _make_text(name: str, entity: dict[str, object], relations: list[str]) -> ToolText:
    kind = text_of(entity.get("entityType") or entity.get("entity_type"))
    said = [*parse_list(entity.get("observations")), *relations]
    heading = f"# {name} ({kind})" if kind else f"# {name}"
    text, tags = join_sections(heading, format_items(said)), (kind,) if kind else ()
    private = kind.lower() in _PEOPLE and name.lower() in ("user", "default_user", "me")
    return ToolText(name, "entity", text, tags=tags, private=private)


def _make_own(name: str, entity: dict[str, object], relations: list[str]) -> ToolText | ToolBlock:
    """Make what `memfs export` wrote: the first observation is its text, others are about it."""
    said = entity.get("observations")
    text, *others = [text_of(each) for each in said] if isinstance(said, list) and said else [""]
    about = {key: value for key, _, value in (each.partition(": ") for each in others) if value}
    added = [each for each in others if each and each.partition(": ")[0] not in _ABOUT]
    text = join_sections(text, format_items([*added, *relations]))
    tags = tuple(filter(None, (each.strip() for each in about.get("tags", "").split(","))))
    front = parse_object(about.get(KEPT_KEYS))
    if entity.get("entityType") == PASSAGE_ENTITY:
        number = about.get("importance", "")
        at, importance = parse_time(about.get("created")), int(number) if number.isdecimal() else 5
        head = text_files.format_head({"source": about.get("source"), **front})
        return ToolText(name, "passage", text, at, tags, importance, head=head, own=True)
    number = about.get("limit", "")
    limit = int(number) if number.isdecimal() and len(number) < 10 else 0
    flags = about.get("read only") == "yes", front.get("pinned") is not False
    described, head = about.get("description", ""), text_files.format_head(front)
    return ToolBlock(name, "block", text, described, limit, *flags, tags, head=head, own=True)


SERVER_MEMORY = Importer("server-memory", _sniff, _read, _find)
