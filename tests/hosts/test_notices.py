"""The lines for the person, in the real assistants: no model reads them, and people do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hosts.assistants import ALL, Assistant
from tests.hosts.project import Project
from tests.hosts.scripted_model import ScriptedModel

pytestmark = pytest.mark.host

LINES = (
    "memfs: 3 blocks",
    "memfs: recalled 1 passage (memfs last)",
    "memfs: saved to human: Likes teal; undo: memfs undo human",
)
# What a headless run prints of them; Codex has them as warnings in its own protocol, opencode as
# toasts, Copilot and Grok show none.
FLAGS = {"claude": ("--output-format", "stream-json", "--verbose")}
SHOWN = {"claude": LINES[1:], "gemini": LINES, "qwen": LINES[2:]}


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_a_person_is_told_and_no_model(tmp_path: Path, host: Assistant) -> None:
    project = Project(tmp_path)
    host.install(project, "--user", found=True)
    project.memfs("archive", "add", "The shop listens on port 8080.")
    project.memfs("search", "shop")  # makes the index
    with ScriptedModel([host.call(label="human", content="Likes teal"), "8080."]) as model:
        asked = ("on which port does the shop listen?", *host.args, *FLAGS.get(host.name, ()))
        done = host.start(project, model).run(*asked)
    assert done.code == 0, done.stderr
    read = json.dumps(model.requests, ensure_ascii=False)
    assert "done: 'human' is at version" in read
    assert not [line for line in LINES if line.removeprefix("memfs: ") in read]
    printed = done.stdout + done.stderr
    assert not [line for line in SHOWN.get(host.name, ()) if line not in printed]
    assert project.log() == ""
