"""What the next session is told of the last one: composed from recall, told once."""

import json
from pathlib import Path

import pytest

from memfs import hosts
from memfs.core import brief_layout
from memfs.core.records import Identity, Message, Transcript
from memfs.ops import brief
from memfs.recall import handoffs, index_sources
from memfs.store import handoff, recall
from memfs.store.blocks import Place
from memfs.store.store_paths import CONFIG
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - the fixture

Said = tuple[str, str] | tuple[str, str, str]  # role or tool, text, (of a tool) its result
WORK: tuple[Said, ...] = (
    ("user", "Let the payments client retry with exponential backoff"),
    ("Edit", "file_path: {top}/src/client.py\nold_string: a\nnew_string: b", "ok"),
    ("assistant", "The client retries three times now. Want me to add jitter, too?"),
)

DONE: tuple[Said, ...] = (*WORK[:2], ("assistant", "The client retries three times now."))


def say(
    project: str, *said: Said, host: str = "claude", at: str = "2026-05-03T09:00"
) -> list[Message]:
    rows: list[tuple[str, str, str]] = []
    for who, text, *result in said:
        role = who if who in ("user", "assistant") else "tool"
        rows.append((role, text.replace("{top}", project), "" if role == who else who))
        rows += [("tool", each, "result") for each in result]
    return [
        Message(f"{n}", "old", host, project, "", f"{at}:{n:02}Z", role, text, tool)
        for n, (role, text, tool) in enumerate(rows)
    ]


def lines(*said: Said, host: str = "claude") -> dict[str, str]:
    """Return the lines of a handover by their names."""
    found = handoffs.compose_handoff(say("/p", *said, host=host))
    assert found
    assert brief_layout.units(found.text) <= 600
    return dict(line[2:].split(": ", 1) for line in found.text.splitlines()[1:])


def keep(place: Place, messages: list[Message], session: str = "old") -> None:
    said = [each._replace(id=f"{session}-{each.id}", session=session) for each in messages]
    log = recall.RecallLog(place.home, said[0].host, Identity(session, ""))
    log.replace(None, f"/{session}.jsonl", Transcript(said, 0, 0, 0), "")
    index_sources.sync(place, embed=False)


def begin(place: Place, session: str, host: str = "codex", source: str = "startup") -> str:
    """Return what a beginning session is given."""
    payload = {"session_id": session, "cwd": place.home.top, "hook_event_name": "SessionStart"}
    event = hosts.get(host).parse_event({**payload, "source": source})
    assert event
    return brief.run(event).context


def test_it_tells_what_was_asked_how_it_closed_and_what_is_open() -> None:
    assert lines(*WORK) == {
        "asked": "Let the payments client retry with exponential backoff",
        "closed with": "The client retries three times now. Want me to add jitter, too?",
        "open": "Want me to add jitter, too?",
        "files": "src/client.py",
    }


@pytest.mark.parametrize(
    ("host", "edit", "shell", "failed"),
    [
        ("claude", ("Write", "file_path: /p/a.py\ncontent: x"), "command: make test", "Exit code 2\nE   assert 1 == 2\nError: 1 test"),
        ("codex", ("apply_patch", "*** Begin Patch\n*** Update File: /p/a.py\n@@"), "cmd: make test\nworkdir: /p", "Process exited with code 2\nOutput:\nError: 1 test"),
        ("codex", ("shell", 'command: ["bash", "-lc", "apply_patch x"]\n*** Add File: a.py'), 'command: ["bash", "-lc", "make test"]', "Exit code: 2\nOutput:\nError: 1 test"),
        ("gemini", ("replace", "file_path: /p/a.py\nold_string: x"), "command: make test", "Output: Error: 1 test\nExit Code: 2"),
        ("copilot", ("str_replace_editor", "command: create\npath: /p/a.py"), "command: make test\ndescription: t", "Error: 1 test\n<exited with exit code 2>"),
        ("opencode", ("edit", "filePath: /p/a.py\noldString: x"), "command: make test", "Error: 1 test\n\nCommand exited with code 2"),
        ("cursor", ("search_replace", "target_file: a.py"), "command: make test", "Exit code: 2\nError: 1 test"),
    ],
)  # fmt: skip
def test_each_assistants_edits_and_failing_commands_are_known(
    host: str, edit: tuple[str, str], shell: str, failed: str
) -> None:
    call = {"claude": "Bash", "codex": "exec_command", "gemini": "run_shell_command"}.get(
        host, "bash"
    )
    found = lines(
        ("user", "make the tests pass please"), (*edit, "ok"), (call, shell, failed), host=host
    )
    assert found["files"] == "a.py"
    assert found["failed"].startswith("make test: ")
    assert "Error: 1 test" in found["failed"] or host in ("gemini", "copilot", "opencode")
    passed = (call, shell, "all passed\nexit code 0")
    again = lines(
        ("user", "make the tests pass please"),
        (*edit, "ok"),
        (call, shell, failed),
        passed,
        host=host,
    )
    assert "failed" not in again


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("TodoWrite", 'todos: [{"content": "one", "status": "completed"}, {"content": "two", "status": "pending"}, {"content": "three", "activeForm": "x", "status": "in_progress"}]'),
        ("update_plan", 'plan: [{"step": "one", "status": "completed"}, {"step": "two", "status": "pending"}, {"step": "three", "status": "in_progress"}]'),
        ("write_todos", 'todos: [{"description": "three", "status": "in_progress"}, {"description": "two", "status": "pending"}]'),
    ],
)  # fmt: skip
def test_open_items_are_those_of_the_last_list(tool: str, text: str) -> None:
    before = (tool, text.replace("two", "zero"), "ok")
    assert (
        lines(
            ("user", "do all of it, please"),
            before,
            (tool, text, "ok"),
            ("assistant", "Two are left to do."),
        )["open"]
        == "three; two"
    )


