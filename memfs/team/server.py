"""Serves a team until it is stopped."""

from __future__ import annotations

import os
import socket
import ssl
from dataclasses import dataclass

import uvicorn

from memfs.core.errors import UsageError
from memfs.team import candidate_search
from memfs.team.application import TeamService, make_application
from memfs.team.connections import DEFAULT_LIMITS, ConnectionLimits, CountedListener, make_protocol
from memfs.team.database import TeamDatabase
from memfs.team.index_folders import IndexFolders

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
    limits: ConnectionLimits = DEFAULT_LIMITS


class TeamServer:
    """Listens from the start on; `port` is the one that it has. Raises `OSError` if it is taken.

    Raises `UsageError` for an address, a certificate or a key that cannot be used.
    """

    def __init__(self, settings: ServerSettings) -> None:
        _check_certificate(settings.certificate, settings.key)
        self._database = TeamDatabase(settings.database, connections=16)
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        self._listener = CountedListener(
            socket.create_server((settings.host, settings.port), family=family),
            settings.limits.connections,
        )
        self.port: int = self._listener.getsockname()[1]
        source = candidate_search.open_engines
        folders = IndexFolders(settings.folders) if settings.folders else None
        self.service = TeamService(
            self._database,
            folders.open_engines if folders else source,
            settings.rate,
            searches=2 * (os.cpu_count() or 1),
        )
        config = uvicorn.Config(
            make_application(self.service),
            http=make_protocol(settings.limits, self._listener),
            loop="asyncio",
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


def _check_certificate(certificate: str, key: str) -> None:
    """Raise `UsageError` unless TLS can be spoken with these, or neither is given."""
    if key and not certificate:
        raise UsageError(f"a key without its certificate: {key}", "--certificate FILE")
    if not certificate:
        return
    for path in (certificate, key) if key else (certificate,):
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from None
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key or None, _refuse_passphrase)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise UsageError(
                f"{key or certificate} is not the key of the certificate {certificate}"
            ) from None
        named = f"{certificate} and {key}" if key else certificate
        raise UsageError(
            f"cannot speak TLS with {named}",
            "PEM files with the certificate, those above it, and its key are needed",
        ) from None


def _refuse_passphrase() -> str:
    raise UsageError(
        "the key is locked by a passphrase, which nobody is there to type",
        "openssl pkey -in KEY -out FILE writes it without; only the service may read that",
    )
