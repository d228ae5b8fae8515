"""One hook call: JSON in, JSON or nothing out, always exit 0, always in time. Hot path.

The service of the user answers if it runs and the event is for it, else this process does: a
payload becomes an event of a host, the event a reply, and that the text which the host wants.
Whatever goes wrong is one line in a log; the session of the user goes on undisturbed.
"""

import os

from memfs import hosts
from memfs.core import events, fastjson
from memfs.core.events import Event, Reply
from memfs.hosts.payload import origin
from memfs.ops import brief
from memfs.store import layout, sessions
from memfs.store.asking import TIMEOUT, Call, inside, set_clock, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.hosts.base import Host

LINE = "line"
SLOW_TIMEOUT = 25  # seconds for a turn's end


def main(call: Call) -> int:
    """Answer the hook of the host named first; returns the exit code, which is always 0.

    `auto` is the host that the payload is from; `line` prints a status line instead. A host that
    runs the settings of another gets no answer: it has its own. A second word `mcp` says that the
    host offers our tools.
    """
    told = [".", f"{call.words[0]} hook"]  # the folder, and what is called
    try:
        set_clock(TIMEOUT)
        data = call.read()
        if not call.asked:
            from memfs.store import service

            call.asked = True
            if service.ask("hook", call.told(), data, deliver=write) is not None:
                return 0
        run(call, told, write, set_clock)
    except KeyboardInterrupt:
        return 0
    except BaseException as error:  # noqa: BLE001 - a hook never disturbs a session
        set_clock(0)
        from memfs.hook import log

        log.line(told[0], told[1], error)
    return 0


def run(
    call: Call, told: "list[str]", write: "Callable[[bytes], object]",
    clock: "Callable[[int], object]",
) -> None:  # fmt: skip
    """Answer a call in this process, which has its `clock` (in seconds).

    `told` becomes (folder, what the call is): where to log, if anything is raised.
    """
    payload = _parsed(call.read())
    if call.words[0] == LINE:
        from memfs.hook.line import line

        write(line(payload).encode("utf-8", "replace"))
        return
    found = heard(call.words, payload)
    if found is None:
        return
    host, event = found
    told[:] = [event.cwd or ".", f"{host.NAME} {event.name}"]
    try:
        _answered(host, event, write, clock)
    finally:
        clock(0)
        note(event, call.spent())


def _answered(
    host: "Host", event: Event, write: "Callable[[bytes], object]",
    clock: "Callable[[int], object]",
) -> None:  # fmt: skip
    text = host.format_reply(event, _reply(event, clock))
    if text:
        try:
            write(text.encode("utf-8", "replace"))
        except BaseException:
            brief.unsay(event)
            raise
    if event.kind == events.START:
        from memfs.store import service, starting

        if not service.there():
            starting.start(event.cwd)


def note(event: Event, milliseconds: float) -> None:
    """Leave word that a hook ran, for `memfs doctor`: also when it failed, and for how long.

    The time counts from the start of its process.
    """
    if event.local:
        try:
            sessions.ran(event.local, event.host, event.name, milliseconds)
        except OSError:  # no room, no leave: it is for people who look, and nothing depends on it
            return


def read(words: "list[str]", data: bytes) -> "tuple[Host, Event] | None":
    """Return the event that the stdin of a hook tells; None if it is not to be answered."""
    return heard(words, _parsed(data))


def heard(words: "list[str]", payload: dict[str, object]) -> "tuple[Host, Event] | None":
    """Return the event that a payload tells; None if it is not to be answered."""
    if inside():
        return None
    plugin = words[0] == "auto"
    name = origin(payload) if plugin else words[0]
    host = hosts.get(name)
    event = host.parse_event(payload) if origin(payload) in (name, "") else None
    if event is None or (plugin and _wired(host, event.cwd)):
        return None
    event.tools = words[1:] == ["mcp"]
    return host, event


def _reply(event: Event, clock: "Callable[[int], object]") -> Reply:
    """Do what an event asks for, and return what the host is told."""
    if event.kind in (events.START, events.AGENT, events.PROMPT):
        return brief.run(event)
    if event.kind in (events.WRITE, events.WRITTEN):
        return _written(event)
    if event.kind == events.END:
        from memfs.ops import end

        try:
            end.run(event)
        finally:
            _reviewed(event)
    elif event.kind in (events.STOP, events.COMPACT):
        if event.kind == events.COMPACT and not hosts.get(event.host).RESTARTS:
            brief.unsay(event)  # the next prompt brings the whole brief
        clock(SLOW_TIMEOUT)
        _add_site()
        from memfs.ops import ingest

        ingest.hear(event)
        if event.kind == events.STOP:
            from memfs.ops import review

            return review.stopped(event)
        from memfs.ops import page

        page.compacted(event)
    return Reply()


def _reviewed(event: Event) -> None:
    """Have the configured model review a session that ends, if that is wanted."""
    from memfs.ops import review

    store = review.ended(event)
    if store:
        from memfs.store import starting

        _add_site()  # it looks for packages where this process does
        starting.detached(
            "memfs.agent.review", [store, event.host, event.session], store, keys=True
        )


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
    from memfs.files import outside

    home = os.path.expanduser("~")
    store = layout.find(folder or ".")
    for scope in ("user", "project", "local") if store else ("user",):
        for path, _ in host.wiring(scope, home, store.top if store else "")[:1]:
            if hosts.HOOK in (outside.read(path) or "") and _can_run(path):
                return True
    return False


def _can_run(path: str) -> bool:
    """Tell whether hooks of ours in a settings file would start here."""
    from memfs.files import outside
    from memfs.hosts import entries, settings

    found = entries.commands(settings.parse(outside.read(path) or "", path))
    return any(all(map(entries.there, entries.programs(each))) for each in found)


def _parsed(data: bytes) -> dict[str, object]:
    """Return what a host says; of one that ended before it said anything, nothing."""
    if not data.strip():
        return {}
    found = fastjson.loads(data.decode("utf-8", "replace"))
    if not isinstance(found, dict):
        raise TypeError("stdin is not a JSON object")
    return found


def _add_site() -> None:
    """Let packages be found as an ordinary start would: the fast start (-S) has none of this."""
    import site

    site.main()
