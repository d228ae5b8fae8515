"""One hook call: JSON in, JSON or nothing out, always exit 0, always in time. Hot path.

The service of the user answers if it runs and the event is for it, else this process does.
Whatever goes wrong is one line in a log; the session of the user goes on undisturbed.
"""

from memfs.core.block import WARN_AT
from memfs.hosts.payload import get_text
from memfs.ipc.client import TIMEOUT, HookCall, set_clock, write
from memfs.ops import host_event
from memfs.store import blocks, store_paths


def main(call: HookCall) -> int:
    """Answer the hook of the host named first; returns the exit code, which is always 0.

    `auto` is the host that the payload is from; `line` prints a status line instead. A host that
    runs the settings of another gets no answer: it has its own. A second word `mcp` says that the
    host offers our tools.
    """
    source = [".", f"{call.words[0]} hook"]  # for the log: the folder, and the command
    try:
        set_clock(TIMEOUT)
        if call.words[0] == host_event.LINE:
            payload = host_event.parse_payload(call.read())
            write(format_status_line(payload).encode("utf-8", "replace"))
            return 0
        data = call.read()
        if not call.asked:
            from memfs.ipc import client

            call.asked = True
            if client.ask("hook", call.list_words(), data, deliver=write, call=call) is not None:
                return 0
        host_event.run(call, source, write, set_clock)
    except KeyboardInterrupt:
        return 0
    except BaseException as error:  # noqa: BLE001 - a hook never disturbs a session
        set_clock(0)
        from memfs.store import hook_log

        hook_log.log_error(source[0], source[1], error)
    return 0


def format_status_line(payload: dict[str, object]) -> str:
    """Return the status line for the folder that a host works in; "" without a store."""
    folder = get_text(payload, "cwd") or "."
    place = blocks.find_serving(folder, get_text(payload, "session_id"))
    if place is None or place.project is None:
        store = store_paths.find(folder)
        if store is not None and not store.trusted:
            return "memory: not used yet, look at it with memfs trust"
    if place is None:
        return ""
    found = blocks.load(place)
    chars = sum(block.chars for block in found)
    parts = [f"memory: {len(found)} block{'s' * (len(found) != 1)}, {chars:,} characters"]
    for block in found:
        if block.fill >= WARN_AT:
            parts.append(f"⚠️ {block.label} {int(block.fill * 100)} %")
    return " · ".join(parts)
