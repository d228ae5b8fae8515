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
    told = [".", f"{call.words[0]} hook"]  # the folder, and what is called
    try:
        set_clock(TIMEOUT)
        if call.words[0] == host_event.LINE:
            from memfs.hook.status_line import line

            write(line(host_event.parse_payload(call.read())).encode("utf-8", "replace"))
            return 0
        data = call.read()
        if not call.asked:
            from memfs.ipc import service_client

            call.asked = True
            if service_client.ask("hook", call.told(), data, deliver=write) is not None:
                return 0
        host_event.run(call, told, write, set_clock)
    except KeyboardInterrupt:
        return 0
    except BaseException as error:  # noqa: BLE001 - a hook never disturbs a session
        set_clock(0)
        from memfs.store import hook_log

        hook_log.log_error(told[0], told[1], error)
    return 0
