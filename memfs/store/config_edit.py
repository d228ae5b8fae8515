"""Writing a setting into `config.yaml`: everything else in it stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable

from ruamel.yaml.error import YAMLError

from memfs import files
from memfs.core import frontmatter, yaml_edit
from memfs.core.errors import UNREADABLE, StoreError
from memfs.files import atomic
from memfs.store import config, lock, store_paths
from memfs.store.store_paths import Store


def write(store: Store, key: str, value: str) -> str:
    """Set a key of a store's configuration, and return its path.

    Comments, order and line ends stay. Raises `StoreError` for a file that cannot be changed so.
    """

    def edit(text: str, eol: str) -> str:
        head = f"---{eol}{text}---{eol}"
        return frontmatter.strip_fences(yaml_edit.write(head, {key: value}, eol))

    return _change(store, edit, {key: value}, f"{key}: {yaml_edit.scalar(value)}")


def write_entry(store: Store, section: str, name: str, value: dict[str, object] | None) -> str:
    """Add an entry to a section of a store's configuration, or remove it (None); return its path.

    Raises `StoreError` as `write` does.
    """
    found = config.read(f"{store.root}/{store_paths.CONFIG}")[0].get(section)
    entries = {**found} if isinstance(found, dict) else {}
    if value is None:
        entries.pop(name, None)
    else:
        entries[name] = value

    def edit(text: str, eol: str) -> str:
        try:
            return yaml_edit.write_entry(text, section, name, value, eol)
        except (YAMLError, *UNREADABLE, StopIteration):
            return text

    told = f"{section}: {json.dumps({name: value})}" if value else f"without {section}.{name}"
    return _change(store, edit, {section: entries} if entries else {section: None}, told)


def _change(
    store: Store, edit: Callable[[str, str], str], changes: dict[str, object], told: str
) -> str:
    """Edit a store's configuration, and return its path.

    `edit` is given the text, and the end of its lines. Afterwards its keys are to be as `changes`
    say (None: gone), and all others as they were; `told` is what to write by hand if they are not.
    """
    path = f"{store.root}/{store_paths.CONFIG}"
    with lock.hold_lock(store):
        before = files.read(path) or ""
        eol = frontmatter.line_end(before)
        after = edit(before if not before or before.endswith("\n") else before + eol, eol)
        wanted = config.parse(before)[0] | changes
        if {key: each for key, each in wanted.items() if each is not None} != config.parse(after)[
            0
        ]:
            raise StoreError(
                f"{path} cannot be changed without spoiling what is in it",
                f"write the line into it yourself: {told}",
            )
        if after != before:
            atomic.write(path, after, private=store.private, locked=True)
    return path
