"""A model server on loopback that answers from a script and remembers what it was asked.

It speaks enough of four wires for the assistants under test, each a module in ``wires``; the
path of a request chooses it. Streams and whole replies come from the same script:

    with ScriptedModel(["Hello.", ToolUse("Bash", {"command": "ls"}), "Two files."]) as model:
        ...  # point the assistant at model.url
    assert "remembered" in "\n".join(texts(model.requests[0]))
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, Protocol, Self, cast

from tests.hosts.script import Json, Reply, Said, Scripted, ToolUse, reply_of
from tests.hosts.wires import anthropic, chat, gemini, responses

__all__ = [
    "Json",
    "Reply",
    "ScriptedModel",
    "ToolUse",
    "last_user_text",
    "results",
    "texts",
    "tool_names",
]

DEFAULT_REPLY: Final = "Done."
SIDE_REPLY: Final = '{"title": "Scripted session"}'


class Wire(Protocol):
    """What a module in ``wires`` has."""

    def serves(self, path: str) -> bool:
        """Whether requests to this path are in this format."""

    def streams(self, path: str, body: Json) -> bool:
        """Whether the answer is to be server-sent events, not one JSON body."""

    def is_side_request(self, body: Json) -> bool:
        """Whether the assistant asks for itself (a title) and not for the conversation."""

    def said(self, request: Json) -> Iterator[Said]:
        """Yield the texts of a request's messages, in order."""

    def offered(self, request: Json) -> list[str]:
        """Name the tools that a request offers."""

    def whole(self, reply: Reply, body: Json) -> Json:
        """Return a reply as one JSON body."""

    def streamed(self, reply: Reply, body: Json) -> Iterator[str]:
        """Yield a reply as server-sent events."""


_WIRES: Final[tuple[Wire, ...]] = (anthropic, responses, chat, gemini)


class ScriptedModel:
    """Serves ``script`` in order, then ``default`` for ever.

    ``requests`` holds the parsed bodies of the requests that took a reply from the script (or the
    default); ``side_requests`` those that an assistant makes for itself, e.g. to title the session;
    ``unknown`` the paths that nothing is served at. ``meanwhile`` is called with each request that
    takes a reply from the script, before that is sent.
    """

    def __init__(self, script: Sequence[Scripted] = (), default: Scripted = DEFAULT_REPLY) -> None:
        self.requests: list[Json] = []
        self.side_requests: list[Json] = []
        self.unknown: list[str] = []
        self.meanwhile: Callable[[], None] = lambda: None
        self._script = [reply_of(entry) for entry in script]
        self._default = reply_of(default)
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="scripted-model"
        )

    @property
    def url(self) -> str:
        """Where it listens: what ANTHROPIC_BASE_URL has to be; OpenAI's wires are below ``/v1``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer_with(self, entry: Scripted) -> None:
        """Add a reply to the script."""
        with self._lock:
            self._script.append(reply_of(entry))

    def answer(self, wire: Wire, body: Json) -> Reply:
        """Record ``body`` and take the reply that is due."""
        with self._lock:
            if wire.is_side_request(body):
                self.side_requests.append(body)
                return Reply(text=SIDE_REPLY)
            self.requests.append(body)
            self.meanwhile()
            return self._script.pop(0) if self._script else self._default

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()  # joins the handler threads
        self._thread.join()


def texts(request: Json, role: str | None = None) -> list[str]:
    """Every text in the messages of ``request``, in order, tool results included.

    ``role`` narrows it to ``user``, ``assistant`` or ``system`` messages (OpenAI's ``developer`` is
    ``system``, Gemini's ``model`` is ``assistant``). A system prompt beside the messages is left out.
    """
    return [each.text for each in _said(request) if role is None or each.role == role]


def last_user_text(request: Json) -> str:
    """The last thing said in the user's role, tool results aside; empty when there is none."""
    said = [each.text for each in _said(request) if each.role == "user" and not each.result]
    return said[-1] if said else ""


def results(request: Json) -> list[str]:
    """The texts that tools gave back, in order."""
    return [each.text for each in _said(request) if each.result]


def tool_names(request: Json) -> list[str]:
    """The tools that the model is offered, by the names it has to call."""
    return _wire_of(request).offered(request)


def _said(request: Json) -> Iterator[Said]:
    return _wire_of(request).said(request)


def _wire_of(request: Json) -> Wire:
    """Which wire a request came on, by what only that wire's requests hold."""
    if "contents" in request:
        return gemini
    if "input" in request:
        return responses
    tools = request.get("tools")
    if isinstance(tools, list) and any("function" in tool for tool in tools):
        return chat
    return anthropic


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # server_close() joins them: no thread outlives the test

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model


class _Handler(BaseHTTPRequestHandler):
    """HTTP/1.0 on purpose: the connection closes after each answer, so no thread waits for the next one."""

    timeout = 5  # seconds; a connection that is opened ahead and never used

    def do_HEAD(self) -> None:
        self.send_response(HTTPStatus.OK)
        self.end_headers()

    def do_GET(self) -> None:
        self._refuse()

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body: Json = json.loads(self.rfile.read(length) or b"{}")
        path = self.path.partition("?")[0]
        wire = next((wire for wire in _WIRES if wire.serves(path)), None)
        if wire is None:
            self._refuse()
            return
        reply = cast("_Server", self.server).model.answer(wire, body)
        if wire.streams(path, body):
            self._send(HTTPStatus.OK, "text/event-stream", "".join(wire.streamed(reply, body)))
        else:
            self._send(HTTPStatus.OK, "application/json", json.dumps(wire.whole(reply, body)))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        pass

    def _refuse(self) -> None:
        cast("_Server", self.server).model.unknown.append(f"{self.command} {self.path}")
        self._send(HTTPStatus.NOT_FOUND, "application/json", '{"type":"error"}')

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
