"""News of the page: which sections have changed on the disk, as server-sent events."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sse_starlette.sse import EventSourceResponse
from starlette.routing import Route

from memfs.files import signatures
from memfs.store import archive, blocks, facts, recall
from memfs.web.rendering import get_project

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from memfs.store.blocks import Place

_PAUSE = 1.0  # seconds between two looks


async def follow_changes(request: Request) -> Response:
    """Send the names of the sections that changed, each time that some did."""
    return EventSourceResponse(_watch(request))


async def _watch(request: Request) -> AsyncIterator[dict[str, str]]:
    project = get_project(request)
    before = await asyncio.to_thread(sign_sections, project.find_place())
    while not await request.is_disconnected():
        await asyncio.sleep(_PAUSE)
        now = await asyncio.to_thread(sign_sections, project.find_place())
        changed = [section for section, sign in now.items() if sign != before[section]]
        before = now
        if changed:
            yield {"event": "change", "data": " ".join(changed)}


def sign_sections(place: Place) -> dict[str, object]:
    """Return what differs for each section once its files have changed."""
    stores = place.stores()
    files = [signatures.sign_file(path) for _, _, path in blocks.paths(place)]
    given = [signatures.sign_file(f"{store.local}/given.log") for store in stores]
    said = [signatures.sign_file(path) for path in recall.sources(place.home)]
    passages = [signatures.sign_file(path) for store in stores for path in archive.sources(store)]
    stated = [signatures.sign_file(path) for store in stores for path in facts.sources(store)]
    return {
        "blocks": files,
        "brief": [files, given],
        "sessions": said,
        "archive": passages,
        "facts": stated,
        "timeline": [files, said],
        "health": files,
    }


ROUTES = [Route("/events", follow_changes)]
