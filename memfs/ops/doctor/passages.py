"""Check the files of passages and facts. Search reads what it can of a damaged one."""

from __future__ import annotations

from collections.abc import Iterator

from memfs import files
from memfs.core import block_problems, frontmatter
from memfs.ops.doctor.finding import Finding
from memfs.search.doc_json import epoch
from memfs.store import archive, blocks, facts
from memfs.store.blocks import Place

_BY_HAND = "mend it in an editor"
_LEAST, _MOST = 1, 10  # importance
_SHOWN = 5  # numbers of lines


def check_passages(place: Place) -> Iterator[Finding]:
    """Check every passage file of the stores of a place, and the lines of their facts."""
    for store in place.stores():
        for path, lines in facts.list_damage(store):
            named = ", ".join(map(str, lines[:_SHOWN])) + (" …" if len(lines) > _SHOWN else "")
            what = f"{path}: not read as facts: line{'s' * (len(lines) > 1)} {named}"
            yield Finding("error", what, "mend them in an editor, or take them out")
        for path in archive.sources(store):
            try:
                raw = files.read(path)
            except OSError as error:
                what = f"{path}: cannot be read: {error.strerror}"
                yield Finding("error", what, "see its permissions and those of its folder")
                continue
            if raw is None:  # it is gone
                continue
            for fault in block_problems.find(raw):
                yield Finding(
                    "error" if fault.grave else "warning",
                    f"{path}:{fault.line}: {fault.what}",
                    fault.hint,
                )
            for key, value in _list_odd_values(raw):
                yield Finding("warning", f"{path}: {key} is {value!r}, which is not used", _BY_HAND)


def _list_odd_values(raw: str) -> Iterator[tuple[str, object]]:
    """Yield the keys with an invalid value, and that value."""
    meta = blocks.front_matter(frontmatter.split(raw)[0])
    importance = meta.get("importance", _LEAST)
    if type(importance) is not int or not _LEAST <= importance <= _MOST:
        yield "importance", importance
    if not isinstance(meta.get("tags") or "", str | list):
        yield "tags", meta["tags"]
    at = str(meta.get("created_at", archive.UNKNOWN))
    if at != archive.UNKNOWN and epoch(at) is None:
        yield "created_at", meta["created_at"]
