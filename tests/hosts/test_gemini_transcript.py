"""Gemini's transcripts: what is read of records that replace each other, and what is left out."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.records import Identity, Transcript
from memfs.hosts import gemini_transcript
from memfs.hosts.jsonl import TOOL_CAP
from memfs.ingest import transcripts as ingest_transcripts
from memfs.ingest.transcripts import Tally
from memfs.store import recall
from memfs.store.blocks import Place
from tests.examples import examples
from tests.hosts.reading import FIXTURES, JSON, can_be_kept, file_of, odd, said

SESSION = "6e311111-0000-4000-8000-000000000001"
IDENTITY = Identity(SESSION, "", "/home/dev/shop", whole=True)
DATA = (FIXTURES / "gemini/session.jsonl").read_bytes()
OLD = (FIXTURES / "gemini/old.json").read_bytes()
SAID = [
    ("user", "how is café spelled here?"),
    ("assistant", "I will search."),
    ("search_file_content", "pattern: caf"),
    ("result", "menu.py: cafe"),
    ("assistant", "Without the accent."),
    ("assistant", "Saved."),
    ("user", "and the menu?"),
]


def identify(data: bytes, path: str = "/x/y.jsonl") -> Identity | None:
    return gemini_transcript.READER.identify(data.splitlines(keepends=True)[:200], path)


def read(data: bytes) -> Transcript:
    return gemini_transcript.READER.read_transcript(data, IDENTITY, start=0)


def lines(*records: dict[str, object]) -> bytes:
    header = {"sessionId": SESSION, "projectHash": "x", "startTime": "2026-11-20T11:00:00Z"}
    return b"".join(json.dumps(record).encode() + b"\n" for record in [header, *records])


def user(ident: str, *texts: str, shown: str | None = None) -> dict[str, object]:
    made: dict[str, object] = {"id": ident, "type": "user", "content": [{"text": t} for t in texts]}
    return made if shown is None else {**made, "displayContent": [{"text": shown}]}


def test_a_transcript_of_2025_is_read_however_it_is_laid_out() -> None:
    made = json.loads(OLD)
    for value in (made, {**made, "more": list(range(300))}):
        for indent in (None, 2):
            data = json.dumps(value, indent=indent).encode()
            assert identify(data) == Identity(SESSION, "", whole=True)
            found = read(data)
            assert said(found) == said(read(OLD))
            assert (found.malformed, found.end) == (0, len(data))


def test_a_later_line_replaces_the_earlier_one() -> None:
    one: dict[str, object] = {"id": "a", "type": "gemini", "content": "draft"}
    data = lines(user("u", "go on"), one, user("v", "and then?"), {**one, "content": "final"})
    assert said(read(data)) == [("user", "go on"), ("assistant", "final"), ("user", "and then?")]


def test_what_a_patch_brings_counts_if_it_was_not_said() -> None:
    patched = [user("a", "masked"), user("b", "said elsewhere"), user("c", "said")]
    patch: dict[str, object] = {"$set": {"messages": patched}}
    assert said(read(lines(user("a", "said"), patch))) == [
        ("user", "said"),
        ("user", "said elsewhere"),
    ]
    assert said(read(lines({"$set": {"messages": "x", "summary": "y"}}))) == []


HOOKED = "<hook_context>OUR MEMORY</hook_context>"


def test_what_a_hook_says_to_keep_a_turn_going_is_left_out() -> None:
    asked, goes_on = user("a", "fix it", HOOKED, shown="fix it"), user("b", "save it", HOOKED)
    assert said(read(lines(asked, goes_on))) == [("user", "fix it")]
    shown = user("c", "save it", HOOKED, shown="fix it")  # under the words of the turn it goes on
    assert said(read(lines(asked, shown))) == [("user", "fix it")]


def test_prompts_of_versions_that_show_no_text_of_their_own_are_read() -> None:
    assert said(read(lines(user("a", "one", HOOKED), user("b", "two", HOOKED)))) == [
        ("user", "one"),
        ("user", "two"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<session_context>\nThis is the Gemini CLI",
        HOOKED,
        "<state_snapshot>x</state_snapshot>",
        "Here is the user's editor context as a JSON object. This is …",
        "Please continue.",
        " ",
    ],
)
def test_what_nobody_typed_is_left_out(text: str) -> None:
    assert said(read(lines(user("a", text), {"id": "b", "type": "user", "content": text}))) == []


def test_the_same_words_said_twice_are_two_messages() -> None:
    assert len(read(lines(user("a", "go on"), user("b", "go on"))).messages) == 2


def test_tool_texts_are_capped() -> None:
    call = {"id": "c", "name": "f", "args": {"a": "x" * 9000, "b": "é" * 9000}}
    result = [{"functionResponse": {"response": {"output": "ü" * 9000}}}]
    data = lines({"id": "a", "type": "gemini", "toolCalls": [{**call, "result": result}]})
    texts = [message.text for message in read(data).messages]
    assert len(texts) == 2
    assert all(len(text.encode()) <= TOOL_CAP for text in texts)


RECORD = {
    "id": st.text(max_size=2),
    "type": st.sampled_from(["user", "gemini", "model", "info"]),
    "content": st.lists(
        odd({"text": st.sampled_from(["a", HOOKED, "<state_snapshot>"]), "thought": JSON})
    ),
    "displayContent": st.lists(odd({"text": st.just("a")})),
    "parts": JSON,
    "timestamp": JSON,
    "toolCalls": st.lists(
        odd({"id": JSON, "name": JSON, "args": JSON, "result": JSON, "resultDisplay": JSON})
    ),
}
LINE = odd(
    {
        **RECORD,
        "sessionId": st.text(max_size=2),
        "projectHash": JSON,
        "startTime": JSON,
        "$set": odd({"messages": st.lists(odd(RECORD))}),
        "messages": st.lists(odd(RECORD)),
        "directories": st.lists(JSON),
        "kind": st.just("subagent"),
    }
)


@given(file_of(LINE))
@examples(50)
def test_odd_files_raise_nothing(file: bytes) -> None:
    found = read(file)
    assert 0 <= found.end <= len(file)
    assert found.left_out >= 0
    assert can_be_kept(found)
    identify(file)


def test_records_inside_of_each_other_without_end_are_no_trouble() -> None:
    data = b'{"messages":[' * 450 + b'{"id":"a","type":"user","content":"x"}' + b"]}" * 450
    assert read(data).messages == []


def test_whose_session_it_is(tmp_path: Path) -> None:
    chats = tmp_path / "shop/chats"
    chats.mkdir(parents=True)
    assert identify(DATA, str(chats / "session-a.jsonl")) == IDENTITY
    (tmp_path / "shop/.project_root").write_text("/home/dev/other\n")
    assert identify(DATA, str(chats / "session-a.jsonl")) == IDENTITY._replace(
        project="/home/dev/other"
    )
    side = lines().replace(
        b'"startTime"', b'"kind": "subagent", "directories": ["/p"], "startTime"'
    )
    assert identify(side, "/x/chats/parent/child.jsonl") == Identity(
        "parent", SESSION, "/p", whole=True
    )
    (message,) = gemini_transcript.READER.read_transcript(
        lines(user("a", "x")), Identity("p", "c", whole=True), start=0
    ).messages
    assert message.side


def test_a_transcript_that_grows_and_changes_is_kept_as_it_is_now(
    place: Place, tmp_path: Path
) -> None:
    path, tally = tmp_path / "t.jsonl", Tally()
    cuts = [*range(200, len(DATA), 311), len(DATA)]
    for size in cuts:
        path.write_bytes(DATA[:size])
        ingest_transcripts.ingest_transcripts(place.home, [str(path)], tally)
    log = recall.RecallLog(place.home, "gemini", IDENTITY)
    assert [(m.tool or m.role, m.text) for m in recall.messages(log.path)] == SAID
    assert tally.messages == len(SAID)
    again = Tally()
    ingest_transcripts.ingest_transcripts(place.home, [str(path)], again)
    assert (again.messages, again.skipped) == (0, None)


def test_what_it_keeps_of_a_project_is_found(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "gemini/.gemini/tmp"
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "gemini"))
    hashed = hashlib.sha256(b"/home/dev/shop").hexdigest()
    paths = [
        home / f".gemini/tmp/{hashed}/chats/session-2025.json",
        other / "shop/chats/session-2026.jsonl",
        other / "web/chats/parent/child.jsonl",
        other / "named/chats/session-a.jsonl",
        other / "old/chats/session-b.jsonl",
        other / "unknown/chats/session-c.jsonl",
    ]
    for number, path in enumerate(paths):
        path.parent.mkdir(parents=True)
        path.write_bytes(lines())
        os.utime(path, (number, number))
    (other / "shop/.project_root").write_text("/home/dev/shop")
    (other / "web/.project_root").write_text("/home/dev/shop/web")
    (other / "old/.project_root").write_text("/home/dev/shop-old")
    named = {"projects": {"/home/dev/shop/named": "named"}}
    (other.parent / "projects.json").write_text(json.dumps(named))
    assert list(gemini_transcript.READER.list_transcripts(str(home), "/home/dev/shop")) == list(
        map(str, paths[:4])
    )
    (other.parent / "projects.json").write_text("[]")
    assert list(gemini_transcript.READER.list_transcripts(str(home), "/home/dev/shop")) == list(
        map(str, paths[:3])
    )


def test_a_transcript_says_where_it_was_held_if_projects_json_does(tmp_path: Path) -> None:
    """Also of a folder that is named by a hash, as they were until 2026."""
    hashed = hashlib.sha256(b"/home/dev/shop").hexdigest()
    (tmp_path / "projects.json").write_text(json.dumps({"projects": {"/home/dev/shop": "shop"}}))
    for name, project in (("shop", "/home/dev/shop"), (hashed, "/home/dev/shop"), ("x", "")):
        path = tmp_path / f"tmp/{name}/chats/session-1.jsonl"
        path.parent.mkdir(parents=True)
        found = gemini_transcript.READER.identify(lines().splitlines(keepends=True), str(path))
        assert found
        assert found.project == project
