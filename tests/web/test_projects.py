"""Several projects in one page, each with addresses of its own."""

from pathlib import Path

from memfs.ops import init
from memfs.store import local_folder
from memfs.store.blocks import Place
from memfs.web import commands
from tests.web.conftest import Client, serve


def test_two_projects_with_one_name_are_told_apart(
    place: Place, repo: Path, home: Path, tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere" / repo.name
    other.mkdir(parents=True)
    (other / ".git").mkdir()
    init.run(str(other), str(home))
    (other / ".agent-memory/blocks/only_there.md").write_text("---\npinned: true\n---\nHi.\n")
    with serve([repo, other], home) as server:
        here, there = (Client(server.access, each.key) for each in server.projects)
        assert here.base != there.base
        assert "only_there" in there.get("blocks").words
        assert "only_there" not in here.get("blocks").words
        assert f'href="{there.base}/blocks"' in here.get("blocks").text
        assert here.send("GET", f"{server.access.root}/repo-000000/blocks").status == 404
        missing = there.get("blocks/project:absent")
        assert missing.status == 404
        assert f'<a href="{there.base}/blocks">All blocks</a>' in missing.text


def test_all_projects_of_the_machine_are_those_that_are_trusted(
    place: Place, repo: Path, home: Path, tmp_path: Path
) -> None:
    assert place.project
    assert local_folder.list_projects() == [str(repo)]
    assert commands._list_folders((), everything=True) == [str(repo)]
