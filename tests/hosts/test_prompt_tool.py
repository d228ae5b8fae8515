"""Prompts that call a tool of our server, in the real assistants that can: no process is started."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memfs.hosts import HOOK_TOOL
from tests.hosts.assistants import CLAUDE, CODEX, HEAD, Assistant
from tests.hosts.project import Project
from tests.hosts.scripted_model import ScriptedModel

pytestmark = pytest.mark.host
SETTINGS = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json"}


@pytest.mark.parametrize("service", [False, True], ids=["alone", "service"])
@pytest.mark.parametrize("host", [CLAUDE, CODEX], ids=lambda host: host.name)
def test_a_conversation_brings_what_is_new_and_what_was_said(
    tmp_path: Path, host: Assistant, service: bool
) -> None:
    project = Project(tmp_path, service=service)
    project.memfs("edit", "human", "--append", "Name: Quentin")
    project.memfs(
        "archive", "add", "The zephyr gateway listens on port 7741 because of the firewall."
    )
    project.memfs("search", "zephyr")
    host.install(project, "--user", found=True)
    assert HOOK_TOOL in (project.home / SETTINGS[host.name]).read_text()
    try:
        with ScriptedModel(["One.", "Two.", "Three."]) as model:
            with host.start(project, model).conversation() as session:
                assert session.say("hello there") == "One."
                project.memfs("edit", "human", "--replace", "Quentin", "Bob")
                assert session.say("what does the zephyr gateway listen on?") == "Two."
                assert session.say("and now?") == "Three."
    finally:
        if service:
            project.memfs("service", "stop")
    asked = [json.dumps(request, ensure_ascii=False) for request in model.requests]
    assert [each.count(HEAD) for each in asked] == [1, 1, 1]
    assert [each.count("+ Name: Bob") for each in asked] == [0, 1, 1]
    assert [each.count("because of the firewall") for each in asked] == [0, 1, 1]
    assert not any(HOOK_TOOL in each for each in asked), "no model is offered it"
    assert not any("hook success" in each for each in asked), "of a prompt that brings nothing"
    assert project.log() == ""
