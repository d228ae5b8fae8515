"""What `memfs status` says of blocks."""

import json
import subprocess
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ops import edit, init, status
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - a fixture
from tests.hook.calls import call, start
from tests.ops.clones import commit


def load_states(place: Place, label: str) -> tuple[str, str, int]:
    found = status.run(place, "").blocks
    return next((s.sync, s.content, s.version) for s in found if s.block.label == label)


def edit_by_hand(place: Place, label: str, line: str) -> None:
    path = Path(blocks.get(place, label).path)
    path.write_text(path.read_text() + line)


def test_outside_git_a_block_is_dirty_until_its_text_is_recorded(place: Place, memfs: Run) -> None:
    assert load_states(place, "human") == ("clean", "empty", 1)
    edit_by_hand(place, "human", "Likes tea.\n")
    for _ in range(2):  # to look records nothing
        assert load_states(place, "human") == ("dirty", "modified", 2)
    assert memfs("log", "human").code == 0
    assert load_states(place, "human") == ("clean", "modified", 2)
    edit.run(place, [Append("human", "Likes cake.")], Origin("agent"))
    assert load_states(place, "human") == ("clean", "populated", 3)


def test_a_block_that_no_journal_has_yet_is_clean(place: Place) -> None:
    text = "---\ndescription: Cities\n---\nTurku\n"
    Path(place.store("user").root, "blocks/cities.md").write_text(text)
    assert load_states(place, "cities") == ("clean", "populated", 1)


def test_the_scratch_block_has_a_state_of_its_own(place: Place, repo: Path) -> None:
    call(start(repo))
    place = blocks.find_place(str(repo), "s1")
    assert load_states(place, "working")[0] == "clean"
    edit.run(place, [Append("working", "Begun.")], Origin("agent"))
    assert load_states(place, "working")[0] == "clean"
    edit_by_hand(place, "working", "Halfway.\n")
    assert load_states(place, "working")[0] == "dirty"
    edit.run(place, [Append("working", "Done.")], Origin("agent"))
    assert load_states(place, "working")[0] == "clean"


def test_a_store_in_git_is_compared_with_the_commit(place: Place, repo: Path) -> None:
    commit(repo)
    assert load_states(place, "persona")[0] == "clean"
    edit.run(place, [Append("persona", "Calm.")], Origin("agent"))
    assert load_states(place, "persona")[0] == "dirty"
    commit(repo)
    assert load_states(place, "persona")[0] == "clean"


def test_a_user_store_in_git_is_compared_with_its_commit(place: Place) -> None:
    subprocess.run(["git", "init", "-q", place.store("user").root], check=True)
    assert load_states(place, "human")[0] == "dirty"
    commit(Path(place.store("user").root))
    assert load_states(place, "human")[0] == "clean"
    edit.run(place, [Append("human", "Likes tea.")], Origin("agent"))
    assert load_states(place, "human")[0] == "dirty"


def test_a_project_outside_git_has_states(
    tmp_path: Path, home: Path, memfs: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    init.run(str(folder), str(home))
    monkeypatch.chdir(folder)
    edit_by_hand(blocks.find_place(str(folder)), "persona", "Calm.\n")
    found = {s["label"]: s["sync"] for s in json.loads(memfs("status", "--json").out)["blocks"]}
    assert found == {"persona": "dirty", "system_rules": "clean", "human": "clean"}
