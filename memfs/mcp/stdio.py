"""Standard input and output of the server; hooks are answered before the SDK gets them.

A line takes 4 ms to reach the SDK, through threads and models, and a prompt would wait for that. So
the reading thread answers a hook by itself, if the service answers at once.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, Literal

import anyio
import anyio.from_thread
import anyio.to_thread
import msgspec
from anyio.lowlevel import EventLoopToken, current_token
from mcp_types import PROTOCOL_VERSION_META_KEY

from memfs.ipc.service_client import PersistentClient
from memfs.mcp import hooks, malformed_messages

_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)
_HOOK = f'"{hooks.TOOL}"'.encode()


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
        if sys.platform == "win32":  # pragma: no cover - where children have handles, not numbers
            from mcp.os.win32.utilities import rebind_std_handle_to_fd  # of Windows alone

            rebind_std_handle_to_fd(0)
            rebind_std_handle_to_fd(1)
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
                    line = malformed_messages.replace_halves(each)
                    if self._answer_hook(line):
                        continue
                    text = line.decode("utf-8", "replace")
                    if answer := malformed_messages.refuse_line(text):
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
            if asked.params.name != hooks.TOOL:
                return False
            given = asked.params.arguments
            host = _arguments(given).host
        except (ValueError, RecursionError, msgspec.MsgspecError):
            return False  # a call of another tool, or invalid: the SDK answers

        def deliver(answer: bytes) -> None:
            content = {"type": "text", "text": hooks.decode_answer(answer)}
            result: dict[str, object] = {"content": [content], "isError": False}
            if PROTOCOL_VERSION_META_KEY in (asked.params.meta or ()):  # since 2026-07-28
                result["resultType"] = "complete"
            self._write(_encode({"jsonrpc": "2.0", "id": asked.id, "result": result}) + b"\n")

        return hooks.answer_at_once(self._service, host, bytes(given), deliver)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        with self._writing:
            while rest:
                rest = rest[os.write(self._output, rest) :]
