"""Tasks of Cline, Roo Code and Kilo Code become sessions of the project that they were in."""

import os
from pathlib import Path

from memfs.importers import readers
from memfs.importers.readers.items import ToolSession
from memfs.store import recall
from memfs.store.blocks import Place
from tests.importers.importing import import_path, list_details, read_session
from tests.importers.samples import make_cline, make_task, write_json

TASK = "1767225600000"


def list_said(place: Place, name: str = TASK) -> list[tuple[str, str, str]]:
    return [(each.role, each.tool, each.text) for each in read_session(place, name)]


def write_messages(folder: Path, *messages: object, task: str = TASK) -> Path:
    """Write the messages of a task as the model got them."""
    write_json(folder / f"tasks/{task}/api_conversation_history.json", list(messages))
    return folder


def make_text(role: str, *texts: str, **more: object) -> dict[str, object]:
    content = [{"type": "text", "text": text} for text in texts]
    return {"role": role, "content": content, **more}


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


def test_a_large_result_is_capped(place: Place, tmp_path: Path) -> None:
    result = {"type": "tool_result", "content": [{"type": "text", "text": "x" * 100_000}]}
    import_path(place, write_messages(tmp_path, {"role": "user", "content": [result]}))
    assert len(read_session(place)[0].text) < 4000


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
    assert "damaged after element 1" in list_details(done, "refused")[0]
    assert [text for _, _, text in list_said(place)] == ["One"]
    assert [text for _, _, text in list_said(place, name="2")] == ["Whole"]
