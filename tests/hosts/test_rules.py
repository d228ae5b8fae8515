"""Blocks about files and commands in real assistants: given once, enforced where they are trusted."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.hosts.assistants import ALL, CODEX, Assistant
from tests.hosts.project import Project
from tests.hosts.scripted_model import Json, ScriptedModel, ToolUse

pytestmark = pytest.mark.host
each_host = pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)

API: Final = "---\ndescription: d\npaths: src/api/**\n---\nErrors are problem+json, always.\n"
PUSH: Final = "---\ndescription: d\nenforce: deny\ncommands: printf *\n---\nOnly CI prints.\n"
PRINT: Final = "printf %s%s zep pelin"
PRINTED: Final = "zeppelin"
FILE: Final = "src/api/client.py"
READS: Final = {
    "claude": ("Read", "file_path"),
    "codex": ("exec_command", "cmd"),
    "copilot": ("view", "path"),
    "gemini": ("read_file", "file_path"),
    "grok": ("read_file", "target_file"),
    "opencode": ("read", "filePath"),
    "qwen": ("read_file", "file_path"),
}
SHELLS: Final = {
    "claude": "Bash",
    "codex": "exec_command",
    "copilot": "bash",
    "gemini": "run_shell_command",
    "grok": "run_terminal_command",
    "opencode": "bash",
    "qwen": "run_shell_command",
}
MORE: Final[dict[str, Json]] = {"qwen": {"is_background": False}}
ARGS: Final = {"claude": ("--allowedTools", "Bash,Read"), "gemini": ("--approval-mode", "yolo")}


def write_rules(repo: Path) -> None:
    blocks = repo / ".agent-memory/blocks"
    (blocks / "api.md").write_text(API)
    (blocks / "push.md").write_text(PUSH)
    (repo / "src/api").mkdir(parents=True)
    (repo / FILE).write_text("x = 1\n")


def whole(requests: list[Json]) -> list[str]:
    return [json.dumps(request, ensure_ascii=False) for request in requests]


def play(project: Project, host: Assistant) -> list[str]:
    """Have an assistant read a file twice and run a command; return what its model was asked."""
    (tool, key), shell = READS[host.name], SHELLS[host.name]
    path = f"cat {FILE}" if tool == shell else str(project.repo / FILE)
    read = ToolUse(tool, {key: path})
    given: Json = {"cmd" if host is CODEX else "command": PRINT, "description": "Print it"}
    prints = ToolUse(shell, given | MORE.get(host.name, {}))
    with ScriptedModel([read, read, prints, "Done."]) as model:
        done = host.start(project, model).run("print it", *host.args, *ARGS.get(host.name, ()))
        assert done.code == 0, done.stderr
        return whole(model.requests)


@each_host
def test_a_file_brings_its_block_once_and_a_refused_command_does_not_run(
    tmp_path: Path, host: Assistant
) -> None:
    project = Project(tmp_path)
    host.install(project, "--user")
    write_rules(project.repo)
    project.trust()
    asked = play(project, host)
    assert [each.count("Errors are problem+json, always.") for each in asked] == [0, 1, 1, 1]
    assert "Only CI prints." in asked[3].partition(PRINT)[2]
    assert PRINTED not in asked[3]
    assert project.log() == ""


@each_host
def test_a_hostile_clone_brings_nothing_and_refuses_nothing(
    tmp_path: Path, host: Assistant
) -> None:
    project = Project(tmp_path)
    host.install(project, "--user")
    write_rules(project.repo)
    subprocess.run(["git", "-C", str(project.repo), "add", "."], check=True)
    who = ["-c", "user.name=B", "-c", "user.email=b@b"]
    subprocess.run(["git", "-C", str(project.repo), *who, "commit", "-qm", "x"], check=True)
    theirs = project.repo.rename(tmp_path / "theirs")
    subprocess.run(["git", "clone", "-q", str(theirs), str(project.repo)], check=True)
    shutil.rmtree(theirs)
    asked = play(project, host)
    assert not [each for each in asked if "Errors are" in each or "Only CI" in each]
    assert PRINTED in asked[3]
