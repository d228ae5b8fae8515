"""Reviews in real assistants: once, after five prompts, never again; and MemGPT's own example."""

import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests.hosts.assistants import CODEX, COPILOT, GEMINI, OPENCODE, Assistant
from tests.hosts.claude_cli import ClaudeCode
from tests.hosts.project import BIN, Project
from tests.hosts.scripted_model import ScriptedModel, ToolUse, last_user_text, texts

pytestmark = pytest.mark.host
MARK = "[memfs review]"
PATH = f"{BIN}:/usr/bin:/bin"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def configure(project: Project, text: str) -> None:
    with (project.home / ".agent-memory/config.yaml").open("a") as config:
        config.write(text)


def reviews(model: ScriptedModel) -> int:
    """How often a review was asked for: the prompts of the last request that begin like it.

    Claude Code also says, or from 2.1.332 on only, that the hook's command kept it from stopping.
    """
    said = [text for text in texts(model.requests[-1]) if MARK in text[:400]]
    blocked = sum("blocking error" in text for text in said)
    return max(blocked, len(said) - blocked)


def talk(project: Project, model: ScriptedModel, prompts: int) -> None:
    # Claude Code writes its transcript a tenth of a second later; no model answers sooner than that.
    model.meanwhile = partial(time.sleep, 0.3)
    claude = ClaudeCode(project.home, project.repo, model.url, path=PATH)
    with claude.conversation() as session:
        for n in range(prompts):
            session.say(f"prompt number {n}")


def test_claude_code_reviews_once_after_five_prompts(project: Project) -> None:
    project.memfs("install", "claude", "--user")
    configure(project, "review:\n  mode: inline\n")
    append = {"label": "human", "content": "Name: Alice"}
    save = ToolUse("mcp__memfs__core_memory_append", append)
    script: list[str | ToolUse] = [*["Well."] * 5, save, "I saved a name."]
    with ScriptedModel(script) as model:
        talk(project, model, 8)
    assert reviews(model) == 1
    assert MARK in last_user_text(model.requests[5])
    assert len(model.requests) == 10
    assert "Name: Alice" in project.memfs("show", "human")
    assert MARK not in project.memfs("search", "Before this ends, look over our conversation")
    assert project.log() == ""


def test_claude_code_does_not_review_four_prompts(project: Project) -> None:
    project.memfs("install", "claude", "--user")
    configure(project, "review:\n  mode: inline\n")
    with ScriptedModel() as model:
        talk(project, model, 4)
    assert reviews(model) == 0
    assert len(model.requests) == 4


@pytest.mark.parametrize("host", [CODEX, GEMINI, COPILOT, OPENCODE], ids=lambda host: host.name)
def test_others_review_once(project: Project, host: Assistant) -> None:
    configure(project, "review:\n  mode: inline\n  min_messages: 2\n")
    host.install(project, "--user")
    with ScriptedModel() as model:
        with host.start(project, model).conversation() as session:
            for n in range(3):
                session.say(f"prompt number {n}")
    assert reviews(model) == 1
    assert MARK not in project.memfs("search", "Before this ends, look over our conversation")


def test_the_configured_model_reviews_what_ended(project: Project, tmp_path: Path) -> None:
    """The model is a script; in the background, when Claude Code ends the session."""
    script = tmp_path / "model.py"
    script.write_text(
        "import os, sys\nsaid = sys.stdin.read()\n"
        f"open({str(tmp_path / 'asked')!r}, 'a').write(os.environ['MEMFS_INSIDE'] + '\\n')\n"
        'call = \'TOOL_CALL {"name": "core_memory_append", "arguments": '
        '{"label": "human", "content": "Name: Alice"}}\'\n'
        "print('I saved a name.' if '[result ' in said else call)\n"
    )
    project.memfs("install", "claude", "--user")
    configure(project, f"review:\n  mode: background\nllm:\n  command: {sys.executable} {script}\n")
    with ScriptedModel() as model:
        claude = ClaudeCode(project.home, project.repo, model.url, path=PATH)
        claude.run("prompt number 0")
        for n in range(1, 5):
            claude.resume(f"prompt number {n}")
    record = project.repo / ".agent-memory/local/reviews"
    deadline = time.monotonic() + 30
    while not list(record.glob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert "by " in project.memfs("review")
    assert "saved human (append, version 2)" in project.memfs("review")
    assert (tmp_path / "asked").read_text() == "1\n1\n"
    assert "Name: Alice" in project.memfs("show", "human")
    assert len(model.requests) == 5
    with ScriptedModel() as model:
        talk(project, model, 1)
    assert "Name: Alice" in "\n".join(texts(model.requests[0]))


def test_a_job_changes_in_claude_code(project: Project) -> None:
    """The example of the MemGPT document: conflict, update, archive, answered later."""
    project.memfs("install", "claude", "--user")
    project.memfs("edit", "human", "--append", "User works at Google as engineer")
    change = {
        "label": "human",
        "old_content": "works at Google",
        "new_content": "works at Anthropic",
    }
    fact = {"content": "User changed jobs from Google to Anthropic in Jan 2025"}
    script: list[str | ToolUse] = [
        ToolUse("mcp__memfs__memory_read", {"id": "human"}),
        ToolUse("mcp__memfs__core_memory_replace", change),
        ToolUse("mcp__memfs__archival_memory_insert", fact),
        "Congratulations on the new role at Anthropic!",
        "You work at Anthropic.",
    ]
    with ScriptedModel(script) as model:
        claude = ClaudeCode(project.home, project.repo, model.url, path=PATH)
        claude.run("I changed jobs. I work at Anthropic now.")
        later = claude.run("Where do I work?")
    assert "You work at Anthropic." in later.stdout
    assert "User works at Anthropic as engineer" in project.memfs("show", "human")
    assert "Google to Anthropic" in project.memfs("search", "changed jobs", "--in", "archive")
    assert "User works at Anthropic as engineer" in "\n".join(texts(model.requests[-1]))
    assert project.log() == ""
