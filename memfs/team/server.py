"""Serves a team until it is stopped."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass

import uvicorn

from memfs.team import candidate_search
from memfs.team.application import TeamService, make_application
from memfs.team.database import TeamDatabase
from memfs.team.index_folders import IndexFolders
from memfs.team.rate_limit import RateLimit

_KEPT = 600  # seconds that a silent connection stays open: members' services ask at their prompts


@dataclass(frozen=True)
class ServerSettings:
    """How to serve: `folders` is where index folders are, "" for none; `rate` is per member.

    With a certificate and its key it speaks TLS itself; else a proxy does.
    """

    database: str
    host: str = "127.0.0.1"
    port: int = 8477
    folders: str = ""
    rate: float = 50.0
    certificate: str = ""
    key: str = ""


class TeamServer:
    """Listens from the start on; `port` is the one that it has. Raises `OSError` if it is taken."""

    def __init__(self, settings: ServerSettings) -> None:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        self._listener = socket.create_server((settings.host, settings.port), family=family)
        self.port: int = self._listener.getsockname()[1]
        self._database = TeamDatabase(settings.database, connections=16)
        source = candidate_search.open_engines
        folders = IndexFolders(settings.folders) if settings.folders else None
        self.service = TeamService(
            self._database,
            folders.open_engines if folders else source,
            RateLimit(settings.rate),
            searches=2 * (os.cpu_count() or 1),
        )
        config = uvicorn.Config(
            make_application(self.service),
            log_level="error",
            access_log=False,
            lifespan="off",
            server_header=False,
            ssl_certfile=settings.certificate or None,
            ssl_keyfile=settings.key or None,
            timeout_graceful_shutdown=5,
            timeout_keep_alive=_KEPT,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until SIGINT, SIGTERM or `stop`."""
        self._database.open()
        try:
            self._server.run(sockets=[self._listener])
        finally:
            self._database.close()
            self._listener.close()

    def stop(self) -> None:
        """End the server; its thread may take a moment."""
        self._server.should_exit = True
