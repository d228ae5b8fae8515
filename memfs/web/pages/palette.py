"""Go to: pages, blocks and sessions by their names, and commands, in one list that words narrow.

It is a page of its own. Ctrl-K shows the same list over any other page.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple
from urllib.parse import quote, urlencode

from starlette.responses import Response

from memfs.core import label as labels
from memfs.ops import history, sessions
from memfs.store import blocks
from memfs.web.rendering import SECTIONS, Visit, get

_MOST = 8  # blocks, and sessions
_UNDO = "Undo the last edit"


class PaletteEntry(NamedTuple):
    """Where an entry leads: to a page, or with `changes` to what a form does."""

    kind: str
    name: str
    path: str
    changes: bool = False


def _show_entries(visit: Visit) -> Response:
    query = visit.query.get("q", "").strip()
    words = query.casefold().split()
    found = list(_select(_list_pages(), words))
    for entries in (_list_blocks(visit), _list_sessions(visit)):
        found += islice(_select(entries, words), _MOST)
    found += _select(_list_commands(visit, words), words)
    if query:
        search = f"search?{urlencode({'q': query})}"
        found.append(PaletteEntry("search", f"Search everything for “{query}”", search))
    return visit.render("palette.html", "search", "Go to", words=query, entries=found)


def _select(entries: Iterable[PaletteEntry], words: list[str]) -> Iterator[PaletteEntry]:
    return (each for each in entries if all(word in each.name.casefold() for word in words))


def _list_pages() -> Iterator[PaletteEntry]:
    return (PaletteEntry("page", name, key) for key, name in SECTIONS)


def _list_blocks(visit: Visit) -> Iterator[PaletteEntry]:
    for tier, label, _ in blocks.paths(visit.place):
        name = label if tier == labels.PROJECT else labels.qualify(tier, label)
        yield PaletteEntry("block", name, f"blocks/{quote(name, safe='/:')}")


def _list_sessions(visit: Visit) -> Iterator[PaletteEntry]:
    for each in sessions.list_sessions(visit.place, cache=visit.project.sessions):
        path = f"sessions/{each.host}/{quote(each.id, safe='')}"
        yield PaletteEntry("session", each.title or each.id, path)


def _list_commands(visit: Visit, words: list[str]) -> Iterator[PaletteEntry]:
    if visit.site.access.read_only:
        return
    if all(word in _UNDO.casefold() for word in words):  # only then is the history read
        for entry in history.log(visit.place, limit=1):
            label = labels.qualify(entry.tier, entry.label)
            name = f"{_UNDO}: {label}, version {entry.version}"
            yield PaletteEntry("command", name, f"blocks/{quote(label, safe='/:')}/undo", True)
    yield PaletteEntry("command", "New block", "blocks/new")
    yield PaletteEntry(
        "command", "Forget last week's sessions…", "sessions/forget?period=Last+week"
    )


ROUTES = [get("/go", _show_entries)]
