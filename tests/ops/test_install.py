import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from memfs import hosts
from memfs.core.errors import StoreError
from memfs.hosts import jsonc_edit, settings_merge
from memfs.ops import install
from memfs.ops.doctor import hosts as doctor_hosts
from memfs.store.blocks import Place

EVENTS = (
    "SessionStart SubagentStart UserPromptSubmit PreToolUse PostToolUse Stop PreCompact SessionEnd"
)


@pytest.fixture
def path(repo: Path) -> Path:
    return repo / ".claude" / "settings.json"


@pytest.fixture
def own(repo: Path) -> Path:
    return repo / ".claude" / "settings.local.json"


def wire(
    place: Place, path: Path, *, remove: bool = False, dry_run: bool = False, tools: bool = True
) -> install.SettingsEdit:
    home = str(Path.home())
    user = str(path).startswith(home)
    scope = "user" if user else "local" if path.stem.endswith("local") else "project"
    done = install.run(place, "claude", scope, home, remove=remove, dry_run=dry_run, tools=tools)
    assert done[0].path == str(path)
    return done[0]


def test_from_nothing_and_back(place: Place, path: Path, repo: Path) -> None:
    assert wire(place, path).outcome == "created"
    assert list(json.loads(path.read_text())["hooks"]) == EVENTS.split()
    assert wire(place, path).outcome == "unchanged"
    assert (repo / ".mcp.json").exists()
    assert wire(place, path, remove=True).outcome == "removed"
    assert not path.parent.exists()
    assert not (repo / ".mcp.json").exists()
    assert wire(place, path, remove=True).outcome == "unchanged"


def test_the_command_is_this_python_without_site_packages(
    place: Place, own: Path, repo: Path
) -> None:
    wire(place, own)
    settings = json.loads(own.read_text())
    [group] = settings["hooks"]["SessionStart"]
    command = group["hooks"][0]["command"]
    words = shlex.split(command.partition("exec ")[2])
    assert words[:4] == [sys.executable, "-I", "-S", "-E"]
    assert words[-2:] == ["claude", "mcp"]
    payload = {"session_id": "s", "cwd": str(repo), "hook_event_name": "SessionStart"}
    done = subprocess.run(
        ["sh", "-c", command], input=json.dumps(payload).encode(), capture_output=True, check=True
    )
    assert "Core memory" in done.stdout.decode()
    assert "Memory tools: core_memory_append, " in done.stdout.decode()


@pytest.mark.parametrize("gone", ["memfs_hook.py", "bin/python"])
def test_where_memfs_was_removed_a_hook_does_nothing(place: Place, own: Path, gone: str) -> None:
    wire(place, own)
    [group] = json.loads(own.read_text())["hooks"]["UserPromptSubmit"]
    command = group["hooks"][0]["command"].replace(gone, f"gone/{gone}")
    done = subprocess.run(["sh", "-c", command], input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), "a prompt would be refused"


def test_a_dry_run_writes_nothing(place: Place, path: Path) -> None:
    wired = wire(place, path, dry_run=True)
    assert wired.outcome == "created"
    assert '+    "SessionStart": [' in wired.diff
    assert not path.parent.exists()


@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_settings_file_that_is_a_link_stays_one(
    place: Place, path: Path, repo: Path, home: Path, tmp_path: Path, scope: str
) -> None:
    """One of the user's may be anywhere; one of a project's only in the project."""
    where = home / ".claude/settings.json" if scope == "user" else path
    real = (tmp_path if scope == "user" else repo) / "dotfiles/settings.json"
    where.parent.mkdir()
    real.parent.mkdir()
    real.write_text("{}\n")
    where.symlink_to(real)
    wire(place, where)
    assert where.is_symlink()
    assert settings_merge.may_have_hooks(real.read_text())
    assert [path.name for path in real.parent.iterdir()] == ["settings.json"]
    wire(place, where, remove=True)
    assert where.is_symlink()
    assert real.read_text() == "{}\n"


