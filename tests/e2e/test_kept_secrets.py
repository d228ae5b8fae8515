"""No file that memfs writes holds a secret, whatever door it was given it by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import asked, git, hook, run

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
SAID = f"the key of the zephyr gateway is {TOKEN}, as we decided"
FIXTURES = Path(__file__).parents[1] / "hosts/fixtures"
TRANSCRIPTS = sorted(
    path for path in FIXTURES.rglob("*.jsonl") if path.name not in ("hook-stdin.jsonl", "old.jsonl")
)


def find_kept(*folders: Path, but: tuple[Path, ...] = ()) -> list[Path]:
    """List the files that hold the token, but those that were written by others."""
    return [
        path
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path not in but and TOKEN.encode() in path.read_bytes()
    ]


@pytest.fixture
def shop(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a store, whose session `s1` has begun."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    monkeypatch.chdir(folder)
    assert run(folder, "init")[0] == 0
    assert "Core memory" in hook(folder, session="s1")
    return folder


def test_no_command_and_no_tool_keeps_one(shop: Path, home: Path) -> None:
    (shop / "note.md").write_text(f"# Gateway\n\n{SAID}\n")
    for line in (
        f"edit human --append|{SAID}",
        f"edit working --session|s1|--append|{SAID}",
        f"create notes|{SAID}",
        f"create session:notes|--session|s1|{SAID}",
        f"edit human --description|{SAID}",
        f"edit human --append|harmless|-m|{SAID}",
        f"archive add|{SAID}",
        f"archive add|harmless|--tag|{TOKEN}",
        f"static add|limits|{SAID}",
        "import|note.md",
        "source add notes|.",
        f"search|{SAID}",
        f"recall|{SAID}",
        f"team share|{TOKEN}",
        f"session outcome|{TOKEN}|worked",
        "page out working --session s1",
        f"apply|{SAID}",
    ):
        first, *rest = line.split("|")
        run(shop, *first.split(), *rest)
    for tool, arguments in {
        "core_memory_append": {"label": "human", "content": SAID},
        "core_memory_replace": {"label": "persona", "old": "I am", "new": SAID},
        "archival_memory_insert": {"content": SAID},
        "memory": {"command": "create", "path": "/memories/project/x.md", "file_text": SAID},
        "archival_memory_search": {"query": SAID},
        "conversation_search": {"query": SAID},
    }.items():
        asked(shop, tool, **arguments)
        asked(shop, tool, **{**arguments, "label": "working"})
    assert find_kept(shop / ".agent-memory", home / ".agent-memory") == []


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "copilot", "cursor"])
def test_no_hook_keeps_one(shop: Path, home: Path, host: str, tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    lines = [
        {"type": "user", "message": {"role": "user", "content": SAID}, "uuid": "u1"},
        {"type": "assistant", "message": {"role": "assistant", "content": SAID}, "uuid": "u2"},
    ]
    more = {"sessionId": "s1", "cwd": str(shop), "timestamp": "2026-05-01T09:00:00Z"}
    path.write_text("".join(json.dumps({**line, **more}) + "\n" for line in lines))
    given: dict[str, Any] = {"transcript_path": str(path), "prompt": SAID, "source": SAID}
    given |= {"tool_name": "Write", "tool_response": SAID, "last_assistant_message": SAID}
    given["tool_input"] = {"file_path": str(shop / "x"), "content": SAID, "command": SAID}
    for name in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
        hook(shop, name, host=host, **given)
    for name in ("PreCompact", "SubagentStop", "SessionEnd", "SessionStart", "UserPromptSubmit"):
        hook(shop, name, host=host, **given)
    run(shop, "search", "zephyr gateway")
    run(shop, "facts", "extract")
    assert find_kept(shop / ".agent-memory", home / ".agent-memory") == []


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_transcript_brings_one(shop: Path, home: Path, path: Path, tmp_path: Path) -> None:
    """Of each assistant, with the secret in every text of it."""

    def spoil(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: spoil(each) for key, each in value.items()}
        if isinstance(value, list):
            return [spoil(each) for each in value]
        return f"{value}\n{SAID}" if isinstance(value, str) and " " in value else value

    text = path.read_text().replace("/home/dev/shop", str(shop))
    spoiled = [json.dumps(spoil(json.loads(line))) for line in text.splitlines() if line.strip()]
    copy = tmp_path / path.name
    copy.write_text("\n".join(spoiled) + "\n")
    code, said = run(shop, "ingest", str(copy))
    assert code == 0, said
    assert "zephyr" in run(shop, "search", "zephyr gateway")[1]
    run(shop, "facts", "extract")
    assert find_kept(shop / ".agent-memory", home / ".agent-memory") == []


def test_of_what_an_editor_wrote_nothing_else_keeps_one(shop: Path, home: Path) -> None:
    """The assistant is told what changed, and a purge leaves it nowhere."""
    blocks = shop / ".agent-memory/blocks"
    (working,) = (shop / ".agent-memory/local").rglob("working.md")
    human = home / ".agent-memory/blocks/human.md"
    written = (blocks / "persona.md", working, human, blocks / "new.md")
    (blocks / "new.md").write_text("---\npinned: true\n---\nnothing yet\n")
    folders = (shop / ".agent-memory", home / ".agent-memory")
    hook(shop, "UserPromptSubmit", prompt="go on with it")
    for round_ in range(3):
        for path in written:
            path.write_text(f"{path.read_text()}\n{round_} {SAID}\n")
        for name in ("UserPromptSubmit", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"):
            said = hook(shop, name, prompt="what of the zephyr gateway?")
            if name == "UserPromptSubmit" and said:
                assert f"{round_} the key of the zephyr gateway" in said
        hook(shop, "SessionStart", session=f"new{round_}")
        run(shop, "edit", "persona", "--append", f"mine {round_}")
        run(shop, "undo", "persona")
        run(shop, "status")
        run(shop, "search", "zephyr gateway")
        assert find_kept(*folders, but=written) == []
    quiet = hook(shop, "UserPromptSubmit", session="new2", prompt="and on")
    assert "Core memory changed" not in quiet, "what it was shown has not changed"
    assert run(shop, "doctor", "--secrets", "--purge", "--yes")[0] == 0
    assert find_kept(*folders) == []
    told = hook(shop, "UserPromptSubmit", session="new2", prompt="go on")
    assert TOKEN not in told
    assert "[redacted:github-token]" in told
