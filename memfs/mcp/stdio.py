"""Standard input and output of the server; hooks are answered before the SDK gets them.

A line takes 4 ms to reach the SDK, through threads and models, and a prompt would wait for that. So
the reading thread answers a hook by itself, if the service answers at once.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, Literal

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
import msgspec
from anyio.lowlevel import EventLoopToken, current_token
from mcp_types import PROTOCOL_VERSION_META_KEY
from pydantic import ValidationError

from memfs import hosts
from memfs.ipc import client
from memfs.ipc.client import QUICK, HookCall, PersistentClient
from memfs.ops import host_event
from memfs.store import hook_log

TOOL = hosts.HOOK_TOOL
HOST = "host"  # the argument that says which host's hook it is
QUIET = "{}"  # no output: for an empty text Claude Code tells its model that a hook succeeded


def answer_at_once(
    client: PersistentClient, host: str, arguments: bytes, deliver: Callable[[bytes], object]
) -> bool:
    """Deliver the service's answer to a hook (JSON); False if it is slow, or leaves the work."""
    try:
        return client.ask(["0", host, "mcp"], arguments, deliver) is not None
    except Exception:  # noqa: BLE001 - the caller then answers it, and reports errors
        return False


def answer_hook(arguments: dict[str, object]) -> str:
    """Return the tool's text for a hook. Errors are lines in the log."""
    source = [str(arguments.get("cwd") or "."), f"{arguments.get(HOST, '')} hook"]
    output: list[bytes] = []
    try:
        call = _build_call(arguments)
        words, data = call.list_words(), call.read()
        found = client.ask("hook", words, data, QUICK, call=call, long_lived=True)
        if found is not None:
            return decode_answer(found)
        host_event.run(call, source, output.append, lambda _: None)
    except Exception as error:  # noqa: BLE001 - a hook never disturbs a session
        hook_log.log_error(source[0], source[1], error)
        return QUIET
    return decode_answer(b"".join(output))


def decode_answer(answer: bytes) -> str:
    """Return the output of a hook as the tool's text."""
    return answer.decode("utf-8", "replace") or QUIET


def _build_call(arguments: dict[str, object]) -> HookCall:
    """Return the hook call that a hook process would make of these arguments."""
    payload = {key: value for key, value in arguments.items() if key != HOST}
    return HookCall([str(arguments.get(HOST, "")), "mcp"], json.dumps(payload).encode())


_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]|[^\s\[\]{}:,"]+', re.DOTALL)
_NO_ANSWER = "notifications/"  # the prefix of methods without an answer, whatever their id

_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)
_HOOK = f'"{TOOL}"'.encode()


class _Arguments(msgspec.Struct):
    host: str = ""


class _Params(msgspec.Struct):
    name: str
    arguments: msgspec.Raw
    meta: dict[str, Any] | None = msgspec.field(name="_meta", default=None)


class _Call(msgspec.Struct):
    """A call of the hook tool, as the protocol writes it."""

    jsonrpc: Literal["2.0"]
    method: Literal["tools/call"]
    id: int | str
    params: _Params


_call = msgspec.json.Decoder(_Call).decode
_arguments = msgspec.json.Decoder(_Arguments).decode
_encode = msgspec.json.Encoder().encode


class StdioStreams:
    """The text streams of standard input and output for the SDK. Made in a running event loop.

    File descriptors 0 and 1 become the null device and standard error: what a tool or a child
    process reads or prints does not mix with the protocol's lines.
    """

    def __init__(self) -> None:
        self._input = os.dup(0)
        self._output = os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # there is no standard error
            os.dup2(null, 1)
        os.close(null)
        self._writing = threading.Lock()
        self._service = PersistentClient("hook")  # for the thread that reads
        self._lines, self._read_lines = anyio.create_memory_object_stream[str]()
        threading.Thread(target=self._read, args=(current_token(),), daemon=True).start()

    def __aiter__(self) -> AsyncIterator[str]:
        """Iterate over the incoming lines that were not answered here."""
        return self._read_lines

    async def write(self, text: str) -> None:
        await anyio.to_thread.run_sync(self._write, text.encode())

    async def flush(self) -> None:
        """Do nothing: `write` does not buffer."""

    def _read(self, loop: EventLoopToken) -> None:
        try:
            with os.fdopen(self._input, "rb") as lines:
                for each in lines:
                    line = replace_halves(each)
                    if self._answer_hook(line):
                        continue
                    text = line.decode("utf-8", "replace")
                    if answer := refuse_line(text):
                        self._write(f"{answer}\n".encode())
                    else:
                        anyio.from_thread.run(self._lines.send, text, token=loop)
        except (OSError, RuntimeError, CancelledError, *_CLOSED):
            return  # the client is gone, or the server ended before
        finally:
            with suppress(RuntimeError, CancelledError):
                anyio.from_thread.run_sync(self._lines.close, token=loop)

    def _answer_hook(self, line: bytes) -> bool:
        """Answer a hook call, if the service answers at once; return whether it did."""
        if _HOOK not in line:
            return False
        try:
            asked = _call(line)
            if asked.params.name != TOOL:
                return False
            given = asked.params.arguments
            host = _arguments(given).host
        except (ValueError, RecursionError, msgspec.MsgspecError):
            return False  # a call of another tool, or invalid: the SDK answers

        def deliver(answer: bytes) -> None:
            content = {"type": "text", "text": decode_answer(answer)}
            result: dict[str, object] = {"content": [content], "isError": False}
            if PROTOCOL_VERSION_META_KEY in (asked.params.meta or ()):  # since 2026-07-28
                result["resultType"] = "complete"
            self._write(_encode({"jsonrpc": "2.0", "id": asked.id, "result": result}) + b"\n")

        return answer_at_once(self._service, host, bytes(given), deliver)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        with self._writing:
            while rest:
                rest = rest[os.write(self._output, rest) :]


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
