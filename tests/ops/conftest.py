from pathlib import Path

import pytest

from memfs.core.body_edits import Create
from memfs.core.records import Origin
from memfs.ops import archive, edit, init
from memfs.store import blocks
from memfs.store.blocks import Place
from memfs.team import verbs
from tests.ops.clones import BOB, committed, git
from tests.team.small_server import SmallServer


@pytest.fixture
def there(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Another project, of another user, with something in it."""
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    init.run(str(tmp_path / "there"), str(tmp_path / "other"))
    place = blocks.find_place(str(tmp_path / "there"))
    monkeypatch.setenv("HOME", str(home))
    edit.run(place, [Create("api", "The API", "five seconds\nretry twice")], Origin("agent"))
    archive.run(place, "Green tea at 70 degrees.", importance=7, tags=("tea",), origin=Origin())
    return place


@pytest.fixture
def clone(place: Place, repo: Path, tmp_path: Path) -> Path:
    """The repository as somebody else's clone, in which nobody ran memfs."""
    committed(place, repo)
    git(tmp_path, "clone", "-q", str(repo), "clone")
    for key in ("name", "email"):
        git(tmp_path / "clone", "config", f"user.{key}", BOB[key])
    return tmp_path / "clone"


@pytest.fixture
def holding(place: Place) -> None:
    Path(place.store("user").root, "config.yaml").write_text("memfs: 1\ntrust:\n  pulled: hold\n")


@pytest.fixture
def joined(place: Place, server: SmallServer) -> Place:
    """A project that joined the team's `shop`."""
    verbs.join_project(place, server.address, "mft_1", Origin(), project="shop")
    return place
