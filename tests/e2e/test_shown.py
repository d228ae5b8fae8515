"""What is trusted was shown: every file of a store that reaches a model stood on the screen."""

import json
import os
import re
import shlex
from itertools import cycle, product
from pathlib import Path

import pytest

from memfs.cli.group import COMMANDS
from tests.e2e.program import asked, commit, git, hook, run
from tests.forked import MEMFS
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
PRINTING = (  # commands that print what is in a store, or send it to somebody
    *("show", "show --list", "show rules --json", "log", "diff rules", "blame rules", "last"),
    *("search zebra -n 50", "search zebra --json", "recall zebra", "page out rules"),
    *("archive list", "static list", "static show rules", "facts", "facts list --json", "graph"),
    *("source list", "session list", "review list", "review show 1", "export -", "export - --all"),
    *("status --json", "check", "check --json", "handoff", "status --window", "doctor"),
    *("doctor --json", "sync --dry-run", "sync user --dry-run", "tools", "edit rules", "trust"),
    *("trust --yes", "trust --json", "rethink rules --no-model", "restore rules 1", "undo rules"),
    *("team status", "agent hi", "mcp", "service status", "ingest --dry-run", "import", "model"),
    *("install --dry-run", "uninstall --dry-run", "init", "rename rules r", "delete rules"),
)
# What prints nothing of a store: what it is given, its help, or a folder of its own. The page wants
# a ticket that a person has, and hooks are looked at everywhere else.
OTHERS = {*("apply", "completion", "create", "demo", "eval", "help", "hook", "merge-driver"), "web"}
VARIABLES = (
    *("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "GEMINI_CLI"),
    *("COPILOT_AGENT_SESSION_ID", "OPENCODE", "CURSOR_AGENT", "AI_AGENT", "CODEX_SANDBOX"),
)
ASSISTANTS = (  # command lines of a process above
    *("claude", "/opt/codex", "node /lib/gemini", "bun /x/@openai/codex/a.js", "python3 /aider"),
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
    for inner in ("blocks", "archive/2026-01", "static", "facts"):
        (store / inner / "named-mark.md").write_text("---\nlimit: x\n---\nport 1 a\nport 2 a\n")
    (store / "config.yaml").write_text(
        "memfs: 1\nmax_blocks: 90\nsources:\n  named-mark:\n    paths: [docs]\n"
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
        ["recall", "zebra crossings", "--budget", "30000"],
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


def test_no_control_character_goes_into_a_pipe(clone: Path) -> None:
    """Behind it may be a terminal, also of a store that is trusted."""
    assert type_into([*MEMFS, "trust"], "y\n", clone)[0] == 0
    told = ""
    for line in (*PRINTING[: PRINTING.index("tools")], "static show deep/rules"):
        if not line.startswith("export"):
            _, said = run(clone, *line.split())
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", said), (line, said)
            told += said
    assert r"\u001b]52;c;ZXZpbA==" in told


def start_from(above: str, line: str, folder: Path) -> list[str]:
    """Return what runs memfs below a process with that command line."""
    name, *script = above.split()
    path = folder / script[0].strip("/") if script else folder / "run"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{shlex.join([*MEMFS, *line.split()])}; :\n")
    return ["bash", "-c", f"exec -a {name} bash {path}"]


def test_nothing_is_shown_without_a_terminal(clone: Path) -> None:
    for line in PRINTING:
        code, said = run(clone, *line.split())
        assert code in (0, 1, 2), (line, said)
        assert not re.search(r"M\d+x|named-mark", said), (line, said)
        if line in ("show", "archive list"):
            assert "the project's store is not trusted" in said, line
    assert {line.split()[0] for line in PRINTING} == {*COMMANDS} - OTHERS


def test_nothing_is_shown_where_a_variable_tells_of_an_assistant(clone: Path) -> None:
    ended = [line for line in PRINTING if line != "mcp"]  # that one waits for a program
    for line, variable in zip(ended, cycle(VARIABLES), strict=False):
        _, said = type_into([*MEMFS, *line.split()], "", clone, {**os.environ, variable: "1"})
        assert not re.search(r"M\d+x", said), (line, variable, said)


def test_nothing_is_shown_below_the_process_of_an_assistant(clone: Path, tmp_path: Path) -> None:
    paged = {**os.environ, "PAGER": "cat"}
    commands = ("show", "trust", "log", "search zebra")
    for above, line in product(ASSISTANTS, commands):
        _, said = type_into(start_from(above, line, tmp_path), "", clone, paged)
        assert not re.search(r"M\d+x", said), (above, line, said)
    for person in ("zsh", "node /srv/claude.md", "/home/claude/bin/tmux", "Cursor"):
        _, said = type_into(start_from(person, "show", tmp_path), "", clone, paged)
        assert "M0xshown" in said or "M11xshown" in said, (person, said)
    settings = paged | {"AIDER_MODEL": "x", "AMP_API_KEY": "x", "CODEX_HOME": "/x"}
    assert "M0xshown" in type_into([*MEMFS, "trust"], "n\n", clone, settings)[1]


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
        assert "only a person can" in said
    assert run(clone, "trust", "--accept", digest.strip().upper())[0] == 0
    assert "zebra" in hook(clone, session="s2")


def test_any_byte_changes_the_digest(clone: Path) -> None:
    for name in ("blocks/rules.md", "prompts/guidance.md", "config.yaml", "new.md"):
        digest = run(clone, "trust", "--digest")[1].strip()
        path = clone / ".agent-memory" / name
        path.write_text((path.read_text() if path.exists() else "") + "\n")
        assert run(clone, "trust", "--digest")[1].strip() != digest
        assert run(clone, "trust", "--accept", digest)[0] == 1
        assert "zebra" not in hook(clone)
