"""`memfs session`: what was recorded is listed, shown, rated and forgotten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memfs.store import facts, recall
from memfs.store.blocks import Place
from tests.cli.conftest import Run

SAID = (
    ("user", "which port does the zephyr gateway use?"),
    ("assistant", "We use port 7741 for the zephyr gateway."),
    ("user", "never deploy the zephyr gateway on fridays"),
    ("assistant", "Understood."),
)


@pytest.fixture(autouse=True)
def said(place: Place, repo: Path, memfs: Run, tmp_path: Path) -> Path:
    transcript = tmp_path / "said.jsonl"
    lines = [
        {
            "type": role,
            "sessionId": "0a1b2c3d-1111-4222-8333-444455556666",
            "uuid": f"u{number}",
            "cwd": str(repo),
            "timestamp": f"2026-05-01T09:00:0{number}Z",
            "message": {"role": role, "content": text},
        }
        for number, (role, text) in enumerate(SAID)
    ]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert memfs("ingest", str(transcript)).code == 0
    return transcript


def test_they_are_listed_with_their_first_prompt(memfs: Run) -> None:
    shown = memfs("session", "list")
    assert shown.out.splitlines()[0].split() == [
        "ID", "ENDED", "HOST", "SIZE", "OUTCOME", "FIRST", "PROMPT",
    ]  # fmt: skip
    assert "0a1b2c3d  2026-05-01  claude" in shown.out
    assert shown.out.rstrip().endswith("which port does the zephyr gateway use?")
    assert json.loads(memfs("session", "list", "--json").out)[0]["host"] == "claude"
    assert memfs("session", "list", "--host", "codex").err.startswith("no sessions")
    assert memfs("session", "list", "--host", "cluade").code == 2


def test_one_is_shown_turn_by_turn(memfs: Run) -> None:
    shown = memfs("session", "show", "0a1b").out
    assert "turn 1  2026-05-01 09:00" in shown
    assert "  user\n    which port does the zephyr gateway use?\n" in shown
    later = memfs("session", "show", "0a1b", "--turn", "2").out
    assert "which port" not in later
    assert "never deploy" in later
    assert memfs("session", "show", "0a1b", "--turn", "9").code == 2
    missing = memfs("session", "show", "zz")
    assert (missing.code, missing.err.splitlines()[1]) == (1, "hint: memfs session list shows them")
    found = json.loads(memfs("session", "show", "0a1b", "--json").out)
    assert [each["turn"] for each in found["messages"]] == [1, 1, 2, 2]


def test_a_hit_is_opened_at_its_turn(memfs: Run) -> None:
    shown = memfs("search", "port", "7741", "--open", "1")
    assert "→ assistant\n    We use port 7741 for the zephyr gateway.\n" in shown.out
    assert shown.err == "all of it: memfs session show 0a1b2c3d-1111-4222-8333-444455556666\n"
    assert memfs("search", "port", "7741", "--open", "40").code == 2


def test_its_outcome_is_listed(memfs: Run) -> None:
    assert memfs("session", "outcome", "0a1b", "worked").code == 0
    assert "worked" in memfs("session", "list").out


def test_one_that_is_forgotten_is_found_nowhere_and_not_read_again(
    place: Place, memfs: Run, said: Path
) -> None:
    memfs("facts", "extract")
    assert any(facts.load_facts(store) for store in place.stores())
    assert "7741" in memfs("search", "7741").out
    memfs("graph")
    asked = memfs("session", "forget", "0a1b")
    assert (asked.code, asked.err) == (
        2,
        "error: forgetting needs your confirmation\nhint: memfs session forget 0a1b --yes\n",
    )
    done = memfs("session", "forget", "0a1b", "--yes")
    assert done.err.startswith("✓ forgot 4 messages")
    assert "7741" not in memfs("search", "7741", "--nearest").out
    assert memfs("session", "list").out == ""
    assert memfs("facts").out == ""
    assert memfs("graph", "0a1b").code == 1
    assert memfs("ingest", str(said)).err.endswith(f"    {said}\n")
    assert recall.sources(place.home) == []
    held = [path for path in Path(place.home.root).rglob("*") if path.is_file()]
    assert [path for path in held if b"zephyr" in path.read_bytes()] == []


def test_an_assistant_forgets_none(memfs: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    refused = memfs("session", "forget", "0a1b", "--yes")
    assert (refused.code, refused.err.splitlines()[0]) == (
        1,
        "error: a session is forgotten by a person",
    )
