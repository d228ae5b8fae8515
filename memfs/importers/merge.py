"""Plan the import of another store, or of a newer one: what to take, and what it replaces.

Planning writes nothing: each item says what would become of it, and carries what to write.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from memfs import files
from memfs.core import body_edits, file_redaction, frontmatter, injection_signs, yaml_edit
from memfs.core import label as labels
from memfs.core.injection_signs import Sign
from memfs.core.privacy import public, redact_names, storable
from memfs.core.records import Message
from memfs.files import atomic, logs
from memfs.hosts.jsonl import cap, replace_surrogates
from memfs.importers import undo
from memfs.importers.undo import AddedPart
from memfs.store import (
    archive,
    chunk_log,
    clock,
    local_folder,
    recall,
    session_outcomes,
    store_paths,
)
from memfs.store.store_paths import Store

Outcome = Literal["new", "merged", "same", "refused"]
_NAME = re.compile(r"[a-z0-9_][\w.-]{0,250}", re.ASCII | re.IGNORECASE)
_MONTH = re.compile(r"\d{4}-\d\d", re.ASCII)
_Planner = Callable[[Store, list[tuple[str, bytes]]], Iterator["ImportItem"]]
_LONGEST_HEAD = 20_000  # characters; reading YAML takes long


@dataclass(frozen=True)
class ImportItem:
    """One thing of another store. `detail` is what it adds here, or why it is refused.

    A file of lines adds `count` things, with a line for each in `detail`. `path` is where `text`
    (or, for recall, `messages`) is to be written, "" for nowhere. `signs` are lines that are worth
    a look. `marks` tell what it adds to a file that is there: hashes of lines, ids of messages.
    """

    kind: str
    name: str
    outcome: Outcome
    detail: str = ""
    path: str = ""
    text: str = ""
    messages: tuple[Message, ...] = ()
    signs: tuple[Sign, ...] = ()
    count: int = 1
    marks: tuple[str, ...] = ()


BLOCKS = ("blocks/", ".md")
PASSAGES = ("archive/", archive.SUFFIX)


def items(store: Store, found: Mapping[str, bytes]) -> list[ImportItem]:
    """Plan the import of everything but blocks; `found` maps paths in a store to bytes.

    Raises `LinkError` where something would be written behind a link.
    """
    listed = ((plan, list_files(found, kind)) for kind, plan in _PLANNERS.items())
    planned = [item for plan, files_of_kind in listed for item in plan(store, files_of_kind)]
    for item in planned:
        if item.path:
            files.check_path(item.path)
    return planned


def list_files(found: Mapping[str, bytes], kind: tuple[str, str]) -> list[tuple[str, bytes]]:
    """List the files with a folder and suffix, without hidden ones (other systems add some)."""
    top, suffix = kind
    return sorted(
        (name, data)
        for name, data in found.items()
        if name.startswith(top) and name.endswith(suffix) and "/." not in name
    )


def memory(found: Mapping[str, bytes]) -> int:
    """Count the files of known kinds."""
    return sum(len(list_files(found, kind)) for kind in (BLOCKS, *_PLANNERS))


def write(store: Store, item: ImportItem) -> None:
    """Write one item. The caller holds the locks of the store and of ingestion."""
    if item.messages:
        recall.write_session(item.path, list(item.messages))
    elif item.path:
        files.make_folder(os.path.dirname(item.path), private=store.private)
        atomic.write(item.path, item.text, private=store.private, locked=True)


def describe_added(store: Store, item: ImportItem) -> AddedPart | None:
    """Describe what an item adds to a store, so that it can be taken back; None for nothing."""
    if not item.path:
        return None
    below = item.path.removeprefix(f"{store.local}/")
    path = item.path[len(store.root) + 1 :] if below == item.path else f"local/{below}"
    if item.marks:
        return AddedPart("messages" if item.messages else "lines", path, item.marks)
    return AddedPart("file", path, (undo.hash_text(item.text),))


def read_part(name: str, data: bytes) -> tuple[str, str]:
    """Return (text without private parts, why it cannot be imported or "")."""
    try:
        raw = data.decode("utf-8")
    except UnicodeDecodeError:
        return "", f"cannot import {name}: it is not UTF-8 text"
    head, body = frontmatter.split(raw)
    if len(data) > files.READ_CAP or len(head) > _LONGEST_HEAD:
        return "", f"cannot import {name}: it is too large ({len(data):,} bytes)"
    text = head + public(body)
    odd = body_edits.check_text("import", name, text)
    if odd:
        return text, odd.message
    meta = frontmatter.strip_fences(head) if frontmatter.has_fences(head) else ""
    wrong = yaml_edit.read(meta)[1]
    return text, f"cannot import {name}: its front matter is invalid ({wrong})" if wrong else ""


def _refuse(kind: str, name: str, why: str) -> ImportItem:
    return ImportItem(kind, name, "refused", f"cannot import {why}")


def _read_clean(name: str, data: bytes) -> tuple[str, str]:
    """Return as `read_part` does; what has a secret cannot be imported."""
    text, wrong = read_part(name, data)
    secret = body_edits.check_secret("import", name, text)
    return text, wrong or (secret.message if secret else "")


def _plan_passages(store: Store, found: list[tuple[str, bytes]]) -> Iterator[ImportItem]:
    here = [
        each for path in (archive.sources(store) if found else []) if (each := archive.read(path))
    ]
    texts = {archive.merge_passages(each.text) for each in here}
    known = {each.id: each.source for each in here}
    taken = {each.id.casefold() for each in here}
    for name, data in found:
        ident = os.path.basename(name).removesuffix(archive.SUFFIX)
        text, wrong = _read_clean(ident, data)
        passage = archive.parse(ident, text)
        if not wrong and len(passage.text) > archive.LONGEST:
            size = f"{len(passage.text):,} characters, the limit is {archive.LONGEST:,}"
            wrong = f"cannot import {ident}: {size}"
        if wrong or not passage.text.strip():
            wrong = wrong or f"cannot import {ident}: it is empty"
            yield ImportItem("passage", ident, "refused", wrong)
            continue
        folded = archive.merge_passages(passage.text)
        if folded in texts or (passage.source and known.get(ident) == passage.source):
            yield ImportItem("passage", ident, "same")  # with the same source: changed here
            continue
        odd = store_paths.file_name(ident) != ident or storable(ident) != ident
        if odd or labels.device(ident) or ident.casefold() in taken:
            ident = clock.unique()
        texts.add(folded)
        taken.add(ident.casefold())
        month = next(filter(_MONTH.fullmatch, (name.split("/")[1], passage.created_at[:7])), "")
        path = f"{store.root}/archive/{month or clock.now()[:7]}/{ident}{archive.SUFFIX}"
        signs = tuple(injection_signs.find_signs(text))
        yield ImportItem("passage", ident, "new", passage.text, path, text, signs=signs)


def _plan_logs(kind: str, store: Store, found: list[tuple[str, bytes]]) -> Iterator[ImportItem]:
    for name, data in found:
        short = name.removeprefix("local/")
        if short == name and not _MONTH.fullmatch(name[len("facts/") : -len(".jsonl")]):
            yield _refuse(kind, name, f"{name}: a file of facts must be named <yyyy-mm>.jsonl")
        elif not all(map(_NAME.fullmatch, short.split("/"))):
            yield _refuse(kind, name, f"{name}: the file name is not valid")
        else:
            top = store.root if short == name else store.local
            yield from _plan_lines(kind, name, data, f"{top}/{short}")


def _plan_lines(kind: str, name: str, data: bytes, path: str) -> Iterator[ImportItem]:
    before = files.decode(logs.read_whole(path) or b"")
    known = set(before.split("\n"))
    added, described = [], {}
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        if not line.strip() or line in known:
            continue
        found, wrong = _parse_line(line)
        if wrong:
            yield _refuse(kind, name, f"line {number} of {name}: {wrong}")
            continue
        known.add(line)
        added.append(line + "\n")
        described[str(found.get("id") or number)] = _describe_line(found)  # the last revision
    if not added:
        yield ImportItem(kind, name, "same")
        return
    end = "" if not before or before.endswith("\n") else "\n"
    detail, text = "\n".join(described.values()), before + end + "".join(added)
    outcome: Outcome = "merged" if before else "new"
    marks = tuple(map(undo.hash_text, added))
    yield ImportItem(kind, name, outcome, detail, path, text, count=len(described), marks=marks)


def _parse_line(line: str) -> tuple[dict[str, object], str]:
    """Return (the object on a line, why it cannot be imported or "")."""
    found: object = None
    with suppress(ValueError, RecursionError):
        found = json.loads(line)
    if not isinstance(found, dict):
        return {}, "it is not a JSON object"
    if public(line) != line:
        return found, "it is marked as private"
    secrets = file_redaction.find(line, "lines")
    return found, f"it contains a secret ({secrets[0].type})" if secrets else ""


def _describe_line(found: Mapping[str, object]) -> str:
    if "worked" in found:
        came_out = "worked" if found["worked"] is True else "failed"
        parts = [f"session {found.get('session')} {came_out}", found.get("why")]
    else:
        parts = [found.get("category"), found.get("statement") or found.get("text")]
    return " ".join(": ".join(str(part) for part in parts if part).split())


def _plan_static(store: Store, found: list[tuple[str, bytes]]) -> Iterator[ImportItem]:
    for name, data in found:
        key = name.removeprefix("static/").removesuffix(".md")
        text, wrong = _read_clean(key, data)
        if labels.problem(key):
            wrong = f"cannot import {name}: {labels.problem(key)}"
        elif storable(key) != key:
            key = storable(key)
            wrong = f"cannot import {key}: its name contains a secret"
        path = f"{store.root}/{name}"
        now = None if wrong else files.read(path)
        if not wrong and now not in (None, text):
            wrong = (
                f"cannot import {key}: a static entry with this name already exists, with "
                "another text"
            )
        if wrong:
            yield ImportItem("static", key, "refused", wrong)
        elif now == text:
            yield ImportItem("static", key, "same")
        else:
            signs = tuple(injection_signs.find_signs(text))
            yield ImportItem("static", key, "new", text, path, text, signs=signs)


def _plan_sessions(store: Store, found: list[tuple[str, bytes]]) -> Iterator[ImportItem]:
    for name, data in found:
        short = name.removeprefix("local/recall/")
        parts = short.split("/")
        if len(parts) != 2 or not all(map(_NAME.fullmatch, parts)):
            yield _refuse("session", short, f"{short}: the file name is not valid for a session")
            continue
        path = f"{store.local}/recall/{short}"
        if recall.is_read_elsewhere(path):
            yield ImportItem("session", short, "same")
            continue
        messages, damaged = _clean_messages(data)
        if not messages:
            yield _refuse("session", short, f"{short}: it has no messages")
            continue
        said = recall.messages(path) if files.is_file(path) else ()
        whole = {message.id: message for message in said}
        outcome: Outcome = "merged" if whole else "new"
        new = tuple(ident for ident in messages if ident not in whole)
        if not new:
            yield ImportItem("session", short, "same")
            continue
        whole |= {ident: messages[ident] for ident in new}
        count = f"{len(new):,} messages" + (f", {damaged:,} lines unreadable" if damaged else "")
        every = tuple(whole.values())
        yield ImportItem("session", short, outcome, count, path, messages=every, marks=new)


def _clean_messages(data: bytes) -> tuple[dict[str, Message], int]:
    """Return the messages of a recall file by their ids, and how many lines are none."""
    parsed, damaged = recall.parse(data)
    messages: dict[str, Message] = {}
    for message in parsed:
        clean = _clean(message)
        if clean is None:
            damaged += 1
        elif clean.text:
            messages.setdefault(clean.id, clean)
    return messages, damaged


def _clean(message: Message) -> Message | None:
    """Clean a message as ingestion does; None if it is invalid."""
    words = {name: word for name, word in message._asdict().items() if name != "side"}
    if not all(isinstance(word, str) for word in words.values()) or not message.id:
        return None
    words = {name: replace_surrogates(word) for name, word in words.items()}
    whole = message._replace(**words)
    text = storable(whole.text)
    text = cap(text) if whole.role == "tool" else text
    return redact_names(whole._replace(text=text, side=message.side is True))


_PLANNERS: Mapping[tuple[str, str], _Planner] = {  # by folder and suffix
    PASSAGES: _plan_passages,
    ("facts/", ".jsonl"): partial(_plan_logs, "facts"),
    ("static/", ".md"): _plan_static,
    ("local/recall/", recall.SUFFIX): _plan_sessions,
    ("local/recall/", recall.ASIDE): _plan_sessions,
    (f"local/{chunk_log.FOLDER}/", chunk_log.SUFFIX): partial(_plan_logs, "windows"),
    ("local/facts/", ".jsonl"): partial(_plan_logs, "facts"),
    ("local/", session_outcomes.FILE): partial(_plan_logs, "outcomes"),
}


class OutdatedPassages(NamedTuple):
    """Files of passages: those to replace, those changed here, and those gone at their source."""

    replaced: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]

    def describe(self) -> str:
        """Say in words what becomes of them, "" for none."""
        told = {
            "replaced, because their source changed (copies are in local/backup)": self.replaced,
            "changed both at their source and here (both versions stay)": self.changed,
            "no longer where they came from, but still in the store": self.gone,
        }
        return "; ".join(f"passages: {len(each):,} {what}" for what, each in told.items() if each)


def find_outdated(store: Store, found: Mapping[str, bytes], origin: str) -> OutdatedPassages:
    """Find the passages that earlier imports from `origin` added and this one does not bring."""
    texts: dict[str, set[str]] = {}
    for name, data in list_files(found, PASSAGES):
        passage = archive.parse(name, data.decode("utf-8", "replace"))
        texts.setdefault(passage.source, set()).add(archive.merge_passages(passage.text))
    replaced: dict[str, None] = {}
    changed: dict[str, None] = {}
    gone: dict[str, None] = {}
    for part in (
        part for each in undo.read_all(store) if each.source == origin for part in each.parts
    ):
        path = undo.locate(store, part.path)
        before = archive.read(path) if part.path.startswith("archive/") else None
        if before is None or not before.source:
            continue
        current = texts.get(before.source)
        if current is None:
            gone[path] = None
        elif archive.merge_passages(before.text) not in current:
            same = undo.hash_text(files.read(path) or "") in part.marks
            (replaced if same else changed)[path] = None
    return OutdatedPassages(tuple(replaced), tuple(changed), tuple(gone))


def remove_outdated(store: Store, outdated: OutdatedPassages) -> None:
    """Remove what is replaced, and keep copies. The caller holds the locks of the store."""
    if not outdated.replaced:
        return
    local_folder.make(store)
    folder = f"{store.local}/backup"
    files.make_folder(folder, private=True)
    for path in outdated.replaced:
        copy = f"{folder}/{clock.unique()}-passage{archive.SUFFIX}"
        atomic.write(copy, files.read(path) or "", private=True)
        files.remove(path)
