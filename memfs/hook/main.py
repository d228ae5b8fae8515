"""One hook call: JSON in, JSON or nothing out, always exit 0, always in time.

Whatever goes wrong is one line in a log; the session of the user goes on undisturbed.
"""

import os
import sys
import time

from memfs import hosts
from memfs.core import events, fastjson
from memfs.core.events import Event, Reply
from memfs.hosts.payload import origin
from memfs.ops import brief
from memfs.store import files, layout, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.hosts.base import Host

MOST_INPUT = 512 << 10  # bytes; what is larger is a pasted file, and not worth the time
TIMEOUT = 5  # seconds for a prompt, which somebody is waiting for
LINE = "line"
SLOW_TIMEOUT = 25  # seconds for a turn's end


class HookError(Exception):
    """Something about the call itself was wrong."""


class OutOfTimeError(BaseException):
    """The alarm rang: no error of files or programs, so that nothing takes it for one of those."""


def main(arguments: list[str]) -> int:
    """Run the hook of the host named first; returns the exit code, which is always 0.

    `auto` is the host that the payload is from; `line` prints a status line instead. A host that
    runs the settings of another gets no answer: it has its own. A second word `mcp` says that the
    host offers our tools.
    """
    # An interpreter that starts waits for nothing: its processor time is the time it took.
    began = time.perf_counter() - time.process_time()
    name = arguments[0] if arguments else "claude"
    place = "."
    event = None
    where = f"{name} hook"
    try:
        _set_clock(TIMEOUT)
        payload = _payload()
        if name == LINE:
            from memfs.hook.line import line

            os.write(1, line(payload).encode("utf-8", "replace"))
            return 0
        plugin = name == "auto"
        name = origin(payload) if plugin else name
        host = hosts.get(name)
        event = host.parse_event(payload) if origin(payload) in (name, "") else None
        if plugin and event is not None and _wired(host, event.cwd):
            return 0
        if event is not None:
            where = f"{name} {event.name}"
            place = event.cwd or place
            event.tools = arguments[1:] == ["mcp"]
            text = host.format_reply(event, answer(event))
            if text:
                _write(text, event)
    except KeyboardInterrupt:
        return 0
    except BaseException as error:  # noqa: BLE001 - a hook never disturbs a session
        _set_clock(0)
        from memfs.hook import log

        log.line(place, where, error)
    if event is not None and event.local:
        _note(event, began)
    return 0


def _note(event: Event, began: float) -> None:
    """Leave word that the hook ran, for `memfs doctor`: also when it failed, and for how long.

    The time counts from the start of the process.
    """
    _set_clock(0)
    try:
        sessions.ran(event.local, event.host, event.name, (time.perf_counter() - began) * 1000)
    except OSError:  # no room, no leave: it is for people who look, and nothing depends on it
        return


def answer(event: Event) -> Reply:
    """Do what an event asks for, and return what the host is told."""
    if event.kind in (events.START, events.AGENT, events.PROMPT):
        return brief.run(event)
    if event.kind in (events.WRITE, events.WRITTEN):
        return _written(event)
    if event.kind == events.END:
        from memfs.ops import end

        end.run(event)
    elif event.kind in (events.STOP, events.COMPACT):
        if event.kind == events.COMPACT and not hosts.get(event.host).RESTARTS:
            brief.unsay(event)  # the next prompt brings the whole brief
        _set_clock(SLOW_TIMEOUT)
        _add_site()
        from memfs.ops import ingest

        ingest.hear(event)
    return Reply()


def _written(event: Event) -> Reply:
    """Look at what a tool of the host writes, as far as these are files of ours."""
    from memfs.ops import touch

    found = touch.find(event)
    if not found:
        return Reply()
    _add_site()
    if event.kind == events.WRITE:
        replies = [touch.before(each) for each in found]
        return next((reply for reply in replies if reply.refusal), Reply())
    told = [touch.after(each, event).context for each in found]
    return Reply("\n".join(text for text in told if text))


def _wired(host: "Host", folder: str) -> bool:
    """Tell whether settings run our hooks, so that those of the plugin need not."""
    home = os.path.expanduser("~")
    store = layout.find(folder or ".")
    for scope in ("user", "project", "local") if store else ("user",):
        for path, _ in host.wiring(scope, home, store.top if store else "")[:1]:
            if hosts.HOOK in (files.read(path) or "") and _can_run(path):
                return True
    return False


def _can_run(path: str) -> bool:
    """Tell whether hooks of ours in a settings file would start here."""
    from memfs.hosts import entries, settings

    found = entries.commands(settings.parse(files.read(path) or "", path))
    return any(all(map(entries.there, entries.programs(each))) for each in found)


def _payload() -> dict[str, object]:
    found = fastjson.loads(_read())
    if not isinstance(found, dict):
        raise HookError("stdin is not a JSON object")
    return found


def _read() -> str:
    data = b""
    while len(data) <= MOST_INPUT:
        more = os.read(0, 1 << 18)
        if not more:
            return data.decode("utf-8", "replace")
        data += more
    while os.read(0, 1 << 18):  # to the end: the host must not find its pipe closed
        pass
    raise HookError(f"stdin is larger than {MOST_INPUT >> 10} KB; nothing was added to the prompt")


def _write(text: str, event: Event) -> None:
    data = memoryview(text.encode("utf-8", "replace"))
    try:
        while data:
            data = data[os.write(1, data) :]
    except BaseException:
        brief.unsay(event)
        raise


def _add_site() -> None:
    """Let packages be found as an ordinary start would: the fast start (-S) has none of this."""
    import site

    site.main()


def _set_clock(seconds: int) -> None:
    """Raise OutOfTimeError here after `seconds` (0: never), where the system has timers.

    `_signal` is what `signal` wraps in enums, which cost 3 ms.
    """
    try:
        import _signal
    except ImportError:
        return
    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, _too_late)
        _signal.setitimer(_signal.ITIMER_REAL, seconds)


def _too_late(_signal: int, _frame: object) -> None:
    raise OutOfTimeError("out of time; nothing was added to the prompt")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
