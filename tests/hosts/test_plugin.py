"""The plugin for Claude Code, Codex and Copilot in use, and what `packages.py` takes it from."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memfs import hosts
from memfs.core import settings
from memfs.core.errors import StoreError
from memfs.ipc.client import TIMEOUT
from memfs.ops import doctor, install
from memfs.ops.host_event import SLOW_TIMEOUT
from memfs.store.blocks import Place

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "hooks/plugin"
START = json.dumps(
    {
        "session_id": "s",
        "hook_event_name": "SessionStart",
        "source": "startup",
        "transcript_path": "/t/s.jsonl",
    }
)


def load(path: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(path.read_text())
    return found


def launch(path: str, *words: str, given: str = START, cwd: Path | None = None) -> str:
    done = subprocess.run(
        ["sh", str(PLUGIN / "hook"), *words],
        input=given.encode(),
        capture_output=True,
        check=True,
        cwd=cwd,
        env={"PATH": path, "HOME": str(Path.home())},
    )
    assert done.stderr == b""
    return done.stdout.decode()


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "copilot", "cursor", "plugin/hooks"])
def test_nobody_waits_much_longer_than_our_own_alarm_for_a_hook(host: str) -> None:
    found = load(ROOT / f"hooks/{host}/hooks.json")["hooks"]
    assert isinstance(found, dict)
    unit = 1000 if host == "gemini" else 1
    for event, [group] in found.items():
        seconds = group.get("hooks", [group])[0]["timeout"] / unit
        if event in {"Stop", "stop", "AfterAgent", "PreCompact", "preCompact", "PreCompress"}:
            assert SLOW_TIMEOUT < seconds <= SLOW_TIMEOUT + 5
        elif event.lower() != "sessionend":  # Codex and Claude Code allow it three seconds, and one
            assert TIMEOUT < seconds <= TIMEOUT + 5


def test_skills_name_tools_and_commands_that_exist() -> None:
    tools = set(settings.SMALL)  # what every session has
    for skill in sorted((ROOT / "skills").iterdir()):
        text = (skill / "SKILL.md").read_text()
        assert text.startswith(f"---\nname: {skill.name}\ndescription: ")
        named = {word.strip("`") for word in text.split() if word.startswith("`")}
        named = {word.rstrip("`,.;:()") for word in named}
        for word in named:
            if "memory" in word or "conversation" in word or "archival" in word:
                assert word in tools, f"{skill.name}: {word}"


def test_the_launcher_starts_the_python_of_the_program_on_the_path(tmp_path: Path) -> None:
    folder = tmp_path / "a venv"
    script = folder / "lib/python3.11/site-packages/memfs/_shipped/hooks/memfs_hook.py"
    script.parent.mkdir(parents=True)
    script.write_text("import sys; print(sys.argv[1:], sys.flags.isolated, sys.flags.no_site)")
    package = folder / "lib/python3.11/site-packages/memfs/hook"
    package.mkdir()
    (package / "main.py").touch()
    (folder / "bin").mkdir()
    (folder / "bin/python").symlink_to(sys.executable)
    program = folder / "bin/memfs"
    program.write_text(f"#!{folder}/bin/python\nraise SystemExit('not this way')\n")
    program.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/memfs").symlink_to(program)  # as pipx does
    shown = launch(f"{tmp_path}/bin:/usr/bin:/bin", "auto", "mcp")
    assert shown == "['auto', 'mcp'] 1 1\n"
    (package / "main.py").unlink()  # as in an editable installation
    assert launch(f"{tmp_path}/bin:/usr/bin:/bin", "auto", "mcp") == "", "an error is kept quiet"
    program.write_text('#!/bin/sh\necho "$@"\n')
    assert launch(f"{tmp_path}/bin:/usr/bin:/bin", "auto", "mcp") == "hook auto mcp\n"


def test_a_program_of_the_current_folder_is_not_ours(tmp_path: Path) -> None:
    program = tmp_path / "memfs"
    program.write_text("#!/bin/sh\necho taken\n")
    program.chmod(0o755)
    for path in (":/usr/bin:/bin", ".:/usr/bin:/bin"):
        assert "pipx install agent-memfs" in launch(path, "auto", cwd=tmp_path)


def test_without_the_program_it_says_once_what_to_install() -> None:
    assert (
        "pipx install agent-memfs" in json.loads(launch("/usr/bin:/bin", "auto"))["systemMessage"]
    )
    assert launch("/usr/bin:/bin", "auto", given=START.replace("SessionStart", "Stop")) == ""


def answer(folder: Path, *words: str, given: dict[str, str] | None = None) -> str:
    payload = {**json.loads(START), "cwd": str(folder), **(given or {})}
    done = subprocess.run(
        [sys.executable, "-m", "memfs", "hook", *words],
        input=json.dumps(payload).encode(),
        capture_output=True,
        check=True,
        env=dict(os.environ),
    )
    return done.stdout.decode()


def test_a_session_gets_the_brief_by_the_plugin_or_by_settings_but_not_by_both(
    place: Place, repo: Path, home: Path
) -> None:
    assert "core_memory_append" in answer(repo, "auto", "mcp")
    codex = {"turn_id": "t", "session_id": "s2"}
    assert "hookSpecificOutput" in json.loads(answer(repo, "auto", "mcp", given=codex))
    copilot = {"timestamp": "2026-11-20T04:57:34.237Z", "transcript_path": "", "session_id": "s3"}
    assert "additionalContext" in json.loads(answer(repo, "auto", "mcp", given=copilot))
    install.run(place, "claude", "local", str(home))
    assert answer(repo, "auto", "mcp") == ""
    assert "Core memory" in answer(repo, "claude", "mcp", given={"session_id": "s4"})
    assert answer(repo, "claude", "mcp", given=copilot) == "", "Copilot runs Claude's settings"
    settings = repo / ".claude/settings.local.json"
    settings.write_text(settings.read_text().replace(sys.executable, "/Users/alice/python3"))
    given = {"session_id": "s5"}
    assert "Core memory" in answer(repo, "auto", "mcp", given=given), "those cannot run here"


@pytest.mark.parametrize(
    ("host", "file", "text"),
    [
        ("claude", ".claude/settings.json", '{"enabledPlugins": {"memfs@memfs": true}}'),
        ("codex", ".codex/config.toml", '[plugins."memfs@memfs"]\nenabled = true\n'),
        ("copilot", ".copilot/settings.json", '{"enabledPlugins": {"memfs@memfs": true}}'),
    ],
)
def test_where_the_plugin_is_enabled_settings_are_not_wired(
    place: Place, repo: Path, home: Path, host: str, file: str, text: str
) -> None:
    path = home / file
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(StoreError, match=f"has the memfs plugin, enabled in {path}"):
        install.run(place, host, "project", str(home))
    found = [f.text for f in doctor.run(place, str(home)) if hosts.get(host).TITLE in f.text]
    assert found[1] == f"{hosts.get(host).TITLE} has the memfs plugin, enabled in {path}"
    assert not [each for each in found[2:] if "is not wired" in each]
    path.write_text(text.replace("true", "false"))
    install.run(place, host, "project", str(home))
    path.write_text(text)
    warned = [f.text for f in doctor.run(place, str(home)) if f.level == "warning"]
    assert any("is wired through the plugin and its settings" in each for each in warned)


def test_the_host_itself_takes_the_plugin_from_this_installation(
    place: Place, repo: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin/codex"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    with pytest.raises(StoreError, match="Codex is not on the PATH"):
        install.plugin(place, "codex", str(home))
    program.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/asked\necho "Did it: $2"\n')
    program.chmod(0o755)
    assert install.plugin(place, "codex", str(home)) == ["Did it: marketplace", "Did it: add"]
    asked = (tmp_path / "asked").read_text().splitlines()
    market = Path(asked[0].removeprefix("plugin marketplace add "))
    assert load(market / ".claude-plugin/marketplace.json")["name"] == "memfs"
    assert asked[1] == "plugin add memfs@memfs"
    program.write_text("#!/bin/sh\necho no such thing >&2\nexit 3\n")
    with pytest.raises(StoreError, match="Codex did not install the plugin: no such thing"):
        install.plugin(place, "codex", str(home))
    install.run(place, "codex", "user", str(home))
    with pytest.raises(StoreError, match="already runs the memfs hooks"):
        install.plugin(place, "codex", str(home))


def test_the_status_line_names_what_is_nearly_full(place: Place, repo: Path) -> None:
    assert answer(repo, "line") == "memory: 3 blocks, 172 characters"
    human = Path(place.user.root if place.user else "", "blocks/human.md")
    human.write_text(human.read_text() + "x" * 4_200)
    assert answer(repo, "line") == "memory: 3 blocks, 4,372 characters · ⚠️ human 84 %"
    assert answer(repo.parent, "line", given={"cwd": "/"}).startswith("memory: 1 block, ")


def test_the_status_line_is_wired_when_it_is_asked_for_and_others_keep_theirs(
    place: Place, repo: Path, home: Path
) -> None:
    settings = repo / ".claude/settings.json"
    install.run(place, "claude", "project", str(home))
    assert "statusLine" not in load(settings)
    install.run(place, "claude", "project", str(home), line=True)
    install.run(place, "claude", "project", str(home))
    command = load(settings)["statusLine"]
    assert isinstance(command, dict)
    done = subprocess.run(
        ["sh", "-c", command["command"]],
        input=json.dumps({"cwd": str(repo)}).encode(),
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == "memory: 3 blocks, 172 characters"
    install.run(place, "claude", "project", str(home), remove=True)
    assert not settings.exists()
    settings.parent.mkdir()
    settings.write_text('{"statusLine": {"type": "command", "command": "theirs"}}')
    with pytest.raises(StoreError, match="another status line"):
        install.run(place, "claude", "project", str(home), line=True)
    install.run(place, "claude", "project", str(home))
    install.run(place, "claude", "project", str(home), remove=True)
    assert "theirs" in settings.read_text()