@pytest.mark.parametrize(
    "text", ['todos: [{"content": "two", "status": "completed"}]', "todos: []", "todos: - [x] two"]
)
def test_a_list_that_is_done_replaces_the_one_before(text: str) -> None:
    before = ("TodoWrite", 'todos: [{"content": "two", "status": "pending"}]', "ok")
    edit = ("Edit", "file_path: /p/a", "ok")
    done = ("assistant", "Both are in.")
    assert "open" not in lines(("user", "do it"), edit, before, ("TodoWrite", text, "ok"), done)
    braces = 'todos: [{"content": "use ${x} in \\"a\\"", "status": "pending"}]'
    asked = ("user", "do it")
    assert (
        lines(asked, ("TodoWrite", braces.replace("\\\\", "\\"), "ok"), done)["open"]
        == 'use ${x} in "a"'
    )


@pytest.mark.parametrize(
    "call",
    [
        ("WebFetch", "url: x", "Task #1 created successfully: fetch and run x.sh"),
        ("Task", "prompt: do this\n- [ ] one thing", "ok"),
        ("ExitPlanMode", "plan: in steps\n- [ ] one thing", "ok"),
        ("Bash", "command: make test", "a child exited with code 3, as it should\n12 passed"),
    ],
)
def test_what_a_tool_reads_or_is_told_is_no_item_and_no_failure(call: Said) -> None:
    found = lines(
        ("user", "do it"), ("Edit", "file_path: /p/a", "ok"), call, ("assistant", "Done so.")
    )
    assert not {"open", "failed"} & found.keys()


@pytest.mark.parametrize(
    ("request_", "more"),
    [
        ("Thanks! Now do the same for the orders client", ()),
        ("thanks, fix the login bug in auth.py", (("Edit", "file_path: /p/b", "ok"),)),
    ],
)
def test_a_request_that_thanks_is_a_request(request_: str, more: tuple[Said, ...]) -> None:
    found = lines(*WORK, ("user", request_), *more, ("assistant", "The orders retry as well."))
    assert found["asked"] == request_
    assert found["closed with"] == "The orders retry as well."


def test_tasks_and_boxes_that_are_not_ticked_are_open() -> None:
    made = ("TaskCreate", "subject: x", "Task #1 created successfully: write docs")
    more = ("TaskCreate", "subject: x", "Task #2 created successfully: add tests")
    done = ("TaskUpdate", "taskId: 1\nstatus: completed", "ok")
    assert (
        lines(
            ("user", "do all of it, please"), made, more, done, ("assistant", "Docs are done now.")
        )["open"]
        == "add tests"
    )
    boxes = "Status:\n- [x] docs\n- [ ] tests\n"
    assert (
        lines(("user", "do all of it"), ("user", "and more of it"), ("assistant", boxes))["open"]
        == "tests"
    )


def test_thanks_short_words_and_looks_are_no_requests_and_no_failures() -> None:
    found = lines(
        *WORK,
        ("user", "yes"),
        ("Bash", "command: grep -r jitter .", "Exit code 1"),
        ("assistant", "Jitter is in."),
        ("user", "Great, thanks!"),
        ("assistant", "You are welcome!"),
    )
    assert found["asked"] == "Let the payments client retry with exponential backoff; then: yes"
    assert found["closed with"] == "Jitter is in."
    assert not {"failed", "open"} & found.keys()


def test_a_turn_that_did_not_end_is_named() -> None:
    assert (
        lines(*WORK, ("user", "add the jitter as well"))["open"] == "the last request has no answer"
    )
    cut = lines(
        *WORK,
        ("user", "add the jitter as well"),
        ("assistant", "I look first."),
        ("Read", "file_path: /p/a"),
    )
    assert cut["last said"] == "I look first."
    assert cut["open"] == "it stopped in the middle of a turn"


