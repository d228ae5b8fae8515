"""Hooks that hosts call as a tool of this server, which runs already: no process is started.

The tool is told what the standard input of a hook process tells, as far as a prompt needs it, and
returns what that process would print.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memfs import hosts
from memfs.hook import log, main
from memfs.store import asking, service
from memfs.store.asking import QUICK, Call

if TYPE_CHECKING:
    from collections.abc import Callable

TOOL = hosts.HOOK_TOOL
HOST = "host"  # the argument that says which host's hook it is


def at_once(arguments: dict[str, object], deliver: Callable[[bytes], object]) -> bool:
    """Deliver what the service answers a hook; False if that takes it longer, or is another's."""
    try:
        call = _call(arguments)
        line = service.connect(QUICK)
        if line is None:
            return False
        try:
            question = service.question("hook", call.told(), call.read())
            return asking.exchange(line, question, deliver) is not None
        finally:
            line.close()
    except Exception:  # noqa: BLE001 - who answers it then, says what is wrong
        return False


def answered(arguments: dict[str, object]) -> str:
    """Return what a hook is answered; "" for nothing. Whatever goes wrong is a line in the log."""
    told = [str(arguments.get("cwd") or "."), f"{arguments.get(HOST, '')} hook"]
    said: list[bytes] = []
    try:
        call = _call(arguments)
        found = service.ask("hook", call.told(), call.read(), QUICK, lasting=True)
        if found is not None:
            return found.decode("utf-8", "replace")
        main.run(call, told, said.append, lambda _: None)
    except Exception as error:  # noqa: BLE001 - a hook never disturbs a session
        log.line(told[0], told[1], error)
        return ""
    return b"".join(said).decode("utf-8", "replace")


def _call(arguments: dict[str, object]) -> Call:
    """Return what would be the call of a process."""
    payload = {key: value for key, value in arguments.items() if key != HOST}
    return Call([str(arguments.get(HOST, "")), "mcp"], json.dumps(payload).encode())
