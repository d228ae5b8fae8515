"""Static entries: reference texts under a key, written once: `static/<key>.md`."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

from memfs import files
from memfs.core import frontmatter
from memfs.core import label as labels
from memfs.core.errors import StoreError
from memfs.files import atomic
from memfs.store import blocks, clock, quarantine
from memfs.store.store_paths import Store

FOLDER = "static"
SUFFIX = ".md"


class TakenError(StoreError):
    """A key that has an entry."""


@dataclass(frozen=True)
class StaticEntry:
    """One entry. `changed`: its text is not the one that was stored."""

    key: str
    text: str
    category: str = ""
    tags: tuple[str, ...] = ()
    created_at: str = ""
    changed: bool = False


def path_of(store: Store, key: str) -> str:
    """Return where the entry of a key is."""
    return f"{store.root}/{FOLDER}/{key}{SUFFIX}"


def write_entry(store: Store, key: str, text: str, category: str, tags: tuple[str, ...]) -> str:
    """Write a new entry and return its path. Raises `TakenError` for a key that is taken."""
    from memfs.core import yaml_edit  # 10 ms: reading rarely needs it

    path = path_of(store, key)
    body = text.strip("\n") + "\n"
    head = yaml_edit.write(
        "",
        {
            "category": category or None,
            "tags": list(tags) or None,
            "created_at": clock.now(),
            "sha256": _checksum(body),
        },
        "\n",
    )
    files.make_folder(os.path.dirname(path), private=store.private)
    if os.path.lexists(path):  # a link, too: nothing is written in its place
        raise TakenError(f"an entry with the key '{key}' already exists")
    atomic.write(path, head + body, private=store.private)
    return path


def read(store: Store, key: str) -> StaticEntry | None:
    """Return the entry of a key, also one that a person wrote or broke; None if there is none."""
    return load(quarantine.path_of(store, f"{FOLDER}/{key}{SUFFIX}"), key)


def load(path: str, key: str) -> StaticEntry | None:
    """Return the entry in a file; None if it is gone."""
    raw = files.read(path)
    return None if raw is None else _parse(key, raw)


def list_entries(store: Store) -> Iterator[StaticEntry]:
    """Yield all entries of a store, by key."""
    for key, path in sources(store):
        entry = load(path, key)
        if entry:
            yield entry


def sources(store: Store) -> Iterator[tuple[str, str]]:
    """Yield (key, path) of the entries of a store."""
    for name, path in quarantine.list_files(store, FOLDER, SUFFIX):
        key = name.removesuffix(SUFFIX)
        if not labels.problem(key):
            yield key, path


def _parse(key: str, raw: str) -> StaticEntry:
    head, body = frontmatter.split(raw)
    meta = blocks.front_matter(head)
    tags = meta.get("tags")
    known = str(meta.get("sha256") or "")
    return StaticEntry(
        key,
        body.replace("\r\n", "\n").strip("\n").encode("utf-8", "replace").decode(),
        str(meta.get("category") or ""),
        tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
        str(meta.get("created_at") or ""),
        changed=bool(known) and known != _checksum(body.replace("\r\n", "\n")),
    )


def _checksum(body: str) -> str:
    return hashlib.sha256(files.encode(body)).hexdigest()[:16]
