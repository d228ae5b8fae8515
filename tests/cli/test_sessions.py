"""`memfs session`: what was recorded is listed, shown, rated and forgotten."""

import json
from pathlib import Path

import pytest

from memfs.core.records import Message
from memfs.store import facts, recall, session_outcomes
from memfs.store.blocks import Place
from tests.cli.conftest import Run, write_session
from tests.ops.test_purge import SECRET

SAID = (
    ("user", "which port does the zephyr gateway use?"),
    ("assistant", "We use port 7741 for the zephyr gateway."),
    ("user", "never deploy the zephyr gateway on fridays"),
    ("assistant", "Understood."),
)


@pytest.fixture(autouse=True)
def said(place: Place, repo: Path, memfs: Run, tmp_path: Path) -> Path:
    transcript = write_session(tmp_path / "said.jsonl", repo, *SAID)
    assert memfs("ingest", str(transcript)).code == 0
    return transcript


def test_they_are_listed_with_their_first_prompt(memfs: Run) -> None:
    shown = memfs("session", "list")
    assert shown.out.splitlines()[0].split() == [
        "ID", "ENDED", "HOST", "MESSAGES", "OUTCOME", "TITLE",
    ]  # fmt: skip
    assert "0a1b2c3d  2026-05-01  claude" in shown.out
    assert shown.out.rstrip().endswith("which port does the zephyr gateway use?")
    (found,) = json.loads(memfs("session", "list", "--json").out)
    assert (found["host"], found["messages"], found["starred"]) == ("claude", 4, False)
    assert memfs("session", "list", "--host", "codex").err == "no session meets these conditions\n"
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
    assert (missing.code, missing.err.splitlines()[1]) == (
        1,
        "hint: list the sessions: memfs session list",
    )
    found = json.loads(memfs("session", "show", "0a1b", "--json").out)
    assert [each["turn"] for each in found["messages"]] == [1, 1, 2, 2]


def test_a_hit_is_opened_at_its_turn(memfs: Run) -> None:
    shown = memfs("search", "port", "7741", "--open", "1")
    assert "→ assistant\n    We use port 7741 for the zephyr gateway.\n" in shown.out
    assert (
        shown.err
        == "to see the whole session: memfs session show 0a1b2c3d-1111-4222-8333-444455556666\n"
    )
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
        (
            "1 session would be forgotten:\n"
            "  0a1b2c3d  2026-05-01  claude  which port does the zephyr gateway use?\n"
            "Forgetting cannot be undone. The assistants' own transcripts stay.\n"
            "error: forgetting sessions needs your confirmation\nhint: add --yes to confirm\n"
        ),
    )
    done = memfs("session", "forget", "0a1b", "--yes")
    assert done.err.startswith("✓ forgot 1 session: 4 messages")
    assert "7741" not in memfs("search", "7741", "--nearest").out
    assert memfs("session", "list").out == ""
    assert memfs("facts").out == ""
    assert memfs("graph", "0a1b").code == 1
    assert memfs("ingest", str(said)).err == (
        "✓ 0 new messages in 0 sessions, from 1 file\n"
        f"  1 file skipped: the session was forgotten (memfs session forget)\n    {said}\n"
    )
    assert recall.sources(place.home) == []
    held = [path for path in Path(place.home.root).rglob("*") if path.is_file()]
    assert [path for path in held if b"zephyr" in path.read_bytes()] == []


