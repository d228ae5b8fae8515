"""The content of a store as documents of the index."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memfs import files
from memfs.core import file_redaction
from memfs.core import label as labels
from memfs.core.records import Passage
from memfs.search import message_documents
from memfs.search.message_documents import epoch
from memfs.store import archive, blocks, chunk_log, facts, recall, static
from memfs.store.chunk_log import ChunkWindow

if TYPE_CHECKING:
    from memfs.search.catalog import IndexSource

_FACT, _STATIC = 95, 100  # percent of the weight of a user's message


def documents(source: IndexSource, start: int) -> Iterator[dict[str, object]]:
    """Yield the documents of a source from byte `start` on, without secrets."""
    if source.kind == "message":
        yield from map(message_documents.document, recall.messages(source.path, start))
    elif source.kind == "window":  # neither of these two holds one
        yield from _read_windows(source, start)
    else:  # an editor may have written one
        yield from map(file_redaction.redact_record, _read_entries(source))


def _read_windows(source: IndexSource, start: int) -> Iterator[dict[str, object]]:
    owner = chunk_log.get_owner(source.path)
    for each in chunk_log.read(source.path, start):
        yield {**_build_passage(each.passage, source.path), "project": owner, **_describe(each)}


def _read_entries(source: IndexSource) -> Iterator[dict[str, object]]:
    if source.kind == "passage":
        passage = archive.read(source.path)
        if passage and passage.text:
            yield _build_passage(passage, source.path)
    elif source.kind == "fact":
        yield from _read_facts(source)
    elif source.kind == "static":
        yield from _read_static(source)
    else:
        yield from _read_block(source)


def _describe(window: ChunkWindow) -> dict[str, object]:
    """Return the fields of a window beside those of a passage: its session, speakers, metadata."""
    who = window.meta.get("participants")
    named = [str(each) for each in who] if isinstance(who, list) else []
    meta = json.dumps(window.meta)
    return {"session": window.passage.source, "speaker": named, "meta": meta}


def _build_passage(passage: Passage, path: str) -> dict[str, object]:
    at, time = epoch(passage.created_at), passage.created_at
    if passage.created_at == archive.UNKNOWN:
        at, time = 0, ""
    elif at is None:  # written by hand: the time of its file
        found = files.status(path)
        at = int(found.st_mtime) if found else 0
        time = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "id": passage.id,
        "kind": "passage",
        "text": passage.text,
        "tag": list(passage.tags),
        "importance": max(0, min(10, passage.importance)),
        "weight": 95 + max(0, min(10, passage.importance)),
        "at": at,
        "time": time,
        **({"meta": json.dumps({"source": passage.source})} if passage.source else {}),
    }


def _read_facts(source: IndexSource) -> Iterator[dict[str, object]]:
    """Yield the facts that hold, without superseded and rejected ones."""
    for fact in facts.read(source.path).values():
        if fact.holds:
            yield {
                "id": fact.id,
                "kind": "fact",
                "text": fact.statement,
                "host": fact.host,
                "session": fact.session,
                "tag": [fact.category],
                "weight": _FACT,
                "at": epoch(fact.at) or 0,
                "time": fact.at,
            }


def _read_static(source: IndexSource) -> Iterator[dict[str, object]]:
    entry = static.load(source.path, source.label)
    if entry and entry.text:
        yield {
            "id": f"static/{entry.key}",
            "kind": "static",
            "text": entry.text,
            "label": entry.key,
            "tag": [*filter(None, [entry.category]), *entry.tags],
            "weight": _STATIC,
            "at": epoch(entry.created_at) or 0,
            "time": entry.created_at,
        }


def _read_block(source: IndexSource) -> Iterator[dict[str, object]]:
    block = blocks.read(source.tier, source.label, source.path)
    text = f"{block.description}\n{block.value}".strip()
    if text:
        at = str(block.meta.get("updated_at") or "")
        yield {
            "id": labels.qualify(source.tier, source.label),
            "kind": "block",
            "text": text.encode("utf-8", "replace").decode(),
            "label": source.label,
            "tag": block.tags,
            "at": epoch(at) or 0,
            "time": at,
        }
