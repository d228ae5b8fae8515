"""What each address of the service takes and gives, and how a request is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

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
from memfs.team.server.database import DatabaseAwayError, NoAccessError, TokenError, UnpreparedError

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
