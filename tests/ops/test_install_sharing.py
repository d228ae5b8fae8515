"""What a commit takes in names nothing of this machine; what is one's own is kept out of commits."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memfs import hosts
from memfs.core.errors import StoreError
from memfs.hosts import settings
from memfs.ops import doctor, init, install
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.ops.clones import git

OWN = ".claude/settings.local.json"
SHARED = ".claude/settings.json"


def committable(repo: Path) -> list[str]:
    """The files that a commit takes in, those of the memory aside."""
    listed = git(repo, "ls-files", "-co", "--exclude-standard").splitlines()
    return [name for name in listed if not name.startswith(".agent-memory/")]


def run(place: Place, host: str, scope: str = "", **options: Any) -> list[install.SettingsEdit]:
    home = str(Path.home())
    return install.run(
        place, host, scope or install.select_scope(place, host, home), home, **options
    )


def command(path: Path) -> str:
    [group] = json.loads(path.read_text())["hooks"]["SessionStart"]
    return str(group["hooks"][0]["command"])


def start(command: str, repo: Path, path: str) -> subprocess.CompletedProcess[bytes]:
    payload = {"session_id": "s", "cwd": str(repo), "hook_event_name": "SessionStart"}
    env = {"PATH": path, "HOME": str(Path.home()), "MEMFS_SERVICE_MODE": "off"}
    data = json.dumps(payload).encode()
    return subprocess.run(
        ["sh", "-c", command], input=data, env=env, capture_output=True, check=False
    )


@pytest.fixture
def old(place: Place, repo: Path) -> Path:
    """Settings to commit in which an earlier version named this machine's Python."""
    exclude = repo / ".git/info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    before = exclude.read_text() if exclude.exists() else ""
    exclude.write_text("*.json\n")
    run(place, "claude", "project")
    exclude.write_text(before)
    assert sys.executable in (repo / SHARED).read_text()
    return repo / SHARED


def test_by_default_no_commit_takes_anything_of_it_in(place: Place, repo: Path) -> None:
    for host in hosts.NAMES:
        done = run(place, host)
        assert not any(each.tracking for each in done)
    assert committable(repo) == []
    assert command(repo / OWN).endswith("memfs_hook.py claude mcp")
    exclude = (repo / ".git/info/exclude").read_text()
    for host in hosts.NAMES:
        run(place, host)
    assert (repo / ".git/info/exclude").read_text() == exclude
    assert not [each for each in doctor.run(place, str(Path.home())) if "times" in each.text]


def test_what_is_to_be_committed_names_nothing_of_this_machine(place: Place, repo: Path) -> None:
    for host in hosts.NAMES:
        done = run(place, host, "project", line=True)
        assert {each.tracking for each in done} <= {"not ignored by git", ""}  # one is written once
    found = committable(repo)
    files = {path for host in hosts.NAMES for path, _ in hosts.get(host).wiring("project", "", ".")}
    assert set(found) == {path.removeprefix("./") for path in files}
    for name in found:
        text = (repo / name).read_text()
        for each in (sys.executable, sys.prefix, str(repo), str(Path.home())):
            assert each not in text, name
    wired = [each for host in hosts.NAMES for each in install.list_wired(place, host, "/nobody")]
    assert [each.scope for each in wired] == ["project"] * len(hosts.NAMES)
    for number, host in enumerate(hosts.NAMES):
        run(place, host, "project", remove=True, gone=hosts.NAMES[:number])
    assert committable(repo) == []


def test_a_shared_hook_runs_the_memfs_on_the_path_and_without_one_does_nothing(
    place: Place, repo: Path, tmp_path: Path
) -> None:
    run(place, "claude", "project")
    shared = command(repo / SHARED)
    assert "exec memfs hook claude mcp" in shared
    done = start(shared, repo, f"{Path(sys.executable).parent}:/usr/bin:/bin")
    assert b"Core memory" in done.stdout
    broken = tmp_path / "broken/memfs"  # its Python was removed
    broken.parent.mkdir()
    broken.write_text("#!/gone/python -E\n")
    broken.chmod(0o755)
    for folder in ("/nothing", str(broken.parent)):
        gone = start(shared, repo, f"{folder}:/usr/bin:/bin")
        assert (gone.returncode, gone.stdout, gone.stderr) == (0, b"", b""), "a prompt is refused"


def test_the_parent_of_a_shared_hook_is_the_host(place: Place, repo: Path, tmp_path: Path) -> None:
    """What two wirings say at once is said once, and tools know the session, by that process."""
    run(place, "claude", "project")
    program = tmp_path / "bin/memfs"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho $PPID $*\n")
    program.chmod(0o755)
    done = start(command(repo / SHARED), repo, f"{program.parent}:/usr/bin:/bin")
    assert done.stdout.decode() == f"{os.getpid()} hook claude mcp\n"


