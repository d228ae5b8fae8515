"""Who is not like the service does its own work, and the service knows when it is out of date."""

import shutil
from pathlib import Path

import pytest

from memfs.ipc import client, service_status
from memfs.ipc.service_status import ServiceStatus
from memfs.ops import service as op
from memfs.service import server
from memfs.store.blocks import Place
from tests.service import running
from tests.service.running import answered, asked, hook, payload

pytestmark = pytest.mark.usefixtures("place")


def as_version(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "VERSION", version)


def test_a_newer_asker_makes_it_leave_and_the_next_starts_another(
    warm: ServiceStatus, repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_version("99.0.0", monkeypatch)
    assert service_status.load_status() is None
    running.until(lambda: not running.ours(home))
    running.until(running.over)
    assert client.is_listening()  # where it was listened: who asks next starts one
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("MEMFS_SERVICE_MODE", "auto")
    assert service_status.load_status() is None
    assert client.ask("hold", ["."]) is None
    assert running.until(service_status.load_status).process != warm.process


def test_an_older_asker_does_its_own_work(
    warm: ServiceStatus, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        as_version("0.0.1", older)
        assert client.ask("hold", ["."], wait=2) is None
        assert running.begins(hook(payload(repo, "UserPromptSubmit", "go on")))
    found = service_status.load_status()
    assert found
    assert found.process == warm.process


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(
    "name", ["MEMFS_MAX_BLOCKS", "MEMFS_HOOKS_RECALL", "TZ", "MEMFS_ODD\nNAME"]
)
def test_another_environment_is_not_answered(
    repo: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    hook(payload(repo, "SessionStart"))
    monkeypatch.setenv(name, "3\n4" if "ODD" in name else "3")
    assert asked(payload(repo, "UserPromptSubmit", "go on")) is None
    monkeypatch.delenv(name)
    assert answered(payload(repo, "UserPromptSubmit", "go on")) == ""
    monkeypatch.setenv("MEMFS_SESSION", "another")
    assert answered(payload(repo, "UserPromptSubmit", "go on")) == ""


def test_another_home_with_the_same_store_is_not_answered(
    home: Path, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMFS_HOME", str(home / ".agent-memory"))
    with running.inside():
        hook(payload(repo, "SessionStart"))
        assert answered(payload(repo, "UserPromptSubmit", "go on")) == ""
        monkeypatch.setenv("HOME", str(tmp_path))
        assert asked(payload(repo, "UserPromptSubmit", "go on")) is None


def test_other_code_on_the_disk_makes_it_leave_also_while_it_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "_TICK", 0.1)
    with running.inside() as inside:
        monkeypatch.setattr(server, "_get_code_signature", lambda: "another")

        def left() -> str:
            client.ask("hold", ["."], wait=0.5)
            return inside._leave

        assert running.until(left) == "memfs was changed"
    assert client.is_listening()


def test_code_that_changed_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = Path(server.__file__).parent.parent
    for name in ("__init__.py", "ipc/client.py", "service/server.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(package / name, tmp_path / name)
    monkeypatch.setattr(server, "__file__", str(tmp_path / "service/server.py"))
    before = server._get_code_signature()
    assert server._get_code_signature() == before
    shutil.copy(package / "ipc/client.py", tmp_path / "new")
    (tmp_path / "new").replace(tmp_path / "ipc/client.py")
    assert server._get_code_signature() != before
    shutil.rmtree(tmp_path / "ipc")
    assert server._get_code_signature() is None


def test_idle_it_leaves_and_the_next_prompt_starts_it(place: Place, repo: Path, home: Path) -> None:
    hook(payload(repo, "SessionStart", session="s1"))
    running.until(service_status.load_status)
    assert op.stop()
    with running.inside(idle=2.0) as inside:
        assert answered(payload(repo, "UserPromptSubmit", "go on")) == ""
        used = inside._used
        assert service_status.load_status()
        assert inside._used == used  # that is no reason to stay
        assert running.until(lambda: inside._leave) == "idle"
    running.until(lambda: not running.ours(home))
    assert running.process(payload(repo, "UserPromptSubmit", "go on")) == ""
    assert running.until(service_status.load_status)


def test_stopped_it_stays_away_until_the_next_session(
    warm: ServiceStatus, repo: Path, home: Path
) -> None:
    hook(payload(repo, "SessionStart"))
    assert op.stop()
    running.until(lambda: not running.ours(home))
    assert running.process(payload(repo, "UserPromptSubmit", "go on")) == ""
    running.until(lambda: not running.ours(home))
    assert not client.is_listening()
    running.process(payload(repo, "SessionStart", session="s2"))
    assert running.until(service_status.load_status).process != warm.process


def test_turned_off_it_is_not_started(
    place: Place, repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMFS_SERVICE_MODE", "off")
    running.process(payload(repo, "SessionStart"))
    running.until(lambda: not running.ours(home))


def test_versions_are_compared_by_number() -> None:
    assert server._is_newer("0.10.0", "0.9.9")
    assert not server._is_newer("0.9.9", "0.10.0")
    assert not server._is_newer("²", "0.1")
    assert server._is_newer("9" * 5000, "0.1")
