"""What becomes of what another tool remembers: the files of a store, as an export holds them.

Nothing is written here. Each item goes to the project or to its user's own store, or is left.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from memfs.core import headings
from memfs.core import label as labels
from memfs.core.errors import StoreError
from memfs.core.privacy import public
from memfs.importers import foreign_files, text_files
from memfs.importers.merge import ImportItem
from memfs.importers.readers.items import (
    AnyItem,
    OmittedItem,
    ToolBlock,
    ToolItem,
    ToolSession,
    ToolText,
    UnreadItem,
)
from memfs.store import archive, blocks, clock, config, message_records, recall, store_paths
from memfs.store.blocks import Place

_PASSAGE = 2000  # characters of a part of what is too long for one passage
_MOST_TAGS = 30  # of one passage


@dataclass
class ToolMembers:
    """The files for each tier, by their paths in a store; what was counted, left and not read.

    `counts` are the items that were taken, by (noun, project), `left` the others: of another
    project. `omitted` are those that are no memory, by (noun, why). `damage` says what of the
    tool's own could not be read.
    """

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    left: Counter[tuple[str, str]] = field(default_factory=Counter)
    omitted: Counter[tuple[str, str]] = field(default_factory=Counter)
    damage: list[ImportItem] = field(default_factory=list)


def count_items(items: Iterable[AnyItem]) -> Counter[tuple[str, str]]:
    """Count what a tool remembers by (noun, name of the project)."""
    return Counter(
        (item.noun, _name_project(item.project))
        for item in items
        if not isinstance(item, UnreadItem | OmittedItem)
    )


def collect_members(
    place: Place, tool: str, items: Iterable[AnyItem], *, user: bool, project: str
) -> ToolMembers:
    """Turn a tool's items into files for the stores of a place.

    Into the project's store come those of no project, and its own, or instead those of `project`, a
    name or folder, if it is given. With `user` all of them go to the user's store.
    """
    made = ToolMembers()
    get_limit = config.load(place).get_limit
    unread: Counter[UnreadItem] = Counter()
    failed = ""
    try:  # what was read before an error counts
        for item in items:
            if isinstance(item, UnreadItem):
                unread[item] += 1
            elif isinstance(item, OmittedItem):
                made.omitted[item] += 1
            else:
                noun = item.noun, _name_project(item.project)
                tier = labels.USER if user or item.private else labels.PROJECT
                store = place.user if tier == labels.USER else place.project
                is_other = project and item.project and not _is_of_project(item, [project])
                is_elsewhere = tier == labels.PROJECT and not (project or _is_here(place, item))
                if is_other or is_elsewhere or store is None:
                    made.left[noun] += 1
                    continue
                made.counts[noun] += 1
                files = made.files.setdefault(tier, {})
                if isinstance(item, ToolText):
                    files.update(_make_passages(tool, item))
                elif isinstance(item, ToolBlock):
                    files.update(_make_block(tool, item, files, get_limit))
                elif not item.recorded_by or not os.path.exists(
                    recall.get_path(store, item.recorded_by, item.ident)
                ):  # the assistant's own transcript of it is in recall then
                    for name, lines in _make_session(item).items():  # several may hold its parts
                        files[name] = files.get(name, b"") + lines
    except StoreError as error:
        failed = error.message
    except OSError as error:
        failed = f"cannot read all memory of {tool}: {error.strerror}"
    for each, count in unread.items():
        why = f"cannot read {each.ident}: {each.why}"
        made.damage.append(ImportItem("file", each.ident, "refused", why, count=count))
    if failed:
        made.damage.append(ImportItem("file", tool, "refused", failed))
    return made


def _is_here(place: Place, item: ToolItem) -> bool:
    if place.project is None:
        return False
    top = place.project.top
    main = os.path.dirname(place.project.main)  # of a linked worktree
    return not item.project or _is_of_project(item, [top, main])


def _is_of_project(item: ToolItem, projects: list[str]) -> bool:
    theirs = item.project.replace("\\", "/").rstrip("/")
    for each in projects:
        ours = each.replace("\\", "/").rstrip("/")
        if "/" in theirs and "/" in ours:
            if f"{theirs}/".startswith((f"{os.path.realpath(ours)}/", f"{ours}/")):
                return True
        elif _name_project(theirs).casefold() == _name_project(ours).casefold():
            return True
    return False


def _name_project(project: str) -> str:
    return project.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _make_passages(tool: str, item: ToolText) -> dict[str, bytes]:
    """Make a file for each passage; its id has the tool, and a hash of what the tool calls it."""
    text = public(item.text).strip("\n")
    if not text:
        return {}
    parts = [text]
    if len(text) > (_PASSAGE if item.document else archive.LONGEST):
        cut = headings.split_text(text, _PASSAGE)
        parts = ["\n\n".join(filter(None, (" > ".join(each.path), each.text))) for each in cut]
    at = item.at or archive.UNKNOWN
    clean = (" ".join(tag.lower().split()) for tag in (tool, *item.tags))
    tags = list(dict.fromkeys(filter(None, clean)))[:_MOST_TAGS]
    found: dict[str, object] = {"created_at": at, "importance": max(1, min(10, item.importance))}
    named: dict[str, object] = {"tags": list(item.tags) or None}
    if not item.own:
        of = f" of {_name_project(item.project)}" if item.project else ""
        named = {"source": " ".join(f"{tool}: {item.ident}{of}".split())}
        found["tags"] = tags
    written = text_files.write_head(item.head, found, named)
    made = {}
    for number, part in enumerate(parts):
        name = "\0".join((tool, item.project, item.ident, str(number), text))
        ident = f"{tool}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:12]}"
        month = item.at[:7] or clock.now()[:7]
        made[f"archive/{month}/{ident}{archive.SUFFIX}"] = f"{written}{part}\n".encode(
            "utf-8", "replace"
        )
    return made


def _make_block(
    tool: str, item: ToolBlock, others: Mapping[str, bytes], get_limit: Callable[[str], int]
) -> dict[str, bytes]:
    """Make the file of a block; one that is too long, of a tool without limits, is passages.

    It holds what its tool had, but for line ends at the end. Of `others` that are made already none
    is written over.
    """
    label = item.label
    if labels.problem(label):
        label = foreign_files.make_label("", item.label) or tool
    text, about = public(item.text).rstrip("\n"), public(item.description)
    if not (about or label.isascii() == item.label.isascii()):  # a title that no label can hold
        about = item.label.rpartition("/")[2]
    found: dict[str, object] = {"limit": item.limit or None, "read_only": item.read_only}
    found["pinned"] = item.pinned
    named: dict[str, object] = {"description": " ".join(about.split()) or None}
    (named if item.own else found)["tags"] = list(item.tags) or None
    if not item.own:
        named["source"] = " ".join(f"{tool}: {item.label}".split())
    head = text_files.write_head(item.head, found, named)
    data = f"{head}{text}\n".encode("utf-8", "replace")
    if len(data) > blocks.LARGEST or (not item.limit and len(text) > get_limit(label)):
        text = "\n\n".join(filter(None, (about, text)))
        whole = ToolText(item.label, item.noun, text, item.at, item.tags, project=item.project)
        return _make_passages(tool, replace(whole, document=True, head=item.head))
    path = f"blocks/{label}{blocks.SUFFIX}"
    if others.get(path, data) != data:
        mark = hashlib.sha256(data).hexdigest()[:6]
        path = f"blocks/{foreign_files.make_label('', f'{label}-{mark}')}{blocks.SUFFIX}"
    return {path: data}


def _make_session(item: ToolSession) -> dict[str, bytes]:
    """Make a recall file; messages without a text or an id are left."""
    lines = [message_records.encode_message(each) for each in item.messages if each.text.strip()]
    if not lines:
        return {}
    host, name = item.messages[0].host, store_paths.file_name(item.ident)
    return {f"local/recall/{host}/{name}{recall.SUFFIX}": b"".join(lines)}
