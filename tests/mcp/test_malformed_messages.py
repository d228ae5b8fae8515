"""Whatever a client asks is answered, be it by an error."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from memfs.mcp import messages
from memfs.mcp.messages import ProtocolError
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
DEEP = "[" * 100_000 + "]" * 100_000


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
    with pytest.raises(ProtocolError) as raised:
        messages.parse(line.encode())
    answer = raised.value.format(raised.value.ident)
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
    ],
)
def test_what_asks_nothing_is_not_answered(line: str) -> None:
    assert messages.parse(line.encode()) is None


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
    assert messages.replace_halves(line) == made


META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}

WRONG_URIS: tuple[object, ...] = (5, "x", {}, None, [5], ["x", {}])


def ask(ident: int, method: str, **params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})


@pytest.mark.usefixtures("place")
def test_what_is_asked_wrongly_is_answered_by_its_code(repo: Path) -> None:
    version = next(iter(META))
    wrong = {
        types.METHOD_NOT_FOUND: [
            ask(1, "server/discover"),
            ask(2, "subscriptions/listen", notifications={}),
            ask(3, "ping", _meta=META),
            ask(4, "resources/subscribe", uri="memfs://blocks/human", _meta=META),
            ask(5, "logging/setLevel", level="info"),
        ],
        types.INVALID_PARAMS: [
            ask(6, "tools/call", name=5),
            ask(7, "tools/call", name="memory_read", arguments=[1]),
            ask(8, "resources/read"),
            ask(9, "prompts/get", name="memory-rethink", arguments={"label": 5}),
            ask(10, "tools/list", _meta=5),
            ask(11, "tools/list", _meta={version: "2026-07-28"}),
            ask(12, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={}),
            ask(13, "subscriptions/listen", _meta=META),
            *(
                ask(ident, "subscriptions/listen", _meta=META, notifications=given)
                for ident, given in enumerate(
                    ({"resourceSubscriptions": uris} for uris in WRONG_URIS), 20
                )
            ),
        ],
        types.UNSUPPORTED_PROTOCOL_VERSION: [ask(14, "tools/list", _meta={version: "2099-01-01"})],
    }
    found = answers(repo, *(line for lines in wrong.values() for line in lines))
    for code, lines in wrong.items():
        for line in lines:
            assert found[json.loads(line)["id"]]["error"]["code"] == code, line


@pytest.mark.usefixtures("place")
def test_a_stream_acknowledges_what_it_tells(repo: Path) -> None:
    asked = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
    said = answers(repo, ask(1, "subscriptions/listen", _meta=META, notifications=asked))
    assert said[None]["params"]["notifications"] == {"resourcesListChanged": True}


@pytest.mark.usefixtures("place")
def test_a_handshake_agrees_on_a_version(repo: Path) -> None:
    hello = {"capabilities": {}, "clientInfo": {"name": "x"}}
    wanted = {"2024-11-05": "2024-11-05", "2025-11-25": "2025-11-25", "2099-01-01": "2025-11-25"}
    lines = [ask(n, "initialize", **hello, protocolVersion=each) for n, each in enumerate(wanted)]
    found = answers(repo, *lines)
    given = [found[number]["result"]["protocolVersion"] for number in range(len(wanted))]
    assert given == list(wanted.values())


@pytest.mark.usefixtures("place")
def test_a_client_that_finds_no_version_of_its_own_begins_with_a_handshake(repo: Path) -> None:
    """And one that introduced itself may still name the version with a request."""
    newer = {**META, next(iter(META)): "2099-01-01"}
    found = answers(repo, ask(1, "server/discover", _meta=newer), ask(2, "tools/list"))
    assert found[1]["error"]["data"]["supported"] == ["2026-07-28"]
    assert "resultType" not in found[2]["result"]
    discovered = answers(repo, ask(1, "server/discover", _meta=META))[1]["result"]
    assert discovered["supportedVersions"] == ["2026-07-28"]
    assert (discovered["resultType"], discovered["ttlMs"]) == ("complete", 0)


def test_what_was_asked_before_the_end_is_answered_and_what_was_cancelled_is_not(
    place: Place, repo: Path
) -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    lines = [
        HELLO,
        call(1, "core_memory_append", label="human", content="one"),
        call(2, "memory_search", query="one"),
        json.dumps(cancel),
        json.dumps({**cancel, "params": {"requestId": [1]}}),
        call(3, "core_memory_append", label="human", content="two"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", START, "mcp"],
        cwd=repo,
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["hello", 1, 3]
    assert blocks.get(place, "human").value == "one\ntwo"
