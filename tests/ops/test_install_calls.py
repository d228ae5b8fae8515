"""Prompt hooks that call a tool of our server, where the version of the host can do that."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from memfs import hosts
from memfs.hosts import settings as settings_module
from memfs.hosts import settings_merge
from memfs.ops import install
from memfs.store.blocks import Place

THEIRS = (
    '{\n\n  "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "x"}]}]}\n}\n'
)


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program on the PATH for each host, which says the version in a file."""
    for name in ("claude", "codex"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\ncat "{tmp_path}/version"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    return tmp_path / "version"


def prompts(path: Path) -> list[Any]:
    """The hooks of prompts in a settings file."""
    found = json.loads(path.read_text().replace("// mine", ""))["hooks"]["UserPromptSubmit"]
    return [hook for group in found for hook in group["hooks"]]


def run(place: Place, host: str, scope: str = "user", **options: Any) -> Path:
    return Path(install.run(place, host, scope, str(Path.home()), **options)[0].path)


@pytest.mark.parametrize(
    ("host", "said"), [("claude", "2.1.328 (Claude Code)"), ("codex", "codex-cli 0.170.1")]
)
def test_a_version_that_can_calls_a_tool(place: Place, says: Path, host: str, said: str) -> None:
    says.write_text(said)
    path = run(place, host)
    (hook,) = prompts(path)
    assert (hook["type"], hook["server"], hook["tool"]) == ("mcp_tool", "memfs", hosts.HOOK_TOOL)
    assert hook["input"]["host"] == host
    assert hosts.HOOK in path.read_text()  # the other events start a process
    written = path.read_text()
    run(place, host)
    assert path.read_text() == written
    run(place, host, remove=True)
    assert not path.exists()


@pytest.mark.parametrize("said", ["2.1.327 (Claude Code)", "1.9.999", "nothing", ""])
def test_another_version_runs_a_command(place: Place, says: Path, said: str) -> None:
    says.write_text(said)
    assert [hook["type"] for hook in prompts(run(place, "claude"))] == ["command"]


def test_without_our_server_and_for_a_whole_team_it_is_a_command(place: Place, says: Path) -> None:
    says.write_text("2.1.328")
    assert [hook["type"] for hook in prompts(run(place, "claude", tools=False))] == ["command"]
    run(place, "claude", remove=True)
    (says.parent / "bin/memfs").symlink_to(Path(sys.executable).with_name("memfs"))
    assert [hook["type"] for hook in prompts(run(place, "claude", "project"))] == ["command"]


def test_one_takes_the_place_of_the_other_beside_hooks_of_others(place: Place, says: Path) -> None:
    path = Path.home() / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text(THEIRS)
    for said, ours in (("1.0", "command"), ("2.1.328", "mcp_tool"), ("1.0", "command")):
        says.write_text(said)
        run(place, "claude")
        assert [hook["type"] for hook in prompts(path)] == ["command", ours]
    says.write_text("3.0")
    run(place, "claude")
    run(place, "claude", remove=True)
    assert path.read_text() == THEIRS


def test_a_call_of_another_tool_is_not_ours() -> None:
    hook = {"type": "mcp_tool", "server": "memfs", "tool": "core_memory_read"}
    settings: settings_merge.Json = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
    assert settings_merge.without_entries(settings, {"hooks": {"UserPromptSubmit": []}}) == settings
    assert not settings_merge.calls_tool(settings)


@pytest.mark.usefixtures("place")
def test_hosts_that_cannot_are_not_asked(says: Path) -> None:
    says.write_text("99.0")
    assert [name for name in hosts.NAMES if settings_module.calls_tools(hosts.get(name))] == [
        "claude",
        "codex",
    ]
