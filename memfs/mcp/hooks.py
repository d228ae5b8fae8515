"""Hooks that hosts call as a tool of this server, which runs already: no process is started.

The tool is told what the standard input of a hook process tells, as far as a prompt needs it, and
returns what that process would print; for nothing, an empty object.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memfs import hosts
from memfs.ipc import service_client
from memfs.ipc.client import QUICK, HookCall
from memfs.ops import host_event
from memfs.store import hook_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.ipc.service_client import PersistentClient

TOOL = hosts.HOOK_TOOL
HOST = "host"  # the argument that says which host's hook it is
QUIET = "{}"  # for nothing: of an empty text Claude Code tells its model that a hook succeeded


def answer_at_once(
    line: PersistentClient, host: str, arguments: bytes, deliver: Callable[[bytes], object]
) -> bool:
    """Deliver what the service answers a hook; False if that takes it longer, or is another's.

    `arguments` are JSON.
    """
    try:
        return line.ask(["0", host, "mcp"], arguments, deliver) is not None
    except Exception:  # noqa: BLE001 - who answers it then, says what is wrong
        return False


def answer_hook(arguments: dict[str, object]) -> str:
    """Return the tool's text for a hook. Whatever goes wrong is a line in the log."""
    told = [str(arguments.get("cwd") or "."), f"{arguments.get(HOST, '')} hook"]
    said: list[bytes] = []
    try:
        call = _call(arguments)
        found = service_client.ask("hook", call.told(), call.read(), QUICK, lasting=True)
        if found is not None:
            return text(found)
        host_event.run(call, told, said.append, lambda _: None)
    except Exception as error:  # noqa: BLE001 - a hook never disturbs a session
        hook_log.log_error(told[0], told[1], error)
        return QUIET
    return text(b"".join(said))


def text(answer: bytes) -> str:
    """Return what a hook would print as the tool's text."""
    return answer.decode("utf-8", "replace") or QUIET


def _call(arguments: dict[str, object]) -> HookCall:
    """Return what would be the call of a process."""
    payload = {key: value for key, value in arguments.items() if key != HOST}
    return HookCall([str(arguments.get(HOST, "")), "mcp"], json.dumps(payload).encode())
