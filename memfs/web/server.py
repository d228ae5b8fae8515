"""Serves the page on this machine alone, until it is stopped or nobody has looked for a while."""

import asyncio
import os
import socket
import time

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from memfs.core.errors import MemfsError, NotFoundError
from memfs.web.access import ADDRESS, Access, Guard
from memfs.web.pages import (
    archive,
    blocks,
    brief,
    events,
    facts,
    health,
    home,
    palette,
    search,
    sessions,
    sources,
    timeline,
)
from memfs.web.rendering import Project, Site, Visit, get

_STATIC = os.path.join(os.path.dirname(__file__), "static")
_PAGES = (
    archive, blocks, brief, events, facts, health, home, palette, search, sessions, sources,
    timeline,
)  # fmt: skip

_LOOK = 5.0  # seconds between two looks whether anybody is there


class PageServer:
    """Serves the projects in `folders` on this machine, on a port of its own if it is 0.

    `access` has the address, `projects` their keys. Raises `MemfsError` for a port that is taken.
    """

    def __init__(
        self, folders: list[str], home: str, *, port: int = 0, read_only: bool = False
    ) -> None:
        self._listener = _listen(port)
        self.access = Access(self._listener.getsockname()[1], read_only=read_only)
        self.projects = [Project(folder) for folder in folders]
        site = Site(self.projects, home, self.access)
        config = uvicorn.Config(
            make_application(site), log_level="error", access_log=False, lifespan="off",
            server_header=False, proxy_headers=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._server = uvicorn.Server(config)

    def run(self, idle: float) -> None:
        """Serve until Ctrl-C or `stop`, or until nobody has looked for `idle` seconds."""
        try:
            asyncio.run(self._run(idle))
        except (KeyboardInterrupt, asyncio.CancelledError):
            return  # the second for a Ctrl-C that comes while asyncio begins
        finally:
            self._listener.close()

    def stop(self) -> None:
        """End the server; its thread may take a moment."""
        self._server.should_exit = True

    async def _run(self, idle: float) -> None:
        watching = asyncio.create_task(_end_when_idle(self._server, idle))
        await self._server.serve(sockets=[self._listener])
        watching.cancel()


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        raise MemfsError(
            f"cannot listen on port {port}: {error.strerror}", "choose another --port"
        ) from error
    return listener


async def _end_when_idle(server: uvicorn.Server, idle: float) -> None:
    """End the server once nobody looks: an open page keeps it by its news."""
    state, used, count = server.server_state, time.monotonic(), 0
    while not server.should_exit:
        await asyncio.sleep(min(_LOOK, idle))
        if state.tasks or state.total_requests != count:
            used, count = time.monotonic(), state.total_requests
        elif time.monotonic() - used > idle:
            server.should_exit = True


def make_application(site: Site) -> ASGIApp:
    """Return the application that shows a site to whoever its access lets in."""
    root, pages = site.access.root, [route for page in _PAGES for route in page.ROUTES]
    application = Starlette(
        routes=[
            Route(f"{root}/", _open_first),
            Mount(f"{root}/static", StaticFiles(directory=_STATIC)),
            get(f"{root}/{{project}}/", lambda visit: visit.redirect("home")),
            Mount(f"{root}/{{project}}", routes=pages),
        ],
        exception_handlers={HTTPException: _show_missing, Exception: _show_failure},
    )
    application.state.site = site
    return Guard(application, site.access)


def _open_first(request: Request) -> Response:
    visit = Visit(request)
    visit.project = visit.site.projects[0]
    return visit.redirect("home")


def _show_missing(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    what = (
        "this page does not exist"
        if status == 404
        else "this address does not accept such requests"
    )
    return Visit(request).render_error(NotFoundError(what), status)


def _show_failure(request: Request, error: Exception) -> Response:
    what = MemfsError(
        f"a bug in memfs: {type(error).__name__}", "see the terminal that runs memfs web"
    )
    return Visit(request).render_error(what, 500)
