"""The MCP server: maps requests of the protocol to tool calls, blocks, and prompts. Hot path.

A thread reads. It answers pings, and queues the rest, which the main thread answers in its order.
Two generations of the protocol are served: after a handshake (until 2025-11-25), and without one,
where each request names its version (since 2026-07-28).
"""

import _queue
import _thread
import os
import sys

from memfs import hosts
from memfs.core.errors import MemfsError, NotFoundError
from memfs.files import account
from memfs.ipc import client
from memfs.mcp import messages, resources, stdio
from memfs.mcp.messages import INVALID_PARAMS, Message, ProtocolError
from memfs.store import blocks
from memfs.tools import catalog, registry
from memfs.tools.registry import ToolOffer
from memfs.tools.tool_context import ToolContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Ident = str | int | None  # of a request
    Result = dict[str, object]

_EVERY = 1.0  # seconds between two polls of the watched blocks
_WITH_HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = "2026-07-28"
_META = "io.modelcontextprotocol/"
VERSION_KEY = f"{_META}protocolVersion"
_CLIENT_KEY, _ABILITIES_KEY = f"{_META}clientInfo", f"{_META}clientCapabilities"
_SERVER_KEY, _STREAM_KEY = f"{_META}serverInfo", f"{_META}subscriptionId"
_LISTED = ("tools/list", "resources/list", "prompts/list", "resources/read", "server/discover")
# What starts no program, and reads no block: the rest comes after `_prepare`.
_FIRST = ("initialize", "server/discover", "tools/list", "prompts/list")
_ABILITIES: dict[str, object] = {
    "capabilities": {
        "prompts": {"listChanged": False},
        "resources": {"listChanged": True, "subscribe": True},
        "tools": {"listChanged": False},
    },
    "instructions": catalog.INSTRUCTIONS,
}
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_LIST_CHANGED, _UPDATED = "notifications/resources/list_changed", "notifications/resources/updated"


def run(folder: str, session: str, version: str) -> None:
    """Serve the memory of a folder until standard input ends, or the client is gone."""
    try:
        _Server(folder, session, version).serve()
    except ConnectionError:
        return  # the client is gone


