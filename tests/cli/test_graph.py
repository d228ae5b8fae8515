"""The flow of past sessions, on the screen."""

import json
from pathlib import Path

from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.knowledge.session_graph.conftest import FIXED, say


def test_all_together(memfs: Run, place: Place) -> None:
    assert memfs("graph").out == "0 sessions, 0 messages, 0 turns, 0 topics\n"
    for session in ("one", "two"):
        say(place, session, *FIXED)
    shown = memfs("graph")
    lines = shown.out.splitlines()
    assert lines[0].startswith("2 sessions, 22 messages, 4 turns, ")
    assert lines[1].startswith("topics: ")
    assert "test! > edit > test: 2 turns, 2 worked, 0 did not" in lines
    assert memfs("graph", "--patterns").out == "test! > edit > test: 2 turns, 2 worked, 0 did not\n"
    assert json.loads(memfs("graph", "--patterns", "--json").out) == [
        {"steps": ["test!", "edit", "test"], "turns": 2, "worked": 2, "failed": 0}
    ]
    assert json.loads(memfs("graph", "--json").out)["counts"]["turn"] == 4


def test_a_session_and_a_topic(memfs: Run, place: Place, tmp_path: Path) -> None:
    say(place, "one", *FIXED)
    shown = memfs("graph", "on").out
    assert shown.splitlines()[:3] == [
        "session one (claude)",
        "  \u2713 2026-05-01 09:00 UTC  1  problem",
        "        The retry test of the payment client fails with a timeout",
    ]
    assert "test! > edit > test; the user said thanks; #" in shown
    assert memfs("graph", "retry").out.startswith(
        "topic retry\n  \u2713 2026-05-01 09:00 UTC  session one 1"
    )
    drawn = tmp_path / "flow.svg"
    assert "wrote 2 turns of session one" in memfs("graph", "one", "--svg", str(drawn)).err
    assert drawn.read_text().startswith("<svg ")
    nothing = memfs("graph", "zwei")
    assert nothing.code == 1
    assert "there is no session or topic 'zwei'" in nothing.err


def test_what_is_like_a_text_and_where_an_edge_leads(memfs: Run, place: Place) -> None:
    say(place, "one", *FIXED)
    shown = memfs("graph", "--similar", "the retry test of the payment client fails")
    assert "what worked: Fixed: the test uses a fake clock now, so it does not wait." in shown.out
    assert shown.out.splitlines()[-1] == "usual first steps: test! (100%)"
    assert (
        memfs("graph", "--path", "message:1", "--depth", "1").out == "message:1 follows message:2\n"
    )
    assert (
        memfs("graph", "--path", "topic:none").err == "no turns follow 'topic:none' in the graph\n"
    )


def test_what_cannot_be_asked_together(memfs: Run, place: Place) -> None:
    assert memfs("graph", "one", "--patterns").code == 2
    assert memfs("graph", "--svg", "x.svg").code == 2


def test_outcomes(memfs: Run, place: Place) -> None:
    say(place, "one", *FIXED)
    assert (
        memfs("session", "outcome", "one", "failed", "--why", "it came back").err
        == "\u2713 rated session one: failed\n"
    )
    assert "it came back" in memfs("graph", "one").out
    done = memfs("session", "outcome", "on", "worked", "--turn", "1")
    assert (done.code, done.err) == (0, "\u2713 rated session on, turn 1: worked\n")
    assert memfs("session", "outcome", "one", "maybe").code == 2
    missing = memfs("session", "outcome", "none", "worked")
    assert (missing.code, missing.err.splitlines()[0]) == (1, "error: no session has the id none")
