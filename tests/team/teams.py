"""A team with its server in a thread or a process, and members who talk to it over loopback."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import msgspec

from memfs.team.protocol import (
    HEADER,
    PROTOCOL,
    PushRequest,
    SharedMessage,
    SharedSession,
    compute_id,
)
from memfs.team.server import administration
from memfs.team.server.administration import SchemaState
from memfs.team.server.program import ServerSettings, TeamServer
from tests.team.postgres import Postgres

LONG = 30.0  # seconds: for what takes a moment, on a machine that has other things to do
_BEGIN = datetime(2026, 5, 3, 10, tzinfo=UTC)


@dataclass
class Answer:
    status: int
    body: Any
    headers: dict[str, str]


@dataclass
class Member:
    """Somebody with a token."""

    port: int
    token: str

    def ask(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        sent = {HEADER: str(PROTOCOL), "Authorization": f"Bearer {self.token}"} | (headers or {})
        try:
            connection.request(method, path, None if body is None else data, sent)
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        kind = response.getheader("Content-Type", "")
        found = json.loads(text) if kind == "application/json" else text.decode()
        return Answer(response.status, found, dict(response.getheaders()))

    def push(self, project: int, texts: list[str], session: str = "s1", **more: Any) -> Answer:
        return self.ask("POST", "/v1/push", make_push(project, texts, session, **more))

    def search(self, projects: list[int], query: str, **more: Any) -> Answer:
        return self.ask("POST", "/v1/search", {"projects": projects, "query": query} | more)

    def find_texts(self, projects: list[int], query: str) -> list[str]:
        answer = self.search(projects, query)
        assert answer.status == 200, answer.body
        return [hit["text"] for hit in answer.body["hits"]]


def make_push(
    project: int,
    texts: list[str],
    session: str = "s1",
    *,
    stamp: int = 1000,
    host: str = "claude",
    first: int = 0,
    roles: tuple[str, ...] = ("user", "assistant"),
) -> PushRequest:
    """Return a push of one session, whose roles take turns and which has a text a minute."""
    messages = []
    for number, text in enumerate(texts, first):
        at = (_BEGIN + timedelta(minutes=number)).isoformat().replace("+00:00", "Z")
        role = roles[number % len(roles)]
        ident = compute_id(host, session, str(number), at, role, text)
        messages.append(SharedMessage(ident, 0, number, at, role, text))
    shared = SharedSession(host, session, "main", texts[0][:60] if texts else "")
    return PushRequest(project, stamp, "0.2.0", [shared], messages)


@dataclass
class Team:
    """`address` is that of the administrator. Projects have the numbers 1, 2, … in their order."""

    postgres: Postgres
    address: str
    state: SchemaState
    server: TeamServer
    thread: threading.Thread
    members: dict[str, Member] = field(default_factory=dict)

    @classmethod
    def make(cls, postgres: Postgres, **settings: Any) -> Team:
        address = postgres.make_database()
        state = administration.set_up(address, "acme")
        return cls(postgres, address, state, *_serve(state.service, settings))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def add(self, login: str, **roles: str) -> Member:
        """Add a member with roles in projects, which are made if need be."""
        with administration.open_administration(self.address) as admin:
            token = administration.add_member(admin, login, 30)
            known = {each.name for each in administration.list_projects(admin)}
            for project, role in roles.items():
                if project not in known:
                    administration.add_project(admin, project)
                administration.grant_access(admin, project, login, role)
        self.members[login] = Member(self.server.port, token)
        return self.members[login]

    def clear(self) -> None:
        """Remove all members and what they shared."""
        with administration.open_administration(self.address) as admin:
            tables = admin.execute(
                "SELECT string_agg(oid::regclass::text, ', ') FROM pg_class"
                " WHERE relnamespace = 'memfs'::regnamespace AND relkind IN ('r', 'p')"
                " AND NOT relispartition AND relname NOT IN ('team', 'schema_version')"
            ).fetchall()[0][0]
            admin.execute(f"TRUNCATE {tables} RESTART IDENTITY".encode())
        self.members.clear()

    def read(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Read the tables as their owner."""
        with administration.open_administration(self.address) as admin:
            return list(admin.execute(statement.encode(), values).fetchall())

    def list_connections(self) -> list[str]:
        """Return the states of the connections that the service has to the database."""
        with administration.open_administration(self.address) as admin:
            admin.execute("RESET ROLE")  # the owner of the tables may not see it
            rows = admin.execute(
                "SELECT state FROM pg_stat_activity"
                " WHERE datname = current_database() AND usename ~ '_service$'"
            ).fetchall()
        return [str(state) for (state,) in rows]

    def count(self) -> int:
        return int(self.read("SELECT count(*) FROM message")[0][0])

    def check_books(self) -> None:
        """Check that all tables tell of the same messages, each of them once and somebody's."""
        (counts,) = self.read(
            "SELECT (SELECT count(DISTINCT (project, id)) FROM message),"
            " (SELECT coalesce(sum(many), 0) FROM change),"
            " (SELECT count(*) FROM message m JOIN session s ON s.id = m.session"
            "  AND s.member = m.member AND s.project = m.project),"
            " (SELECT count(*) FROM vector),"
            " (SELECT count(*) FROM vector v JOIN message m USING (project, at, id))"
        )
        assert counts == (self.count(),) * 5

    def stop(self) -> None:
        self.server.stop()
        self.thread.join(20)
        assert not self.thread.is_alive()


def _serve(address: str, settings: dict[str, Any]) -> tuple[TeamServer, threading.Thread]:
    server = TeamServer(ServerSettings(address, port=0, **({"rate": 1e6} | settings)))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(500):
        try:
            if Member(server.port, "").ask("GET", "/v1/health").status == 200:
                break
        except OSError:
            pass
        time.sleep(0.01)
    return server, thread


class ServerProcess:
    """A server on a port of its own, which stays the same. `log` is a file for what it prints."""

    def __init__(self, database: str, log: Path, *options: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self._log = log
        self._command = [
            sys.executable, "-m", "memfs", "team", "serve", "--database", database,
            "--port", str(self.port), "--rate", "1000000", *options,
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def url(self) -> str:
        scheme = "https" if "--certificate" in self._command else "http"
        return f"{scheme}://127.0.0.1:{self.port}"

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it; return once it listens."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        deadline = time.monotonic() + LONG
        while time.monotonic() < deadline:
            assert self.is_alive, self.read_log()
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=LONG).close()
            except ConnectionRefusedError:
                time.sleep(0.01)
            else:
                return
        raise AssertionError(self.read_log())

    def kill(self) -> None:
        """End it with SIGKILL, wherever it is."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(LONG)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it with a signal; return what it ended with."""
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(LONG)

    def read_log(self) -> str:
        return self._log.read_text()
