"""Archive: long-term facts, one markdown file for each passage, so that merges never conflict."""

import os

from memfs import files
from memfs.core import encodings, frontmatter
from memfs.core.records import Passage
from memfs.files import atomic, trees
from memfs.store import blocks, clock, quarantine
from memfs.store.store_paths import Store

SUFFIX = ".md"
LONGEST = 100_000  # characters; longer things are documents, not passages
UNKNOWN = "unknown"  # the date of what was imported from a tool that does not know it


def write_passage(
    store: Store, text: str, *, importance: int, tags: tuple[str, ...], source: str = ""
) -> tuple[Passage, str]:
    """Write a new passage; return it and its path."""
    at = clock.now()
    passage = Passage(clock.unique(), text.strip("\n"), at, importance, tags, source)
    folder = f"{store.root}/archive/{at[:7]}"
    files.make_folder(folder, private=store.private)
    path = f"{folder}/{passage.id}{SUFFIX}"
    head = {"created_at": at, "importance": importance, "tags": list(tags) or None}
    _write(store, path, {**head, "source": source or None}, passage.text)
    return passage, path


def rewrite_passage(
    store: Store, path: str, text: str, *, importance: int, tags: tuple[str, ...]
) -> None:
    """Write a passage's file anew; what else stands in its front matter stays."""
    _write(store, path, {"importance": importance, "tags": list(tags) or None}, text)


def _write(store: Store, path: str, changes: dict[str, object], text: str) -> None:
    from memfs.core import yaml_edit  # 10 ms: only writing needs it

    before, _ = frontmatter.split(files.read(path) or "")
    head, body = yaml_edit.write(before, changes, "\n"), text.strip("\n")
    atomic.write(path, f"{head}{body}\n", private=store.private)


def sources(store: Store) -> list[str]:
    """List the passage files of a store."""
    listed = quarantine.list_files(store, "archive", SUFFIX)
    return [path for name, path in listed if not os.path.basename(name).startswith(".")]


def sign_sources(store: Store) -> list[tuple[str, int | None]]:
    """List the passage files of a store, each with the time of its last change in nanoseconds.

    None for one that is not where memfs writes them.
    """
    folder = f"{store.root}/archive"
    months = files.entries(folder) if files.is_folder(folder) else ()
    times = {
        f"{folder}/{month}/{name}": at
        for month, is_folder in months
        if is_folder
        for at, name in trees.list_times(f"{folder}/{month}")
    }
    return [(path, times.get(path)) for path in sources(store)]


def read(path: str) -> Passage | None:
    """Read one passage file, also one that a person wrote or broke; None if it is gone."""
    raw = files.read(path)
    if raw is None:
        return None
    name = encodings.codec(raw)
    text = encodings.decode(raw, name) if name else raw
    return parse(os.path.basename(path).removesuffix(SUFFIX), text)


def read_head(path: str) -> str:
    """Read the front matter of a passage file as it stands there."""
    return frontmatter.split(files.read(path) or "")[0]


def parse(ident: str, raw: str) -> Passage:
    """Read the text of a passage file."""
    head, body = frontmatter.split(raw)
    meta = blocks.front_matter(head)
    importance = meta.get("importance")
    tags = meta.get("tags")
    if isinstance(tags, str):
        tags = [tag.strip() for tag in tags.split(",") if tag.strip()]
    return Passage(
        id=ident,
        text=body.replace("\r\n", "\n").strip("\n").encode("utf-8", "replace").decode(),
        created_at=str(meta.get("created_at") or ""),
        importance=importance if isinstance(importance, int) else 5,
        tags=tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
        source=str(meta.get("source") or ""),
        review_after=str(meta.get("review_after") or ""),
        expires_at=str(meta.get("expires_at") or ""),
    )


def merge_passages(text: str) -> str:
    """Return a key that is equal for passages with the same words, whatever their case."""
    return " ".join(text.split()).casefold()
