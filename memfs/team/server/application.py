"""The application: who may ask, what is asked, and what is noted of it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, cast

import msgspec
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memfs.core.errors import MemfsError, UsageError
from memfs.ipc.client import VERSION
from memfs.team.protocol import (
    HEADER,
    PREFIX,
    PROTOCOL,
    Membership,
    PurgeReply,
    PurgeRequest,
    PushReply,
    PushRequest,
    RecallReply,
    RecallRequest,
    Refusal,
    RetractReply,
    RetractRequest,
    SearchReply,
    TeamSearchRequest,
)
from memfs.team.server import push_rows, search
from memfs.team.server.database import (
    DatabaseAwayError,
    NoAccessError,
    TeamDatabase,
    TokenError,
    UnpreparedError,
)
from memfs.team.server.ledger import Ledger
from memfs.team.server.search import EngineSource

LARGEST = 8 << 20  # bytes of a body
_LONGEST_TOKEN = 200


class ApiEndpoint(NamedTuple):
    """An address: the classes of its request (None: it takes no body) and of its answer."""

    method: str
    path: str
    summary: str
    takes: type | None
    gives: type


ENDPOINTS = (
    ApiEndpoint("GET", "/v1/me", "Whose token this is, and what it may see", None, Membership),
    ApiEndpoint("POST", "/v1/push", "Share messages for a project", PushRequest, PushReply),
    ApiEndpoint("POST", "/v1/retract", "Take messages of yours back", RetractRequest, RetractReply),
    ApiEndpoint("POST", "/v1/purge", "Remove everything of yours", PurgeRequest, PurgeReply),
    ApiEndpoint("POST", "/v1/search", "Search projects", TeamSearchRequest, SearchReply),
    ApiEndpoint("POST", "/v1/recall", "What others' sessions say", RecallRequest, RecallReply),
)


class OtherProtocolError(MemfsError):
    """The client speaks another version of the protocol."""


class BusyError(MemfsError):
    """The service has too much to do, or the member asks too often."""


class ShutdownError(MemfsError):
    """The service is being stopped, and what was asked is not done yet."""


_STATUS: dict[type[MemfsError], int] = {
    UsageError: 400,
    TokenError: 401,
    NoAccessError: 403,
    OtherProtocolError: 426,
    BusyError: 429,
    DatabaseAwayError: 503,
    ShutdownError: 503,
    UnpreparedError: 503,
}


def check_protocol(headers: Mapping[str, str]) -> None:
    """Raise `OtherProtocolError` for a client of another version."""
    spoken = headers.get(HEADER, "")
    if spoken != str(PROTOCOL):
        newer = spoken.isdecimal() and len(spoken) < 9 and int(spoken) > PROTOCOL
        raise OtherProtocolError(
            f"this server speaks version {PROTOCOL} of the protocol (memfs {VERSION})",
            "the server has to be updated" if newer else "update memfs",
        )


def read_token(headers: Mapping[str, str]) -> str:
    """Return the token of a request. Raises `TokenError`."""
    kind, _, token = headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token.startswith(PREFIX) or len(token) > _LONGEST_TOKEN:
        raise TokenError("a token is needed", f"Authorization: Bearer {PREFIX}…")
    return token


def read_body(data: bytes, takes: type[msgspec.Struct] | type) -> object:
    """Decode a body. Raises `UsageError`, which tells nothing of what is in it."""
    try:
        return msgspec.json.decode(data, type=takes)
    except msgspec.ValidationError as error:
        raise UsageError(f"the body does not fit: {error}", "/openapi.json has the forms") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UsageError("the body is not JSON", "/openapi.json has the forms") from None


def refuse(error: MemfsError) -> tuple[int, bytes]:
    """Return the status and the body of a refusal."""
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
    return status, msgspec.json.encode(Refusal(error.message, str(error.hint)))


def describe_api() -> bytes:
    """Return the OpenAPI description of the service."""
    kinds = {each for end in ENDPOINTS for each in (end.takes, end.gives) if each} | {Refusal}
    ordered = sorted(kinds, key=lambda kind: kind.__name__)
    schemas, components = msgspec.json.schema_components(
        ordered, ref_template="#/components/schemas/{name}"
    )
    named = dict(zip(ordered, schemas, strict=True))
    refusal = {"description": "Refused", "content": _describe_content(named[Refusal])}
    paths: dict[str, dict[str, object]] = {}
    for end in ENDPOINTS:
        operation: dict[str, object] = {
            "operationId": end.path.rpartition("/")[2],
            "summary": end.summary,
            "security": [{"token": []}],
            "parameters": [
                {
                    "name": HEADER,
                    "in": "header",
                    "required": True,
                    "schema": {"type": "string", "enum": [str(PROTOCOL)]},
                }
            ],
            "responses": {
                "200": {"description": "Done", "content": _describe_content(named[end.gives])},
                **{str(code): refusal for code in (*_STATUS.values(), 413)},
            },
        }
        if end.takes:
            operation["requestBody"] = {
                "required": True,
                "content": _describe_content(named[end.takes]),
            }
        paths[end.path] = {end.method.lower(): operation}
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {"title": "memfs team", "version": VERSION},
            "paths": paths,
            "components": {
                "schemas": components,
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
        }
    )


def _describe_content(schema: object) -> dict[str, object]:
    return {"application/json": {"schema": schema}}


_BURST = 2.0  # seconds' worth at once
_MOST = 20_000  # tokens that are remembered

_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)

_MESSAGES = 10  # that a member may push a second, for each request
_WAIT = 3.0  # seconds that a search waits for its turn
_JSON = "application/json"
_GONE = 499  # the status of a client that went away, as proxies write it


class TeamService:
    """Answers the requests of members.

    `rate` requests a second of each, and `searches` that are computed at once.
    """

    def __init__(
        self, database: TeamDatabase, source: EngineSource, rate: float, searches: int
    ) -> None:
        self.metrics = ServiceMetrics()
        self._database, self._source = database, source
        self._requests, self._messages = RateLimit(rate), RateLimit(rate * _MESSAGES)
        self._turns = threading.BoundedSemaphore(searches)
        self._vectors: bool | None = None

    def answer(self, endpoint: ApiEndpoint, token: str, body: bytes) -> object:
        """Do what is asked, and return the answer. Raises `MemfsError`."""
        self._requests.check(token)
        asked = read_body(body, endpoint.takes) if endpoint.takes else None
        ledger = Ledger(self._database, token)
        match endpoint.path:
            case "/v1/push":
                push = cast("PushRequest", asked)
                self._messages.check(token, len(push.messages))
                return self._push(ledger, push)
            case "/v1/retract":
                push_rows.check_retraction(cast("RetractRequest", asked))
                return ledger.retract(cast("RetractRequest", asked))
            case "/v1/purge":
                return ledger.purge(cast("PurgeRequest", asked).project)
            case "/v1/search":
                with _Turn(self._turns):
                    return search.search(ledger, cast("TeamSearchRequest", asked), self._source)
            case "/v1/recall":
                with _Turn(self._turns):
                    return search.recall(ledger, cast("RecallRequest", asked), self._source)
            case _:
                return ledger.get_membership()

    def describe_health(self) -> tuple[int, dict[str, object]]:
        """Return the status, and whether the database answers."""
        try:
            version, vectors, _ = self._database.call("describe")[0]
        except MemfsError as error:
            return 503, {"status": error.message, "protocol": PROTOCOL}
        return 200, {"status": "ok", "protocol": PROTOCOL, "schema": version, "vectors": vectors}

    def describe_metrics(self, token: str) -> bytes:
        """Return the counters, for a token with the scope `metrics`. Raises `MemfsError`."""
        Ledger(self._database, token).check_scope("metrics")
        return self.metrics.format()

    def _push(self, ledger: Ledger, request: PushRequest) -> PushReply:
        ledger.check_scope("push")  # before any work is done for it
        if self._vectors is None:
            self._vectors = bool(self._database.call("describe")[0][1])
        reply = ledger.push(push_rows.prepare_rows(request, vectors=self._vectors))
        self.metrics.note_messages("stored", reply.stored)
        self.metrics.note_messages("known", reply.known)
        self.metrics.note_messages("refused", len(reply.refused))
        return reply


class _Turn:
    """Waits for a turn. Raises `BusyError` after a while."""

    def __init__(self, turns: threading.BoundedSemaphore) -> None:
        self._turns = turns

    def __enter__(self) -> None:
        if not self._turns.acquire(timeout=_WAIT):
            raise BusyError("the server is busy", "try again in a moment")

    def __exit__(self, *_: object) -> None:
        self._turns.release()


def make_application(service: TeamService) -> Starlette:
    """Return the application of a service."""
    routes = [_make_route(service, endpoint) for endpoint in ENDPOINTS]

    async def health(_: Request) -> Response:
        status, told = await run_in_threadpool(service.describe_health)
        return JSONResponse(told, status)

    async def metrics(request: Request) -> Response:
        try:
            token = read_token(request.headers)
            text = await run_in_threadpool(service.describe_metrics, token)
        except MemfsError as error:
            return _refuse(error)
        return Response(text, media_type="text/plain; version=0.0.4")

    async def openapi(_: Request) -> Response:
        return Response(describe_api(), media_type=_JSON)

    routes += [
        Route("/v1/health", health),
        Route("/metrics", metrics),
        Route("/openapi.json", openapi),
    ]
    return Starlette(routes=routes)


def _make_route(service: TeamService, endpoint: ApiEndpoint) -> Route:
    async def answer(request: Request) -> Response:
        began = time.perf_counter()
        token = failed = ""
        try:
            check_protocol(request.headers)
            token = read_token(request.headers)
            body = await _read_body(request)
            if body is None:
                response = Response(_TOO_LARGE, 413, media_type=_JSON)
            else:
                found = await run_in_threadpool(service.answer, endpoint, token, body)
                response = Response(msgspec.json.encode(found), media_type=_JSON)
        except MemfsError as error:
            response = _refuse(error)
        except ClientDisconnect:
            response = Response(status_code=_GONE)  # for the log: nobody reads it
        except asyncio.CancelledError:  # it took too long for a server that is being stopped
            response = _refuse(
                ShutdownError("the server is being stopped", "try again in a moment")
            )
        except Exception as error:  # noqa: BLE001 - one request must not end the service
            failed = type(error).__name__
            response = _refuse(MemfsError("the server failed", "its log says why"))
        seconds = time.perf_counter() - began
        service.metrics.note_request(endpoint.path, response.status_code, seconds)
        _log(endpoint, token, response.status_code, seconds, failed)
        return response

    return Route(endpoint.path, answer, methods=[endpoint.method])


_TOO_LARGE = msgspec.json.encode({"error": f"the body has more than {LARGEST:,} bytes", "hint": ""})


async def _read_body(request: Request) -> bytes | None:
    """Return the body, None for one that is too large: no more than that is read."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST:
            return None
        parts.append(part)
    return b"".join(parts)


