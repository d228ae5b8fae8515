"""The application: who may ask, what is asked, and what is noted of it."""

import asyncio
import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC

import msgspec
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memfs.core.errors import MemfsError, UsageError
from memfs.ipc.client import VERSION
from memfs.team import protocol
from memfs.team.protocol import ENDPOINTS, HEADER, PREFIX, PROTOCOL, ApiEndpoint, Refusal
from memfs.team.server import push_rows, search
from memfs.team.server.database import (
    DatabaseAwayError,
    Ledger,
    NoAccessError,
    TeamDatabase,
    TokenError,
    UnpreparedError,
    hash_token,
)

LARGEST = 8 << 20  # bytes of a body
_LONGEST_TOKEN = 200
_BURST = 2.0  # seconds' worth at once
_MOST = 20_000  # tokens that are remembered
_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_MESSAGES = 10  # that a member may push a second, for each request
_WAIT = 3.0  # seconds that a search waits for its turn
_JSON = "application/json"
_GONE = 499  # the status of a client that went away, as proxies write it


class OtherProtocolError(MemfsError):
    """The client speaks another version of the protocol."""


class BusyError(MemfsError):
    """The service has too much to do, or the member asks too often."""


class ShutdownError(MemfsError):
    """The service is being stopped, and what was asked is not done yet."""


class TooLargeError(MemfsError):
    """The body of a request is too large."""


_STATUS: dict[type[MemfsError], int] = {
    UsageError: 400,
    TokenError: 401,
    NoAccessError: 403,
    TooLargeError: 413,
    OtherProtocolError: 426,
    BusyError: 429,
    DatabaseAwayError: 503,
    ShutdownError: 503,
    UnpreparedError: 503,
}


class TeamService:
    """Answers the requests of members.

    `rate` requests a second of each, and `searches` that are computed at once.
    """

    def __init__(self, database: TeamDatabase, rate: float, searches: int) -> None:
        self.metrics = ServiceMetrics()
        self._database = database
        self._requests, self._messages = RateLimit(rate), RateLimit(rate * _MESSAGES)
        self._turns = threading.BoundedSemaphore(searches)
        self._vectors: bool | None = None

    def answer(self, endpoint: ApiEndpoint, token: str, body: bytes) -> object:
        """Do what is asked, and return the answer. Raises `MemfsError`."""
        self._requests.check(token)
        asked = _decode_body(body, endpoint.takes) if endpoint.takes else None
        ledger = Ledger(self._database, token)
        match asked:
            case protocol.PushRequest():
                self._messages.check(token, len(asked.messages))
                return self._push(ledger, asked)
            case protocol.RetractRequest():
                return push_rows.retract(ledger, asked)
            case protocol.PurgeRequest():
                return ledger.call(protocol.PurgeReply, "purge", asked.project)[0]
            case protocol.TeamSearchRequest():
                with self._take_turn():
                    return search.search(ledger, asked)
            case protocol.RecallRequest():
                with self._take_turn():
                    return search.recall(ledger, asked)
            case _:
                ((team, member, scopes, expires, found),) = ledger.call(lambda *row: row, "whoami")
                until = expires.astimezone(UTC).isoformat()[:19] + "Z"
                projects = msgspec.convert(found, list[protocol.TeamProject])
                return protocol.Membership(team, member, scopes, until, VERSION, projects)

    def describe_health(self) -> Response:
        """Tell whether the database answers."""
        told: dict[str, object] = {"status": "ok", "protocol": PROTOCOL}
        try:
            told["schema"], told["vectors"] = self._database.describe()
        except MemfsError as error:
            return JSONResponse(told | {"status": error.message}, 503)
        return JSONResponse(told)

    def describe_metrics(self, token: str) -> bytes:
        """Return the counters, for a token with the scope `metrics`. Raises `MemfsError`."""
        Ledger(self._database, token).call(str, "check_scope", "metrics")
        return generate_latest(self.metrics.registry)

    def _push(self, ledger: Ledger, request: protocol.PushRequest) -> protocol.PushReply:
        ledger.call(str, "check_scope", "push")  # before any work is done for it
        if self._vectors is None:
            self._vectors = self._database.describe()[1]
        reply = push_rows.push(ledger, request, vectors=self._vectors)
        counts = {"stored": reply.stored, "known": reply.known, "refused": len(reply.refused)}
        for outcome, count in counts.items():
            self.metrics.messages.labels(outcome).inc(count)
        return reply

    @contextmanager
    def _take_turn(self) -> Iterator[None]:
        if not self._turns.acquire(timeout=_WAIT):
            raise BusyError("the server is busy", "try again in a moment")
        try:
            yield
        finally:
            self._turns.release()


