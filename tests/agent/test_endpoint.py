"""What a user is told when an endpoint cannot be used, and what is tried before."""

import json
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memfs.agent.endpoint import select_endpoint
from memfs.agent.model import (
    ModelAnswer,
    ModelError,
    ModelRequest,
    RefusedError,
    SystemNote,
    TokenUsage,
    UserPrompt,
)
from memfs.core.errors import MemfsError
from memfs.core.settings import Settings
from memfs.store import config_file
from memfs.store.blocks import Place
from memfs.tools.calls import ToolCall
from memfs.tools.definition import Tool
from tests.agent.conftest import Connect, Evaluate, Serve
from tests.agent.scripted_endpoint import Asked, Json, Raw, Rule, Say, messages
from tests.cli.conftest import Run

Ask = Callable[[Rule], str]
SMALL = ("--set", "small")


@pytest.fixture(autouse=True)
def _small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One conversation that is read and played in no time, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "talk.yaml").write_text(
        "kind: trivia\nconversations: {hello: {turns: [Hello], expect: {untouched: true}}}\n"
    )


def error(status: int, message: str, code: str | None = None, **headers: str) -> Raw:
    body = {"error": {"message": message, "type": "x", "param": None, "code": code}}
    return Raw(status, json.dumps(body), headers)


AT_ONCE = {"Retry-After": "0"}


@pytest.fixture
def ask(serve: Serve, connect: Connect) -> Ask:
    request = ModelRequest("You remember.", [UserPrompt("Hi")])
    return lambda rule: connect(serve(rule).url).ask(request).text


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (error(401, "bad key"), "answers with status 401: bad key\nhint: check the API key in"),
        (
            error(404, "no model m"),
            "answers with status 404: no model m\nhint: check the model name m and",
        ),
        (
            Raw(404, "<html>not here</html>"),
            "answers with status 404: <html>not here</html>\nhint: check",
        ),
        (
            error(400, "no tools"),
            "answers with status 400: no tools\nhint: check that m supports tools",
        ),
        (
            Raw(200, "<html>hello</html>"),
            "does not answer with JSON: '<html>hello</html>'\nhint: check the addr",
        ),
        (
            Raw(200, '{"models": []}'),
            "answers with JSON that is not a chat completion\nhint: check",
        ),
        (
            Raw(200, '{"choices": [null]}'),
            "answers with JSON that is not a chat completion\nhint: ",
        ),
        (
            Raw(200, '{"error": {"message": "oh"}}'),
            "answers with status 400: oh\nhint: check that m supports tools",
        ),
    ],
)
def test_what_an_endpoint_answers_instead_is_told(
    evaluate: Evaluate, answer: Raw, told: str
) -> None:
    shown = evaluate([answer], *SMALL)
    assert (shown.code, shown.out) == (1, "")
    assert shown.err.startswith(f"error: {evaluate.url} {told}")
    assert "bug" not in shown.err


def test_an_endpoint_that_is_down_is_named_at_once(evaluate: Evaluate) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    shown = evaluate(url, *SMALL)
    assert (shown.code, shown.out) == (1, "")
    assert shown.err.startswith(f"error: cannot reach {url}: ")
    assert shown.err.endswith("hint: check that the server is running and the address is right\n")


def test_an_endpoint_that_hangs_is_left(evaluate: Evaluate) -> None:
    never = threading.Event()
    shown = evaluate([Raw(200, "{}", {}, never)], *SMALL, "--timeout", "1")
    never.set()
    assert shown.code == 1
    assert shown.err == (
        f"error: no answer from {evaluate.url} within 1 s\n"
        "hint: raise --timeout, or llm.timeout in your own config.yaml\n"
    )


def test_a_busy_endpoint_is_asked_again(ask: Ask) -> None:
    busy = [error(status, "slow down", **AT_ONCE) for status in (429, 503, 500)]
    assert ask([*busy, Say("here I am")]) == "here I am"


def test_an_endpoint_that_stays_busy_or_broken_ends_it(ask: Ask) -> None:
    asked: list[int] = []

    def busy(each: Asked) -> Raw:
        asked.append(each.number)
        return error(500, "out of memory", **AT_ONCE)

    with pytest.raises(ModelError, match="answers with status 500: out of memory"):
        ask(busy)
    assert len(asked) == 6


@pytest.mark.parametrize(
    "answer",
    [error(429, "later", **{"Retry-After": "3600"}), error(429, "pay", "insufficient_quota")],
)
def test_waiting_has_an_end(ask: Ask, answer: Raw) -> None:
    with pytest.raises(ModelError) as raised:
        ask([answer])
    assert (
        raised.value.hint
        == "try again later: the endpoint is busy, or the account has no quota left"
    )