def _refuse(error: MemfsError) -> Response:
    status, body = refuse(error)
    headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}}.get(status)
    return Response(body, status, headers, media_type=_JSON)


def _log(endpoint: ApiEndpoint, token: str, status: int, seconds: float, failed: str) -> None:
    """Write a line of JSON: of who asked, the beginning of the token's hash; no words."""
    line = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "path": endpoint.path,
        "status": status,
        "ms": round(seconds * 1000, 1),
        "token": hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()[:8] if token else "",
        **({"failed": failed} if failed else {}),
    }
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # nobody reads it, or its disk is full
            sys.stderr.write(json.dumps(line) + "\n")
            sys.stderr.flush()


class ServiceMetrics:
    """What one service has done since its start."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "memfs_team_requests", "Requests", ["path", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "memfs_team_seconds", "Seconds a request took", ["path"], buckets=_SECONDS,
            registry=self._registry,
        )  # fmt: skip
        self._messages = Counter(
            "memfs_team_messages", "Messages that were pushed", ["outcome"],
            registry=self._registry,
        )  # fmt: skip

    def note_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request to one of our addresses."""
        self._requests.labels(path, status).inc()
        self._seconds.labels(path).observe(seconds)

    def note_messages(self, outcome: str, count: int) -> None:
        """Count messages that were stored, known already, or refused."""
        if count:
            self._messages.labels(outcome).inc(count)

    def format(self) -> bytes:
        """Return all counters as text."""
        return generate_latest(self._registry)


class RateLimit:
    """Lets so many requests, or messages, a second through for each token. Thread-safe."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}  # what is left, and when that was

    def check(self, token: str, cost: int = 1) -> None:
        """Take so much out of a token's bucket, more than is left if need be.

        Raises `BusyError` for an empty one.
        """
        now = self._clock()
        with self._lock:
            if len(self._buckets) > _MOST:
                self._buckets.clear()
            full = self._rate * _BURST
            left, then = self._buckets.pop(token, (full, now))
            left = min(full, left + (now - then) * self._rate)
            self._buckets[token] = (left - cost if left >= 1 else left), now
        if left < 1:
            raise BusyError("you ask too often", "try again in a second")
