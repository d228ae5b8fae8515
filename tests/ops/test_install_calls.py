"""Prompt hooks of earlier versions, which call a tool of our server: a command takes their place."""

import json
from pathlib import Path
from typing import Any

import pytest

from memfs import hosts
from memfs.hosts import settings_merge
from memfs.ops import doctor, install
from memfs.store.blocks import Place

CALL = {"type": "mcp_tool", "server": "memfs", "tool": hosts.HOOK_TOOL, "timeout": 10}
THEIRS = {"type": "command", "command": "x"}
PATHS = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json"}


def list_prompt_hooks(path: Path) -> list[Any]:
    found = json.loads(path.read_text())["hooks"]["UserPromptSubmit"]
    return [hook for group in found for hook in group["hooks"]]


@pytest.mark.parametrize("host", PATHS)
def test_a_command_takes_the_place_of_a_call_beside_hooks_of_others(
    place: Place, home: Path, host: str
) -> None:
    path = home / PATHS[host]
    path.parent.mkdir()
    install.run(place, host, "user", str(home))
    settings = json.loads(path.read_text())
    settings["hooks"]["UserPromptSubmit"] = [{"hooks": [THEIRS]}, {"hooks": [CALL]}]
    path.write_text(json.dumps(settings))
    warned = [
        each.text
        for each in doctor.run(place, str(home))
        if "the prompt hook calls a tool" in each.text
    ]
    assert [each.startswith(str(path)) for each in warned] == [True]
    install.run(place, host, "user", str(home))
    assert [each["type"] for each in list_prompt_hooks(path)] == ["command", "command"]
    install.run(place, host, "user", str(home), remove=True)
    assert list_prompt_hooks(path) == [THEIRS]


def test_a_call_of_another_tool_is_not_ours() -> None:
    hook = {"type": "mcp_tool", "server": "memfs", "tool": "core_memory_read"}
    settings: settings_merge.Json = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
    assert settings_merge.without_entries(settings, {"hooks": {"UserPromptSubmit": []}}) == settings
    assert not settings_merge.calls_tool(settings)


@pytest.mark.parametrize("host", hosts.NAMES)
def test_hooks_that_an_earlier_version_did_not_install_are_named(
    place: Place, home: Path, host: str
) -> None:
    def list_warnings() -> list[str]:
        found = [each for each in doctor.run(place, str(home)) if each.level == "warning"]
        hint = f"update the settings: memfs install {host} --user"
        return [each.text for each in found if each.hint == hint]

    done = install.run(place, host, "user", str(home))
    path = Path(done[0].path)
    assert list_warnings() == []
    install.run(place, host, "user", str(home), tools=False)
    assert list_warnings() == []
    if path.suffix == ".js":
        path.write_text(path.read_text() + "// an older one\n")
        assert list_warnings() == [f"{path}: the plugin is from another version of memfs"]
    else:
        settings = json.loads(path.read_text())
        event, *_, last = settings["hooks"]
        del settings["hooks"][last]
        lacks = [last]
        for name, groups in settings["hooks"].items():
            if "|" in groups[0].get("matcher", ""):
                groups[0]["matcher"], _, tool = groups[0]["matcher"].rpartition("|")
                lacks.append(f"{name} ({tool})")
        settings["hooks"][event].insert(0, {"matcher": "x", "hooks": [THEIRS]})
        path.write_text(json.dumps(settings))
        (told,) = list_warnings()
        assert set(told.removeprefix(f"{path} has no memfs hooks for ").split("; ")) == set(lacks)
    install.run(place, host, "user", str(home))
    assert list_warnings() == []