class _Server:
    """One client's server."""

    def __init__(self, folder: str, session: str, version: str) -> None:
        self._about = {"name": "memfs", "version": version}
        self._session = session
        self._context = ToolContext(folder)
        self._offer: ToolOffer | None = None
        self._client = ""  # its name, as the handshake has it
        self._greeted = False
        self._prepared = False
        self._open: dict[Ident, Message] = {}  # requests that are queued or worked on
        self._subscribed: set[str] = set()  # after a handshake: resources/subscribe
        self._streams: dict[Ident, Result] = {}  # without: what subscriptions/listen asked for
        self._seen: dict[str, str] = {}
        self._queue: _queue.SimpleQueue[Message | None] = _queue.SimpleQueue()
        self._wire = stdio.StdioStreams()
        both: dict[str, Callable[[Message], Result | None]] = {
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "resources/list": self._list_resources,
            "resources/read": self._read_resource,
            "prompts/list": lambda _: {"prompts": resources.list_prompts()},
            "prompts/get": self._get_prompt,
        }
        self._methods = {
            **both,
            "initialize": self._initialize,
            "ping": lambda _: {},
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
        }
        self._stateless_methods = {
            **both,
            "server/discover": self._discover,
            "subscriptions/listen": self._listen,
        }

    def serve(self) -> None:
        _thread.start_new_thread(self._read, ())
        while (message := self._get_message()) is not None:
            self._attend(message)

    # The thread that reads.

    def _read(self) -> None:
        try:
            for line in self._wire.read_lines():
                self._receive(line)
        except OSError:
            return  # the client is gone
        finally:
            self._queue.put(None)

    def _receive(self, line: bytes) -> None:
        try:
            message = messages.parse(line)
        except ProtocolError as error:
            self._wire.write(error.format(error.ident))
            return
        if message is None:
            return
        if message.id is None:
            if message.method == "notifications/cancelled":
                self._cancel(message.params.get("requestId"))
        elif message.method == "ping" and not _is_stateless(message):
            self._wire.write(_format_answer(message, {}))
        else:
            self._open[message.id] = message
            self._queue.put(message)

    def _cancel(self, ident: object) -> None:
        if isinstance(ident, str | int):
            message = self._open.get(ident)
            if message is not None:
                message.cancelled = True  # first: what opens its stream meanwhile sees that
            self._open.pop(ident, None)
            self._streams.pop(ident, None)

    # The main thread.

    def _get_message(self) -> Message | None:
        """Return the next message, None at the end; poll the watched blocks meanwhile."""
        while True:
            try:
                return self._queue.get(timeout=_EVERY if self._is_watched() else None)
            except _queue.Empty:
                self._notify_changes()

    def _attend(self, message: Message) -> None:
        """Answer a message, and do what its answer does not wait for."""
        if not message.cancelled:
            self._answer(message)
        try:
            if message.method == "tools/call":
                self._notify_changes()
            if message.method == "tools/list":
                self._prepare()
        except ConnectionError:
            raise
        except Exception as error:  # noqa: BLE001 - the server goes on
            self._report(message, error)

    def _answer(self, message: Message) -> None:
        result: Result | None = None
        try:
            if message.method not in _FIRST:
                self._prepare()
            result = self._handle(message)
            answer = self._format(message, result or {})
        except ProtocolError as error:
            answer = error.format(message.id)
        except Exception as error:  # noqa: BLE001 - of the system, or a bug: the server goes on
            wrong = self._report(message, error)
            answer = ProtocolError(messages.INTERNAL_ERROR, wrong).format(message.id)
        if self._open.get(message.id) is message:
            self._open.pop(message.id, None)  # the thread that reads may have cancelled it
        if not message.cancelled and (result is not None or "error" in answer):
            self._wire.write(answer)

    def _report(self, message: Message, error: Exception) -> str:
        """Report an error on standard error, and return what the client is told."""
        sys.stderr.write(f"memfs: {message.method}: {type(error).__name__}: {error}\n")
        folder = self._context.folder
        if not os.path.isdir(folder):
            return f"{message.method} failed: the folder {folder} no longer exists"
        return f"{message.method} failed: {type(error).__name__}"

    def _handle(self, message: Message) -> "Result | None":
        """Return the result of a request; None if it stays open. Raises `ProtocolError`."""
        stateless = _is_stateless(message)
        if stateless:
            _check_envelope(message)
        handler = (self._stateless_methods if stateless else self._methods).get(message.method)
        if handler is None:
            raise ProtocolError(messages.METHOD_NOT_FOUND, "Method not found", message.method)
        if not (stateless or self._greeted or message.method == "initialize"):
            hint = f"send initialize first, or set {VERSION_KEY} in params._meta"
            raise ProtocolError(INVALID_PARAMS, f"{message.method}: {hint}")
        message.get_object("_meta")
        try:
            return handler(message)
        except MemfsError as error:
            from memfs.tools.calls import format_error  # where something is wrong

            lost = isinstance(error, NotFoundError) and message.method == "resources/read"
            code = messages.RESOURCE_NOT_FOUND if lost and not stateless else INVALID_PARAMS
            raise ProtocolError(code, format_error(error.message, error.hint)) from error

    def _format(self, message: Message, result: "Result") -> "Result":
        """Return the answer to a request, with what its version of the protocol adds."""
        if _is_stateless(message):
            result = {**result, "resultType": "complete", "_meta": {_SERVER_KEY: self._about}}
            if message.method in _LISTED:  # clients keep none of it: memory changes at any time
                result |= {"ttlMs": 0, "cacheScope": "private"}
        return _format_answer(message, result)

    def _initialize(self, message: Message) -> "Result":
        asked = message.get_text("protocolVersion")
        message.get_object("capabilities", required=True)
        name = message.get_object("clientInfo", required=True).get("name")
        if not isinstance(name, str):
            raise ProtocolError(INVALID_PARAMS, "initialize: clientInfo needs a name")
        self._client, self._greeted = name, True
        version = asked if asked in _WITH_HANDSHAKE else _WITH_HANDSHAKE[-1]
        return {"protocolVersion": version, "serverInfo": self._about, **_ABILITIES}

    def _discover(self, _message: Message) -> "Result":
        return {"supportedVersions": [STATELESS], **_ABILITIES}

    def _list_tools(self, _message: Message) -> "Result":
        try:
            off = self._context.find_off_switch()
        except MemfsError:  # a damaged store: calls report it
            off = ""
        return {"tools": [] if off else [tool.define() for tool in self._load_tools().listed]}

    def _call_tool(self, message: Message) -> "Result":
        name, given = message.get_text("name"), message.get_object("arguments")
        if name == stdio.TOOL:  # it is not listed: hosts call it, not models
            return _format_text(stdio.answer_hook(given))
        from memfs.tools import calls  # with the first call
        from memfs.tools.calls import ToolCall  # likewise

        self._identify(message)
        offer = self._load_tools()
        listed = [tool.name for tool in offer.listed]
        result = calls.run(self._context, offer.tools, ToolCall(name, given), listed)
        return _format_text(result.text, is_error=result.is_error)

    def _load_tools(self) -> ToolOffer:
        if self._offer is None:
            self._offer = registry.offer_tools(self._context)
            for problem in self._offer.problems:
                sys.stderr.write(f"memfs: {problem}\n")
        return self._offer

    def _list_resources(self, message: Message) -> "Result":
        self._identify(message)
        return {"resources": resources.list_resources(self._context)}

    def _read_resource(self, message: Message) -> "Result":
        uri = message.get_text("uri")
        self._identify(message)
        text = resources.read(self._context, uri)
        return {"contents": [{"uri": uri, "mimeType": resources.TYPE, "text": text}]}

    def _get_prompt(self, message: Message) -> "Result":
        name, given = message.get_text("name"), message.get_object("arguments")
        self._identify(message)
        texts = {key: value for key, value in given.items() if isinstance(value, str)}
        if len(texts) < len(given):
            raise ProtocolError(INVALID_PARAMS, "prompts/get: arguments must be strings")
        text = resources.render_prompt(self._context, name, texts)
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

    def _subscribe(self, message: Message) -> "Result":
        uri = message.get_text("uri")
        self._start_watching(message)
        self._subscribed.add(uri)
        return {}

    def _unsubscribe(self, message: Message) -> "Result":
        self._subscribed.discard(message.get_text("uri"))
        return {}

    def _listen(self, message: Message) -> None:
        """Acknowledge a stream of changes; it is open until the client cancels the request."""
        asked = message.get_object("notifications", required=True)
        uris = asked.get("resourceSubscriptions", [])
        if not (isinstance(uris, list) and all(isinstance(uri, str) for uri in uris)):
            wrong = f"{message.method}: resourceSubscriptions must be a list of strings"
            raise ProtocolError(INVALID_PARAMS, wrong)
        wanted: Result = {"resourceSubscriptions": uris} if uris else {}
        if asked.get("resourcesListChanged") is True:  # the lists of tools and prompts stay
            wanted["resourcesListChanged"] = True
        self._start_watching(message)
        self._streams[message.id] = wanted
        if message.cancelled:
            self._streams.pop(message.id, None)
            return
        self._notify(_ACKNOWLEDGED, {"notifications": wanted, **_name_stream(message.id)})

    def _identify(self, message: Message) -> None:
        """Set the origin of what a request does: its host and session."""
        from memfs.core.records import Origin  # with dataclasses, which no list needs

        meta = message.get_object("_meta")
        about = meta.get(_CLIENT_KEY)
        name = about.get("name") if isinstance(about, dict) else self._client
        host = host_of(name if isinstance(name, str) else "")
        known = session_of(host, meta, self._context.folder, os.environ)
        before = self._context.origin.session
        self._context.origin = Origin("agent", host, self._session or known or before)

    def _start_watching(self, message: Message) -> None:
        """Record the current blocks, unless they are watched already."""
        self._identify(message)
        if not self._is_watched():
            self._seen = resources.signatures(self._context)

    def _is_watched(self) -> bool:
        return bool(self._subscribed or self._streams)

    def _notify_changes(self) -> None:
        """Notify the client of changed blocks, if it watches them."""
        if not self._is_watched():
            return
        try:
            now = resources.signatures(self._context)
        except OSError:
            return  # they cannot be read for a while
        before, self._seen = self._seen, now
        if now.keys() != before.keys():
            for ident, wanted in list(self._streams.items()):
                if "resourcesListChanged" in wanted:
                    self._notify(_LIST_CHANGED, _name_stream(ident))
            if self._subscribed:
                self._notify(_LIST_CHANGED, {})
        for uri in sorted(now.keys() | before.keys()):
            if now.get(uri) != before.get(uri):
                self._notify_update(uri)

    def _notify_update(self, uri: str) -> None:
        for ident, wanted in list(self._streams.items()):
            uris = wanted.get("resourceSubscriptions")
            if isinstance(uris, list) and uri in uris:
                self._notify(_UPDATED, {"uri": uri, **_name_stream(ident)})
        if uri in self._subscribed:
            self._notify(_UPDATED, {"uri": uri})

    def _notify(self, method: str, params: "Result") -> None:
        self._wire.write({"jsonrpc": "2.0", "method": method, "params": params})

    def _prepare(self) -> None:
        """Before the first call: clean the environment, and have the store held."""
        if self._prepared:
            return
        import gc  # once the tools are listed

        gc.enable()
        account.clean_environment()
        self._prepared = True
        try:
            client.wake_service(self._context.folder)
        except (MemfsError, OSError):
            return  # calls report what is wrong with the store


