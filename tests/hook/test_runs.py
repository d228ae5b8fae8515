"""What a hook call leaves behind for `memfs doctor`: that it ran, and for how long."""

import os
import shutil
import time
from pathlib import Path

import pytest

from memfs.recall import source_index
from memfs.store import data_sources, sessions
from memfs.store.blocks import Place
from tests.hook.calls import answer, call, log, payload, start
from tests.test_house import HEAVY, imported


def runs(place: Place) -> list[str]:
    folder = Path(place.home.local, "hooks")
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_each_call_leaves_one_record_for_its_host(place: Place, repo: Path) -> None:
    call(start(repo))
    call(payload(repo, "UserPromptSubmit", prompt="hello"))
    found = sessions.last_run(place.home, "claude")
    assert found
    event, when, milliseconds = found
    assert event == "UserPromptSubmit"
    assert abs(time.time() - when) < 60
    assert 1 < milliseconds < 60_000
    [path] = Path(place.home.local, "hooks").iterdir()
    assert path.stat().st_size % 64 == 0
    assert path.stat().st_size <= 64 * 512
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_call_that_failed_is_one_that_ran(place: Place, repo: Path) -> None:
    call(start(repo))
    for name in os.listdir(f"{place.home.local}/sessions"):
        shutil.rmtree(f"{place.home.local}/sessions/{name}")
        Path(f"{place.home.local}/sessions/{name}").write_text("a file where a folder should be")
    call(payload(repo, "UserPromptSubmit", prompt="hello"))
    found = sessions.last_run(place.home, "claude")
    assert found
    assert found[0] == "UserPromptSubmit"
    assert len(log(repo)) == 1


def test_a_call_for_somebody_else_leaves_none(place: Place, repo: Path, tmp_path: Path) -> None:
    answer(payload(repo, "SessionStart", cursor_version="3.20", conversation_id="c"))
    answer(payload(repo, "Notification"))
    call(payload(tmp_path, "SessionStart"), cwd=tmp_path)
    assert runs(place) == []


@pytest.mark.parametrize("what", ["folder", "link", "fifo", "file for the folder"])
def test_what_is_in_the_way_of_the_record_disturbs_nothing(
    place: Place, repo: Path, tmp_path: Path, what: str
) -> None:
    path = Path(place.home.local, "hooks/claude")
    if what == "file for the folder":
        path.parent.write_text("x")
    else:
        path.parent.mkdir()
    if what == "folder":
        path.mkdir()
    elif what == "link":
        (tmp_path / "theirs").write_text("theirs")
        path.symlink_to(tmp_path / "theirs")
    elif what == "fifo":
        os.mkfifo(path)
    assert b"Core memory" in answer(start(repo))
    assert log(repo) == []
    assert sessions.last_run(place.home, "claude") is None
    if what == "link":
        assert (tmp_path / "theirs").read_text() == "theirs"


def test_a_prompt_that_is_looked_up_in_a_source_imports_nothing_heavy(
    place: Place, repo: Path
) -> None:
    (repo / "docs").mkdir()
    (repo / "docs/gophers.md").write_text(
        "# Gophers\n\nGophers dig tunnels below the meadow, as deep as two metres.\n"
    )
    with (repo / ".agent-memory/config.yaml").open("a") as config:
        config.write("sources:\n  guide:\n    paths: [docs]\n")
    (source,) = data_sources.list_sources(place)
    assert source_index.sync(place, source, embed=False)
    imported(repo, "the first prompt brings the whole brief")
    found = imported(repo, "where do gophers dig tunnels below the meadow?")
    assert {"memfs.recall.item_recall", "memfs.context.brief_contents"} <= found
    assert not found & HEAVY
    assert "memfs.recall.source_index" not in found
