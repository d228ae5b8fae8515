"""What is trusted was shown: every file of a store that reaches a model stood on the screen."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import pytest

from tests.e2e.program import MEMFS, asked, commit, git, hook, run
from tests.terminal import type_into

FOLDERS = (
    *("", "blocks", "blocks/deep/er", "blocks/.hidden", "prompts", "prompts/deep", "archive"),
    *("archive/2026-01", "archive/2026-01/deep", "facts", "static", "static/deep", "templates"),
    *("tools", "hooks", "skills", "sources", "sessions", "index", "recall/claude", "aside"),
)
NAMES = (
    *("guidance.md", "guidance.claude.md", "agent.md", "rules.md", "RULES.MD", "notes.txt"),
    *("2026-01.jsonl", "MEMORY.md", "settings.yaml", ".hidden.md", ".rules.md.tmp"),
)
ESCAPES = "\x1b]52;c;ZXZpbA==\x07\u202e\u200b\r"


def write(path: Path, mark: str) -> None:
    """Write a file that is used wherever one of its kind is, with a part that is private."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = f"zebra crossings {mark}shown <private>{mark}hidden</private><!-- {mark}comment -->"
    if path.suffix == ".jsonl":
        fact = {
            "id": mark,
            "statement": text,
            "category": "decision",
            "confidence": 0.9,
            "at": "2026-05-01T00:00:00Z",
        }
        path.write_text(json.dumps(fact) + "\n")
    else:
        path.write_text(f"---\npinned: true\nlimit: 900\n---\n{text}{ESCAPES}\n")


@pytest.fixture
def clone(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose store has a file of every name in every folder."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "clone"
    store = folder / ".agent-memory"
    for number, (inner, name) in enumerate(product(FOLDERS, NAMES)):
        write(store / inner / name, f"M{number}x")
    (store / "config.yaml").write_text(
        "memfs: 1\nmax_blocks: 90\n"
        "tools:\n  describe:\n    core_memory_read: M900xshown <private>M900xhidden</private>\n"
    )
    git(folder, "init", "-q", "-b", "main")
    (tmp_path / "own").mkdir()
    run(tmp_path / "own", "init")
    commit(folder)
    return folder


def test_what_reaches_a_model_was_shown(clone: Path) -> None:
    code, shown = type_into([*MEMFS, "trust"], "y\n", clone)
    assert code == 0, shown[-2000:]
    told = ""
    for event in ("SessionStart", "UserPromptSubmit"):
        told += hook(clone, event, prompt="what of the zebra crossings?")
    for words in (
        ["show"],
        ["search", "zebra crossings", "-n", "50"],
        ["context", "--task", "zebra crossings", "--budget", "30000"],
        ["static", "list"],
        ["facts"],
        ["archive", "list"],
        ["tools"],
    ):
        told += run(clone, *words)[1]
    told += asked(clone, "core_memory_read", label="rules")
    told += asked(clone, "archival_memory_search", query="zebra crossings")
    used = {*re.findall(r"M\d+x", told)}
    store = clone / ".agent-memory"
    for name in (
        "blocks/rules.md",
        "prompts/guidance.md",
        "archive/2026-01/rules.md",
        "facts/2026-01.jsonl",
        "static/rules.md",
    ):
        assert re.findall(r"M\d+x", (store / name).read_text())[0] in used, name
    assert "M900x" in used
    for mark in used:
        for part in ("shown", "hidden", "comment"):
            assert mark + part in shown or (mark == "M900x" and part == "comment"), (mark, part)


def test_every_file_is_shown_as_it_is(clone: Path) -> None:
    """Also what is not used by this version; no byte of it acts on the terminal."""
    _, shown = type_into([*MEMFS, "trust"], "n\n", clone)
    for path in (clone / ".agent-memory").rglob("*"):
        if path.is_file():
            for part in re.findall(r"M\d+x(?:shown|hidden|comment)", path.read_text()):
                assert part in shown, path
    assert r"\x1b]52;c;ZXZpbA==\x07\u202e\u200b\r" in shown
    assert "\x1b]52" not in shown
    assert "\u202e" not in shown


def test_a_pipeline_passes_the_digest_of_what_was_looked_at(clone: Path, tmp_path: Path) -> None:
    code, digest = run(clone, "trust", "--digest")
    assert code == 0
    assert re.fullmatch("[0-9a-f]{64}", digest.strip())
    for wrong in ("0" * 64, digest.strip()[:-1], ""):
        code, said = run(clone, "trust", "--accept", wrong)
        assert code in (1, 2), said
        assert "zebra" not in hook(clone)
    git(tmp_path, "clone", "-q", str(clone), "other")
    assert run(tmp_path / "other", "trust", "--digest")[1] == digest, "on every machine"
    for variable in ("CLAUDE_CODE_SESSION_ID", "GEMINI_CLI", "CODEX_SESSION_ID"):
        code, said = run(clone, "trust", "--accept", digest.strip(), **{variable: "1"})
        assert code == 1
        assert "an assistant cannot" in said
    assert run(clone, "trust", "--accept", digest.strip().upper())[0] == 0
    assert "zebra" in hook(clone, session="s2")


@pytest.mark.parametrize(
    "name", ["blocks/rules.md", "prompts/guidance.md", "config.yaml", "new.md"]
)
def test_any_byte_changes_the_digest(clone: Path, name: str) -> None:
    digest = run(clone, "trust", "--digest")[1].strip()
    path = clone / ".agent-memory" / name
    path.write_text((path.read_text() if path.exists() else "") + "\n")
    assert run(clone, "trust", "--digest")[1].strip() != digest
    assert run(clone, "trust", "--accept", digest)[0] == 1
    assert "zebra" not in hook(clone)
