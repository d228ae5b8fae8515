"""Answers lines of a client that the SDK would leave without an answer.

The SDK only logs a line that is no message, and the client waits for ever. Halves of surrogate
pairs, which JSON can write and UTF-8 cannot, are replaced before.
"""

from __future__ import annotations

import json
import re

import mcp_types as types
from pydantic import ValidationError

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]|[^\s\[\]{}:,"]+', re.DOTALL)
_NO_ANSWER = "notifications/"  # the prefix of methods without an answer, whatever their id


def replace_halves(line: bytes) -> bytes:
    """Return a line with U+FFFD in the place of each half of a surrogate pair."""
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return _ESCAPE.sub(lambda found: b"\\ufffd" if found[1] else found[0], line)


def refuse_line(line: str) -> str:
    """Return the error for a line that is no message, "" if the SDK answers it or nobody does."""
    if not line.strip():
        return ""
    code, wrong = types.INVALID_REQUEST, "an id is a string or a whole number"
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not isinstance(message, types.JSONRPCNotification) or '"id"' not in line:
            return ""
    except ValidationError as error:
        wrong = "it is no message of JSON-RPC 2.0"
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            code, wrong = types.PARSE_ERROR, first["msg"]
    given = _scan_fields(line)
    method = given.get("method", "")
    asks_nothing = method.startswith(f'"{_NO_ANSWER}') or (bool(method) and "id" not in given)
    if asks_nothing or (not method and given.keys() & {"result", "error"}):
        return ""
    answer = {"jsonrpc": "2.0", "id": _parse_id(given), "error": {"code": code, "message": wrong}}
    return json.dumps(answer)


def _parse_id(given: dict[str, str]) -> int | str | None:
    """Return the id of a request, None if it is missing or invalid."""
    try:
        found = json.loads(given.get("id", "null"))
    except ValueError:
        return None
    return found if isinstance(found, (int, str)) and not isinstance(found, bool) else None


def _scan_fields(line: str) -> dict[str, str]:
    """Return the fields of an object as raw JSON, however deep or broken their values are.

    The value of an object or a list is its opening bracket alone.
    """
    found: dict[str, str] = {}
    depth, name = 0, ""
    for match in _TOKEN.finditer(line):
        token = match[0]
        if token in ("]", "}"):
            depth -= 1
            name = "" if depth == 1 else name
            continue
        if depth == 1 and name:
            found.setdefault(name, token)
            name = ""
        elif depth == 1 and token[0] == '"':
            name = token[1:-1]
        if token in ("[", "{"):
            depth += 1
    return found
