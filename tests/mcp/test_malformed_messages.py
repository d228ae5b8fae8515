"""Whatever a client asks is answered, be it by an error."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from memfs.mcp import stdio
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.mcp.test_server import START
from tests.service import running

HELLO = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": "hello",
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    }
)
DEEP = "[" * 5000 + "]" * 5000


def call(ident: int, name: str, **given: object) -> str:
    """A call, in which `HALF` is half of a character."""
    params = {"name": name, "arguments": given}
    line = json.dumps({"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": params})
    return line.replace("HALF", "\\ud83d")


def answers(repo: Path, *lines: str) -> dict[object, dict[str, Any]]:
    """Return what is said to as many lines, by id; what is not answered in time is missing."""
    with subprocess.Popen(
        [sys.executable, "-c", START, "mcp"], cwd=repo, stdin=-1, stdout=-1, stderr=-1
    ) as process:
        assert process.stdin
        assert process.stdout
        patience = threading.Timer(running.LONG, process.kill)
        patience.start()
        process.stdin.write("".join(f"{line}\n" for line in (HELLO, *lines)).encode())
        process.stdin.flush()
        said = [json.loads(process.stdout.readline() or "{}") for _ in (HELLO, *lines)]
        patience.cancel()
        process.stdin.close()
    return {each.get("id"): each for each in said}


def test_half_a_character_in_an_argument_is_replaced(place: Place, repo: Path) -> None:
    lines = [
        call(1, "core_memory_append", label="human", content="a HALF b \ude00\ud83d\ude00"),
        call(2, "core_memory_read", label="HALF"),
        call(3, "HALF"),
        call(4, "archival_memory_search", query="HALF", HALF="HALF"),
        call(5, "memory", command="view", path="/memories/HALF"),
        call(6, "memory_hook", host="HALF", cwd="HALF", prompt="HALF"),
        '{"jsonrpc":"2.0","id":7,"method":"HALF"}'.replace("HALF", "\\udE00"),
        '{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{"uri":"memfs://blocks/\\uD800"}}',
        '{"jsonrpc":"2.0","id":9,"method":"prompts/get","params":{"name":"\\ud800"}}',
        '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    ]
    found = answers(repo, *lines)
    assert set(found) == {"hello", *range(1, 10), "\ufffd"}
    assert blocks.get(place, "human").value == "a \ufffd b \ufffd😀"


@pytest.mark.usefixtures("place")
def test_what_is_no_message_is_answered_by_an_error(repo: Path) -> None:
    lines = [
        '{"jsonrpc":"1.0","id":1,"method":"ping"}',
        '{"jsonrpc":"2.0","id":2,"method":"ping","params":[1]}',
        '{"jsonrpc":"2.0","id":3,"method":5}',
        '{"jsonrpc":"2.0","id":4}',
        f'{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":{DEEP}}}}}',
        f'{{"jsonrpc":"2.0","method":"tools/call","params":{{"id":99,"name":{DEEP}}},"id":6}}',
        '{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":tru',
        '{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":"\\x"}}',
        '{"jsonrpc":"2.0","id":9,"method":"ping"}',
    ]
    found = answers(repo, *lines)
    assert set(found) == {"hello", *range(1, 10)}
    assert all("error" in found[ident] for ident in range(1, 9))
    assert {found[ident]["error"]["code"] for ident in range(1, 5)} == {types.INVALID_REQUEST}
    assert {found[ident]["error"]["code"] for ident in range(5, 9)} == {types.PARSE_ERROR}


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "null",
        "5",
        '"x"',
        "[]",
        '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        "x" * 100,
        DEEP,
        '{"id":',
        '{"jsonrpc":"2.0","id":null,"method":"ping"}',
        '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
        '{"jsonrpc":"2.0","id":true,"method":"ping"}',
        '{"jsonrpc":"2.0","id":{"id":1},"method":"ping"}',
        "{}",
        '{"method":"ping","id":[',
        '"',
        "]]]]",
        '{"x":"' + '\\"' * (1 << 20),
        "[" * (1 << 20),
    ],
    ids=lambda line: line[:60],
)
def test_a_request_without_an_id_that_can_be_named_is_answered_too(line: str) -> None:
    answer = json.loads(stdio.refuse_line(line))
    assert answer["id"] is None
    assert types.jsonrpc_message_adapter.validate_python(answer)


@pytest.mark.parametrize(
    "line",
    [
        "",
        " \t",
        '{"jsonrpc":"2.0","method":"notifications/x","params":5}',
        '{"jsonrpc":"2.0","method":"x","params":5}',
        '{"jsonrpc":"2.0","id":1,"result":5}',
        '{"jsonrpc":"2.0","id":1,"error":5}',
        '{"jsonrpc":"2.0","id":1,"result":{}}',
        '{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"id":1}}',
        '{"jsonrpc":"2.0","method":"x","params":{"id":1}}',
    ],
)
def test_what_asks_nothing_and_what_is_a_message_is_left_to_the_sdk(line: str) -> None:
    assert stdio.refuse_line(line) == ""


@pytest.mark.parametrize(
    ("line", "made"),
    [
        (rb'"\ud800"', rb'"\ufffd"'),
        (rb'"\uDC00x"', rb'"\ufffdx"'),
        (rb'"\ud83d\ude00"', rb'"\ud83d\ude00"'),
        (rb'"\\ud800"', rb'"\\ud800"'),
        (rb'"\\\ud800"', rb'"\\\ufffd"'),
        (rb'"\ud83d\ud83d\ude00"', rb'"\ufffd\ud83d\ude00"'),
        (rb'"\ud83d\n\ude00"', rb'"\ufffd\n\ufffd"'),
        (rb'"\ud8', rb'"\ud8'),
        (rb'"\ue000"', rb'"\ue000"'),
    ],
)
def test_halves_are_replaced_where_they_are_escapes(line: bytes, made: bytes) -> None:
    assert stdio.replace_halves(line) == made
