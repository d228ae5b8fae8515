"""The harness itself, proven on the real Claude Code with hooks that only print a word."""

from __future__ import annotations

import json
import subprocess
import threading
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.hosts.claude_cli import PROGRAM as CLAUDE
from tests.hosts.claude_cli import ClaudeCode
from tests.hosts.installed import Installation, list_installations
from tests.hosts.program import Run
from tests.hosts.scripted_model import Json, Reply, ScriptedModel, ToolUse, last_user_text, texts

SUMMARY = "<analysis>short</analysis>\n<summary>The client was fixed.</summary>"


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


def post(url: str, body: Json) -> str:
    request = urllib.request.Request(url, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        return str(answer.read().decode())


@pytest.mark.host
def test_what_a_prompt_hook_prints_is_in_the_request(repo: Path) -> None:
    hook(repo, {"UserPromptSubmit": "printf WORD-OF-THE-PROMPT-HOOK"})
    with ScriptedModel(["The answer."]) as model:
        run = claude_in(repo, model).run("the question")
    assert run == Run(0, "The answer.\n", "")
    [request] = model.requests
    assert last_user_text(request) == "the question"
    assert any("WORD-OF-THE-PROMPT-HOOK" in text for text in texts(request))
    assert not model.side_requests


@pytest.mark.host
def test_what_a_start_hook_prints_is_in_the_request(repo: Path) -> None:
    hook(repo, {"SessionStart": "printf WORD-OF-THE-START-HOOK"})
    with ScriptedModel() as model:
        claude_in(repo, model).run("the question")
    [request] = model.requests
    assert any("WORD-OF-THE-START-HOOK" in text for text in texts(request, "system"))


@pytest.mark.host
def test_resume_sees_what_was_said(repo: Path) -> None:
    with ScriptedModel(["first answer", "second answer"]) as model:
        claude = claude_in(repo, model)
        claude.run("first question")
        run = claude.resume("second question")
    assert run.stdout == "second answer\n"
    assert texts(model.requests[1], "assistant") == ["first answer"]
    asked = texts(model.requests[1], "user")
    assert asked.index("first question") < asked.index("second question")
    assert len(claude.transcripts()) == 1


@pytest.mark.host
def test_compaction_starts_the_session_anew(repo: Path) -> None:
    hook(repo, {"SessionStart": 'tee -a starts.jsonl | grep -o \'"source":"[a-z]*"\''})
    with ScriptedModel(["an answer", SUMMARY, "later"]) as model:
        claude = claude_in(repo, model)
        claude.run("a question")
        claude.compact("keep the decisions")
        claude.resume("and now?")
    _, summarize, after = model.requests
    assert "Additional Instructions:\nkeep the decisions" in last_user_text(summarize)
    assert any("The client was fixed." in text for text in texts(after, "user"))
    assert any('"source":"compact"' in text for text in texts(after))
    assert "an answer" not in texts(after)
    decoder, starts = json.JSONDecoder(), (repo / "starts.jsonl").read_text()
    sources = []
    while starts := starts.lstrip():
        start, end = decoder.raw_decode(starts)
        sources.append(start["source"])
        starts = starts[end:]
    assert sources == ["startup", "resume", "compact", "resume"]


@pytest.mark.host
def test_a_scripted_tool_call_runs_and_its_result_comes_back(repo: Path) -> None:
    list_files = ToolUse("Bash", {"command": "echo made by the shell", "description": "Say so"})
    with ScriptedModel([Reply("Looking.", (list_files,)), "It said so."]) as model:
        run = claude_in(repo, model).run("what does it say?", "--allowedTools", "Bash")
    assert run.stdout == "It said so.\n"
    assert "made by the shell" in texts(model.requests[1])


@pytest.mark.host
def test_a_conversation_without_tools_is_no_side_request(repo: Path) -> None:
    with ScriptedModel(["No tools here."]) as model:
        run = claude_in(repo, model).run("what can you do?", "--tools", "")
    assert run.stdout == "No tools here.\n"
    assert not model.side_requests


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


@pytest.mark.host
def test_no_process_and_no_thread_is_left(repo: Path) -> None:
    before = threading.active_count()
    with ScriptedModel() as model:
        claude = claude_in(repo, model)
        claude.run("hello")
    assert claude.left_running() == []
    assert threading.active_count() == before


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


def test_side_requests_take_no_reply_from_the_script() -> None:
    tools = [{"name": "Bash"}]
    with ScriptedModel(["first"], default="default") as model:
        url = f"{model.url}/v1/messages?beta=true"
        title = post(
            url,
            {"model": "m", "messages": [], "output_config": {"format": {"type": "json_schema"}}},
        )
        answers = [
            json.loads(post(url, {"model": "m", "tools": tools}))["content"][0]["text"]
            for _ in "12"
        ]
        head = urllib.request.Request(model.url, method="HEAD")
        with urllib.request.urlopen(head, timeout=10) as answer:
            assert answer.status == 200
    assert "Scripted session" in title
    assert answers == ["first", "default"]
    assert len(model.requests) == 2
    assert len(model.side_requests) == 1


def test_texts_are_told_apart_by_role() -> None:
    request: Json = {
        "system": "left out",
        "messages": [
            {"role": "user", "content": "asked"},
            {"role": "system", "content": [{"type": "text", "text": "injected"}]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "content": [{"type": "text", "text": "ran"}]}],
            },
        ],
    }
    assert texts(request) == ["asked", "injected", "ran"]
    assert texts(request, "system") == ["injected"]
    assert last_user_text(request) == "asked"
    assert last_user_text({}) == ""
