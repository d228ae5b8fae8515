"""Handle a host's event: dispatch it to its op, and reply to the host. Hot path.

A payload is parsed into an event, the event gets a reply, and the host's format makes it text.
This is the one op that calls others: hooks, the MCP server and the service all use it.
"""

import json
import os

from memfs import hosts
from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts.base import TOOL_EVENTS, detect_host
from memfs.ipc.client import HookCall, is_inside
from memfs.ops import brief
from memfs.store import sessions, store_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.hosts.base import Host

LINE = "line"  # in place of a host: the status line, which the hook handles itself
SLOW_TIMEOUT = 25  # seconds for the end of a turn


def run(
    call: HookCall,
    log_target: "list[str]",
    write: "Callable[[bytes], object]",
    clock: "Callable[[int], object]",
) -> None:
    """Answer a hook call in this process; `clock` sets its timeout in seconds.

    `log_target` becomes [folder, name of the call]: where and as what to log an exception.
    """
    found = recognise_event(call.words, parse_payload(call.read()))
    if found is None:
        return
    host, event = found
    event.late = call.late
    log_target[:] = [event.cwd or ".", f"{host.NAME} {event.name}"]
    try:
        text = host.format_reply(event, _dispatch(host, event, clock))
        if text:
            try:
                write(text.encode("utf-8", "replace"))
            except BaseException:
                brief.forget_shown(event)
                raise
        if event.kind == events.START and event.local:  # none: nothing serves here
            from memfs.ipc import client

            if not client.is_listening():
                client.start_service(event.cwd)
    finally:
        clock(0)
        note_run(event, call.get_elapsed_ms())


def note_run(event: Event, milliseconds: float) -> None:
    """Record that a hook ran or failed, for `memfs doctor`; its time is that of its process."""
    if event.local:
        try:
            sessions.note_run(event.local, event.host, event.name, milliseconds)
        except OSError:  # full or read-only disk: only `memfs doctor` reads it
            return


def read_event(words: "list[str]", data: bytes) -> "tuple[Host, Event] | None":
    """Parse the stdin of a hook into an event; None if it is not to be answered."""
    return recognise_event(words, parse_payload(data))


def recognise_event(words: "list[str]", payload: dict[str, object]) -> "tuple[Host, Event] | None":
    """Parse a payload into an event; None if it is not to be answered."""
    if is_inside():
        return None
    plugin, sender = words[0] == "auto", detect_host(payload)
    name = sender if plugin or words[0] in hosts.BORROWERS.get(sender, ()) else words[0]
    if not name:
        return None
    host = hosts.get(name)
    if host.IS_IMITATED and sender not in (name, ""):
        return None
    event = host.parse_event(payload)
    if event is None or (plugin and _is_wired(name, event.cwd)):
        return None
    event.tools = words[1:] == ["mcp"]
    return host, event


def _dispatch(host: "Host", event: Event, clock: "Callable[[int], object]") -> Reply:
    if event.kind in (events.START, events.AGENT, events.PROMPT):
        return brief.run(event)
    if event.kind in TOOL_EVENTS:
        return _answer_tool(host, event)
    if event.kind == events.END:
        from memfs.ops import session_end

        try:
            session_end.run(event)
        finally:
            _start_review(event)
    elif event.kind in (events.STOP, events.COMPACT):
        if event.kind == events.COMPACT and not hosts.get(event.host).RESTARTS:
            brief.forget_shown(event)  # the next prompt brings the whole brief
        clock(SLOW_TIMEOUT)
        _add_site()
        from memfs.ops import ingest

        ingest.ingest_event(event)
        if event.kind == events.STOP:
            from memfs.ops import session_review

            return session_review.finish_turn(event)
        from memfs.ops import page

        page.page_out_scratch(event)
    return Reply()


def _start_review(event: Event) -> None:
    from memfs.ops import session_review

    store = session_review.finish_session(event)
    if store:
        from memfs.files import child_process

        _add_site()  # it inherits the import path of this process
        child_process.spawn_detached(
            "memfs.agent.reviewer", [store, event.host, event.session], store, keys=True
        )


def _answer_tool(host: "Host", event: Event) -> Reply:
    """Check the files of our stores that a tool writes, and bring what is about its file."""
    from memfs.ops import file_guard, tool_rules
    from memfs.store import blocks

    place = blocks.find_answering(event)
    if place is None:
        return Reply()
    texts = []
    if written := file_guard.find(place, event):
        _add_site()
        if event.kind == events.BEFORE:
            for reply in map(file_guard.check_write, written):
                if reply.refusal:
                    return reply
        else:
            texts = [file_guard.after(each, event).context for each in written]
    answered = tool_rules.answer(place, event, host)
    if answered.reply.refusal:
        return answered.reply
    told = answered.reply.context
    try:
        if told and not tool_rules.note_given(place, answered):
            told = ""  # a call of the same moment was given it
    except OSError:  # a full or read-only disk: it is told again
        pass
    text = "\n".join(filter(None, (*texts, told)))
    return Reply() if text and brief.is_repeated(place, event, text) else Reply(text)


def _is_wired(name: str, folder: str) -> bool:
    """Return whether settings run our hooks in a host, so that those of the plugin need not."""
    from memfs.hosts import settings

    home, store = os.path.expanduser("~"), store_paths.find(folder or ".")
    return any(
        settings.is_wired(hosts.get(each), home, store.top if store else "")
        for each in hosts.BORROWERS.get(name, (name,))
    )


def parse_payload(data: bytes) -> dict[str, object]:
    """Parse the JSON object on stdin; empty stdin, of a host that ended, is an empty one."""
    if not data.strip():
        return {}
    found = json.loads(data.decode("utf-8", "replace"), strict=False)
    if not isinstance(found, dict):
        raise TypeError("stdin is not a JSON object")
    return found


def _add_site() -> None:
    """Add site-packages to the import path, which the fast start (-S) leaves out."""
    import site

    site.main()
