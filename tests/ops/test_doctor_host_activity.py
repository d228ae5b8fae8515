"""What `memfs doctor` and `memfs status` say of each assistant: its version and our hooks' runs."""

import json
import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from memfs import hosts
from memfs.hosts import settings
from memfs.ops import doctor, install, status
from memfs.ops.doctor import Finding
from memfs.store import sessions, trust
from memfs.store.blocks import Place

DAY = 24 * 3600


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `claude` on the PATH that tells its version."""
    path = tmp_path / "bin/claude"
    path.parent.mkdir()
    monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
    says(path, "echo '2.1.328 (Claude Code)'")
    return path


def says(path: Path, command: str) -> None:
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)


def about(place: Place, home: Path, title: str = "Claude Code") -> list[Finding]:
    found = [each for each in doctor.run(place, str(home)) if each.text.startswith(title)]
    return [each for each in found if "its own memory" not in each.text]


def ran(place: Place, host: str, ago: float) -> None:
    """Leave the record of a hook that ran some seconds ago."""
    sessions.note_run(place.home.local, host, "Stop", 31.4)
    found = sessions.last_run(place.home, host)
    assert found
    event, when, spent = found
    path = Path(place.home.local, "hooks", host)
    path.write_text(f"{event} {when - ago:.3f} {spent}".ljust(63) + "\n")


def transcript(home: Path, repo: Path) -> Path:
    folder = home / ".claude/projects" / "".join(c if c.isalnum() else "-" for c in str(repo))
    folder.mkdir(parents=True)
    path = folder / "s.jsonl"
    path.write_text(json.dumps({"cwd": str(repo)}, separators=(",", ":")) + "\n")
    return path


def test_each_assistant_that_is_here_has_its_version_and_last_run(
    place: Place, home: Path, program: Path
) -> None:
    (home / ".codex").mkdir()
    told = "Claude Code 2.1.328; no memfs hook has run yet"
    assert about(place, home)[0] == Finding("ok", told)
    [found, *_] = about(place, home, "Codex")
    assert found.text == "Codex, version unknown; no memfs hook has run yet"
    ran(place, "claude", 0)
    last = sessions.last_run(place.home, "claude")
    assert last
    when = time.strftime("%Y-%m-%d %H:%M %Z", time.localtime(last[1]))
    assert about(place, home)[0].text == (
        f"Claude Code 2.1.328; last memfs hook: Stop at {when}, 31 ms"
    )
    assert status.run(place, str(home)).ran == {"claude": last}


def test_the_last_failed_call_is_named_with_its_assistant(
    place: Place, home: Path, program: Path
) -> None:
    log = Path(place.home.local, "hook.log")
    log.write_text("T1 claude Stop: A: b\nT2 claude hook: C: d\nT3 codex Stop: E: f\n")
    assert about(place, home)[0].text.endswith("; last failed hook: T2 claude hook: C: d")


@pytest.mark.parametrize(
    ("command", "number"),
    [
        ("echo codex-cli 0.169.0", "0.169.0"),
        ("echo CLI 1.0.102.", "1.0.102"),
        ("echo 2026.02.13-4a", "2026.02.13-4a"),
        ("echo v1.0.102-beta+1; exit 1", "1.0.102-beta+1"),
        ("echo no; exit 3", ""),
        ("echo 1.2 >&2", ""),
        ("yes | head -c 100000; echo 9.9.9", "9.9.9"),
    ],
)
def test_a_version_is_what_the_program_says(program: Path, command: str, number: str) -> None:
    says(program, command)
    assert settings.ask_versions([hosts.get("claude")]) == {"claude": number}


def test_a_program_that_does_not_answer_is_ended_with_all_that_it_started(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "_TIMEOUT", 0.2)
    says(program, f"sleep 60 & echo $! >{tmp_path}/pid; sleep 60")
    assert settings.ask_versions([hosts.get("claude")]) == {"claude": ""}
    status = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/status")
    with suppress(FileNotFoundError):  # it is gone, or about to be
        while "zombie" not in status.read_text():
            time.sleep(0.01)


def test_a_program_of_the_current_folder_is_not_run(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(repo / "claude", "touch ran; echo 1.0")
    monkeypatch.setenv("PATH", ".:/usr/bin:/bin")
    assert settings.ask_versions([hosts.get("claude")]) == {"claude": ""}
    assert not (repo / "ran").exists()


def test_sessions_without_a_run_of_our_hooks_are_a_warning(
    place: Place, home: Path, repo: Path
) -> None:
    install.run(place, "claude", "project", str(home))
    kept = transcript(home, repo)

    def warned() -> list[str]:
        return [each.text for each in about(place, home) if each.level == "warning"]

    assert warned() == [], "it was wired just now"
    wired = time.time() - 3 * DAY
    os.utime(repo / ".claude/settings.json", (wired, wired))
    [told] = warned()
    said = "Claude Code is wired, but no memfs hook has run; its last session here was at 2"
    assert told.startswith(said)
    ran(place, "claude", 2 * DAY)
    [told] = warned()
    assert told.startswith("Claude Code is wired, but no memfs hook has run since 2")
    ran(place, "claude", DAY / 2)
    assert warned() == []
    ran(place, "claude", 9 * DAY)
    os.utime(kept, (wired - 9 * DAY, wired - 9 * DAY))
    assert warned() == [], "it was not used since"


def test_failed_hooks_that_a_transcript_records_are_counted(
    place: Place, home: Path, repo: Path
) -> None:
    install.run(place, "claude", "project", str(home))
    failed: dict[str, object] = {"type": "hook_non_blocking_error", "hookEvent": "UserPromptSubmit"}
    stopped = {"type": "hook_cancelled", "hookEvent": "Stop", "command": "memfs hook claude"}
    attached: list[dict[str, object]] = [  # as Claude Code 2.1.332 writes them
        failed | {"command": "exec python -I memfs_hook.py claude", "stderr": "oops"},
        failed | {"command": "exec python -I other.py", "stderr": "oops"},
        failed | {"stderr": "MCP server 'other' not connected"},
        stopped | {"timedOut": False, "durationMs": 20},
        stopped | {"timedOut": True, "durationMs": 1089},
        failed | {"stderr": "MCP server 'memfs' not connected", "exitCode": 1},
    ]
    with transcript(home, repo).open("a") as lines:
        for each in attached:
            line = {"attachment": each, "type": "attachment", "sessionId": "s"}
            lines.write(json.dumps(line, separators=(",", ":")) + "\n")
    [told] = [each.text for each in about(place, home) if each.level == "warning"]
    assert told == (
        "Claude Code recorded 3 failed memfs hook calls in the last week; the latest in "
        "UserPromptSubmit: MCP server 'memfs' not connected"
    )


def test_a_store_that_is_not_trusted_yet_has_no_runs_to_miss(
    place: Place, home: Path, repo: Path
) -> None:
    install.run(place, "claude", "project", str(home))
    transcript(home, repo)
    os.utime(repo / ".claude/settings.json", (1, 1))
    trust.revoke_trust(place.home)
    assert {each.level for each in about(place, home)} == {"ok"}


@pytest.mark.parametrize("text", ["", "Stop", "Stop x 1.0", "Stop 1.0 2.0 3.0", "\0" * 64])
def test_a_record_that_cannot_be_read_is_none(place: Place, text: str) -> None:
    ran(place, "claude", 0)
    Path(place.home.local, "hooks/claude").write_text(text)
    assert sessions.last_run(place.home, "claude") is None
    sessions.note_run(place.home.local, "claude", "Stop", 1.25)
    found = sessions.last_run(place.home, "claude")
    assert found
    assert (found[0], found[2]) == ("Stop", 1.2)
