"""Tasks of Cline, Roo Code and Kilo Code become sessions of the project that they were in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memfs.core.records import Message
from memfs.importers import readers
from memfs.importers.readers.items import ToolSession
from memfs.store import recall
from memfs.store.blocks import Place
from tests.importers.importing import import_path, list_details
from tests.importers.samples import SAMPLES, make_cline, make_task, write_json

TASK = "1767225600000"


def read_session(place: Place, host: str = "cline", name: str = TASK) -> list[Message]:
    return list(recall.messages(recall.get_path(place.home, host, name)))


def list_said(place: Place, host: str = "cline", name: str = TASK) -> list[tuple[str, str, str]]:
    return [(each.role, each.tool, each.text) for each in read_session(place, host, name)]


def write_messages(folder: Path, *messages: object, task: str = TASK) -> Path:
    """Write the messages of a task as the model got them."""
    write_json(folder / f"tasks/{task}/api_conversation_history.json", list(messages))
    return folder


def make_text(role: str, *texts: str, **more: object) -> dict[str, object]:
    content = [{"type": "text", "text": text} for text in texts]
    return {"role": role, "content": content, **more}


@pytest.mark.parametrize("host", ["cline", "roo", "kilo"])
def test_a_task_goes_into_the_project_it_was_in(place: Place, tmp_path: Path, host: str) -> None:
    done = import_path(place, SAMPLES[host](tmp_path / "tool"))
    assert dict(done.taken) == {("task", "repo"): 1}
    assert list_said(place, host) == [
        ("user", "", "Write the note 世界"),
        ("assistant", "", "I will write it."),
        ("tool", "write_to_file", "path: a.md\ncontent: A"),
        ("tool", "result", "It is saved."),
    ]
    first = read_session(place, host)[0]
    assert (first.at, first.project) == ("2026-01-01T00:00:00Z", str(tmp_path / "repo"))


def test_a_task_of_another_folder_is_left(place: Place, tmp_path: Path) -> None:
    path = make_task(tmp_path / "tool", "x", workspace=f"{tmp_path}/repository")
    done = import_path(place, path)
    assert dict(done.left) == {("task", "repository"): 1}
    assert not recall.sources(place.home)


def test_what_the_extension_told_the_model_names_the_folder_where_no_list_does(
    place: Place, tmp_path: Path
) -> None:
    done = import_path(place, make_task(tmp_path / "tool", "x"))
    assert dict(done.left) == {("task", "w"): 1}


def test_every_editor_is_looked_at(home: Path) -> None:
    found = [
        ".config/VSCodium/User/globalStorage/saoudrizwan.claude-dev",
        "Library/Application Support/Code - Insiders/User/globalStorage/saoudrizwan.claude-dev",
        ".vscode-server/data/User/globalStorage/saoudrizwan.claude-dev",
        ".cline/data",
    ]
    for each in found:
        make_task(home / each, "x")
    make_task(home / ".config/Code/User/globalStorage/kilocode.kilo-code", "x")
    cline = readers.get("cline").find(str(home), {})
    assert cline == [str(home / each) for each in found]
    assert len(readers.get("kilo").find(str(home), {})) == 1
    assert readers.get("roo").find(str(home), {}) == []
    moved = {"CLINE_DATA_DIR": str(home / ".cline/data")}
    assert readers.get("cline").find(str(home / "nowhere"), moved) == [str(home / ".cline/data")]


def test_a_folder_of_tasks_and_one_task_are_recognised(tmp_path: Path) -> None:
    top = make_cline(tmp_path)
    for path in (top, top / "tasks", top / "tasks" / TASK):
        tool = readers.recognise(str(path))
        assert tool
        assert tool.name == "cline"
        (found,) = tool.read(str(path))
        assert isinstance(found, ToolSession)
        assert (found.ident, found.project) == (TASK, str(tmp_path.parent / "repo"))


def test_what_the_extension_adds_to_a_prompt_is_cut(place: Place, tmp_path: Path) -> None:
    details = "<environment_details>\n# Time\n<task>no</task></environment_details>"
    path = write_messages(
        tmp_path,
        make_text("user", "<task>\nRead @/a.md\n</task>", details),
        make_text("user", '<file_content path="a.md">\nA\n</file_content>', details),
        {"role": "user", "content": f"<user_input mode='act'>Go on</user_input>{details}"},
        make_text(
            "user", "[TASK RESUMPTION] It was interrupted.\n<user_message>\nGo on!\n</user_message>"
        ),
        make_text("user", "[ERROR] You did not use a tool!"),
    )
    import_path(place, path)
    assert [text for _, _, text in list_said(place)] == ["Read @/a.md", "Go on", "Go on!"]


def test_calls_in_the_text_of_the_assistant_are_calls(place: Place, tmp_path: Path) -> None:
    path = write_messages(
        tmp_path,
        make_text(
            "assistant",
            "<thinking>Hm.</thinking>I read it.\n<read_file>\n<path>a.py</path>\n</read_file>",
        ),
        make_text("user", "[read_file for 'a.py'] Result:", "1 | A = 1", "<environment_details>"),
        make_text(
            "assistant", "<attempt_completion>\n<result>It is 1.</result>\n</attempt_completion>"
        ),
        make_text(
            "user",
            "[attempt_completion] Result:",
            "The user has provided feedback:\n<feedback>\nNo, 2.\n</feedback>",
        ),
    )
    import_path(place, path)
    assert list_said(place) == [
        ("assistant", "", "I read it."),
        ("tool", "read_file", "<path>a.py</path>"),
        ("tool", "result", "1 | A = 1"),
        ("tool", "result", "<environment_details>"),
        ("assistant", "", "It is 1."),
        ("tool", "result", "The user has provided feedback:"),
        ("user", "", "No, 2."),
    ]


def test_tools_by_which_the_assistant_speaks_are_its_words(place: Place, tmp_path: Path) -> None:
    blocks = [
        {"type": "tool_use", "name": "attempt_completion", "input": {"result": "Done."}},
        {"type": "tool_use", "name": "attempt_completion", "input": 7},
    ]
    answer = {"type": "tool_result", "content": "<answer>\nThe second\n</answer>"}
    path = write_messages(
        tmp_path, {"role": "assistant", "content": blocks}, {"role": "user", "content": [answer]}
    )
    import_path(place, path)
    assert list_said(place) == [("assistant", "", "Done."), ("user", "", "The second")]


def test_a_large_result_is_capped(place: Place, tmp_path: Path) -> None:
    result = {"type": "tool_result", "content": [{"type": "text", "text": "x" * 100_000}]}
    import_path(place, write_messages(tmp_path, {"role": "user", "content": [result]}))
    assert len(read_session(place)[0].text) < 4000


def test_times_are_those_of_what_was_shown_beside_it(place: Place, tmp_path: Path) -> None:
    path = write_messages(
        tmp_path,
        make_text("user", "One"),
        make_text("assistant", "Two"),
        make_text("user", "Three"),
    )
    shown = [{"ts": 1767225610000, "type": "say", "conversationHistoryIndex": 0}]
    write_json(path / f"tasks/{TASK}/ui_messages.json", [*shown, 7, {}])
    import_path(place, path)
    assert [each.at[-3:-1] for each in read_session(place)] == ["00", "10", "10"]


def test_without_the_history_what_was_shown_is_read(place: Place, tmp_path: Path) -> None:
    said = [
        {"ts": 1767225600000, "type": "say", "say": "text", "text": "Write it"},
        {"ts": 1767225601000, "type": "say", "say": "text", "text": "I wri", "partial": True},
        {"ts": 1767225601000, "type": "say", "say": "api_req_started", "text": "{}"},
        {"ts": 1767225602000, "type": "ask", "ask": "followup", "text": '{"question": "Where?"}'},
        {"ts": 1767225603000, "type": "say", "say": "user_feedback", "text": "Here"},
        {"ts": 1767225604000, "type": "say", "say": "completion_result", "text": "Done"},
    ]
    write_json(tmp_path / "tasks/t/ui_messages.json", said)
    import_path(place, tmp_path)
    assert [(role, text) for role, _, text in list_said(place, name="t")] == [
        ("user", "Write it"),
        ("assistant", "Where?"),
        ("user", "Here"),
        ("assistant", "Done"),
    ]


def test_sessions_of_the_newer_cline_are_read(place: Place, tmp_path: Path) -> None:
    top = tmp_path / "data/sessions/s-1"
    messages = [{**make_text("user", "Write it"), "ts": 1767225600000}]
    write_json(top / "s-1.messages.json", {"version": 1, "messages": messages})
    write_json(top / "s-1.json", {"session_id": "s-1", "cwd": str(tmp_path / "repo")})
    assert dict(import_path(place, tmp_path / "data").taken) == {("task", "repo"): 1}
    assert read_session(place, name="s-1")[0].at == "2026-01-01T00:00:00Z"


def test_of_a_task_that_goes_on_the_new_messages_are_added(place: Place, tmp_path: Path) -> None:
    said = [make_text("user", "One"), make_text("assistant", "Two"), make_text("user", "Three")]
    import_path(place, write_messages(tmp_path, *said))
    summary = make_text("user", "What was before", isSummary=True)
    path = write_messages(tmp_path, summary, said[0], make_text("assistant", "Anew"))
    done = import_path(place, path)
    assert [item.outcome for item in done.items] == ["merged"]
    assert [text for _, _, text in list_said(place)] == ["One", "Two", "Three", "Anew"]


def test_a_damaged_task_gives_what_is_before_and_no_other_suffers(
    place: Place, tmp_path: Path
) -> None:
    write_messages(tmp_path, make_text("user", "One"), make_text("user", "Two"))
    path = tmp_path / f"tasks/{TASK}/api_conversation_history.json"
    path.write_text(path.read_text()[:-20])
    write_messages(tmp_path, make_text("user", "Whole"), task="2")
    os.mkfifo(tmp_path / f"tasks/{TASK}/ui_messages.json")
    done = import_path(place, tmp_path)
    assert "damaged after 1 elements" in list_details(done, "refused")[0]
    assert [text for _, _, text in list_said(place)] == ["One"]
    assert [text for _, _, text in list_said(place, name="2")] == ["Whole"]


def test_odd_types_in_every_field_do_no_harm(place: Place, tmp_path: Path) -> None:
    odd: list[object] = [7, None, True, [], [{}], {"a": [1]}, "text", 1e300]
    messages: list[object] = [make_text("user", "Kept"), *odd]
    for value in odd:
        blocks = [
            dict.fromkeys(("type", "text", "name", "input", "content"), value),
            {"type": "tool_use", "name": value, "input": value},
            {"type": "tool_use", "name": "attempt_completion", "input": {"result": value}},
            {"type": "tool_result", "content": value},
            {"type": "text", "text": value},
        ]
        messages += [{"role": role, "content": blocks} for role in ("user", "assistant", value)]
        messages += [{"role": "user", "content": value, "ts": value, "isSummary": value}]
        messages += [{"type": "ask", "ask": value, "text": value}]
        write_json(tmp_path / "state/taskHistory.json", [value, {"id": value}, {TASK: value}])
        item = dict.fromkeys(("id", "ts", "workspace"), value)
        write_json(tmp_path / f"tasks/{TASK}/history_item.json", item)
        write_messages(tmp_path, *messages)
        import_path(place, tmp_path, project="" if not isinstance(value, str) else value)
    assert "Kept" in [text for _, _, text in list_said(place, host="roo")]


@pytest.mark.parametrize("name", ["a" * 200, "a\nb", "CON", "\x1b[31m", "世界", "-x"])
def test_a_hostile_name_of_a_task_names_no_file_elsewhere(
    place: Place, tmp_path: Path, name: str
) -> None:
    import_path(place, write_messages(tmp_path, make_text("user", "x"), task=name))
    (path,) = recall.sources(place.home)
    assert Path(path).parent == Path(place.home.local) / "recall/cline"
