"""News of the page: which sections have changed on the disk, as server-sent events."""

import asyncio
from collections.abc import AsyncIterator

from sse_starlette.sse import EventSourceResponse
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memfs import files
from memfs.files import signatures
from memfs.recall.recall_snapshot import RecallSnapshot
from memfs.store import blocks, facts, session_outcomes
from memfs.store.blocks import Place
from memfs.web.rendering import Visit

_PAUSE = 1.0  # seconds between two looks
_AGAIN = 15.0  # seconds between two looks at old sessions
_KEPT = ("archive", "static")


async def _follow_changes(request: Request) -> Response:
    return EventSourceResponse(_watch(request))


async def _watch(request: Request) -> AsyncIterator[dict[str, str]]:
    look = SectionSigns(Visit(request).place)
    before = await asyncio.to_thread(look.sign_sections)
    yield {"comment": "changes from now on are reported"}
    while not await request.is_disconnected():
        await asyncio.sleep(_PAUSE)
        now = await asyncio.to_thread(look.sign_sections)
        changed = [section for section, sign in now.items() if sign != before[section]]
        before = now
        if changed:
            yield {"event": "change", "data": " ".join(changed)}


class SectionSigns:
    """Signs what the sections of a place show; a look costs little however much there is."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._recall = RecallSnapshot(place.home, _AGAIN)

    def sign_sections(self) -> dict[str, object]:
        """Return what differs for each section once its files have changed."""
        stores = self._place.stores()
        texts = [signatures.sign_file(path) for _, _, path in blocks.paths(self._place)]
        given = [signatures.sign_file(f"{store.local}/given.log") for store in stores]
        said = list(self._recall.list_files())
        noted = signatures.sign_file(f"{self._place.home.local}/{session_outcomes.FILE}")
        kept = [_sign_folders(f"{store.root}/{name}") for store in stores for name in _KEPT]
        stated = [signatures.sign_file(path) for store in stores for path in facts.sources(store)]
        return {
            "home": [texts, given, said, stated],
            "attention": [texts, stated],
            "blocks": texts,
            "brief": texts,
            "prompts": given,
            "sessions": [said, noted],
            "archive": kept,
            "facts": stated,
            "timeline": [texts, said],
            "health": texts,
        }


def _sign_folders(top: str) -> list[object]:
    """Sign a folder and those in it: files in them are replaced, not edited."""
    entries = files.entries(top) if files.is_folder(top) else []
    below = [f"{top}/{name}" for name, is_folder in sorted(entries) if is_folder]
    return [(path, signatures.sign_file(path)) for path in [top, *below]]


ROUTES = [Route("/events", _follow_changes)]