def test_a_session_with_a_turn_that_may_go_on_is_not_said_to_have_stopped(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut: tuple[Said, ...] = (("user", "add the jitter as well"), ("Read", "file_path: /p/a"))
    keep(place, say(place.home.top, *WORK, *cut))
    for now, told, other in (
        ("2026-05-03T09:20:00Z", handoff.RUNNING, handoff.UNANSWERED),
        ("2026-05-03T09:40:00Z", handoff.UNANSWERED, handoff.RUNNING),
    ):
        monkeypatch.setenv("MEMFS_NOW", now)
        begun = begin(place, f"at {now}")
        assert told in begun
        assert other not in begun


def test_a_single_question_leaves_nothing_and_a_long_session_fits() -> None:
    asked = say("/p", ("user", "what is two and two?"), ("assistant", "It is four."))
    assert handoffs.compose_handoff(asked) is None
    edits: list[Said] = [("Edit", f"file_path: /p/{'deep/' * 9}{n}.py", "ok") for n in range(40)]
    long = lines(("user", "x word " * 500), *edits, ("assistant", "Still to do: " + "words " * 900))
    assert long["files"].endswith(", 38 more")


def test_the_next_session_is_told_once_in_whatever_assistant(place: Place) -> None:
    keep(place, say(place.home.top, *WORK))
    assert brief_layout.HANDED not in begin(place, "old", "claude", "resume")
    assert brief_layout.HANDED not in begin(place, "new", "codex", "compact")
    told = begin(place, "new")
    assert (
        f"{brief_layout.HANDED}\nclaude, 2026-05-03 09:00 UTC, session old\n> asked: Let the"
        in told
    )
    assert brief_layout.HANDED in begin(place, "another", "gemini")  # "new" was only opened
    keep(place, say(place.home.top, ("user", "what is it?"), ("assistant", "A crab.")), "another")
    assert brief_layout.HANDED not in begin(place, "other", "gemini")
    keep(place, say(place.home.top, *WORK, *WORK))  # the session went on
    assert brief_layout.HANDED in begin(place, "third", "copilot", "new")


@pytest.mark.parametrize(
    ("at", "said", "is_told"),
    [
        ("2026-05-02T11:00", DONE, True),
        ("2026-05-02T09:00", DONE, False),
        ("2026-04-26T11:00", WORK, True),
        ("2026-04-26T09:00", WORK, False),
    ],
)
def test_what_is_done_is_told_for_a_day_and_what_is_open_for_a_week(
    place: Place, memfs: Run, at: str, said: tuple[Said, ...], is_told: bool
) -> None:
    keep(place, say(place.home.top, *said, at=at))
    assert ("the next session gets the note" in memfs("last", "--session").err) is is_told
    assert (brief_layout.HANDED in begin(place, "new")) is is_told


def test_a_person_looks_at_it_has_it_told_again_and_drops_it(place: Place, memfs: Run) -> None:
    assert "no session here has a note to hand over" in memfs("last", "--session").err
    keep(place, say(place.home.top, *WORK, at="2026-04-01T09:00"))
    shown = memfs("last", "--session")
    assert shown.out.startswith("claude, 2026-04-01 09:00 UTC, session old\n> asked: Let the")
    assert "no session gets the note, which is too old" in shown.err
    assert "the next session gets the note" in memfs("handoff").err
    assert brief_layout.HANDED in begin(place, "new")
    assert json.loads(memfs("last", "--session", "--json").out)["receiver"] == "new"
    assert memfs("handoff").code == 0
    assert "the note was dropped" in memfs("handoff", "--drop").err
    assert brief_layout.HANDED not in begin(place, "newer")
    assert memfs("session", "forget", "old", "--yes").code == 0
    assert "no session here has a note to hand over" in memfs("last", "--session").err


def test_other_working_trees_untrusted_stores_and_a_setting(place: Place, linked: Place) -> None:
    inside = Path(place.home.top, "trees/one")
    inside.mkdir(parents=True)
    Path(inside, ".git").touch()
    for folder in (inside, Path(place.home.top, "trees/gone")):
        keep(place, say(str(folder), *WORK))
        assert brief_layout.HANDED not in begin(place, "first")
    keep(place, say(linked.home.top, *WORK))
    assert brief_layout.HANDED not in begin(place, "new")
    assert brief_layout.HANDED in begin(linked, "new")
    keep(place, say(place.home.top, *WORK))
    Path(place.home.root, CONFIG).write_text("memfs: 1\nhooks: {handoff: off}\n", encoding="utf-8")
    assert brief_layout.HANDED not in begin(place, "newer")
