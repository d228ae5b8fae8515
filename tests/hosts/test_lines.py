"""How lines of transcripts are read, with those of Claude Code: broken, hostile, huge."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.records import Identity, Transcript
from memfs.hosts import claude_transcript
from memfs.hosts.jsonl import TOOL_CAP
from tests.examples import examples
from tests.hosts import reading
from tests.hosts.reading import reads
from tests.hosts.transcript_lines import SESSION, line, user

IDENTITY = Identity(SESSION, "", "/home/dev/shop")


def read(data: bytes) -> Transcript:
    return claude_transcript.READER.read_transcript(data, IDENTITY, start=0)


def texts(data: bytes, *cuts: int) -> list[str]:
    """Return what is read of a file that grows to each of `cuts`."""
    found = reading.in_steps(reads("claude", IDENTITY, data), data, list(cuts))
    return [message.text for message in found.messages]


@pytest.mark.parametrize(
    "garbage", [b"gar", b"]", b"\xff\xfe", b"1", b"{", b'"', b"\xe2\x82"], ids=repr
)
def test_what_stands_behind_an_object_on_its_line_takes_nothing_with_it(garbage: bytes) -> None:
    data = user("before", "u1")[:-1] + garbage + b"\n" + user("after", "u2")
    assert read(data).malformed == 1
    for cut in range(len(data)):
        assert texts(data, cut) == ["before", "after"]


@pytest.mark.parametrize("half", [1, 9, 40, -2], ids=str)
@pytest.mark.parametrize("nuls", [0, 3, 4096])
def test_what_a_crash_left_takes_nothing_with_it(half: int, nuls: int) -> None:
    """A writer was killed in the middle of a line, and the next one goes on behind it."""
    broken, empty = user("lost", "u2")[:-1][:half], b"\0" * nuls
    data = user("one", "u1") + broken + empty + user("two", "u3") + empty + b"\n"
    data += empty + user("three", "u4")[:-1] + user("four", "u5") + user("five", "u6")
    wanted = ["one", "two", "three", "four", "five"]
    assert texts(data) == wanted
    assert read(data).malformed == 1
    for cut in range(0, len(data), max(1, len(data) // 40)):
        assert texts(data, cut) == wanted


def test_two_objects_on_one_line_are_two_lines() -> None:
    one, two = user("né 1")[:-1], user("né 2")
    found = read(one + b" \t" + two)
    assert [message.text for message in found.messages] == ["né 1", "né 2"]
    assert [message.id for message in found.messages] == ["@0", f"@{len(one) + 2}"]
    assert found.malformed == 0


def test_the_offset_in_an_id_counts_bytes_of_any_encoding() -> None:
    odd = b'{"type":"x","y":"\xff\xc3\xa9\xed\xa0\x80"}'
    assert [m.id for m in read(odd + user("said")).messages] == [f"@{len(odd)}"]


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"type":"user","message":{"content":"a"},"n":' + b"9" * 5000 + b"}\n",
        b'{"messages":[' * 450 + b'{"id":"a","type":"user","content":"x"}' + b"]}" * 450,
    ],
    ids=lambda data: repr(data[:12]),
)
@pytest.mark.parametrize("host", ["claude", "gemini"])
def test_no_depth_or_size_makes_it_raise(host: str, data: bytes) -> None:
    assert reads(host, IDENTITY, data)(data, 0).end <= len(data)
    assert reading.identify(host, data) is None


def test_a_deeply_nested_value_is_read() -> None:
    deep: object = 1
    for _ in range(900):
        deep = [deep]
    data = line("assistant", [{"type": "tool_use", "name": "T", "input": {"deep": 0, "near": 2}}])
    [text] = texts(data.replace(b'"deep": 0', b'"deep": ' + json.dumps(deep).encode()))
    assert text.startswith("deep: ")
    assert text.endswith("near: 2")


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
    result, called = texts(line("user", blocks))
    for found, begins in ((result, "x"), (called, "k0: x")):
        assert len(found.encode()) <= TOOL_CAP
        assert found.startswith(begins)
    whole = len(text.strip().encode())
    assert (result == text.strip()) == (whole <= TOOL_CAP)
    if whole > TOOL_CAP:
        assert f"… {whole - TOOL_CAP:,} bytes left out …" in result


def test_a_huge_line_is_read() -> None:
    data = user("x" * 3_000_000, "u1") + user("after", "u2")
    assert list(map(len, texts(data))) == [3_000_000, 5]


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


@pytest.mark.parametrize("end", ["deep-folder/" * 20 + "x", 'a"b\\c'])
def test_transcripts_of_an_odd_path_are_found(home: Path, end: str) -> None:
    project = f"{home}/{end}"
    for folder in (project, f"{project}/below", f"{project}-other"):
        path = home / ".claude/projects" / claude_transcript.name_folder(folder) / "s.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(user("hello", "u1", cwd=folder).replace(b'": "', b'":"'))
    found = claude_transcript.READER.list_transcripts(str(home), project)
    assert [Path(each).parent.name for each in found] == [
        claude_transcript.name_folder(each) for each in (project, f"{project}/below")
    ]
