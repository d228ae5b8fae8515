"""Our plugin in the real opencode: what it adds to requests, what it refuses, when it begins anew."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from memfs.store import resources
from tests.hosts.opencode_cli import OpencodeCli
from tests.hosts.project import Project
from tests.hosts.script import Scripted
from tests.hosts.scripted_model import Json, Reply, ScriptedModel, ToolUse, results, texts

pytestmark = pytest.mark.host

HEAD = "# Core memory (always available)"
BLOCK = ".agent-memory/blocks/persona.md"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.memfs("install", "opencode")
    return made


def system(request: Json) -> str:
    return "\n".join(texts(request, "system"))


def run(project: Project, model: ScriptedModel, *args: str) -> None:
    with OpencodeCli(project.home, project.repo, model.url) as opencode:
        done = opencode.run("on which port does the shop listen?", *args)
    assert done.code == 0, done.stderr
    assert project.log() == ""


def test_the_plugin_is_a_program() -> None:
    node = shutil.which("node")
    assert node, "node is not installed"
    subprocess.run([node, "--check", resources.path("hooks", "opencode", "memfs.js")], check=True)


def test_the_brief_and_what_a_prompt_brings_are_in_each_request_and_not_kept(
    project: Project,
) -> None:
    project.memfs("archive", "add", "The shop listens on port 8080.")
    project.memfs("search", "shop")  # makes the index
    append = ToolUse("memfs_core_memory_append", {"label": "human", "content": "Likes teal"})
    with ScriptedModel([append, "8080."]) as model:
        run(project, model)
        first, second = model.requests
        assert system(first) == system(second)
        for once in (HEAD, "The shop listens on port 8080."):
            assert json.dumps(first).count(once) == 1
        assert all(HEAD not in system(each) for each in model.side_requests)
        run(project, model, "--continue")
        assert json.dumps(model.requests[-1]).count(HEAD) == 1
        assert system(model.requests[-1]).count("Likes teal") == 1
    assert HEAD not in project.memfs("search", "responsible for maintaining your own memory")


def test_a_read_only_block_is_not_written_and_what_is_wrong_is_told(project: Project) -> None:
    block = project.repo / ".agent-memory/blocks/system_rules.md"
    block.write_text("---\ndescription: Rules.\nread_only: true\n---\nPort 8080.\n")
    long = "---\ndescription: Me.\nlimit: 10\n---\nMuch too long for this.\n"
    given = {"filePath": str(block), "oldString": "8080", "newString": "80"}
    persona = project.repo / BLOCK
    script: list[Scripted] = [
        ToolUse("read", {"filePath": str(block)}),
        ToolUse("edit", given),
        ToolUse("read", {"filePath": str(persona)}),
        ToolUse("write", {"filePath": str(persona), "content": long}),
        "Done.",
    ]
    with ScriptedModel(script) as model:
        run(project, model)
    assert "is read-only" in results(model.requests[2])[-1]
    assert "Port 8080." in block.read_text()
    assert "the limit is 10: shorten the block" in results(model.requests[4])[-1]
    entry = project.history("persona")[0]
    (session,) = OpencodeCli(project.home, project.repo, "").sessions()
    assert (entry["actor"], entry["host"], entry["session"]) == ("agent", "opencode", session)


def test_a_subagent_shares_the_memory_of_the_session_it_works_for(project: Project) -> None:
    task = {"description": "look", "prompt": "look around", "subagent_type": "general"}
    append = ToolUse("memfs_core_memory_append", {"label": "human", "content": "Likes teal"})
    with ScriptedModel([ToolUse("task", task), append, "Seen.", "Done."]) as model:
        run(project, model)
    assert [system(each).count(HEAD) for each in model.requests] == [1, 1, 1, 1]
    root, side = OpencodeCli(project.home, project.repo, "").sessions()
    assert project.history("human")[0]["session"] == root
    recall = project.repo / ".agent-memory/local/recall/opencode"
    names = sorted(path.name for path in recall.glob("*.jsonl"))
    assert names == sorted([f"{root}.jsonl", f"{root}.agent-{side}.jsonl"])


@pytest.mark.behaviour("compaction", host="opencode")
def test_after_a_compaction_the_brief_is_made_anew(project: Project) -> None:
    append = ToolUse("memfs_core_memory_append", {"label": "human", "content": "Likes teal"})
    full = Reply("", (ToolUse("read", {"filePath": "x"}),), input_tokens=195_000)
    with ScriptedModel([append, full]) as model:
        run(project, model)
    asked = [("Likes teal" in system(each), system(each).count(HEAD)) for each in model.requests]
    assert asked == [(False, 1), (False, 1), (True, 1)]
    assert len(model.side_requests) == 2  # the title, and the summary
    assert all(HEAD not in system(each) for each in model.side_requests)


def test_taken_out_it_is_gone(project: Project) -> None:
    with ScriptedModel(["8080.", "8080."]) as model:
        run(project, model)
        project.memfs("uninstall", "opencode", "--user")
        run(project, model)
    assert HEAD in system(model.requests[0])
    assert "memfs" not in json.dumps(model.requests[-1])
    assert not (project.home / ".config/opencode/plugins").exists()
