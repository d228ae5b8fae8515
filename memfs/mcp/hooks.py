"""Hooks that hosts call as a tool of this server, which runs already: no process is started.

The tool is told what the standard input of a hook process tells, as far as a prompt needs it, and
returns what that process would print.
"""

from __future__ import annotations

import json

from memfs import hosts
from memfs.hook import log, main
from memfs.store import service
from memfs.store.asking import Call

TOOL = hosts.HOOK_TOOL
HOST = "host"  # the argument that says which host's hook it is
_WAIT = 1.0  # seconds for the service


def answered(arguments: dict[str, object]) -> str:
    """Return what a hook is answered; "" for nothing. Whatever goes wrong is a line in the log."""
    words = [str(arguments.get(HOST, "")), "mcp"]
    payload = {key: value for key, value in arguments.items() if key != HOST}
    told = [str(payload.get("cwd") or "."), f"{words[0]} hook"]
    said: list[bytes] = []
    try:
        call = Call(words, json.dumps(payload).encode())
        found = service.ask("hook", call.told(), call.read(), _WAIT, lasting=True)
        if found is not None:
            return found.decode("utf-8", "replace")
        main.run(call, told, said.append, lambda _: None)
    except Exception as error:  # noqa: BLE001 - a hook never disturbs a session
        log.line(told[0], told[1], error)
        return ""
    return b"".join(said).decode("utf-8", "replace")
