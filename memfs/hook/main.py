"""One hook call: JSON in, JSON or nothing out, always exit 0, always in time. Hot path.

The service of the user answers if it runs and the event is for it, else this process does.
Whatever goes wrong is one line in a log; the session of the user goes on undisturbed.
"""

from memfs.ipc.client import TIMEOUT, HookCall, set_clock, write
from memfs.ops import host_event


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
            from memfs.hook.status_line import format_status_line

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
