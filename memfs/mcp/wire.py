"""Standard input and output of the server, and hooks that are answered before the SDK has them.

To the SDK a line goes through threads and models: 4 ms, which somebody's prompt would wait. So the
thread that reads lines answers a hook by itself where the service does so at once.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
import anyio.from_thread
import anyio.to_thread
from anyio.lowlevel import current_token
from mcp_types import PROTOCOL_VERSION_META_KEY

from memfs.mcp import hooks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.lowlevel import EventLoopToken

_CALL = ("2.0", "tools/call", hooks.TOOL)
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)
_HOOK = f'"{hooks.TOOL}"'.encode()


class Wire:
    """What the SDK takes for the text files of standard input and output.

    While there is one, the process's own are the null device and standard error: what a tool or a
    child of it reads or prints does not get between the lines. Made in a running event loop.
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
            from mcp.os.win32.utilities import rebind_std_handle_to_fd

            rebind_std_handle_to_fd(0)
            rebind_std_handle_to_fd(1)
        self._writing = threading.Lock()
        self._lines, self._read_lines = anyio.create_memory_object_stream[str]()
        threading.Thread(target=self._read, args=(current_token(),), daemon=True).start()

    def __aiter__(self) -> AsyncIterator[str]:
        """Go through the lines that come in, but for those that were answered."""
        return self._read_lines

    async def write(self, text: str) -> None:
        await anyio.to_thread.run_sync(self._write, text.encode())

    async def flush(self) -> None:
        """Do nothing: what was written is out."""

    def _read(self, loop: EventLoopToken) -> None:
        try:
            with os.fdopen(self._input, "rb") as lines:
                for line in lines:
                    if not self._answered(line):
                        text = line.decode("utf-8", "replace")
                        anyio.from_thread.run(self._lines.send, text, token=loop)
        except (OSError, RuntimeError, CancelledError, *_CLOSED):
            return  # the client is gone, or the server ended before
        finally:
            with suppress(RuntimeError, CancelledError):
                anyio.from_thread.run_sync(self._lines.close, token=loop)

    def _answered(self, line: bytes) -> bool:
        """Answer a hook that the service answers at once; False for anything else."""
        if _HOOK not in line:
            return False
        try:
            asked = json.loads(line)
            number, params = asked["id"], asked["params"]
            if (asked["jsonrpc"], asked["method"], params["name"]) != _CALL:
                return False
            if type(number) not in (int, str):
                return False
            given, meta = {**params["arguments"]}, params.get("_meta") or ()
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return False  # the SDK tells what is wrong with it

        def deliver(text: bytes) -> None:
            content = {"type": "text", "text": text.decode("utf-8", "replace")}
            result: dict[str, object] = {"content": [content], "isError": False}
            if PROTOCOL_VERSION_META_KEY in meta:  # since 2026-07-28
                result["resultType"] = "complete"
            answer = {"jsonrpc": "2.0", "id": number, "result": result}
            self._write(json.dumps(answer).encode() + b"\n")

        return hooks.at_once(given, deliver)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        with self._writing:
            while rest:
                rest = rest[os.write(self._output, rest) :]
