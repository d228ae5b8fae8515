"""The hook as the host calls it: a process with JSON on stdin, exit 0 whatever happens."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ipc import client
from memfs.ops import edit
from memfs.store import git, resources
from memfs.store import hook_log as logging
from memfs.store.blocks import Place
from tests.hook.calls import answer, call, log, payload, start

ROOT = Path(__file__).parent.parent.parent
FIXTURES = ROOT / "tests/hosts/fixtures/claude"
COMMAND = [sys.executable, "-I", "-S", "-E", resources.path("hooks", "memfs_hook.py"), "claude"]


@pytest.mark.usefixtures("place")
def test_every_recorded_event_is_answered_in_the_hosts_shape_or_not_at_all(repo: Path) -> None:
    lines = (FIXTURES / "hooks.jsonl").read_text().splitlines()
    events = [each for line in lines if "transcript_path" in (each := json.loads(line)[0])]
    answered = []
    for event in events:
        out, err = call(json.dumps({**event, "cwd": str(repo)}).encode())
        assert err == b""
        if out:
            reply = json.loads(out)
            assert reply.pop("systemMessage", "memfs: 3 blocks") == "memfs: 3 blocks"
            assert list(reply) == ["hookSpecificOutput"]
            assert list(reply["hookSpecificOutput"]) == ["hookEventName", "additionalContext"]
            assert reply["hookSpecificOutput"]["hookEventName"] == event["hook_event_name"]
            answered.append(event)
    starts = ("SessionStart", "SubagentStart")
    assert answered == [each for each in events if each["hook_event_name"] in starts]
    assert log(repo) == []


def test_the_console_script_says_the_same(place: Place, repo: Path) -> None:
    edit.run(place, [Append("human", "Name: Alice")], Origin())
    script = shutil.which("memfs", path=os.path.dirname(sys.executable))
    assert script
    done = subprocess.run(
        [script, "hook", "claude"], input=start(repo), capture_output=True, check=True
    )
    said = json.loads(done.stdout)
    assert said.pop("systemMessage") == "memfs: 3 blocks"
    direct, _ = call(start(repo))
    assert said == json.loads(direct), "the person was told before"


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("stdin", [b"garbage", b"[1]", b"\xff\xfe\x00", b'{"a":' * 5000])
def test_garbage_is_one_line_in_the_log(repo: Path, stdin: bytes) -> None:
    assert call(stdin, cwd=repo) == (b"", b"")
    assert len(log(repo)) == 1


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("stdin", [b"", b" \n"])
def test_a_host_that_ended_without_a_word_asks_for_nothing(repo: Path, stdin: bytes) -> None:
    assert call(stdin, cwd=repo) == (b"", b"")
    assert log(repo) == []


@pytest.mark.usefixtures("place")
def test_a_huge_prompt_is_one_line_in_the_log(repo: Path) -> None:
    call(start(repo))
    assert call(payload(repo, "UserPromptSubmit", prompt="x" * 9_000_000), cwd=repo) == (b"", b"")
    [line] = log(repo)
    assert line.endswith(
        "ValueError: standard input is larger than 8 MB; no text was added to the prompt"
    )


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "SessionEnd"])
def test_on_a_full_disk_a_start_gives_the_brief_and_nothing_is_said(repo: Path, event: str) -> None:
    out, err = call(payload(repo, event, prompt="x", transcript_path="/t.jsonl"), size_limit=0)
    assert err == b""
    assert (b"# Core memory" in out) == (event == "SessionStart")
    folder = repo / ".agent-memory/local"
    assert not [path for path in folder.rglob("*.tmp") if path.is_file()]


@pytest.mark.usefixtures("place")
def test_a_store_that_cannot_be_read_is_told_and_the_users_is_served(repo: Path) -> None:
    blocks = repo / ".agent-memory/blocks"
    shutil.rmtree(blocks)
    blocks.write_text("a file where the folder should be")
    out, err = call(start(repo))
    assert err == b""
    assert b"/blocks: Not a directory" in out
    assert b"## [HUMAN]" in out


@pytest.mark.usefixtures("place")
def test_a_damaged_store_is_told_and_one_line_in_the_users_log_if_it_is_not_trusted(
    repo: Path, home: Path
) -> None:
    (repo / ".agent-memory/config.yaml").write_bytes(b"\xff\xfe\x00")
    out, err = call(start(repo))
    assert err == b""
    assert b"config.yaml is missing or damaged" in out
    assert b"## [SYSTEM_RULES]" in out
    (repo / ".agent-memory/local/token").unlink()
    assert call(start(repo)) == (b"", b"")
    [line] = (home / ".agent-memory/local/hook.log").read_text().splitlines()
    assert "config.yaml is missing or damaged" in line


def test_a_folder_without_a_store_is_left_alone(repo: Path, home: Path) -> None:
    assert call(start(repo)) == (b"", b"")
    assert not (repo / ".agent-memory").exists()
    assert not list(home.iterdir())


@pytest.mark.usefixtures("place")
def test_an_unknown_event_and_one_without_session_are_no_failures(repo: Path) -> None:
    assert call(payload(repo, "Notification")) == (b"", b"")
    assert call(b'{"hook_event_name": "SessionStart"}', cwd=repo) == (b"", b"")
    assert log(repo) == []


@pytest.mark.usefixtures("place")
def test_a_reply_that_did_not_arrive_was_not_shown(repo: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(COMMAND, input=start(repo), stdout=full, stderr=-1, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(log(repo)) == 1
    out, _ = call(payload(repo, "UserPromptSubmit", prompt="hello"))
    assert b"Core memory (always available)" in out


def test_a_folder_that_is_gone_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    code = f"import os, runpy, sys; os.chdir({str(tmp_path / 'gone')!r}); os.rmdir(os.getcwd()); sys.argv = ['x', 'claude']; runpy.run_path({resources.path('hooks', 'memfs_hook.py')!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"garbage", capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"Traceback" not in done.stderr


@pytest.mark.usefixtures("place")
def test_the_host_can_write_a_huge_prompt_to_the_end(repo: Path) -> None:
    process = subprocess.Popen(COMMAND, stdin=-1, stdout=-1, stderr=-1, cwd=repo)
    assert process.stdin
    process.stdin.write(payload(repo, "UserPromptSubmit", prompt="x" * 12_000_000))  # no EPIPE
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, b"", b"")


@pytest.mark.usefixtures("place")
def test_front_matter_beyond_the_strict_reader_is_shown_all_the_same(repo: Path) -> None:
    (repo / ".agent-memory/blocks/odd.md").write_text(
        "---\ndescription: >-\n  folded over\n  two lines\nlimit: 0x100\n---\nodd body\n"
    )
    out, _ = call(start(repo))
    text = json.loads(out)["hookSpecificOutput"]["additionalContext"]
    assert "## [ODD] 8/256 chars\n*folded over two lines*\nodd body" in text
    assert log(repo) == []


@pytest.mark.usefixtures("place")
def test_many_broken_and_huge_files_do_not_silence_the_hook(repo: Path) -> None:
    folder = repo / ".agent-memory/blocks"
    odd = f"---\ndescription: odd\na: [{'1,' * 4500}]\n---\nodd body\n"
    for number in range(5):
        (folder / f"odd{number}.md").write_text(odd)
        (folder / f"utf{number}.md").write_bytes(odd.encode("utf-16"))
        (folder / f"nul{number}.md").write_bytes(b"\0" * 200_000)
        (folder / f"big{number}.md").write_bytes(b"---\ndescription: big\n---\nlarge body\n")
        with (folder / f"big{number}.md").open("r+b") as handle:
            handle.truncate((50 << 20) + number)
    context = json.loads(answer(start(repo)))["hookSpecificOutput"]["additionalContext"]
    assert "large body" in context
    assert "odd" in context
    assert answer(payload(repo, "UserPromptSubmit", prompt="hello there")) == b""


def test_a_patch_of_several_files_is_refused_for_any_of_them(place: Place, repo: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: .agent-memory/blocks/system_rules.md\n@@\n+x\n"
    journal = "*** Update File: .agent-memory/local/journal.jsonl\n@@\n+x\n"
    for text, refused in ((patch, False), (patch + journal, True)):
        stdin = payload(
            repo,
            "PreToolUse",
            tool_name="apply_patch",
            turn_id="t",
            tool_input={"command": text + "*** End Patch"},
        )
        out = subprocess.run(
            [sys.executable, "-m", "memfs", "hook", "codex"],
            input=stdin,
            capture_output=True,
            check=True,
            cwd=repo,
        ).stdout
        assert (b"belongs to memfs" in out) == refused


def test_the_alarm_is_not_taken_for_a_git_that_failed(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 40\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(slow.parent) + ":/usr/bin:/bin")
    before = signal.getsignal(signal.SIGALRM)
    try:
        client.set_clock(1)
        with pytest.raises(client.OutOfTimeError):
            git.start(str(repo), "rev-parse", "HEAD")
    finally:
        client.set_clock(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("place")
def test_what_was_called_is_a_part_of_one_line_of_the_log(repo: Path, home: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    logging.log_error(str(home), f"x\n2026-01-01T00:00:00Z forged {secret} hook", ValueError("no"))
    [line] = (home / ".agent-memory/local/hook.log").read_text().splitlines()
    assert line.endswith(
        " x 2026-01-01T00:00:00Z forged [redacted:github-token] hook: ValueError: no"
    )