@pytest.mark.parametrize("host", hosts.NAMES)
def test_settings_to_commit_need_memfs_on_the_path(
    place: Place, repo: Path, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    with pytest.raises(StoreError, match="memfs is not on the PATH") as raised:
        run(place, host, "project")
    alone = "--local" if hosts.get(host).wiring("local", "", "") else "--user"
    assert raised.value.hint.endswith(f"for yourself: memfs install {host} {alone}")
    assert committable(repo) == []


def test_doctor_says_where_the_shared_command_is_not_on_the_path(
    place: Place, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(place, "claude", "project")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found = [each for each in doctor.run(place, str(home)) if each.level == "error"]
    needs = {f"the {what} memfs, which is not on the PATH" for what in ("tools need", "hook needs")}
    assert {each.text.partition(": ")[2] for each in found} == needs


def test_own_settings_that_are_committed_all_the_same_are_shared(place: Place, repo: Path) -> None:
    own = repo / OWN
    own.parent.mkdir()
    own.write_text("{}\n")
    git(repo, "add", OWN)
    done = run(place, "claude")
    assert [each.tracking for each in done] == ["tracked by git", ""]
    assert "memfs hook claude" in command(own)
    git(repo, "rm", "-qf", OWN)
    (repo / ".gitignore").write_text(f"!{OWN}\n")  # the project takes them in again
    run(place, "claude")
    assert "memfs hook claude" in command(own)


def test_settings_that_git_ignores_name_this_python(place: Place, repo: Path) -> None:
    (repo / ".gitignore").write_text(".claude/\n")
    run(place, "claude", "project")
    assert command(repo / SHARED).endswith("memfs_hook.py claude mcp")
    assert json.loads((repo / ".mcp.json").read_text())["mcpServers"]["memfs"]["command"] == "memfs"


def test_a_linked_worktree_keeps_its_own_settings_out_too(linked: Place, repo: Path) -> None:
    init.run(linked.home.top, str(Path.home()))
    run(linked, "claude")
    assert committable(Path(linked.home.top)) == []
    assert (repo / ".git/info/exclude").read_text().endswith(f"\n/{OWN}\n")


@pytest.mark.parametrize("remove", [False, True])
def test_where_an_earlier_version_wrote_the_server_of_a_worktree_it_goes(
    linked: Place, repo: Path, home: Path, remove: bool
) -> None:
    top = linked.home.top
    init.run(top, str(home))
    run(linked, "claude")
    account = home / ".claude.json"
    written = json.loads(account.read_text())["projects"]
    assert [*written] == [str(repo)]
    other = {"mcpServers": {"memfs": written[str(repo)]["mcpServers"]["memfs"], "other": {}}}
    account.write_text(json.dumps({"projects": {top: other}}))
    assert not settings.list_server_files(hosts.get("claude"), str(home), top)
    run(linked, "claude", "local", remove=remove)
    found = json.loads(account.read_text())["projects"]
    assert found.pop(top) == {"mcpServers": {"other": {}}}
    assert [*found] == ([] if remove else [str(repo)])
    assert remove or settings.list_server_files(hosts.get("claude"), str(home), top)


def test_a_project_below_the_top_keeps_its_own_settings_out(repo: Path) -> None:
    below = repo / "a [b] * c"
    below.mkdir()
    (below / ".agent-memory").mkdir()
    (below / ".agent-memory/config.yaml").write_text("memfs: 1\n")
    run(blocks.find_place(str(below)), "claude")
    assert (below / OWN).exists()
    assert [name for name in committable(repo) if ".claude" in name] == []


def test_a_foreign_exclude_file_is_not_written(place: Place, repo: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("mine\n")
    exclude = repo / ".git/info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.unlink(missing_ok=True)
    exclude.symlink_to(theirs)
    run(place, "claude")
    assert theirs.read_text() == "mine\n"
    assert "memfs hook claude" in command(repo / OWN), "a commit could take it in"


def test_an_old_wiring_stays_where_it_is_and_names_this_machine_no_more(
    place: Place, repo: Path, old: Path
) -> None:
    done = run(place, "claude")
    paths = [str(old), f"{repo}/.mcp.json"]
    assert [(each.path, each.outcome) for each in done] == [(path, "updated") for path in paths]
    assert sys.executable not in old.read_text() + (repo / ".mcp.json").read_text()
    assert len(install.list_wired(place, "claude", str(Path.home()))) == 1
    run(place, "claude", "project", remove=True)
    assert committable(repo) == []


@pytest.mark.parametrize("scope", ["local", "user"])
def test_a_wiring_of_the_project_moves_where_it_is_told_to(
    place: Place, repo: Path, old: Path, scope: str
) -> None:
    with pytest.raises(StoreError, match=f"already runs the memfs hooks from {old}"):
        run(place, "claude", scope)
    shown = run(place, "claude", scope, move=True, dry_run=True)
    assert [each.outcome for each in shown][:4] == ["created", "created", "removed", "removed"]
    assert run(place, "claude", scope, move=True) == shown
    assert committable(repo) == []
    assert [each.scope for each in install.list_wired(place, "claude", str(Path.home()))] == [scope]
    assert {each.outcome for each in run(place, "claude")} == {"unchanged"}


def test_own_settings_move_to_all_projects_within_one_file(place: Place, home: Path) -> None:
    run(place, "claude")
    run(place, "claude", "user", move=True)
    account = json.loads((home / ".claude.json").read_text())
    assert list(account) == ["mcpServers"]
    assert [each.scope for each in install.list_wired(place, "claude", str(home))] == ["user"]


def test_without_consent_nothing_is_written(place: Place, repo: Path, old: Path) -> None:
    before = old.read_text()
    shown: list[install.SettingsEdit] = []

    def refuse(planned: list[install.SettingsEdit]) -> bool:
        shown.extend(planned)
        return False

    assert run(place, "claude", "local", move=True, agree=refuse) == []
    assert len(shown) == 5
    assert old.read_text() == before
    assert committable(repo) == [SHARED, ".mcp.json"]
