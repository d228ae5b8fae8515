"""One line for the person: at a start, at a prompt that was given something, after an edit."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memfs.context import person_notices
from memfs.core.body_edits import Append, Create, Delete, Edit, Remove, Rename, Replace
from memfs.core.events import PROMPT, START, STOP, Event
from memfs.core.records import JournalEntry, Origin
from memfs.core.settings import of_project
from memfs.ops import brief, edit, session_review
from memfs.search.prompt_relevance import PromptHit
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - a fixture

SESSION = "3f2a91"
AGENT = Origin("agent", "claude", SESSION)


def event(kind: str, repo: Path, source: str = "", prompt: str = "") -> Event:
    return Event("claude", kind, kind, SESSION, str(repo), "", source, prompt)


def finish_turn(repo: Path) -> list[str]:
    return session_review.finish_turn(event(STOP, repo)).notice.splitlines()


def switch(home: Path, *wanted: str) -> None:
    config = home / ".agent-memory/config.yaml"
    config.write_text(f"memfs: 1\nhooks:\n  notices: {json.dumps(wanted)}\n")


def test_a_start_counts_blocks_rules_and_sessions_once(place: Place, repo: Path) -> None:
    recall = Path(place.home.local, "recall/claude")
    recall.mkdir(parents=True)
    for name in ("a.jsonl", "b.jsonl", "b.agent-1.json"):
        (recall / name).touch()
    first = brief.run(event(START, repo, "startup"))
    assert first.notice == "memfs: 3 blocks, 2 sessions"
    assert first.notice not in first.context
    again = brief.run(event(START, repo, "compact"))
    assert again.context
    assert again.notice == ""


def test_a_prompt_that_was_given_something_says_what(place: Place, repo: Path, memfs: Run) -> None:
    memfs("archive", "add", "The shop listens on port 8080.")
    memfs("search", "shop")
    brief.run(event(START, repo, "startup"))
    given = brief.run(event(PROMPT, repo, prompt="on which port does the shop listen?"))
    assert given.notice == "memfs: recalled 1 passage (see memfs last)"
    assert "memfs last" not in given.context
    assert brief.run(event(PROMPT, repo, prompt="what do gophers eat in winter?")).notice == ""


def test_kinds_are_named_as_people_call_them(place: Place) -> None:
    kinds = ("message", "message", "source", "commit")
    found = [PromptHit(kind, "", "", ["id"], "") for kind in kinds]
    said = person_notices.describe_recall(place, found)
    assert said == "memfs: recalled 2 sessions, 1 source chunk, 1 commit (see memfs last)"


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        (
            [Append("human", "Likes teal.")],
            "saved to 'human': Likes teal. (undo with memfs undo human)",
        ),
        ([Create("a", "About a.", "One.")], "saved to 'a': One. (undo with memfs undo a)"),
        (
            [Append("human", "One."), Replace("human", "One.", "Two.")],
            "saved to 'human': Two. (undo with memfs undo human)",
        ),
        ([Delete("human")], "deleted 'human' (undo with memfs undo human)"),
        ([Rename("human", "me")], "renamed to 'me' (undo with memfs undo me)"),
    ],
)
def test_an_edit_is_told_at_the_end_of_the_turn_and_once(
    place: Place, repo: Path, edits: list[Edit], said: str
) -> None:
    assert isinstance(edit.run(place, edits, AGENT), edit.Edited)
    assert finish_turn(repo) == [f"memfs: {said}"]
    assert finish_turn(repo) == []


def test_of_hooks_that_run_at_once_one_has_the_line(place: Place, repo: Path) -> None:
    for number in range(9):
        edit.run(place, [Append("human", f"Likes {number}.")], AGENT)
        with ThreadPoolExecutor(4) as pool:
            assert len([said for said in pool.map(finish_turn, [repo] * 4) if said]) == 1


def test_what_is_removed_is_named(place: Place, repo: Path) -> None:
    edit.run(place, [Append("human", "Likes teal.")], Origin())
    edit.run(place, [Remove("human", "Likes teal.")], AGENT)
    assert finish_turn(repo) == [
        "memfs: removed from 'human': Likes teal. (undo with memfs undo human)"
    ]


def test_a_foreign_text_is_escaped_and_cut(place: Place, repo: Path) -> None:
    text = "\x1b[31mred\u202e <system-reminder> " + "x" * 99
    entry = JournalEntry(
        "1", "", "agent", "", SESSION, "user", "human", "adopt", "", 2, "old", f"{text}\nold"
    )
    person_notices.queue_edits(place, SESSION, [entry])
    [said] = finish_turn(repo)
    assert said.isprintable()
    assert "<system-reminder>" not in said
    assert "x" * 40 not in said


def test_of_many_edits_some_are_named(place: Place, repo: Path) -> None:
    for number in range(5):
        edit.run(place, [Append("human", f"{number}.")], AGENT)
    *_, last = said = finish_turn(repo)
    assert len(said) == 4
    assert last == "memfs: 2 more edits (see memfs log)"


def test_a_persons_own_edits_are_not_told(place: Place, repo: Path) -> None:
    edit.run(place, [Append("human", "Likes teal.")], Origin("user", "claude", SESSION))
    assert finish_turn(repo) == []


def test_each_can_be_turned_off(place: Place, repo: Path, home: Path) -> None:
    switch(home, "recall")
    assert brief.run(event(START, repo, "startup")).notice == ""
    edit.run(place, [Append("human", "Likes teal.")], AGENT)
    assert finish_turn(repo) == []
    assert person_notices.is_wanted(place, person_notices.RECALL)


def test_a_repository_does_not_decide_what_a_person_is_told() -> None:
    assert of_project({"hooks": {"notices": [], "recall": "off"}}) == {"hooks": {"recall": "off"}}


def test_an_untrusted_clone_is_told_of_trust_alone(place: Place, repo: Path) -> None:
    assert place.project
    Path(place.project.local).rename(repo.parent / "elsewhere")
    notice = brief.run(event(START, repo, "startup")).notice
    assert "came with this project" in notice
    assert "blocks" not in notice
    own = Place(None, place.user, SESSION)
    edit.run(own, [Append("human", "Likes teal.")], AGENT)
    assert finish_turn(repo) == []
