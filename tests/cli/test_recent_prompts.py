"""`memfs last`: what the assistant was given at the last prompts, and why."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs import hosts
from memfs.core import events
from memfs.core.events import Event
from memfs.core.records import Identity, Message, Origin, Transcript
from memfs.ops import brief, recent_prompts, sessions, tool_rules
from memfs.recall import index_sources
from memfs.store import dismissals, prompt_log, recall
from memfs.store.blocks import Place
from memfs.store.prompt_log import PromptRecord
from tests.cli.conftest import Run

PROMPT = "how did we do backoff in the payments client?"


@pytest.fixture
def asked(place: Place) -> Callable[..., str]:
    """A project in which backoff was spoken of, and what asks for a prompt in a session."""
    say(place, "old", "2026-04-01T09:00:00Z", "the payments client needs exponential backoff")
    index_sources.sync(place, embed=False)

    def ask(prompt: str, session: str = "later") -> str:
        later = Place(place.project, place.user, session)
        brief.start(later)
        return brief.prompt(later, prompt, host="claude").context

    return ask


def say(place: Place, session: str, at: str, text: str) -> None:
    said = Message(f"{session}-0", session, "claude", "/p", "main", at, "user", text)
    log = recall.RecallLog(place.home, "claude", Identity(session, ""))
    log.replace(None, f"/{session}.jsonl", Transcript([said], 0, 0, 0), "")


def test_what_was_given_and_why(place: Place, asked: Callable[..., str], memfs: Run) -> None:
    assert asked(PROMPT)
    say(place, "later", "2026-05-03T10:00:00Z", PROMPT)
    done = memfs("last")
    assert f"prompt: {PROMPT}\n" in done.out
    assert "  > user: the payments client needs exponential backoff\n" in done.out
    item = "2026-04-01 session old, 51 characters, words: backoff, payments, client\n"
    assert f"  {item}" in done.out
    assert "searched by words alone: no service answered\n" in done.out
    assert (
        "\nsimilarity of the closest exchange: 1.25, needed: 0.42: 2026-04-01, claude, ses"
        in done.out
    )


def test_where_nothing_was_given_the_nearest_is_named(
    asked: Callable[..., str], memfs: Run
) -> None:
    assert asked("which colour has the backoff of the harbour lamps at night?") == ""
    done = memfs("last")
    assert "prompt: (text unknown: the session is not in recall yet)\n" in done.out
    assert "given: nothing\n" in done.out
    assert re.search(
        r"\nsimilarity of the closest exchange: 0\.\d\d, needed: 0\.42 \(0\.\d\d short\): ",
        done.out,
    )


def test_the_newest_is_first_and_json_says_all(asked: Callable[..., str], memfs: Run) -> None:
    asked("which colour has the backoff of the harbour lamps at night?")
    asked(PROMPT)
    found = json.loads(memfs("last", "2", "--json").out)
    assert [bool(each["text"]) for each in found] == [True, False]
    assert found[0]["about"] >= found[0]["floor"] > 0
    assert [each["why"] for each in found[0]["items"]] == ["words: backoff, payments, client"]


def test_what_came_with_an_opened_file_is_listed(
    place: Place,
    repo: Path,
    asked: Callable[..., str],
    block_file: Callable[[str, str], Path],
    memfs: Run,
) -> None:
    token = "ghp_" + "a1B2" * 9
    block_file("api", f"---\npaths: ['src/**']\n---\nErrors are problem+json, {token}.\n")
    asked(PROMPT)
    asked(PROMPT, "other")
    event = Event("claude", events.BEFORE, "PreToolUse", "later", str(repo))
    event.opened = ("src/api/x.py",)
    served = Place(place.project, place.user, "later")
    answered = tool_rules.answer(served, event, hosts.get("claude"))
    assert tool_rules.note_given(served, answered)
    done = memfs("last").out
    assert done.count("prompt: ") == 1
    assert done.index("opened: src/api/x.py\n") < done.index("prompt: ")
    assert "problem+json, [redacted:github-token]" in done
    found = json.loads(memfs("last", "9", "--json").out)
    assert [each["opened"] for each in found] == ["src/api/x.py", "", ""]
    assert "1 prompt" not in memfs("status").out, "it counts for no prompt"


def test_before_the_first_prompt_there_is_nothing(place: Place, memfs: Run) -> None:
    done = memfs("last")
    assert (done.code, done.out) == (0, "")


def test_what_was_given_is_read_as_it_was_written(place: Place) -> None:
    text = "a\tb\\n\nc\\\\ \r d"
    prompt_log.note_prompt(place.home, PromptRecord(1.0, "claude", "s", 0.5, 0.7, "near\tby", text))
    [found] = recent_prompts.run(place, 5)
    assert (found.text, found.nearest) == (text, "near by")
    assert found.at == "1970-01-01T00:00:01Z"


def test_what_grows_large_loses_its_older_half(place: Place) -> None:
    for number in range(400):
        prompt_log.note_prompt(
            place.home, PromptRecord(number, "claude", "s", 0.5, 0.7, "", "x" * 1500)
        )
    found = prompt_log.read(place.home, 1000)
    assert found[0].at == 399
    assert 100 < len(found) < 400


def test_what_is_wrong_does_not_come_for_such_prompts_until_that_is_taken_back(
    place: Place, asked: Callable[..., str], memfs: Run
) -> None:
    assert "exponential" in asked(PROMPT)
    (item,) = recent_prompts.run(place, 1)[0].items
    done = memfs("last", "--wrong", item.id)
    assert "dismissed for similar prompts: 2026-04-01 session old\n" in done.err
    assert asked("the backoff of the payments client, how was it done?", "s2") == ""
    assert recent_prompts.run(place, 1)[0].about < 0.5, "it counts for nothing"
    assert "exponential" in asked("exponential or linear for the client's retries?", "s3")
    assert f"{item.id}  2026-04-01 session old" in memfs("last", "3").out
    assert memfs("last", "--dismissed").out.startswith(f"{item.id}  ")
    assert "payments" not in Path(place.home.local, "dismissed.jsonl").read_text()
    assert (
        f"{item.id} can be recalled for similar prompts again\n"
        in memfs("last", "--right", item.id).err
    )
    assert memfs("last", "--right", item.id).code == 1
    assert memfs("last", "--dismissed").out == ""
    assert "exponential" in asked(PROMPT, "s4")


WRONG: list[object] = [None, 1, 1e999, {}, [1], [None], [[1]], [{}], {"a": 1}]
FIELDS: dict[str, list[object]] = dict.fromkeys(
    ("id", "at", "host", "session", "source", "source_host", "source_session"), WRONG
) | {"ids": [*WRONG, "abc"], "subject": [None, 1, "abc", ["a"], [None], [[1]], [1.5], {"a": 1}]}


def test_lines_with_values_of_another_type_are_no_dismissals(
    place: Place, asked: Callable[..., str]
) -> None:
    asked(PROMPT)
    recent_prompts.dismiss(place, recent_prompts.run(place, 1)[0].items[0].id)
    path = Path(place.home.local, "dismissed.jsonl")
    good = path.read_text()
    lines = [
        json.dumps(json.loads(good) | {name: value})
        for name, wrong in FIELDS.items()
        for value in wrong
    ]
    odd = json.dumps(json.loads(good) | {"id": "2", "host": "\0", "ids": []})
    path.write_text("\n".join(["[" * 100_000, "{}", "[]", *lines, odd, good]))
    assert len(dismissals.read(place.home)) == 2
    assert asked(PROMPT, "s2") == ""
    assert "exponential" in asked("exponential or linear for the client's retries?", "s3")
    assert len(recent_prompts.list_dismissed(place)) == 2


def test_records_with_values_of_another_type_are_left_out(
    place: Place, asked: Callable[..., str], memfs: Run
) -> None:
    asked(PROMPT)
    path = Path(place.home.local, "given.log")
    good = path.read_text()
    fields = good.partition("\n")[0].split("\t")
    ((*texts, ids),) = json.loads(fields[6])
    items: list[object] = [[*texts, each] for each in [*WRONG, "abc"]]
    items += [[*texts[:at], [], *texts[at + 1 :], ids] for at in range(len(texts))]
    wrong = {
        0: ["", "nan", "inf", "-1", "1e300"],
        3: ["", "x"],
        6: [*map(json.dumps, [*([each] for each in items), 1, None, [1], {"abcdef": 1}]), "[" * 9],
        8: ["x"],
    }
    bad = [
        "\t".join([*fields[:at], value, *fields[at + 1 :]]) + "\n"
        for at, values in wrong.items()
        for value in values
    ]
    path.write_text(good + "".join(bad))
    assert len(json.loads(memfs("last", "99", "--json").out)) == 1
    assert memfs("last", "99").code == 0


def test_records_of_an_earlier_version_have_no_items(place: Place, memfs: Run) -> None:
    line = "\x1d1.0\tclaude\ts\t0.50\t0.70\tnear by\twords: backoff\nthe text\n"
    Path(place.home.local).mkdir(parents=True, exist_ok=True)
    Path(place.home.local, "given.log").write_text(line)
    (found,) = recent_prompts.run(place, 5)
    assert (found.text, found.nearest, found.items) == ("the text", "near by", ())
    assert memfs("last").code == 0


@pytest.mark.parametrize("session", ["old", "later"])
def test_a_forgotten_session_takes_its_dismissals_along(
    place: Place, asked: Callable[..., str], session: str
) -> None:
    asked(PROMPT)
    say(place, "later", "2026-05-03T10:00:00Z", PROMPT)
    recent_prompts.dismiss(place, recent_prompts.run(place, 1)[0].items[0].id)
    assert recent_prompts.list_dismissed(place)[0].prompt == PROMPT
    sessions.forget_sessions(place, [sessions.find_session(place, session)[0]], Origin())
    assert dismissals.read(place.home) == []


def test_what_no_prompt_was_given_cannot_be_dismissed(place: Place, memfs: Run) -> None:
    done = memfs("last", "--wrong", "0badcafe")
    assert (done.code, done.err) == (
        1,
        "error: '0badcafe' was not recalled for any prompt\nhint: list the ids: memfs last 20\n",
    )
    assert memfs("last", "--wrong", "0badcafe", "--dismissed").code == 2
    assert not Path(place.home.local, "dismissed.jsonl").exists()
