"""The repository as an extension of Gemini CLI: hooks and tools, without an entry in settings."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.hosts.assistants import GEMINI, HEAD
from tests.hosts.project import Project
from tests.hosts.scripted_model import ScriptedModel, tool_names

pytestmark = pytest.mark.host
ROOT = Path(__file__).parent.parent.parent
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