def _is_stateless(message: Message) -> bool:
    """Tell whether a request names its version, as clients do since 2026-07-28."""
    meta = message.params.get("_meta")
    return message.method != "initialize" and isinstance(meta, dict) and VERSION_KEY in meta


def _check_envelope(message: Message) -> None:
    """Raise `ProtocolError` for a version that is not served, or without capabilities."""
    meta = message.get_object("_meta")
    version = meta[VERSION_KEY]
    if version != STATELESS:
        data = {"supported": [STATELESS], "requested": version}
        raise ProtocolError(messages.UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if not isinstance(meta.get(_ABILITIES_KEY), dict):
        raise ProtocolError(INVALID_PARAMS, f"params._meta needs the object {_ABILITIES_KEY}")


def _name_stream(ident: "Ident") -> "Result":
    """Return the parameter that says for which stream a notification is."""
    return {"_meta": {_STREAM_KEY: ident}}


def _format_answer(message: Message, result: "Result") -> "Result":
    return {"jsonrpc": "2.0", "id": message.id, "result": result}


def _format_text(text: str, *, is_error: bool = False) -> "Result":
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def host_of(client: str) -> str:
    """Return the host of a client: the first word of its name that is a host's, else that name."""
    from memfs.core.privacy import excerpt  # with the first call

    folded = client.lower().replace("visual studio code", "copilot")  # whose its sessions are
    words = folded.replace("_", "-").replace(" ", "-").split("-")
    return next((word for word in words if word in hosts.NAMES), excerpt(folded, 40))


def session_of(
    host: str, meta: "Mapping[str, object]", folder: str, environment: "Mapping[str, str]"
) -> str:
    """Return the id of the host's session, "" if it is unknown.

    Codex passes it with each call (`_meta`): it starts servers with hardly an environment, and
    several of its sessions may share one. Others pass it to hooks, which note it, or once to the
    server, which misses later changes (`/clear`).
    """
    from memfs.store import host_sessions  # with the first call

    ident = meta.get("sessionId")
    if ident and isinstance(ident, str):
        return ident
    try:
        place = blocks.find_serving(folder, "")
        noted = host_sessions.session(place.home) if place else ""
    except MemfsError:  # a store that is broken: calls say so
        noted = ""
    return noted or hosts.session_of(host, environment)
