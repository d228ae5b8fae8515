"""Which assistant started us, by what it tells in variables; the values are those of real ones."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from memfs import hosts

CLAUDE = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s-claude"}
CODEX = {"CODEX_SESSION_ID": "s-codex", "CODEX_THREAD_ID": "s-codex", "CODEX_CI": "1"}
COPILOT = {"COPILOT_CLI": "1", "COPILOT_AGENT_SESSION_ID": "s-copilot"}
GEMINI = {"GEMINI_CLI": "1", "GEMINI_CLI_NO_RELAUNCH": "true"}
OPENCODE = {"AGENT": "1", "OPENCODE": "1", "OPENCODE_PID": "10478"}


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, ("", "")),
        (CLAUDE, ("s-claude", "claude")),
        (CODEX, ("s-codex", "codex")),
        (COPILOT, ("s-copilot", "copilot")),
        (GEMINI, ("", "gemini")),
        (OPENCODE, ("", "opencode")),
    ],
)
def test_the_shell_of_an_assistant_tells_who_it_is_and_its_session_if_it_has_it(
    environment: Mapping[str, str], told: tuple[str, str]
) -> None:
    assert hosts.find_running_session(environment) == told


@pytest.mark.parametrize("inner", [CODEX, COPILOT, GEMINI, OPENCODE])
def test_one_that_claude_code_started_is_not_taken_for_its_session(
    inner: Mapping[str, str],
) -> None:
    assert hosts.find_running_session({**CLAUDE, **inner}) == hosts.find_running_session(inner)
    host = hosts.find_running_session(inner)[1]
    assert hosts.session_of(host, CLAUDE) == ""


def test_a_session_of_our_own_holds_where_the_assistant_tells_none() -> None:
    ours = {"MEMFS_SESSION": "s-ours"}
    assert hosts.find_running_session(ours) == ("s-ours", "")
    assert hosts.find_running_session({**ours, **GEMINI}) == ("s-ours", "gemini")
    assert hosts.find_running_session({**ours, **CODEX}) == ("s-codex", "codex")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no process can be looked at")
def test_a_server_that_a_plugin_starts_serves_the_folder_of_its_assistant(tmp_path: Path) -> None:
    script = "from memfs.cli import main; print(main._find_folder([]))"
    plugin, elsewhere = {"PLUGIN_ROOT": str(tmp_path)}, {"PLUGIN_ROOT": "/elsewhere"}
    for environment, folder in (
        ({**COPILOT, **plugin}, os.getcwd()),
        (plugin, str(tmp_path)),  # an editor, whose process is in any folder
        ({**COPILOT, **elsewhere}, str(tmp_path)),
        (COPILOT, str(tmp_path)),
    ):
        command = [sys.executable, "-P", "-c", script]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == folder
