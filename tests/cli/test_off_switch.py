"""`enabled: false` keeps hooks, tools and the service still; each layer can say it."""

import json
from pathlib import Path

import pytest

from memfs.core.errors import StoreError
from memfs.ipc import client
from memfs.ops import service
from memfs.store import store_paths
from memfs.store.blocks import Place
from memfs.tools import calls, registry
from memfs.tools.calls import ToolCall
from memfs.tools.tool_context import ToolContext
from tests.cli.conftest import Run
from tests.hook.calls import call, log, payload, start


@pytest.fixture(params=["user", "project", "variable"])
def source(
    request: pytest.FixtureRequest, place: Place, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """Turn memory off in one layer, and on in the others; return what says so."""
    assert place.project
    assert place.user
    stores = {"user": place.user.root, "project": place.project.root}
    for name, root in stores.items():
        said = "false" if name == request.param else "true"
        Path(root, "config.yaml").write_text(f"memfs: 1\nenabled: {said}\n")
    if request.param != "variable":
        return f"{stores[request.param]}/config.yaml"
    monkeypatch.setenv("MEMFS_ENABLED", "false")
    return "MEMFS_ENABLED"


def test_hooks_say_and_note_nothing(source: str, repo: Path, home: Path) -> None:
    transcript = home / "t.jsonl"
    transcript.write_text("{}\n")
    for event in (
        start(repo),
        payload(repo, "UserPromptSubmit", prompt="where do gophers dig tunnels?"),
        payload(repo, "PreCompact", transcript_path=str(transcript)),
        payload(repo, "Stop", transcript_path=str(transcript)),
        payload(repo, "SessionEnd", transcript_path=str(transcript)),
    ):
        assert call(event) == (b"", b""), source
    assert log(repo) == []
    assert not (repo / ".agent-memory/local/sessions").exists()
    assert not (repo / ".agent-memory/local/inbox").exists()


def test_tools_refuse_with_the_reason(source: str, repo: Path) -> None:
    context = ToolContext(str(repo))
    result = calls.run(context, registry.built_in(), ToolCall("core_memory_read", {}))
    assert result.is_error
    assert result.text == (
        f"error: memory is turned off here by {source}\n"
        "hint: continue without memory; only the user can turn memory back on"
    )


def test_status_says_so(source: str, memfs: Run) -> None:
    assert json.loads(memfs("status", "--json").out)["off"] == source
    screen = memfs("status").out
    assert screen.startswith("turned off")
    assert "(enabled: false)" in " ".join(screen.split())


def test_no_service_starts(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert place.user
    monkeypatch.setenv("MEMFS_SERVICE_MODE", "auto")
    path = Path(place.user.root, "config.yaml")
    path.write_text("memfs: 1\nenabled: false\n")
    assert not client.start_service()
    with pytest.raises(StoreError, match="memory is turned off") as caught:
        service.start()
    assert caught.value.hint == f"change {store_paths.user_root()}/config.yaml to turn memory on"


def test_on_again_is_as_before(place: Place, repo: Path) -> None:
    assert place.project
    path = Path(place.project.root, "config.yaml")
    path.write_text("memfs: 1\nenabled: false\n")
    assert call(start(repo)) == (b"", b"")
    path.write_text("memfs: 1\nenabled: true\n")
    assert b"additionalContext" in call(start(repo))[0]