def make_application(service: TeamService) -> Starlette:
    """Return the application of a service."""

    async def health(_: Request) -> Response:
        return await run_in_threadpool(service.describe_health)

    async def metrics(request: Request) -> Response:
        try:
            token = _read_token(request.headers)
            text = await run_in_threadpool(service.describe_metrics, token)
        except MemfsError as error:
            return _refuse(error)
        return Response(text, media_type="text/plain; version=0.0.4")

    async def openapi(_: Request) -> Response:
        return Response(describe_api(), media_type=_JSON)

    return Starlette(
        routes=[
            *(_make_route(service, endpoint) for endpoint in ENDPOINTS),
            Route("/v1/health", health),
            Route("/metrics", metrics),
            Route("/openapi.json", openapi),
        ]
    )


def _make_route(service: TeamService, endpoint: ApiEndpoint) -> Route:
    async def answer(request: Request) -> Response:
        began = time.perf_counter()
        token = failed = ""
        try:
            _check_protocol(request.headers)
            token = _read_token(request.headers)
            body = await _read_body(request)
            found = await run_in_threadpool(service.answer, endpoint, token, body)
            response = Response(msgspec.json.encode(found), media_type=_JSON)
        except MemfsError as error:
            response = _refuse(error)
        except ClientDisconnect:
            response = Response(status_code=_GONE)  # for the log: nobody reads it
        except asyncio.CancelledError:  # it took too long for a server that is being stopped
            stopped = ShutdownError("the server is shutting down", "try again in a moment")
            response = _refuse(stopped)
        except Exception as error:  # noqa: BLE001 - one request must not end the service
            failed = type(error).__name__
            response = _refuse(
                MemfsError(
                    "the server failed to answer",
                    "ask the server's administrator to look for the cause in the server's log",
                )
            )
        seconds = time.perf_counter() - began
        service.metrics.note_request(endpoint.path, response.status_code, seconds)
        _log(endpoint, token, response.status_code, seconds, failed)
        return response

    return Route(endpoint.path, answer, methods=[endpoint.method])


def _check_protocol(headers: Mapping[str, str]) -> None:
    spoken = headers.get(HEADER, "")
    if spoken != str(PROTOCOL):
        newer = spoken.isdecimal() and len(spoken) < 9 and int(spoken) > PROTOCOL
        raise OtherProtocolError(
            f"this server uses protocol version {PROTOCOL} (memfs {VERSION})",
            "ask the server's administrator to update the server" if newer else "update memfs",
        )


def _read_token(headers: Mapping[str, str]) -> str:
    kind, _, token = headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token.startswith(PREFIX) or len(token) > _LONGEST_TOKEN:
        raise TokenError(
            "the request has no token", f"send the header 'Authorization: Bearer {PREFIX}…'"
        )
    return token


