"""An OpenAI-compatible endpoint on loopback that answers by a rule, and remembers what it was asked."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple, Self, TypeAlias, cast

Json: TypeAlias = dict[str, object]


class Tool(NamedTuple):
    """A tool call; arguments that are a text are sent as they are, JSON or not."""

    name: str
    arguments: Mapping[str, object] | str


class Say(NamedTuple):
    """An answer of the model."""

    text: str = ""
    calls: tuple[Tool, ...] = ()


class Raw(NamedTuple):
    """Bytes of an HTTP response, as they are; `wait` is an event to wait for before."""

    status: int
    body: str
    headers: Mapping[str, str] = {}
    wait: threading.Event | None = None


class Asked(NamedTuple):
    """A request: `number` counts from 0, `turn` and `step` say where in the conversation it is."""

    number: int
    body: Json
    said: tuple[str, ...]  # by the user
    step: int
    headers: Mapping[str, str]
    path: str

    @property
    def turn(self) -> int:
        return len(self.said) - 1

    @property
    def results(self) -> list[str]:
        """What the last calls gave."""
        return [str(each["content"]) for each in messages(self.body) if each["role"] == "tool"]

    @property
    def system(self) -> str:
        return content(messages(self.body)[0])


# What answers, or the answers in turn, the last one again and again.
Rule = Callable[[Asked], "Say | Raw"] | Sequence["Say | Raw"]


def messages(body: Json) -> list[Json]:
    return cast("list[Json]", body["messages"])


def content(message: Json) -> str:
    return str(message.get("content") or "")


class ScriptedEndpoint:
    """Serves chat completions under `/v1`; `asked` holds the requests."""

    def __init__(self, rule: Rule) -> None:
        self.asked: list[Asked] = []
        self.rule = rule
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.endpoint = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()  # joins the threads of requests
        self._thread.join()

    def answer(self, body: Json, headers: Mapping[str, str], path: str) -> Raw:
        said = tuple(str(each["content"]) for each in messages(body) if each["role"] == "user")
        roles = [str(each["role"]) for each in messages(body)]
        last = len(roles) - roles[::-1].index("user")
        step = roles[last:].count("assistant")
        asked = Asked(len(self.asked), body, said, step, headers, path)
        self.asked.append(asked)
        rule, number = self.rule, asked.number
        found = rule(asked) if callable(rule) else rule[min(number, len(rule) - 1)]
        return found if isinstance(found, Raw) else Raw(200, json.dumps(completion(found, asked)))


def completion(said: Say, asked: Asked) -> Json:
    message: Json = {"role": "assistant", "content": said.text or None}
    calls = []
    for index, (name, given) in enumerate(said.calls):
        arguments = given if isinstance(given, str) else json.dumps(given)
        function = {"name": name, "arguments": arguments}
        ident = f"call_{asked.number}_{index}"
        calls.append({"id": ident, "type": "function", "function": function})
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {
        "id": f"chatcmpl-{asked.number}",
        "object": "chat.completion",
        "created": 0,
        "model": asked.body["model"],
        "choices": [choice],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # server_close() joins them: no thread outlives the test
    endpoint: ScriptedEndpoint


class _Handler(BaseHTTPRequestHandler):
    timeout = 5

    def do_POST(self) -> None:
        body: Json = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        endpoint = cast("_Server", self.server).endpoint
        found = endpoint.answer(body, dict(self.headers.items()), self.path)
        if found.wait:
            found.wait.wait(5)
        data = found.body.encode()
        try:
            self.send_response(found.status)
            for name, value in {"Content-Type": "application/json", **found.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except BrokenPipeError:  # a client that waited long enough
            pass

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        pass
