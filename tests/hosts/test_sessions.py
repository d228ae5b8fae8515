"""A whole session in the real assistants, wired by a plugin.

That of Claude Code's form; for Copilot CLI also the repository as a package of Agent Plugins 1.0, for
Gemini CLI as an extension, which needs no entry in settings.
"""

import json
import subprocess
from pathlib import Path

import pytest

from tests.hosts.assistants import CODEX, COPILOT, GEMINI, HEAD, Assistant
from tests.hosts.project import Project
from tests.hosts.scripted_model import ScriptedModel, ToolUse, results, tool_names

pytestmark = pytest.mark.host

ROOT = Path(__file__).parents[2]
PLUGINS = ("-c", "features.plugins=true")
PACKAGE = ("plugin.json", "mcp.json", "skills", "com.github.copilot", "hooks")  # its files


@pytest.mark.behaviour("start", "tools", "end")
@pytest.mark.parametrize(("host", "portable"), [(CODEX, False), (COPILOT, False), (COPILOT, True)])
def test_with_the_plugin_a_session_has_the_brief_once_and_edits_a_block(
    tmp_path: Path, host: Assistant, *, portable: bool
) -> None:
    project = Project(tmp_path)
    project.memfs("edit", "human", "--append", "Name: Quentin")
    append = ToolUse(host.tool, {"label": "system_rules", "content": "Likes teal"})
    args = (*host.args, *PLUGINS) if host is CODEX else host.args
    with ScriptedModel([append, "Noted.", "Teal."]) as model, host.start(project, model) as program:
        if host.trust:
            host.install(project, "--plugin")
        elif portable:
            package = tmp_path / "package"
            package.mkdir()
            subprocess.run(["cp", "-R", *(ROOT / part for part in PACKAGE), package], check=True)
            args = (*args, "--plugin-dir", str(package))
        else:
            program.command("plugin", "marketplace", "add", str(ROOT))
            program.command("plugin", host.verb, "memfs@memfs")
        assert program.run("I like teal", *args).code == 0
        first = json.dumps(model.requests[0])
        assert first.count(HEAD) == 1
        assert "Name: Quentin" in first
        assert "core_memory_append, " in first
        assert "review the long-term memory of this project" in first, "the skill"
        assert "done: 'system_rules' is at version 2" in "\n".join(results(model.requests[1]))
        assert program.run("and what was it?", *args).code == 0
        assert "Likes teal" in json.dumps(model.requests[-1])
    found = json.loads(project.memfs("search", "and what was it", "--json"))
    said = [(hit["role"], hit["text"]) for hit in found["hits"] if hit["host"] == host.name]
    assert ("user", "and what was it?") in said
    assert ("assistant", "Teal.") in said
    edit = project.history("system_rules")[0]
    ids = host.program(project.home, project.repo, "").sessions()
    assert (edit["actor"], edit["host"], edit["session"]) == ("agent", host.name, ids[0])
    assert HEAD not in project.memfs("search", "responsible for maintaining your own memory")
    assert project.log() == ""


PARTS = ("gemini-extension.json", "hooks", "skills")  # what of the repository it is made of


def test_the_extension_brings_the_brief_and_the_tools(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.memfs("edit", "human", "--append", "Name: Quentin")
    clone = tmp_path / "clone"
    clone.mkdir()
    for part in PARTS:
        subprocess.run(["cp", "-R", str(ROOT / part), str(clone)], check=True)
    with ScriptedModel(["A gopher digs.", "It whistles."]) as model:
        with GEMINI.start(project, model) as gemini:
            program, env = gemini.program(), gemini.environment()
            subprocess.run(
                [*program, "extensions", "install", str(clone), "--consent"],
                cwd=project.repo,
                env=env,
                input=b"y\n",  # the folder is trusted
                capture_output=True,
                check=True,
            )
            # Headless, tools of a server that nobody trusted are not offered; an extension cannot say so.
            gemini.run("what does a gopher do?", "--approval-mode", "yolo")
            gemini.run("and a marmot?")
    asked = [json.dumps(request, ensure_ascii=False) for request in model.requests]
    assert [each.count(HEAD) for each in asked] == [1, 1]
    assert "Name: Quentin" in asked[0]
    assert "review the long-term memory of this project" in asked[0], "the skill"
    assert any(name.endswith("memory_read") for name in tool_names(model.requests[0]))
    found = json.loads(project.memfs("search", "what does a gopher do?", "--json"))["hits"]
    assert any(hit["text"] == "A gopher digs." for hit in found)
    assert project.log() == ""
