"""The harness itself, proven on the real Claude Code with hooks that only print a word."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.hosts.claude_cli import PROGRAM as CLAUDE
from tests.hosts.claude_cli import ClaudeCode
from tests.hosts.installed import Installation, list_installations
from tests.hosts.scripted_model import ScriptedModel, texts


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = tmp_path / "repo"
    subprocess.run(["/usr/bin/git", "init", "-q", "-b", "main", str(repo)], check=True)
    return repo


def hook(repo: Path, commands: Mapping[str, str]) -> None:
    """Have Claude Code run a shell command for each event."""
    hooks = {
        event: [{"hooks": [{"type": "command", "command": command, "timeout": 10}]}]
        for event, command in commands.items()
    }
    (repo / ".claude").mkdir(exist_ok=True)
    (repo / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))


def claude_in(repo: Path, model: ScriptedModel, timeout: float = 60) -> ClaudeCode:
    return ClaudeCode(repo.parent / "home", repo, model.url, timeout=timeout)


@pytest.mark.host
def test_a_hook_finds_its_command_on_the_path_and_nothing_of_our_environment(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "leaked")
    scripts = repo.parent / "bin"
    scripts.mkdir()
    (scripts / "said").write_text('#!/bin/sh\necho "said<$OURS> $HOME"\n')
    (scripts / "said").chmod(0o755)
    hook(repo, {"UserPromptSubmit": "said"})
    home = repo.parent / "home"
    with ScriptedModel() as model:
        ClaudeCode(home, repo, model.url, path=f"{scripts}:/usr/bin:/bin").run("hello")
    assert any(f"said<> {home}" in text for text in texts(model.requests[0]))


@pytest.mark.host
def test_a_run_that_hangs_is_ended_with_all_it_started(repo: Path) -> None:
    hook(repo, {"UserPromptSubmit": "sleep 60"})
    with ScriptedModel() as model:
        claude = claude_in(repo, model, timeout=3)
        with pytest.raises(subprocess.TimeoutExpired):
            claude.run("hello")
        assert claude.left_running() == []
    assert model.requests == []


@pytest.mark.host
def test_a_detached_process_outlives_the_run_but_not_the_harness(repo: Path) -> None:
    hook(repo, {"UserPromptSubmit": "sleep 60 >/dev/null 2>&1 & echo started"})
    with ScriptedModel() as model, claude_in(repo, model) as claude:
        assert claude.run("hello").code == 0
        assert len(claude.left_running()) == 1
    assert claude.left_running() == []


@pytest.mark.parametrize("host", list_installations(), ids=lambda host: host.title)
def test_a_missing_assistant_says_how_to_install_it(
    host: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(host.variable, raising=False)
    monkeypatch.setenv("MEMFS_HOSTS_DIR", str(tmp_path))
    assert host.find() is None
    with pytest.raises(
        FileNotFoundError, match=f"^{host.title} is not .*\n  npm install --ignore-"
    ):
        host.require()
    monkeypatch.setenv(host.variable, __file__)
    assert host.find() == Path(__file__)


def test_an_assistant_is_found_in_one_prefix_for_all_or_in_one_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(CLAUDE.variable, raising=False)
    program = tmp_path / "claude/node_modules" / CLAUDE.folder / CLAUDE.inside
    program.parent.mkdir(parents=True)
    program.touch()
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, tmp_path / "claude", Path("claude")):
        monkeypatch.setenv("MEMFS_HOSTS_DIR", str(folder))
        assert CLAUDE.require() == program
