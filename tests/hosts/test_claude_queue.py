"""What people type while Claude Code works: it waits in a queue, and is no line of theirs."""

from __future__ import annotations

import json

import pytest

from memfs.core.records import Message
from tests.hosts.test_claude_transcript import in_steps, read, texts
from tests.hosts.transcript_lines import SESSION, assistant, line, user


def queued(said: object, **more: object) -> bytes:
    attachment = {"type": "queued_command", "prompt": said, "commandMode": "prompt", **more}
    return line("attachment", None, "q1", message=None, attachment=attachment)


def test_what_is_typed_while_the_assistant_works_is_kept() -> None:
    (message,) = read(queued("and the tests, too")).messages
    assert message == Message(
        "q1",
        SESSION,
        "claude",
        "/home/dev/shop",
        "main",
        "2026-05-03T10:00:00.000Z",
        "user",
        "and the tests, too",
    )
    blocks = [{"type": "image", "source": {}}, {"type": "text", "text": "like this"}]
    assert texts(queued(blocks, origin={"kind": "human"})) == [("user", "like this")]
    twice = queued("once", source_uuid="u7") + user("once", "u7")
    assert texts(twice) == [("user", "once")]


@pytest.mark.parametrize(
    "more",
    [
        {"commandMode": "task-notification"},
        {"isMeta": True},
        {"origin": {"kind": "peer"}},
        {"type": "hook_success"},
        {"prompt": "<task-notification>b1</task-notification>"},
    ],
    ids=str,
)
def test_what_others_put_into_the_queue_is_left_out(more: dict[str, object]) -> None:
    found = read(queued("not typed", **more))
    assert (found.messages, found.left_out) == ([], 1)


def queue(operation: str, content: object = None, minute: int = 0) -> bytes:
    made = {
        "type": "queue-operation",
        "operation": operation,
        "sessionId": SESSION,
        "timestamp": f"2026-02-18T14:{minute:02}:00.000Z",
    }
    return json.dumps(made | ({"content": content} if content else {})).encode() + b"\n"


WORKING = user("fix it", "u1") + queue("enqueue", "and the tests, too", 1)


def test_until_attachments_were_written_the_queue_tells_what_was_typed() -> None:
    data = WORKING + assistant("yes", "u2") + queue("remove", minute=2)
    (_, _, message) = read(data).messages
    assert (message.role, message.text) == ("user", "and the tests, too")
    assert (message.at, message.project) == ("2026-02-18T14:01:00.000Z", "/home/dev/shop")
    for cut in range(len(data)):
        assert in_steps(data, [cut]) == read(data)


@pytest.mark.parametrize(
    "data",
    [
        WORKING,
        WORKING + queue("dequeue") + user("and the tests, too", "u1"),
        WORKING + queue("popAll") + queue("remove"),
        user("fix it", "u1") + queue("enqueue", '{"task_id":"b1"}') + queue("remove"),
        user("fix it", "u1") + queue("remove") + queue("enqueue") + queue("remove"),
        WORKING + line("attachment", "", "a", attachment={"type": "date"}) + queue("remove"),
    ],
    ids=["waits", "its turn came", "taken back", "a task", "nothing", "it will be attached"],
)
def test_the_queue_tells_nothing_more(data: bytes) -> None:
    assert texts(data) == [("user", "fix it")]


NOTICE = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"


@pytest.mark.parametrize("notice", [NOTICE, '{"task_id":"b1","description":"x"}'])
@pytest.mark.parametrize("takes", ["", "dequeue"])
def test_a_notification_in_the_queue_shifts_nobodys_prompts(notice: str, takes: str) -> None:
    data = user("fix it", "u1") + queue("enqueue", notice)
    data += queue(takes) + user(NOTICE, "n1") if takes else b""
    data += queue("enqueue", "first", 1) + queue("enqueue", notice) + queue("enqueue", "second", 2)
    data += queue("remove") + assistant("yes", "u2") + queue("remove")
    wanted = [("user", "fix it"), ("user", "first"), ("assistant", "yes"), ("user", "second")]
    assert texts(data) == wanted
    for cut in range(0, len(data), 7):
        assert in_steps(data, [cut]) == read(data)


def test_a_prompt_that_waited_for_the_end_of_a_turn_is_said_once_beside_a_notification() -> None:
    data = user("fix it", "u1") + queue("enqueue", NOTICE) + queue("enqueue", "then this", 1)
    data += queue("dequeue") + user("then this", "u2") + queue("remove")
    assert texts(data) == [("user", "fix it"), ("user", "then this")]
    for cut in range(0, len(data), 7):
        assert in_steps(data, [cut]) == read(data)
