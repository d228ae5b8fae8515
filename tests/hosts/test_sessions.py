"""A whole session in the real assistants, wired by settings and by the plugin."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.hosts.codex_cli import CodexCli
from tests.hosts.copilot_cli import CopilotCli
from tests.hosts.gemini_cli import GeminiCli
from tests.hosts.installed import CODEX as CODEX_PROGRAM
from tests.hosts.opencode_cli import OpencodeCli
from tests.hosts.program import Program
from tests.hosts.project import BIN, Project
from tests.hosts.scripted_model import ScriptedModel, ToolUse, results

pytestmark = pytest.mark.host

ROOT = Path(__file__).parents[2]
HEAD = "# Core memory (always available)"


class Host(NamedTuple):
    """An assistant: what a headless run needs for hooks and tools, how its tools are named.

    `verb` is how it takes a plugin.
    """

    name: str
    program: type[Program]
    args: tuple[str, ...]
    tool: str
    plugin_tool: str = ""
    verb: str = ""


PATIENT = ("-c", "mcp_optional_startup_grace_ms=20000")
CODEX = Host(
    "codex", CodexCli, (*PATIENT, "-c", "features.plugins=true"),
    "mcp__memfs__core_memory_append", "mcp__memfs__core_memory_append", "add",
)  # fmt: skip
COPILOT = Host(
    "copilot", CopilotCli, ("--allow-all-tools",),
    "memfs-core_memory_append", "memfs-core_memory_append", "install",
)  # fmt: skip
GEMINI = Host("gemini", GeminiCli, (), "mcp_memfs_core_memory_append")
OPENCODE = Host("opencode", OpencodeCli, (), "memfs_core_memory_append")
WAYS = [(CODEX, "settings"), (CODEX, "plugin"), (COPILOT, "settings"), (COPILOT, "plugin"),
        (GEMINI, "settings"), (OPENCODE, "settings")]  # fmt: skip


@pytest.mark.parametrize(("host", "way"), WAYS, ids=lambda each: getattr(each, "name", each))
def test_a_session_has_the_brief_once_and_edits_a_block(
    tmp_path: Path, host: Host, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path)
    trust = ["--trust"] if host is CODEX else []
    if trust:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin/codex").symlink_to(CODEX_PROGRAM.require())
        monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    project.memfs("edit", "human", "--append", "Name: Alice")
    path = f"{BIN}:/usr/local/bin:/usr/bin:/bin"
    tool = host.tool if way == "settings" else host.plugin_tool
    append = ToolUse(tool, {"label": "human", "content": "Likes teal"})
    with (
        ScriptedModel([append, "Noted.", "Teal."]) as model,
        host.program(project.home, project.repo, model.url, path=path) as program,
    ):
        if way == "settings":
            project.memfs("install", host.name, "--user", *trust)
        elif trust:
            project.memfs("install", host.name, "--plugin", *trust)
        else:
            program.command("plugin", "marketplace", "add", str(ROOT))
            program.command("plugin", host.verb, "memfs@memfs")
        assert program.run("I like teal", *host.args).code == 0
        first = json.dumps(model.requests[0])
        assert first.count(HEAD) == 1
        assert "Name: Alice" in first
        assert "core_memory_append, " in first
        assert "done: 'human' is at version 3" in "\n".join(results(model.requests[1]))
        assert program.run("and what was it?", *host.args).code == 0
        assert "Likes teal" in json.dumps(model.requests[-1])
    found = json.loads(project.memfs("search", "and what was it", "--json"))
    said = [(hit["role"], hit["text"]) for hit in found["hits"] if hit["host"] == host.name]
    assert ("user", "and what was it?") in said
    edit = project.history("human")[0]
    ids = host.program(project.home, project.repo, "").sessions()
    assert (edit["actor"], edit["host"], edit["session"]) == ("agent", host.name, ids[0])
    assert HEAD not in project.memfs("search", "responsible for maintaining your own memory")
    assert project.log() == ""