def test_an_assistant_forgets_none(memfs: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    refused = memfs("session", "forget", "0a1b", "--yes")
    assert (refused.code, refused.err.splitlines()[0]) == (
        1,
        "error: only a person can make memfs forget a session",
    )


def say(place: Place, ident: str, day: str, *texts: str, **more: str) -> None:
    """Put a session of a day into recall."""
    fields = {"host": "claude", "project": "/home/ann/shop", **more}
    found = [
        Message(f"{ident}-{number}", ident, fields["host"], fields["project"], "", f"{day}T09:00:00Z",
                "assistant" if number % 2 else "user", text)
        for number, text in enumerate(texts)
    ]  # fmt: skip
    recall.write_session(recall.get_path(place.home, fields["host"], ident), found)


@pytest.fixture
def three(place: Place) -> None:
    """Sessions of three days, of two assistants and two projects."""
    say(place, "s-1", "2026-06-01", "Cap the retries of the client.", "Capped at FOUR.")
    say(place, "s-2", "2026-06-08", "Draw the chart.", host="codex", project="/home/ann/Api")
    say(place, "s-3", "2026-06-09", "Rename the service.", "Done.")


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (("--text", "capped at four"), "s-1"),
        (("--text", "RENAME"), "s-3"),
        (("--since", "2026-06-08"), "s-3 s-2"),
        (("--since", "2026-06-02", "--until", "2026-06-08"), "s-2"),
        (("--host", "codex"), "s-2"),
        (("--project", "api"), "s-2"),
        (("--outcome", "worked"), "s-1"),
        (("--starred",), "s-3"),
        (("--starred", "--host", "codex"), ""),
        (("--since", "2026-06-01"), "s-3 s-2 s-1"),
    ],
)
def test_conditions_select_sessions(memfs: Run, words: tuple[str, ...], ids: str) -> None:
    memfs("session", "outcome", "s-1", "worked")
    memfs("session", "star", "s-3")
    found = json.loads(memfs("session", "list", "--json", *words).out or "[]")
    assert [each["id"] for each in found] == ids.split()


@pytest.mark.usefixtures("three")
def test_a_star_and_a_title_stay_when_the_transcript_is_read_again(
    place: Place, memfs: Run, said: Path
) -> None:
    assert memfs("session", "star", "0a1b", "s-1").err.endswith(
        "✓ starred: Cap the retries of the client\n"
    )
    assert memfs("session", "rename", "0a1b", f"The  port {SECRET}").code == 0
    memfs("session", "outcome", "0a1b", "failed")
    with said.open("a") as transcript:
        transcript.write(said.read_text().splitlines()[-1].replace("u3", "u4") + "\n")
    memfs("ingest", str(said))
    memfs("session", "rename", "s-1", "Other")
    assert (
        memfs("session", "rename", "s-1", "").err
        == "✓ renamed session s-1: Cap the retries of the client\n"
    )
    (found,) = json.loads(memfs("session", "list", "--json", "--text", "the port").out)
    assert (found["messages"], found["starred"], found["outcome"]) == (5, True, "failed")
    assert found["title"] == "The port [redacted:github-token]"
    assert "★ The port" in memfs("session", "list").out
    memfs("session", "unstar", "0a1b")
    assert [
        each["id"] for each in json.loads(memfs("session", "list", "--json", "--starred").out)
    ] == ["s-1"]
    assert Path(place.home.local, "outcomes.jsonl").read_text().count(SECRET) == 0


@pytest.mark.usefixtures("three")
def test_sessions_are_forgotten_together_but_for_starred_ones(place: Place, memfs: Run) -> None:
    memfs("session", "star", "s-1")
    conditions = ("session", "forget", "--since", "2026-06-01", "--until", "2026-06-08")
    asked = memfs(*conditions)
    assert (asked.code, asked.err.splitlines()[:3]) == (2, [
        "left out 1 starred session; to forget starred sessions, give their ids",
        "1 session would be forgotten:",
        "  s-2  2026-06-08  codex  Draw the chart",
    ])  # fmt: skip
    assert len(recall.sources(place.home)) == 4
    assert "✓ forgot 1 session: 1 message\n" in memfs(*conditions, "--yes").err
    assert memfs(*conditions, "--yes").err.endswith("no session meets these conditions\n")
    assert memfs("session", "forget", "s-1", "s-3", "--yes").err.startswith("✓ forgot 2 sessions")
    assert len(recall.sources(place.home)) == 1
    assert not session_outcomes.load_marks(place.home)


@pytest.mark.parametrize("words", [(), ("0a1b", "--host", "claude")])
def test_forgetting_wants_names_or_conditions(memfs: Run, words: tuple[str, ...]) -> None:
    refused = memfs("session", "forget", *words, "--yes")
    assert (refused.code, refused.err.splitlines()[0]) == (
        2,
        "error: give either session ids or conditions",
    )
