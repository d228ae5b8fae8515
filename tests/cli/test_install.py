"""`memfs install`, `memfs uninstall` and `memfs init -y`: where they write, and what they say."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memfs.hosts.settings_merge import OWN_MEMORY
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.terminal import type_into

pytestmark = pytest.mark.usefixtures("place")
MEMFS = [sys.executable, "-m", "memfs"]

STEP = (
    "Now start a new session. Then memfs status shows the cost in tokens, and memfs last shows what was recalled "
    "for your prompts."
)


def test_install_says_what_it_did(memfs: Run, repo: Path, home: Path) -> None:
    files = [f"{repo}/.claude/settings.local.json", f"{home}/.claude.json"]
    exclude = f"{repo}/.git/info/exclude"
    shown = memfs("install", "claude", "--dry-run")
    assert shown.err.splitlines() == [
        *[f"Claude Code: {path} would be created" for path in files],
        f"Claude Code: {exclude} would be updated",
    ]
    assert '+    "UserPromptSubmit": [' in shown.out
    assert '+        "memfs": {' in shown.out
    assert "+/.claude/settings.local.json" in shown.out
    done = memfs("install", "claude")
    assert done.err.splitlines() == [
        *[f"✓ Claude Code: {path} created" for path in files],
        f"✓ Claude Code: {exclude} updated",
        STEP,
    ]
    assert memfs("uninstall").err.splitlines() == [
        f"✓ Claude Code: {path} removed" for path in files
    ]
    assert (
        memfs("uninstall").err == "✓ nothing to remove: memfs is not installed in these settings\n"
    )
    refused = memfs("install")
    assert refused.code == 1
    assert "no assistant was found" in refused.err
    planned = memfs("install", "--dry-run")
    assert (planned.code, planned.out) == (0, "")
    assert planned.err == "✓ nothing would change: no assistant was found on this machine\n"


def test_a_host_without_own_settings_in_a_project_is_wired_for_all_projects(
    memfs: Run, repo: Path, home: Path
) -> None:
    assert memfs("install", "gemini").err.splitlines() == [
        f"✓ Gemini CLI: {home}/.gemini/settings.json created",
        "  These settings apply to all your projects. To undo: memfs uninstall gemini --user",
        STEP,
    ]
    assert memfs("uninstall").err.splitlines() == [
        "✓ nothing to remove: memfs is not installed in these settings",
        f"Gemini CLI is still wired in {home}/.gemini/settings.json; to remove these settings, run memfs uninstall gemini --user",
    ]
    assert memfs("uninstall", "--project").err.endswith("memfs uninstall gemini --user\n")
    refused = memfs("install", "gemini", "--local")
    assert "Gemini CLI does not support personal settings for one project" in refused.err
    twice = memfs("install", "gemini", "--project")
    assert "remove these hooks first: memfs uninstall gemini --user" in twice.err
    assert memfs("uninstall", "gemini", "--user").code == 0
    assert not (home / ".gemini").exists()
    assert not (repo / ".gemini").exists()


def test_one_scope_at_a_time(memfs: Run) -> None:
    for command in ("install", "uninstall"):
        refused = memfs(command, "claude", "--local", "--project")
        assert refused.code == 2
        assert "use --local or --project, not both" in refused.err


def test_what_a_commit_shares_is_said_first_and_moves_out_again(memfs: Run, repo: Path) -> None:
    files = [f"{repo}/.claude/settings.json", f"{repo}/.mcp.json"]
    shown = memfs("install", "claude", "--project", "--dry-run").err.splitlines()
    why = "the file is not ignored by git"
    assert shown == [f"Claude Code: {path} would be created; {why}" for path in files]
    assert memfs("install", "claude", "--project").err.splitlines() == [
        *[
            f"{path} is not ignored by git: a commit shares it with everyone on the project"
            for path in files
        ],
        *[f"✓ Claude Code: {path} created" for path in files],
        STEP,
    ]
    moved = memfs("install", "claude", "--local").err
    assert f"✓ Claude Code: {repo}/.mcp.json removed" in moved
    assert not (repo / ".mcp.json").exists()


def test_a_person_is_asked_before_a_commit_would_share_it(repo: Path) -> None:
    words = [*MEMFS, "install", "claude", "--project"]
    code, shown = type_into(words, "n\n", repo, os.environ)
    assert code == 0
    assert "Write these settings? [Y/n]: no settings were written\n" in shown
    assert not (repo / ".mcp.json").exists()
    assert "created" in type_into(words, "\n", repo, os.environ)[1]
    assert (repo / ".mcp.json").exists()


def test_the_diff_is_coloured_on_a_terminal_and_what_stays_is_folded(
    memfs: Run, repo: Path
) -> None:
    path = repo / ".claude/settings.local.json"
    path.parent.mkdir()
    keys = ",\n".join(f'  "key{number}": {number}' for number in range(20))
    path.write_text(f"{{\n{keys}\n}}\n")
    words = [*MEMFS, "install", "claude", "--dry-run"]
    _, shown = type_into(words, "", repo, {**os.environ, "TERM": "xterm"})
    assert '\x1b[32m\x1b[22m+  "hooks": {\x1b[0m' in shown
    plain = memfs("install", "claude", "--dry-run").out
    assert "\x1b" not in plain
    assert [line for line in plain.splitlines() if '"key' in line] == [
        '   "key16": 16,',
        '   "key17": 17,',
        '   "key18": 18,',
        '-  "key19": 19',
        '+  "key19": 19,',
    ]


def test_init_yes_wires_as_install_does(memfs: Run, repo: Path, home: Path) -> None:
    for name in (".claude", ".codex"):
        (home / name).mkdir()
    lines = memfs("init", "-y").err.splitlines()
    assert f"✓ Claude Code: {repo}/.claude/settings.local.json created" in lines
    assert f"✓ Codex: {home}/.codex/hooks.json created" in lines
    assert (
        "  These settings apply to all your projects. To undo: memfs uninstall codex --user"
        in lines
    )
    assert not (repo / ".claude/settings.json").exists()
    assert not (repo / ".codex").exists()


def test_init_asks_for_what_is_not_for_this_project_alone(repo: Path, home: Path) -> None:
    for name in (".claude", ".codex"):
        (home / name).mkdir()
    _, shown = type_into([*MEMFS, "init"], "n\nn\n", repo, os.environ)
    assert "Wire Claude Code to memfs? [Y/n]" in shown
    assert "Wire Codex to memfs for all your projects? [Y/n]" in shown
    assert not (home / ".codex/hooks.json").exists()


def test_the_plugin_is_named_where_nothing_else_is(memfs: Run, place: Place, home: Path) -> None:
    assert place.project
    (home / ".claude").mkdir()
    settings = home / ".claude/settings.json"
    settings.write_text('{"enabledPlugins": {"memfs@memfs": true}}')
    assert memfs("uninstall", "claude").err.splitlines() == [
        "✓ nothing to remove: memfs is not installed in these settings",
        f"Claude Code still has the memfs plugin, enabled in {settings}: uninstall it in Claude Code",
    ]


@pytest.mark.parametrize("choice", ["off", "store"])
def test_claude_codes_own_memory_is_switched_and_put_back(
    memfs: Run, place: Place, repo: Path, home: Path, choice: str
) -> None:
    (home / ".claude").mkdir()
    assert "Claude Code    keeps its own memory in" in memfs("status").out
    path = repo / ".claude/settings.local.json"
    path.parent.mkdir()
    before = '{\n  "model": "opus",\n  "env": {}\n}'
    path.write_text(before, encoding="utf-8")
    done = memfs("install", "claude", "--own-memory", choice)
    assert done.code == 0
    where = f"{repo}/.agent-memory/blocks/claude"
    wanted = {"autoMemoryEnabled": False} if choice == "off" else {"autoMemoryDirectory": where}
    assert wanted.items() <= json.loads(path.read_text()).items()
    assert ("is turned off" if choice == "off" else f"as blocks in {where}.") in done.err
    assert ("keeps its own memory in the store" in memfs("doctor").out) is (choice == "store")
    assert "to turn it off" not in memfs("status").out
    memfs("install", "claude")  # says nothing of it, and leaves it
    assert wanted.items() <= json.loads(path.read_text()).items()
    memfs("uninstall", "claude")
    assert path.read_text() == before
    memfs("install", "claude", "--own-memory", choice)
    path.write_text(path.read_text().replace("opus", "sonnet"), encoding="utf-8")
    memfs("uninstall", "claude")
    assert json.loads(path.read_text()) == {"model": "sonnet", "env": {}}
    other = "store" if choice == "off" else "off"
    memfs("install", "claude", "--own-memory", choice)
    memfs("install", "claude", "--own-memory", other)
    assert not wanted.items() & json.loads(path.read_text()).items()
    assert (
        "Claude Code also has its own memory"
        in memfs("install", "claude", "--own-memory", "keep").err
    )
    assert not {*OWN_MEMORY} & json.loads(path.read_text()).keys()
    path.write_text(path.read_text().replace("{", '{"autoMemoryEnabled": false,', 1))
    memfs("uninstall", "claude")  # what a person switched after that stays
    assert json.loads(path.read_text())["autoMemoryEnabled"] is False


def test_a_person_is_asked_what_becomes_of_an_own_memory(repo: Path, home: Path) -> None:
    (home / ".claude").mkdir()
    code, shown = type_into([*MEMFS, "install", "claude"], "off\n", repo, os.environ)
    assert code == 0
    assert "Claude Code also has its own memory" in shown
    assert '"autoMemoryEnabled": false' in (repo / ".claude/settings.local.json").read_text()


def test_what_a_person_set_of_an_own_memory_stays(memfs: Run, place: Place, repo: Path) -> None:
    path = repo / ".claude/settings.local.json"
    path.parent.mkdir()
    path.write_text(
        '{"autoMemoryEnabled": false, "autoMemoryDirectory": "/mine"}', encoding="utf-8"
    )
    refused = memfs("install", "claude", "--own-memory", "store")
    assert (refused.code, "another value of autoMemoryDirectory ('/mine')" in refused.err) == (
        1,
        True,
    )
    memfs("install", "claude", "--own-memory", "off")
    path.write_text(path.read_text().replace("/mine", "/ours"), encoding="utf-8")
    memfs("uninstall", "claude")
    assert json.loads(path.read_text()) == {
        "autoMemoryEnabled": False,
        "autoMemoryDirectory": "/ours",
    }
    subprocess.run(["git", "-C", str(repo), "add", "-f", str(path)], check=True)
    refused = memfs("install", "claude", "--local", "--own-memory", "store")
    assert (refused.code, "git tracks the settings" in refused.err) == (1, True)
    for words in (["codex"], ["claude", "--user"], ["claude", "--project"]):
        assert memfs("install", *words, "--own-memory", "store").code == 1


def test_a_settings_file_that_is_a_link_to_itself_is_named_and_disturbs_no_other(
    memfs: Run, repo: Path, home: Path
) -> None:
    path = repo / ".claude/settings.local.json"
    path.parent.mkdir()
    path.symlink_to(path.name)
    assert memfs("status").code == 0
    refused = memfs("install", "claude", "--local")
    assert refused.code == 1
    assert refused.err.startswith(f"error: {path} is a link to itself\n")
    assert memfs("install", "claude", "--user").code == 0
    assert (home / ".claude/settings.json").exists()
    doctor = memfs("doctor")
    assert f"! {path} is a link to itself, so Claude Code cannot read the file" in doctor.out
    assert path.is_symlink()
