"""The walks of internals.md are what the program does: each step is called, in this order."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from memfs.cli import main
from memfs.hook import main as hook
from memfs.ipc.client import HookCall
from memfs.store.blocks import Place
from tests.hosts.transcript_lines import assistant, user

PAGE = Path(__file__).parents[2] / "docs/contributing/internals.md"
MOST = 8  # steps
_STEP = re.compile(r"^\d\. `([\w.]+)`", re.MULTILINE)


def read_walks() -> dict[str, list[str]]:
    """Return the steps of each walk, by its heading."""
    text = PAGE.read_text(encoding="utf-8").partition("## Four walks")[2].partition("\n## ")[0]
    parts = re.split(r"^### (.*)$", text, flags=re.MULTILINE)[1:]
    return {name: _STEP.findall(body) for name, body in zip(parts[::2], parts[1::2], strict=True)}


def trace(walk: Callable[[], object]) -> Iterator[str]:
    """Yield what is called during a walk, as `room.module.function`, each when it first is."""
    found: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        if event == "call" and module.startswith("memfs."):
            found.setdefault(f"{module.removeprefix('memfs.')}.{frame.f_code.co_qualname}")

    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(None)
    yield from found


@pytest.fixture
def walks(
    place: Place,
    repo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> dict[str, Callable[[], object]]:
    """What each heading of the page names, after a session that can be recalled."""
    monkeypatch.chdir(repo)
    transcript = tmp_path / "old.jsonl"
    of_session = {"sessionId": "old", "cwd": str(repo)}
    lines = [
        user("Which port does the billing gateway use?", "u1", **of_session),
        assistant(f"The billing gateway listens on 7443, {tmp_path.name}.", "a1", **of_session),
    ]
    transcript.write_bytes(b"".join(lines))

    def call(event: str, session: str, **more: str) -> None:
        payload = {"session_id": session, "cwd": str(repo), "hook_event_name": event, **more}
        hook.main(HookCall(["claude"], json.dumps(payload).encode()))

    def run(*words: str) -> None:
        monkeypatch.setattr(sys, "argv", ["memfs", *words])
        assert main.main() == 0

    def read_line() -> None:
        call("Stop", "old", transcript_path=str(transcript))

    if "prompt" in request.node.name:
        read_line()
        call("SessionStart", "new", source="startup")
    question = "which port does the billing gateway listen on?"
    return {
        "A prompt": lambda: call("UserPromptSubmit", "new", prompt=question),
        "An edit": lambda: run("edit", "persona", "--append", "I like tea."),
        "A line of a transcript": read_line,
        "A query": lambda: run("search", "billing gateway"),
    }


@pytest.mark.parametrize("name", ["A prompt", "An edit", "A line of a transcript", "A query"])
def test_a_walk_is_what_is_called(name: str, walks: dict[str, Callable[[], object]]) -> None:
    steps = read_walks()[name]
    assert 2 < len(steps) <= MOST
    assert [each for each in trace(walks[name]) if each in steps] == steps


def test_the_page_has_no_other_walk(walks: dict[str, Callable[[], object]]) -> None:
    assert read_walks().keys() == walks.keys()