def test_a_model_that_refuses_one_conversation_is_asked_the_next(evaluate: Evaluate) -> None:
    def filters(asked: Asked) -> Say | Raw:
        if "page" in asked.said[0]:
            return error(400, "the prompt looks like a jailbreak", "content_filter")
        return Say("ok")

    shown = evaluate(filters, "--only", "forbidden", "--verbose")
    assert shown.code == 1, "not all was scored"
    assert shown.out.splitlines()[1] == "unwanted texts not saved    2/2  100 %  ≥ 100 %  ok"
    told = f"{evaluate.url} answers with status 400: the prompt looks like a jailbreak"
    assert shown.out.splitlines()[-2:] == [
        "✗ a-page-gives-orders (forbidden)",
        f"  not scored: {told}",
    ]
    assert shown.err.splitlines()[-1] == f"! 'a-page-gives-orders' was not scored: {told}"


def test_what_was_scored_is_shown_where_the_endpoint_goes_away(evaluate: Evaluate) -> None:
    shown = evaluate([*[Say("ok")] * 5, error(403, "no more")], "--only", "trivia")
    assert shown.code == 1
    assert shown.out.splitlines()[1] == "false saves    0/3    0 %  < 20 %  ok"
    assert shown.err.splitlines()[1:] == [
        f"error: {evaluate.url} answers with status 403: no more",
        "hint: use a key that is allowed to use this model",
    ]
    assert evaluate([error(403, "no more")], "--json", *SMALL).out == ""


def test_odd_answers_are_understood(serve: Serve, connect: Connect) -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 5]
    calls = [
        {"type": "function", "function": {"name": "memory_status", "arguments": None}},
        {"type": "function", "function": {"name": "memory_undo", "arguments": {"label": "x"}}},
        {"type": "function", "function": {}},
    ]
    answers = [
        {"content": parts},
        {"content": None, "tool_calls": calls},
        {"content": "x", "tool_calls": {}},
    ]

    odd = [{"choices": [{"message": each}], "usage": None} for each in answers]
    endpoint = connect(serve([Raw(200, json.dumps(each)) for each in odd]).url)
    first, second, third = (
        endpoint.ask(ModelRequest("", [UserPrompt("Hi \ud83d")])) for _ in answers
    )
    assert (first.text, first.usage.read) == ("ab", 0)
    assert [(call.name, call.arguments, call.id) for call in second.calls] == [
        ("memory_status", {}, "call_1"),
        ("memory_undo", {"label": "x"}, "call_2"),
    ]
    assert third.text == "x"


def test_the_key_is_that_of_the_variable_and_no_other_is_sent(
    evaluate: Evaluate, serve: Serve, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "of-somebody-else")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: of-somebody-else")
    monkeypatch.setenv("MINE", "my-key")
    server = serve([Say("ok")])
    assert evaluate(server.url, *SMALL).code == 0
    assert evaluate(server.url, "--key-env", "MINE", *SMALL).code == 0
    sent = [{name.lower(): value for name, value in each.headers.items()} for each in server.asked]
    assert sent[0]["authorization"] == "Bearer none"
    assert sent[-1]["authorization"] == "Bearer my-key"
    assert "of-somebody-else" not in json.dumps(sent)
    unset = evaluate(server.url, "--key-env", "NOT_SET", *SMALL)
    assert (unset.code, unset.err) == (
        2,
        "error: the environment variable NOT_SET is not set\nhint: set the variable to the API key\n",
    )


