"""Answers that come piece by piece, and endpoints that do not know all that is asked."""

from __future__ import annotations

import json

import pytest

from memfs.agent.model import ModelAnswer, ModelRequest, SystemNote, TokenUsage, UserPrompt
from memfs.tools.calls import ToolCall
from memfs.tools.definition import Tool
from tests.agent.conftest import Connect, Serve
from tests.agent.scripted_endpoint import Raw, Say, messages


def test_an_answer_comes_piece_by_piece(serve: Serve, connect: Connect) -> None:
    chunks = [
        {"choices": [{"delta": {"content": "Hel"}}]},
        {"choices": [{"delta": {"content": "lo"}}]},
        {
            "choices": [
                {
                    "delta": {
                        "tool_calls": [
                            {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x"'}}
                        ]
                    }
                }
            ]
        },
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}}]},
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
    ]
    text = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n"
    server = serve(lambda _: Raw(200, text, {"Content-Type": "text/event-stream"}))
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
    chunks = [{"choices": [{"delta": {"content": each.replace("{}", call)}}]} for each in pieces]
    text = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n"
    asked = connect(serve(lambda _: Raw(200, text, {"Content-Type": "text/event-stream"})).url)
    shown: list[str] = []
    tool = Tool("f", "", "read", (), lambda _context, _arguments: "")
    asked.ask(ModelRequest("", [UserPrompt("Hi")], [tool]), shown.append)
    assert "".join(shown).strip() == "".join(told)


def test_an_answer_that_comes_whole_is_taken_all_the_same(serve: Serve, connect: Connect) -> None:
    asked = connect(serve(lambda _: Say("Hello")).url)
    pieces: list[str] = []
    assert asked.ask(ModelRequest("", [UserPrompt("Hi")]), pieces.append).text == "Hello"
    assert pieces == ["Hello"]


@pytest.mark.parametrize(
    ("said", "key"),
    [
        (
            "Unsupported parameter: 'max_tokens'; use 'max_completion_tokens'",
            "max_completion_tokens",
        ),
        ("System message must be at the beginning", "max_tokens"),
    ],
)
def test_what_an_endpoint_does_not_know_is_done_without(
    serve: Serve, connect: Connect, said: str, key: str
) -> None:
    server = serve(
        lambda asked: (
            Say("Hello") if asked.number else Raw(400, json.dumps({"error": {"message": said}}))
        )
    )
    asked = connect(server.url)
    assert (
        asked.ask(ModelRequest("", [SystemNote("Summary"), UserPrompt("Hi")], (), 9)).text
        == "Hello"
    )
    body = server.asked[1].body
    assert body[key] == 9
    assert messages(body)[1]["role"] == ("user" if "System" in said else "system")
