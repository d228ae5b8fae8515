"""What memfs does in each of the real assistants, in a session of several prompts."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.hosts.assistants import ALL, HEAD, Assistant
from tests.hosts.project import Project
from tests.hosts.scripted_model import Json, ScriptedModel

pytestmark = pytest.mark.host
behaviour = pytest.mark.behaviour
each_host = pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)

FULL = 600_000  # tokens; Gemini compresses from half of what its model holds on


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.memfs("edit", "human", "--append", "Name: Alice")
    return made


def whole(request: Json) -> str:
    return json.dumps(request, ensure_ascii=False)


def found(project: Project, query: str, *words: str) -> list[tuple[str, str, str]]:
    """Who said what and when, of what a search finds."""
    hits = json.loads(project.memfs("search", query, "--json", "-n", "50", *words))["hits"]
    return [(hit["role"], hit["text"], hit["at"]) for hit in hits if hit["kind"] == "message"]


def soon(project: Project, query: str, text: str) -> bool:
    """Whether a text is found within five seconds: some do not wait for the hooks of a turn's end."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if any(each == text for _, each, _ in found(project, query)):
            return True
        time.sleep(0.2)
    return False


@behaviour("start", "news", "stop", "end", "transcript")
@each_host
def test_a_conversation_of_three_prompts(project: Project, host: Assistant) -> None:
    host.install(project, "--user")
    began = stamp()
    with ScriptedModel(["A gopher digs.", "Two.", "It whistles."]) as model:
        with host.start(project, model).conversation() as session:
            assert session.say("what does a gopher do?") == "A gopher digs."
            assert soon(project, "gopher", "what does a gopher do?")
            project.memfs("edit", "human", "--replace", "Alice", "Bob")
            assert session.say("and a badger?") == "Two."
            assert session.say("and a marmot?") == "It whistles."
    asked = [whole(request) for request in model.requests]
    assert "Name: Alice" in asked[0]
    assert [each.count(HEAD) for each in asked] == [1, 1, 1]
    assert [each.count("+ Name: Bob") for each in asked] == [0, 1, 1]
    said = found(project, "and a marmot it whistles gopher digs", "--host", host.name)
    ended = stamp()
    assert all(began <= at[:19] <= ended for _, _, at in said)
    assert {(role, text) for role, text, _ in said} == {
        ("user", "what does a gopher do?"), ("assistant", "A gopher digs."),
        ("user", "and a badger?"), ("assistant", "Two."),
        ("user", "and a marmot?"), ("assistant", "It whistles."),
    }  # fmt: skip
    assert project.log() == ""


def stamp() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
