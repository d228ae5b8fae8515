"""A model server on loopback that answers from a script and remembers what it was asked.

It speaks enough of the Anthropic messages API for Claude Code: ``POST /v1/messages`` (server-sent
events, or one JSON body when the request does not ask for a stream) and ``HEAD /``.

    with ScriptedModel(["Hello.", ToolUse("Bash", {"command": "ls"}), "Two files."]) as model:
        ...  # point ANTHROPIC_BASE_URL at model.url
    assert "remembered" in "\n".join(texts(model.requests[0]))
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, NamedTuple, Self, TypeAlias, cast

Json: TypeAlias = dict[str, object]

DEFAULT_REPLY: Final = "Done."
SIDE_REPLY: Final = '{"title": "Scripted session"}'


class ToolUse(NamedTuple):
    """A call of one of the host's tools, e.g. ``ToolUse("Bash", {"command": "ls"})``."""

    name: str
    input: Mapping[str, object]


class Reply(NamedTuple):
    """One model turn. ``input_tokens`` is what the turn claims to have read (drives auto-compaction)."""

    text: str = ""
    calls: tuple[ToolUse, ...] = ()
    input_tokens: int = 1_000


Scripted: TypeAlias = "str | ToolUse | Reply"


class ScriptedModel:
    """Serves ``script`` in order, then ``default`` for ever.

    ``requests`` holds the parsed bodies of the requests that took a reply from the script (or the
    default); ``side_requests`` those that Claude Code makes for itself, e.g. to title the session.
    """

    def __init__(self, script: Sequence[Scripted] = (), default: Scripted = DEFAULT_REPLY) -> None:
        self.requests: list[Json] = []
        self.side_requests: list[Json] = []
        self._script = [_reply(entry) for entry in script]
        self._default = _reply(default)
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="scripted-model"
        )

    @property
    def url(self) -> str:
        """What ANTHROPIC_BASE_URL has to be."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, body: Json) -> Reply:
        """Record ``body`` and take the reply that is due."""
        with self._lock:
            if is_side_request(body):
                self.side_requests.append(body)
                return Reply(text=SIDE_REPLY)
            self.requests.append(body)
            return self._script.pop(0) if self._script else self._default

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()  # joins the handler threads
        self._thread.join()


def is_side_request(body: Json) -> bool:
    """Whether Claude Code asks for itself and not for the conversation.

    Seen in 2.1.328: the title of an interactive session, when nonessential traffic is not switched
    off (a headless run makes none). It offers no tools, as does a conversation under `--tools ""`,
    and has no ``context_management``, which every conversation has. Compaction and subagents look
    like conversations and take their replies from the script.
    """
    return not body.get("tools") and "context_management" not in body


def texts(request: Json, role: str | None = None) -> list[str]:
    """Every text in the messages of ``request``, in order, tool results included.

    ``role`` narrows it to ``user``, ``assistant`` or ``system`` messages. The top-level system prompt
    is no message and is left out.
    """
    return [
        text
        for message in _objects(request.get("messages"))
        if role is None or message.get("role") == role
        for text in _texts(message.get("content"))
    ]


def last_user_text(request: Json) -> str:
    """The last thing said in the user's role, tool results aside; empty when there is none."""
    said = [
        text
        for message in _objects(request.get("messages"))
        if message.get("role") == "user"
        for text in _texts(message.get("content"), results=False)
    ]
    return said[-1] if said else ""


def _texts(content: object, *, results: bool = True) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in _objects(content):
        if block.get("type") == "text":
            yield str(block.get("text", ""))
        elif results and block.get("type") == "tool_result":
            yield from _texts(block.get("content"))


def _objects(value: object) -> list[Json]:
    return (
        [cast("Json", item) for item in value if isinstance(item, dict)]
        if isinstance(value, list)
        else []
    )


def _reply(entry: Scripted) -> Reply:
    if isinstance(entry, str):
        return Reply(text=entry)
    return Reply(calls=(entry,)) if isinstance(entry, ToolUse) else entry


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

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body: Json = json.loads(self.rfile.read(length) or b"{}")
        if self.path.partition("?")[0] != "/v1/messages":
            self._send(HTTPStatus.NOT_FOUND, "application/json", '{"type":"error"}')
            return
        reply = cast("_Server", self.server).model.answer(body)
        message = _message(reply, str(body.get("model", "")))
        if body.get("stream"):
            self._send(HTTPStatus.OK, "text/event-stream", "".join(_events(message)))
        else:
            self._send(HTTPStatus.OK, "application/json", json.dumps(message))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        pass

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _message(reply: Reply, model: str) -> Json:
    content: list[Json] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [
        {
            "type": "tool_use",
            "id": f"toolu_{uuid.uuid4().hex[:24]}",
            "name": call.name,
            "input": dict(call.input),
        }
        for call in reply.calls
    ]
    return {
        # Unique over servers: readers of a transcript take lines with the same id for one message.
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": reply.input_tokens,
            "output_tokens": 20,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def _events(message: Json) -> Iterator[str]:
    yield _event("message_start", message=message | {"content": [], "stop_reason": None})
    for index, block in enumerate(_objects(message["content"])):
        if block["type"] == "text":
            empty, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            arguments = json.dumps(block["input"])
            empty, delta = (
                block | {"input": {}},
                {"type": "input_json_delta", "partial_json": arguments},
            )
        yield _event("content_block_start", index=index, content_block=empty)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=ending, usage={"output_tokens": 20})
    yield _event("message_stop")


def _event(kind: str, **data: object) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"
