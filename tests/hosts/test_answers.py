"""What was decided in past sessions reaches the model of a real Claude Code at the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e import remembered
from tests.hosts.claude_cli import ClaudeCode
from tests.hosts.project import BIN, Project
from tests.hosts.scripted_model import ScriptedModel, texts

pytestmark = pytest.mark.host


def test_the_answer_is_in_the_request(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.memfs("install", "claude")
    remembered.write(project.home, project.repo)
    project.memfs("ingest")
    for prompt, answer in remembered.ANSWERS.items():
        with ScriptedModel(["I know."]) as model:
            claude = ClaudeCode(project.home, project.repo, model.url, path=f"{BIN}:/usr/bin:/bin")
            assert claude.run(prompt).code == 0
        sent = "\n".join(texts(model.requests[0]))
        assert [each for each in answer if each not in sent] == [], prompt
    assert project.log() == ""
