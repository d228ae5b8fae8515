"""What changes on the disk is found soon, without anybody who asks in between."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.ipc import service_status
from memfs.store.blocks import Place
from tests.hosts import transcript_lines
from tests.service import running
from tests.service.running import answered, asked, count_found, hook, payload, until
from tests.service.test_watch import vim

HOSTS = Path(__file__).parent.parent / "hosts/fixtures"


def test_blocks_and_passages_are_found_and_what_is_gone_is_not(held: Place, repo: Path) -> None:
    store = repo / ".agent-memory"
    vim(store / "blocks/first.md", "The word is petunia.")
    until(lambda: count_found(held, "petunia") and not count_found(held, "begonia"))
    (store / "archive/2026-05").mkdir(parents=True)
    (store / "archive/2026-05/x1.md").write_text("---\nid: x1\n---\nWe chose the gladiolus.\n")
    until(lambda: count_found(held, "gladiolus"))
    (store / "blocks/first.md").unlink()
    until(lambda: not count_found(held, "petunia"))


def lines(fixture: str, project: Path) -> list[str]:
    """Return a host's recording as if it had been made in a project."""
    text = (HOSTS / fixture).read_text()
    for line in text.splitlines():
        told = json.loads(line)
        inner = told.get("payload") or told.get("data") or {}
        context = inner.get("context") if isinstance(inner, dict) else None
        cwd = told.get("cwd") or inner.get("cwd") or (context or {}).get("cwd")
        if cwd:
            return text.replace(json.dumps(cwd), json.dumps(str(project))).splitlines()
    return text.splitlines()


def claude(home: Path, repo: Path, word: str) -> tuple[Path, list[str]]:
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(repo))
    told = transcript_lines.user(f"think of a {word}", word, cwd=str(repo), sessionId="s").decode()
    return home / f".claude/projects/{slug}/s.jsonl", told.splitlines()


def codex(home: Path, repo: Path, word: str) -> tuple[Path, list[str]]:
    said = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": f"think of a {word}"}],
    }
    told = {"timestamp": "2026-05-03T10:00:00Z", "type": "response_item", "payload": said}
    path = home / ".codex/sessions/2026/05/03/rollout-2026-05-03T10-00-00-x.jsonl"
    return path, [*lines("codex/session.jsonl", repo), json.dumps(told)]


def gemini(home: Path, repo: Path, word: str) -> tuple[Path, list[str]]:
    folder = home / ".gemini/tmp/shop"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".project_root").write_text(str(repo))
    told = {
        "id": word,
        "timestamp": "2026-05-03T10:00:00Z",
        "type": "user",
        "content": [{"text": f"think of a {word}"}],
    }
    return folder / "chats/session-x.jsonl", [
        *lines("gemini/session.jsonl", repo),
        json.dumps(told),
    ]


def copilot(home: Path, repo: Path, word: str) -> tuple[Path, list[str]]:
    told = {
        "type": "user.message",
        "data": {"content": f"think of a {word}"},
        "id": word,
        "timestamp": "2026-05-03T10:00:00Z",
        "parentId": None,
    }
    path = home / ".copilot/session-state/x/events.jsonl"
    return path, [*lines("copilot/events.jsonl", repo), json.dumps(told)]


def write(path: Path, lines: list[str]) -> None:
    """Append lines to a transcript."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(f"{line}\n" for line in lines)


@pytest.mark.parametrize("host", [claude, codex, gemini, copilot])
def test_a_line_of_a_transcript_is_found(
    held: Place, repo: Path, home: Path, host: Callable[[Path, Path, str], tuple[Path, list[str]]]
) -> None:
    """The folder is not there before; then the file is new; then it grows."""
    path, told = host(home, repo, "hydrangea")
    write(path, told)
    until(lambda: count_found(held, "hydrangea"))
    write(path, host(home, repo, "chrysanthemum")[1][-1:])
    until(lambda: count_found(held, "chrysanthemum"))
    assert count_found(held, "hydrangea") == 1


def test_another_projects_transcript_in_a_shared_folder_goes_nowhere(
    held: Place, repo: Path, home: Path, tmp_path: Path
) -> None:
    other, mine = tmp_path / "other", home / ".agent-memory/local/recall"
    shutil.copytree(repo / ".git", other / ".git")
    shutil.copytree(repo / ".agent-memory", other / ".agent-memory")  # not trusted: nobody's
    write(*codex(home, other, "oleander"))
    ours, told = codex(home, repo, "hydrangea")
    ours = ours.with_name("rollout-2026-05-03T11-00-00-y.jsonl")
    write(ours, [line.replace("01a1f800", "01a1f900") for line in told])
    until(lambda: count_found(held, "hydrangea"))
    assert not count_found(held, "oleander")
    assert not list(mine.rglob("*.jsonl"))
    assert "Traceback" not in running.log(home)


def test_a_prompt_is_reminded_of_what_was_said_elsewhere(
    held: Place, repo: Path, home: Path
) -> None:
    hook(payload(repo, "SessionStart"))
    write(*claude(home, repo, "begonia in the ledger of the greenhouse"))
    prompt = payload(repo, "UserPromptSubmit", "which begonia is in the ledger of the greenhouse")
    until(lambda: "think of a begonia" in str(asked(prompt)))
    assert answered(prompt) == ""


def test_a_note_of_a_hook_that_did_not_ask_is_read(
    held: Place, repo: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memfs.store import spool

    _, told = claude(home, repo, "oleander")
    path = tmp_path / "elsewhere.jsonl"
    path.write_text(told[0] + "\n")
    spool.write_note(held.home, "claude", str(path), "s")
    until(lambda: count_found(held, "oleander"))
    assert not spool.list_notes(held.home)
    assert service_status.load_status()