def test_the_tools_are_wired_with_the_hooks_in_every_scope(
    place: Place, repo: Path, home: Path
) -> None:
    wanted = {
        "user": (home / ".claude/settings.json", home / ".claude.json"),
        "project": (repo / ".claude/settings.json", repo / ".mcp.json"),
        "local": (repo / ".claude/settings.local.json", home / ".claude.json"),
    }
    account = home / ".claude.json"
    for scope, paths in wanted.items():
        account.write_text('{"numStartups": 4, "projects": {"/x": {"mcpServers": {}}}}')
        done = install.run(place, "claude", scope, str(home))
        assert tuple(Path(each.path) for each in done[:2]) == paths
        found = json.loads(paths[1].read_text())
        servers = (found["projects"][str(repo)] if scope == "local" else found)["mcpServers"]
        shared = scope == "project"
        assert servers["memfs"] == {
            "type": "stdio",
            "command": "memfs" if shared else sys.executable,
            "args": ["mcp"] if shared else ["-P", "-c", "import memfs.__main__", "mcp"],
            "alwaysLoad": True,
        }
        assert json.loads(paths[0].read_text())["permissions"] == {"allow": ["mcp__memfs"]}
        install.run(place, "claude", scope, str(home), remove=True)
        assert account.read_text().startswith('{"numStartups": 4')
        assert "memfs" not in account.read_text()
        assert not paths[0].exists()


def test_without_the_tools_their_entries_go_and_the_brief_names_the_commands(
    place: Place, path: Path, repo: Path
) -> None:
    wire(place, path)
    wire(place, path, tools=False)
    assert set(json.loads(path.read_text())) == {"hooks"}
    assert "memfs" not in (repo / ".mcp.json").read_text()
    [group] = json.loads(path.read_text())["hooks"]["SessionStart"]
    payload = {"session_id": "s", "cwd": str(repo), "hook_event_name": "SessionStart"}
    command, data = group["hooks"][0]["command"], json.dumps(payload).encode()
    done = subprocess.run(["sh", "-c", command], input=data, capture_output=True, check=True)
    assert "edit LABEL --append TEXT" in done.stdout.decode()


def test_hooks_are_byte_compiled(place: Place, path: Path) -> None:
    import memfs.hook.main

    wire(place, path)
    cached = memfs.hook.main.__spec__
    assert cached
    assert cached.cached
    assert os.path.exists(cached.cached)


JSONC = """{
  // what I let it do
  "permissions": {"allow": ["Bash(ls:*)"], /* nothing else */ "deny": []},
  "hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}]},
  "model": "opus", // the big one
}
"""


@pytest.mark.parametrize(
    "text", [JSONC, "// mine\n{}\n", '{"a": 1,}', '{"a": /* b */ []}', "{}// x", "\ufeff{}"]
)
@pytest.mark.parametrize("host", hosts.NAMES)
def test_a_file_that_its_host_would_ignore_is_refused_and_named(
    place: Place, home: Path, text: str, host: str
) -> None:
    path = Path(hosts.get(host).wiring("user", str(home), "")[0][0])
    if path.suffix != ".json" or path.name == "memfs.json":
        return  # a file of ours alone
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if not set(jsonc_edit.list_extras(text)).isdisjoint(hosts.get(host).IGNORES):
        with pytest.raises(StoreError, match=r"cannot read a file that contains a "):
            install.run(place, host, "user", str(home))
        assert path.read_text() == text
        path.write_text("{}")
    install.run(place, host, "user", str(home))
    path.write_text("// mine\n" + path.read_text())
    named = [each.text for each in doctor_hosts.check_hosts(place, str(home))]
    ignored = [each for each in named if "cannot read a file that contains a comment" in each]
    assert len(ignored) == ("a comment" in hosts.get(host).IGNORES)
    install.run(place, host, "user", str(home), remove=True)
    assert "// mine" in path.read_text()


def test_hooks_that_are_all_switched_off_are_named(place: Place, home: Path) -> None:
    install.run(place, "claude", "user", str(home))
    path = home / ".claude/settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "disableAllHooks": True}))
    named = [each.text for each in doctor_hosts.check_hosts(place, str(home))]
    assert f"{path}: Claude Code runs no hooks, because 'disableAllHooks' is on" in named


NAMED = ('{"permissions": {"deny": ["Read(hooks/memfs_hook.py)"]}}', '{"a": "memfs_hook.py"}')


@pytest.mark.parametrize("text", NAMED)
def test_our_name_in_a_settings_file_is_not_our_hook(
    place: Place, path: Path, text: str, home: Path
) -> None:
    path.parent.mkdir()
    path.write_text(text)
    assert install.list_wired(place, "claude", str(home)) == []
    assert wire(place, path).outcome == "updated"
