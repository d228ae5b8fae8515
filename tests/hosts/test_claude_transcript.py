"""Claude Code's transcripts: what is read, what is left out, and that cutting changes nothing."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memfs.core.records import Identity, Message, Transcript
from memfs.hosts import claude_transcript
from memfs.hosts.jsonl import TOOL_CAP
from tests.examples import examples
from tests.hosts import reading
from tests.hosts.reading import JSON, reads
from tests.hosts.transcript_lines import SESSION, assistant, line, user

IDENTITY = Identity(SESSION, "", "/home/dev/shop")


def identify(data: bytes, path: str) -> Identity | None:
    return claude_transcript.READER.identify(data.splitlines(keepends=True), path)


def read(data: bytes) -> Transcript:
    return claude_transcript.READER.read_transcript(data, IDENTITY, start=0)


def in_steps(data: bytes, cuts: list[int]) -> Transcript:
    return reading.in_steps(reads("claude", IDENTITY, data), data, cuts)


def texts(data: bytes) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in read(data).messages]


BLOCK = JSON | st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image"]) | JSON},
    optional={"text": JSON, "name": JSON, "input": JSON, "content": JSON},
)
ATTACHMENT = st.fixed_dictionaries(
    {"type": st.just("queued_command") | JSON, "prompt": st.lists(BLOCK, max_size=2) | JSON},
    optional={"commandMode": st.just("prompt") | JSON, "origin": JSON, "source_uuid": JSON},
)
LINE = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["user", "assistant", "system", "attachment", "queue-operation"])
        | JSON,
        "message": st.fixed_dictionaries({"content": st.lists(BLOCK, max_size=3) | JSON}) | JSON,
    },
    optional={
        "uuid": st.text(max_size=3) | JSON,
        "sessionId": JSON,
        "timestamp": JSON,
        "cwd": JSON,
        "gitBranch": JSON,
        "isMeta": JSON,
        "isSidechain": JSON,
        "isCompactSummary": JSON,
        "operation": st.sampled_from(["enqueue", "dequeue", "remove", "popAll"]) | JSON,
        "content": st.text(max_size=3) | JSON,
        "attachment": ATTACHMENT | JSON,
    },
)
PIECE = (
    LINE.map(lambda value: json.dumps(value).encode())
    | LINE.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    | JSON.map(lambda value: json.dumps(value).encode())
    | st.binary(max_size=6)
    | st.sampled_from(
        [
            b"",
            b" ",
            b"\t",
            b"\x0c",
            b"\xef\xbb\xbf",
            b"{",
            b"}",
            b"{}",
            b"[1]",
            b"NaN",
            b"\x00",
            b"\xff",
            b'{"a":NaN}',
            b'{"a":-Infinity}',
            b'{"type":"user"',
            user("say", "u1")[:-1],
            user("more")[:-1],
        ]
    )
)
END = st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n", b"", b" "])
FILE = st.lists(st.tuples(PIECE, END), max_size=8).map(
    lambda parts: b"".join(a + b for a, b in parts)
)


@given(st.data(), FILE)
@examples(300)
def test_cutting_a_file_anywhere_changes_nothing(data: st.DataObject, file: bytes) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(file)), max_size=5))
    assert in_steps(file, cuts) == read(file)


@pytest.mark.parametrize(
    "garbage", [b"gar", b"]", b"\xff\xfe", b"1", b"{", b'"', b"\xe2\x82"], ids=repr
)
def test_what_stands_behind_an_object_on_its_line_takes_nothing_with_it(garbage: bytes) -> None:
    data = user("before", "u1")[:-1] + garbage + b"\n" + user("after", "u2")
    found = read(data)
    assert [message.text for message in found.messages] == ["before", "after"]
    assert found.malformed == 1
    for cut in range(len(data)):
        assert in_steps(data, [cut]) == found


@pytest.mark.parametrize("half", [1, 9, 40, -2], ids=str)
@pytest.mark.parametrize("nuls", [0, 3, 4096])
def test_what_a_crash_left_takes_nothing_with_it(half: int, nuls: int) -> None:
    """A writer was killed in the middle of a line, and the next one goes on behind it."""
    broken, empty = user("lost", "u2")[:-1][:half], b"\0" * nuls
    data = user("one", "u1") + broken + empty + user("two", "u3") + empty + b"\n"
    data += empty + user("three", "u4")[:-1] + user("four", "u5") + user("five", "u6")
    found = read(data)
    wanted = ["one", "two", "three", "four", "five"]
    assert [message.text for message in found.messages] == wanted
    assert found.malformed == 1
    for cut in range(0, len(data), max(1, len(data) // 40)):
        assert [message.text for message in in_steps(data, [cut]).messages] == wanted


def test_two_objects_on_one_line_are_two_lines() -> None:
    one, two = user("né 1")[:-1], user("né 2")
    found = read(one + b" \t" + two)
    assert [message.text for message in found.messages] == ["né 1", "né 2"]
    assert [message.id for message in found.messages] == ["@0", f"@{len(one) + 2}"]
    assert found.malformed == 0


def test_the_offset_in_an_id_counts_bytes_of_any_encoding() -> None:
    odd = b'{"type":"x","y":"\xff\xc3\xa9\xed\xa0\x80"}'
    assert [m.id for m in read(odd + user("said")).messages] == [f"@{len(odd)}"]


@given(st.binary(max_size=400))
@example(b"\xff\xfe\x00")
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b'{"type":"user","message":{"content":"a"},"n":' + b"9" * 5000 + b"}\n")
@examples(200)
def test_no_bytes_make_it_raise(data: bytes) -> None:
    found = read(data)
    assert 0 <= found.end <= len(data)
    assert identify(data, "/x/agent-a.jsonl") is None


@given(st.lists(LINE, max_size=5))
@examples(200)
def test_wrong_types_everywhere_give_messages_that_can_be_stored(lines: list[object]) -> None:
    data = b"".join(json.dumps(each).encode() + b"\n" for each in lines)
    found = read(data)
    assert found.malformed == 0
    assert found.end == len(data)
    for message in found.messages:
        assert message.text
        for value in message:
            if isinstance(value, str):
                value.encode()
    identify(data, "/x/y.jsonl")


def test_halves_of_surrogate_pairs_are_replaced() -> None:
    data = user("cut \ud83d here", "u\udc80", cwd="/h/\ud800", gitBranch="\udfff")
    (message,) = read(data).messages
    assert message[0] == "u?"
    assert (message.text, message.project, message.branch) == ("cut ? here", "/h/?", "?")
    called = line(
        "assistant", [{"type": "tool_use", "name": "\ud800", "input": {"\ud800": ["\ud800"]}}]
    )
    (message,) = read(called).messages
    assert (message.text, message.tool) == ('?: ["?"]', "?")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1e999", "Infinity"),
        ("1E5", "100000.0"),
        ("NaN", "NaN"),
        ("-0", "0"),
        ("0.1000", "0.1"),
    ],
)
def test_numbers_are_what_json_takes_them_for(written: str, shown: str) -> None:
    use = [{"type": "tool_use", "name": "Add", "input": {"n": 42}}]
    data = line("assistant", use, "u1").replace(b"42", written.encode())
    assert [message.text for message in read(data).messages] == [f"n: {shown}"]


def test_bytes_that_are_no_utf8_lose_only_themselves() -> None:
    data = user("good text", "u1").replace(b"good", b"g\xff\xe2\x82d")
    assert texts(data) == [("user", "g???d text")]


def test_a_deeply_nested_value_is_read() -> None:
    deep: object = 1
    for _ in range(900):
        deep = [deep]
    data = line("assistant", [{"type": "tool_use", "name": "T", "input": {"deep": 0, "near": 2}}])
    nested = data.replace(b'"deep": 0', b'"deep": ' + json.dumps(deep).encode())
    (message,) = read(nested).messages
    assert message.text.startswith("deep: ")
    assert message.text.endswith("near: 2")


@pytest.mark.parametrize("flag", ["isMeta", "isCompactSummary", "isApiErrorMessage"])
def test_lines_flagged_as_not_said_are_left_out(flag: str) -> None:
    assert texts(line("user", "not typed", "u1", **{flag: True})) == []
    assert texts(line("assistant", "error", "u2", **{flag: True})) == []
    assert texts(line("user", "typed", "u3", **{flag: False})) == [("user", "typed")]


def test_claude_codes_own_words_are_left_out() -> None:
    message = {
        "model": "<synthetic>",
        "content": [{"type": "text", "text": "No response requested."}],
    }
    assert texts(assistant("", message=message)) == []


def test_reasoning_and_pictures_are_left_out() -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "image", "source": {}}, "odd", None]
    assert read(
        line("assistant", [*blocks, {"type": "text", "text": " so: yes "}], "u")
    ).messages == [
        Message(
            "u.4",
            SESSION,
            "claude",
            "/home/dev/shop",
            "main",
            "2026-05-03T10:00:00.000Z",
            "assistant",
            "so: yes",
        )
    ]


def test_attachments_and_bookkeeping_are_left_out() -> None:
    kinds = ("attachment", "system", "summary", "queue-operation", "last-prompt", "api-request")
    data = b"".join(line(kind, "our memory", f"u{kind}") for kind in kinds)
    assert (read(data).messages, read(data).left_out) == ([], len(kinds))


def test_what_stands_around_an_injection_is_kept() -> None:
    for around in ("one\n{}\ntwo", "one{}two"):
        said = around.format("<system-reminder>\nx\n</system-reminder>")
        assert texts(user(said)) == [("user", around.format(""))]
    for typed in (
        "what is <system-reminder>x</system-reminder> for?",
        'why is <system-reminder a="b">x</system-reminder> there, and <ide_selection>y</ide_selection>?',
        "<command-palette> does not open",
        "<command-name is a tag of theirs",
    ):
        assert texts(user(typed)) == [("user", typed)]
    assert texts(user("an open <system-reminder> tag")) == [
        ("user", "an open <system-reminder> tag")
    ]
    assert texts(user("<system-reminderx>mine</system-reminderx>"))[0][1].startswith(
        "<system-reminderx>"
    )
    result = [
        {
            "type": "tool_result",
            "content": [{"type": "text", "text": "42<system-reminder>x</system-reminder>"}],
        }
    ]
    assert texts(line("user", result)) == [("tool", "42")]


def test_a_command_with_arguments_of_the_persons_own_is_kept() -> None:
    made = "<command-message>fix is running</command-message>\n<command-name>/fix</command-name>\n<command-args>the {}</command-args>"
    assert texts(user(made.format("login test"))) == [("user", "/fix the login test")]
    quoting = "what does <command-name>/compact</command-name> mean?"
    assert texts(user(quoting)) == [("user", quoting)]


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder>" * 100_000,
        "<system-reminder " * 100_000,
        "<command-name>" + " " * 200_000,
        "<command-name>" * 100_000,
        "<command-name>/x</command-name>" + "<command-args>" * 100_000,
        "<system-reminder></task-notification>" * 50_000,
    ],
    ids=lambda text: text[:40],
)
def test_hostile_texts_take_no_more_time_than_others(text: str) -> None:
    data = user(text) + line("user", [{"type": "tool_result", "content": text}])
    started = time.process_time()
    read(data)
    assert time.process_time() - started < 1.5


@given(st.text(alphabet="aé€😀\n", min_size=0, max_size=40), st.integers(1, 400))
@examples(60)
def test_tool_texts_are_capped_in_bytes(seed: str, times: int) -> None:
    text = "x" + seed * times
    blocks = [
        {"type": "tool_result", "content": text},
        {"type": "tool_use", "name": "T", "input": {f"k{n}": text for n in range(5)}},
    ]
    for message in read(line("user", blocks)).messages:
        size = len(message.text.encode())
        assert size <= TOOL_CAP
        assert message.text.startswith("k0: x" if message.tool == "T" else "x")
    result = read(line("user", blocks)).messages[0].text
    whole = len(text.strip().encode())
    assert (result == text.strip()) == (whole <= TOOL_CAP)
    if whole > TOOL_CAP:
        assert f"… {whole - TOOL_CAP:,} bytes left out …" in result


def test_a_huge_line_is_read() -> None:
    data = user("x" * 3_000_000, "u1") + user("after", "u2")
    assert [len(message.text) for message in read(data).messages] == [3_000_000, 5]


def test_the_same_uuid_twice_is_one_message() -> None:
    assert texts(user("once", "u1") + user("once", "u1")) == [("user", "once")]


@pytest.mark.parametrize("at", ["yesterday", 5, None, "2026-05-03", "٢٠٢٦-05-03T10:00:00Z"])
def test_a_time_that_is_none_is_left_empty(at: object) -> None:
    assert read(user("x", timestamp=at)).messages[0].at == ""


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/w/🚀rocket", "-w---rocket"),
        ("/w/é_a.b", "-w---a-b"),
        (
            "/home/dev/" + "deep-folder/" * 20 + "x",
            "-home-dev-" + ("deep-folder-" * 16)[:190] + "-2zv7h",
        ),
        ("/x/" + "ü🚀" * 90, "-x-" + "-" * 197 + "-gm8gmy"),
        ("/y" + "/z" * 100, "-y" + "-z" * 99 + "-44zvre"),
        ("/y" + "/z" * 99, "-y" + "-z" * 99),
    ],
)
def test_the_folder_of_a_project_is_named_as_claude_code_names_it(path: str, name: str) -> None:
    """The names were computed by its own function."""
    assert claude_transcript.name_folder(path) == name


def test_transcripts_of_a_long_path_are_found(home: Path) -> None:
    project = f"{home}/" + "deep-folder/" * 20 + "x"
    for folder in (project, f"{project}/below", f"{project}-other"):
        path = home / ".claude/projects" / claude_transcript.name_folder(folder) / "s.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(user("hello", "u1", cwd=folder).replace(b'": "', b'":"'))
    found = claude_transcript.READER.list_transcripts(str(home), project)
    assert [Path(each).parent.name for each in found] == [
        claude_transcript.name_folder(each) for each in (project, f"{project}/below")
    ]
