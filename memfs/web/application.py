"""The application: which handler answers which address."""

from __future__ import annotations

import os

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from memfs.core.errors import MemfsError, NotFoundError
from memfs.web import rendering
from memfs.web.access import Guard
from memfs.web.pages import (
    archive,
    blocks,
    brief,
    events,
    facts,
    health,
    search,
    sessions,
    sources,
    timeline,
)
from memfs.web.site import Site

_STATIC = os.path.join(os.path.dirname(__file__), "static")
_PAGES = (archive, blocks, brief, events, facts, health, search, sessions, sources, timeline)


def make_application(site: Site) -> ASGIApp:
    """Return the application that shows a site to whoever its access lets in."""
    root, pages = site.access.root, [route for page in _PAGES for route in page.ROUTES]
    application = Starlette(
        routes=[
            Route(f"{root}/", _open_first),
            Mount(f"{root}/static", StaticFiles(directory=_STATIC)),
            Route(f"{root}/{{project}}/", _open_blocks),
            Mount(f"{root}/{{project}}", routes=pages),
        ],
        exception_handlers={HTTPException: _show_missing, Exception: _show_failure},
    )
    application.state.site = site
    return Guard(application, site.access)


def _open_first(request: Request) -> Response:
    return rendering.redirect(request, "blocks", rendering.get_site(request).projects[0])


def _open_blocks(request: Request) -> Response:
    return rendering.redirect(request, "blocks")


def _show_missing(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    what = "there is no such page" if status == 404 else "this address takes no such request"
    response = rendering.render_error(request, NotFoundError(what))
    response.status_code = status
    return response


def _show_failure(request: Request, error: Exception) -> Response:
    what = MemfsError(f"the page failed: {type(error).__name__}", "the terminal has the details")
    response = rendering.render_error(request, what)
    response.status_code = 500
    return response
