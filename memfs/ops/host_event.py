"""A host's event, answered: which op it is for, and what the host is told. Hot path.

A payload becomes an event of a host, the event a reply, and that the text which the host wants.
This is the one op that calls others: hooks, the MCP server and the service all answer by it.
"""

import os

from memfs import hosts
from memfs.core import events, fastjson
from memfs.core.events import Event, Reply
from memfs.hosts.payload import detect_host
from memfs.ipc.client import HookCall, is_inside
from memfs.ops import brief
from memfs.store import sessions, store_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.hosts.base import Host

LINE = "line"  # the word for a status line, in place of a host: the hook's own work
SLOW_TIMEOUT = 25  # seconds for a turn's end


def run(
    call: HookCall,
    told: "list[str]",
    write: "Callable[[bytes], object]",
    clock: "Callable[[int], object]",
) -> None:
    """Answer a call in this process, which has its `clock` (in seconds).

    `told` becomes (folder, what the call is): where to log, if anything is raised.
    """
    found = recognise_event(call.words, parse_payload(call.read()))
    if found is None:
        return
    host, event = found
    told[:] = [event.cwd or ".", f"{host.NAME} {event.name}"]
    try:
        _answered(host, event, write, clock)
    finally:
        clock(0)
        note_run(event, call.get_elapsed_ms())


def _answered(
    host: "Host", event: Event, write: "Callable[[bytes], object]", clock: "Callable[[int], object]"
) -> None:
    text = host.format_reply(event, _reply(event, clock))
    if text:
        try:
            write(text.encode("utf-8", "replace"))
        except BaseException:
            brief.forget_shown(event)
            raise
    if event.kind == events.START:
        from memfs.ipc import service_client, spawn

        if not service_client.is_listening():
            spawn.start_service(event.cwd)


def note_run(event: Event, milliseconds: float) -> None:
    """Leave word that a hook ran, for `memfs doctor`: also when it failed, and for how long.

    The time counts from the start of its process.
    """
    if event.local:
        try:
            sessions.note_run(event.local, event.host, event.name, milliseconds)
        except OSError:  # no room, no leave: it is for people who look, and nothing depends on it
            return


def read_event(words: "list[str]", data: bytes) -> "tuple[Host, Event] | None":
    """Return the event that the stdin of a hook tells; None if it is not to be answered."""
    return recognise_event(words, parse_payload(data))


def recognise_event(words: "list[str]", payload: dict[str, object]) -> "tuple[Host, Event] | None":
    """Return the event that a payload tells; None if it is not to be answered."""
    if is_inside():
        return None
    plugin = words[0] == "auto"
    name = detect_host(payload) if plugin else words[0]
    host = hosts.get(name)
    event = host.parse_event(payload) if detect_host(payload) in (name, "") else None
    if event is None or (plugin and _is_wired(host, event.cwd)):
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
        from memfs.ops import session_end

        try:
            session_end.run(event)
        finally:
            _reviewed(event)
    elif event.kind in (events.STOP, events.COMPACT):
        if event.kind == events.COMPACT and not hosts.get(event.host).RESTARTS:
            brief.forget_shown(event)  # the next prompt brings the whole brief
        clock(SLOW_TIMEOUT)
        _add_site()
        from memfs.ops import ingest

        ingest.ingest_event(event)
        if event.kind == events.STOP:
            from memfs.ops import review

            return review.finish_turn(event)
        from memfs.ops import page

        page.compacted(event)
    return Reply()


def _reviewed(event: Event) -> None:
    """Have the configured model review a session that ends, if that is wanted."""
    from memfs.ops import review

    store = review.finish_session(event)
    if store:
        from memfs.ipc import spawn

        _add_site()  # it looks for packages where this process does
        spawn.spawn_detached(
            "memfs.agent.review", [store, event.host, event.session], store, keys=True
        )


def _written(event: Event) -> Reply:
    """Look at what a tool of the host writes, as far as these are files of ours."""
    from memfs.ops import file_guard

    found = file_guard.find(event)
    if not found:
        return Reply()
    _add_site()
    if event.kind == events.WRITE:
        replies = [file_guard.before(each) for each in found]
        return next((reply for reply in replies if reply.refusal), Reply())
    told = [file_guard.after(each, event).context for each in found]
    return Reply("\n".join(text for text in told if text))


def _is_wired(host: "Host", folder: str) -> bool:
    """Tell whether settings run our hooks, so that those of the plugin need not."""
    from memfs.hosts import wiring

    store = store_paths.find(folder or ".")
    return wiring.is_wired(host, os.path.expanduser("~"), store.top if store else "")


def parse_payload(data: bytes) -> dict[str, object]:
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