async def _read_body(request: Request) -> bytes:
    """Return the body. Raises `TooLargeError`: no more than that is read."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST:
            raise TooLargeError(f"the request body is larger than {LARGEST:,} bytes")
        parts.append(part)
    return b"".join(parts)


def _decode_body(data: bytes, takes: type) -> object:
    """Decode a body. Raises `UsageError`, which tells nothing of what is in it."""
    try:
        return msgspec.json.decode(data, type=takes)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"the request body is not valid: {error}", "see /openapi.json for the format"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UsageError(
            "the request body is not JSON", "see /openapi.json for the format"
        ) from None


def _refuse(error: MemfsError) -> Response:
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
    headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}}.get(status)
    body = msgspec.json.encode(Refusal(error.message, str(error.hint)))
    return Response(body, status, headers, media_type=_JSON)


def _log(endpoint: ApiEndpoint, token: str, status: int, seconds: float, failed: str) -> None:
    """Write a line of JSON: of who asked, the beginning of the token's hash; no words."""
    line = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "path": endpoint.path,
        "status": status,
        "ms": round(seconds * 1000, 1),
        "token": hash_token(token).hex()[:8] if token else "",
        **({"failed": failed} if failed else {}),
    }
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # nobody reads it, or its disk is full
            sys.stderr.write(json.dumps(line) + "\n")
            sys.stderr.flush()


def describe_api() -> bytes:
    """Return the OpenAPI description of the service."""
    kinds = {each for end in ENDPOINTS for each in (end.takes, end.gives) if each} | {Refusal}
    ordered = sorted(kinds, key=lambda kind: kind.__name__)
    schemas, components = msgspec.json.schema_components(
        ordered, ref_template="#/components/schemas/{name}"
    )
    contents = {
        kind: {_JSON: {"schema": schema}} for kind, schema in zip(ordered, schemas, strict=True)
    }
    refusal = {"description": "Refused", "content": contents[Refusal]}
    version = {"type": "string", "enum": [str(PROTOCOL)]}
    header = {"name": HEADER, "in": "header", "required": True, "schema": version}
    paths: dict[str, dict[str, object]] = {}
    for end in ENDPOINTS:
        operation: dict[str, object] = {
            "operationId": end.path.rpartition("/")[2],
            "summary": end.summary,
            "security": [{"token": []}],
            "parameters": [header],
            "responses": {
                "200": {"description": "Done", "content": contents[end.gives]},
                **{str(code): refusal for code in _STATUS.values()},
            },
        }
        if end.takes:
            operation["requestBody"] = {"required": True, "content": contents[end.takes]}
        paths[end.path] = {end.method.lower(): operation}
    schemes = {"token": {"type": "http", "scheme": "bearer"}}
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {"title": "memfs team", "version": VERSION},
            "paths": paths,
            "components": {"schemas": components, "securitySchemes": schemes},
        }
    )


class ServiceMetrics:
    """What one service has done since its start. `messages` have the outcome of a push."""

    def __init__(self) -> None:
        own = self.registry = CollectorRegistry()
        name, about = "memfs_team_requests", "Requests"
        self._requests = Counter(name, about, ["path", "status"], registry=own)
        name, about = "memfs_team_seconds", "Duration of requests in seconds"
        self._seconds = Histogram(name, about, ["path"], buckets=_SECONDS, registry=own)
        name, about = "memfs_team_messages", "Messages that members pushed"
        self.messages = Counter(name, about, ["outcome"], registry=own)

    def note_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request to one of our addresses."""
        self._requests.labels(path, status).inc()
        self._seconds.labels(path).observe(seconds)


class RateLimit:
    """Lets so many requests, or messages, a second through for each token. Thread-safe."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}  # what is left, and when that was

    def check(self, token: str, cost: int = 1) -> None:
        """Take so much out of a token's bucket, more than is left if need be.

        Raises `BusyError` for an empty one.
        """
        now = time.monotonic()
        with self._lock:
            if len(self._buckets) > _MOST:
                self._buckets.clear()
            full = self._rate * _BURST
            left, then = self._buckets.pop(token, (full, now))
            left = min(full, left + (now - then) * self._rate)
            self._buckets[token] = (left - cost if left >= 1 else left), now
        if left < 1:
            raise BusyError("too many requests", "try again in a second")
