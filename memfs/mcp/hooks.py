"""Hooks that hosts call as a tool of this server, which runs already: no process is started.

The tool's arguments are those fields of a hook's standard input that a prompt needs. It returns
the output of a hook process, or an empty object if there is none.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from memfs import hosts
from memfs.ipc import service_client
from memfs.ipc.client import QUICK, HookCall
from memfs.ipc.service_client import PersistentClient
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
        found = service_client.ask("hook", call.list_words(), call.read(), QUICK, long_lived=True)
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