def test_the_users_own_configuration_names_the_model(
    memfs: Run, serve: Serve, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = serve([Say("ok")]), serve([Say("ok")])
    monkeypatch.setenv("MINE", "my-key")
    assert place.user
    assert place.project
    llm = f"memfs: 1\nllm:\n  endpoint: {mine.url}\n  model: local\n  key_env: MINE\n"
    Path(place.user.root, "config.yaml").write_text(llm)
    Path(place.project.root, "config.yaml").write_text(llm.replace(mine.url, other.url))
    monkeypatch.setenv("MEMFS_LLM_ENDPOINT", other.url)
    assert config_file.find_problems(place.user) == []
    small = ("--set", "../small")  # the current folder is the project
    assert memfs("eval", *small).code == 0
    assert not other.asked, "neither a repository nor its variables say where a key goes"
    assert mine.asked[0].body["model"] == "local"
    assert mine.asked[0].headers["authorization"] == "Bearer my-key"
    assert memfs("eval", "--endpoint", other.url, *small).code == 0
    assert other.asked[0].headers["authorization"] == "Bearer none"


def test_without_an_endpoint_or_a_model_it_says_how_to_name_one(memfs: Run) -> None:
    told = "error: no endpoint is set\n"
    told += "hint: add --endpoint, or set llm.endpoint in your own config.yaml\n"
    assert memfs("eval", *SMALL) == (2, "", told)
    shown = memfs("eval", "--endpoint", "http://localhost:1/v1", *SMALL)
    assert shown.err.startswith("error: no model is set")


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://x/v1", "http://", "http://[::1/v1"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(MemfsError, match="is not a web address"):
        select_endpoint(Settings([]), url, "m")


def test_a_password_in_an_address_is_not_shown(serve: Serve, connect: Connect) -> None:
    url = serve([error(401, "no")]).url.replace("//", "//alice:geheim@")
    with pytest.raises(ModelError) as raised:
        connect(url).ask(ModelRequest("", [UserPrompt("Hi")]))
    assert "geheim" not in raised.value.message
    assert not isinstance(raised.value, RefusedError)


def test_without_the_openai_package_it_says_what_to_install(
    evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    told = "error: package 'openai' is not installed\nhint: pip install 'agent-memfs[agent]'\n"
    assert evaluate("http://localhost:1/v1", *SMALL) == (1, "", told)


def stream(deltas: Sequence[Json], *more: Json) -> Raw:
    chunks = [{"choices": [{"delta": delta}]} for delta in deltas]
    lines = [*(f"data: {json.dumps(each)}" for each in (*chunks, *more)), "data: [DONE]", ""]
    return Raw(200, "\n\n".join(lines), {"Content-Type": "text/event-stream"})


def test_an_answer_comes_piece_by_piece(serve: Serve, connect: Connect) -> None:
    first: Json = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x"'}}
    second: Json = {"index": 0, "function": {"arguments": ": 1}"}}
    said: list[Json] = [{"content": "Hel"}, {"content": "lo"}]
    called: list[Json] = [{"tool_calls": [first]}, {"tool_calls": [second]}]
    usage: Json = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    server = serve([stream([*said, *called], usage)])
    asked = connect(server.url)
    pieces: list[str] = []
    answer = asked.ask(ModelRequest("", [UserPrompt("Hi")]), pieces.append)
    assert pieces == ["Hel", "lo"]
    assert answer == ModelAnswer("Hello", (ToolCall("f", {"x": 1}, "a"),), TokenUsage(7, 2))
    assert server.asked[0].body["stream"] is True


@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        (["Noted.\n", "<tool", "_call>{}", "</tool_call>"], ["Noted."]),
        (["a\n``", "`json\n[1]\n```\nb\n"], ["a\n", "```json\n[1]\n```\nb"]),
        (["a < b, ", "and on"], ["a < b, ", "and on"]),
    ],
)
def test_what_may_be_a_call_is_not_shown_as_it_comes(
    serve: Serve, connect: Connect, pieces: list[str], told: list[str]
) -> None:
    call = '{"name": "f", "arguments": {}}'
    answer = stream([{"content": each.replace("{}", call)} for each in pieces])
    asked = connect(serve([answer]).url)
    shown: list[str] = []
    tool = Tool("f", "", "read", (), lambda _context, _arguments: "")
    asked.ask(ModelRequest("", [UserPrompt("Hi")], [tool]), shown.append)
    assert "".join(shown).strip() == "".join(told)


def test_an_answer_that_comes_whole_is_taken_all_the_same(serve: Serve, connect: Connect) -> None:
    asked = connect(serve([Say("Hello")]).url)
    pieces: list[str] = []
    assert asked.ask(ModelRequest("", [UserPrompt("Hi")]), pieces.append).text == "Hello"
    assert pieces == ["Hello"]


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("Unsupported parameter 'max_tokens': 'max_completion_tokens'", "max_completion_tokens"),
        ("System message must be at the beginning", "max_tokens"),
    ],
)
def test_what_an_endpoint_does_not_know_is_done_without(
    serve: Serve, connect: Connect, said: str, key: str
) -> None:
    server = serve([Raw(400, json.dumps({"error": {"message": said}})), Say("Hello")])
    request = ModelRequest("", [SystemNote("Summary"), UserPrompt("Hi")], (), 9)
    assert connect(server.url).ask(request).text == "Hello"
    body = server.asked[1].body
    assert body[key] == 9
    assert messages(body)[1]["role"] == ("user" if "System" in said else "system")
