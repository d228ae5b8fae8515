"""What `memfs status` says that it puts into a request, against what the real assistants send."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfs.core.tokens import estimate
from memfs.hosts.marked_section import TARGETS
from tests.hosts.assistants import ALL, CLAUDE, COPILOT, Assistant
from tests.hosts.project import Project
from tests.hosts.script import Json
from tests.hosts.scripted_model import ScriptedModel

pytestmark = pytest.mark.host


def send(project: Project, host: Assistant) -> Json:
    """Return the request for the first prompt of a session."""
    with ScriptedModel() as model:
        done = host.start(project, model).run("what does a gopher do?", *host.args)
    assert done.code == 0, done.stderr
    return model.requests[0]


def measure(request: Json) -> int:
    """Estimate the tokens of a request: definitions of tools as JSON, all else as plain text."""
    tools = json.dumps(request.get("tools", []), ensure_ascii=False, separators=(",", ":"))
    return estimate(tools) + sum(
        map(estimate, list_texts([value for key, value in request.items() if key != "tools"]))
    )


def list_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from list_texts(each)


# Codex runs here without plugins: it would look for those of OpenAI on GitHub.
@pytest.mark.parametrize(
    ("host", "flag"),
    [*((host, "--user") for host in ALL), (CLAUDE, "--plugin"), (COPILOT, "--plugin")],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_request_is_as_large_as_status_says(tmp_path: Path, host: Assistant, flag: str) -> None:
    project = Project(tmp_path)
    project.memfs("edit", "human", "--append", "Name: Quentin. " + "Likes gophers. " * 40)
    for target in TARGETS.values():
        path = project.repo / target.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Rules\nGo by {target.name}.\n")
    without = measure(send(project, host))
    host.install(project, flag, found=True)
    project.memfs("sync", *TARGETS)
    added = measure(send(project, host)) - without
    said = json.loads(project.memfs("status", "--window", "--json"))
    assert said["host"] == host.name
    assert said["used"] == pytest.approx(added, rel=0.1)
