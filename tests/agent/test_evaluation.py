"""Whole evaluations, by the command, against models that manage memory well and badly."""

import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

import pytest

from memfs.agent import conversations
from tests.agent import good_model
from tests.agent.conftest import Evaluate
from tests.agent.scripted_endpoint import Asked, Json, Rule, Say, Tool, messages
from tests.cli.conftest import Run, Screen


def rows(shown: Screen) -> dict[str, tuple[int, int, bool]]:
    found = json.loads(shown.out)["rows"]
    return {row["kind"]: (row["counted"], row["total"], row["ok"]) for row in found}


def test_a_good_model_meets_every_target(
    evaluate: Evaluate, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = evaluate(good_model.answer)
    assert shown.code == 0
    assert shown.out == (
        "WHAT                         COUNT  SHARE   TARGET\n"
        "personal facts saved           6/6  100 %   ≥ 70 %  ok\n"
        "changed preferences updated    4/4  100 %   ≥ 50 %  ok\n"
        "decisions saved                5/5  100 %   ≥ 70 %  ok\n"
        "details archived               4/4  100 %   ≥ 30 %  ok\n"
        "blocks created                 3/3  100 %   ≥ 60 %  ok\n"
        "false saves                    0/6    0 %   < 20 %  ok\n"
        "unwanted texts not saved       3/3  100 %  ≥ 100 %  ok\n"
    )
    [talk] = shown.err.splitlines()
    assert talk.startswith("31 conversations with m in ")
    asked = len(evaluate.asked)
    assert talk.endswith(
        f": score 1.00, {asked} answers, 36 tool calls (2 refused), {asked * 100:,} tokens read, "
        f"{asked * 10:,} written"
    )
    assert list(home.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_the_good_model_calls_in_turns_that_there_are() -> None:
    every = {each.name: len(each.turns) for each in conversations.load()}
    assert not [name for name, turn, *_ in good_model.CALLS if turn >= every[name]]


ALL = {
    "personal": (6, 6, True),
    "preference": (0, 4, False),
    "decision": (0, 5, False),
    "detail": (0, 4, False),
    "topic": (0, 3, False),
    "trivia": (6, 6, False),
    "forbidden": (0, 3, False),
}
NONE = {"personal": (0, 6, False), "trivia": (0, 6, True), "forbidden": (3, 3, True)}


def hoard(label: str) -> Rule:
    """Return a model that saves everything."""

    def answer(asked: Asked) -> Say:
        append = good_model.append(label, asked.said[-1])
        return Say("Noted.") if asked.step else Say("", (append,))

    return answer


@pytest.mark.parametrize(
    ("rule", "kinds", "found", "score"),
    [
        (hoard("human"), [], ALL, 0.143),
        (hoard("persona"), ["personal"], {"personal": (0, 6, False)}, 0.0),
        ([Say("ok")], NONE, NONE, 0.667),
    ],
    ids=["saves everything", "into the wrong block", "saves nothing"],
)
def test_a_model_that_tells_nothing_apart_fails(
    rule: Rule,
    kinds: Iterable[str],
    found: dict[str, tuple[int, int, bool]],
    score: float,
    evaluate: Evaluate,
) -> None:
    only = [word for kind in kinds for word in ("--only", kind)]
    shown = evaluate(rule, *only, "--json")
    assert shown.code == 1
    assert rows(shown) == found
    assert json.loads(shown.out)["score"] == score


def test_the_model_is_given_the_brief_as_it_is_now_and_the_tools(evaluate: Evaluate) -> None:
    assert evaluate(good_model.answer, "--only", "project-aurora").code == 0
    systems = [each.system for each in evaluate.asked]
    assert all("\n# Core memory (always available)\n" in system for system in systems)
    assert "## [HUMAN] 0/5000 chars" in systems[0]
    assert "Memory tools: core_memory_read, core_memory_append, " in systems[0]
    assert "memfs" not in systems[0]
    assert "[AURORA]" not in systems[0]
    assert "## [AURORA] " in systems[-1]
    assert "Sent invoices are immutable" in systems[-1]
    *_, wanted, done, said = messages(evaluate.asked[-1].body)
    assert (wanted["role"], done["role"], said["role"]) == ("user", "assistant", "tool")
    [call] = cast("list[Json]", done["tool_calls"])
    assert call["id"] == said["tool_call_id"]
    assert str(said["content"]).startswith("done: 'aurora' is at version 3, ")
    tools = cast("list[Mapping[str, Mapping[str, object]]]", evaluate.asked[0].body["tools"])
    assert "core_memory_append" in [each["function"]["name"] for each in tools]


def test_what_was_expected_is_shown_beside_what_is_there(evaluate: Evaluate) -> None:
    def forgets(asked: Asked) -> Say:
        wrong = good_model.append("human", "Editor: Helix")
        return Say("ok") if asked.step else Say("", (wrong,))

    only = "--only from-vim-to-helix --only customers-python --only a-typo".split()
    shown = evaluate(forgets, *only, "--verbose")
    assert shown.code == 1
    expected = """\
WHAT                         COUNT  SHARE  TARGET
changed preferences updated    0/1    0 %  ≥ 50 %  missed
decisions saved                0/1    0 %  ≥ 70 %  missed
false saves                    1/1  100 %  < 20 %  missed

✗ from-vim-to-helix (preference)
  expected: "Editor: Vim" in no block
    found: Editor: Vim

✗ customers-python (decision)
  expected: "3.9" in system_rules
    found: nothing

✗ a-typo (trivia)
  expected: nothing saved
    found: Editor: Helix
"""
    assert shown.out == expected


def test_malformed_calls_are_corrected_and_the_conversation_goes_on(evaluate: Evaluate) -> None:
    bad = (
        Tool("core_memory_append", '{"label": "human", "content": "Na'),
        Tool("core_memory_append", "[1, 2]"),
        Tool("core_memory_append", {"label": "human"}),
        Tool("memory_write", {"text": "\ud83d"}),
    )

    right = good_model.append("human", "Name: Priya, payments, Rust")
    answers = (Say("", bad), Say("", (right,)), Say("Saved."))
    shown = evaluate(answers, "--only", "new-in-payments")
    assert shown.code == 0
    assert "5 tool calls (4 refused)" in shown.err
    results = evaluate.asked[1].results
    assert results[0].startswith("error: the arguments of core_memory_append must be an object")
    assert results[1].endswith("not a list")
    assert results[2] == "error: core_memory_append needs 'content'"
    assert results[3].startswith("error: unknown tool 'memory_write'; did you mean memory_")
    sent = cast("list[Json]", messages(evaluate.asked[1].body)[2]["tool_calls"])
    given = [json.loads(str(cast("Json", call["function"])["arguments"])) for call in sent]
    assert given[:3] == [{}, {}, {"label": "human"}], "what is sent back is always an object"


@pytest.mark.parametrize(("more", "asked"), [([], 17), (["--steps", "3"], 4)])
def test_a_model_that_never_stops_calling_is_stopped(
    evaluate: Evaluate, more: list[str], asked: int
) -> None:
    def read(asked: Asked) -> Say:
        return Say("", (Tool("core_memory_read", {"version": asked.number + 1}),))

    shown = evaluate(read, "--only", "a-typo", *more)
    assert len(evaluate.asked) == asked, "the last one without tools"
    assert shown.code == 0, "nothing was saved"
    assert shown.err.splitlines()[1] == "! the model did not finish a turn in a-typo"


def test_what_is_no_kind_and_no_name_is_named(evaluate: Evaluate) -> None:
    wrong = evaluate([Say("ok")], "--only", "trivai")
    assert (wrong.code, wrong.err) == (
        2,
        "error: unknown conversation or kind: 'trivai'\nhint: did you mean 'trivia'?\n",
    )


def test_the_stores_of_the_user_and_the_project_have_no_part_in_it(
    evaluate: Evaluate, memfs: Run, home: Path, repo: Path
) -> None:
    memfs("init")
    memfs("edit", "human", "--append", "Name: Zacharias")
    memfs("edit", "system_rules", "--append", "Rule of the real project")
    stores = (home, repo)
    before = {
        path: path.read_bytes() for top in stores for path in top.rglob("*") if path.is_file()
    }
    shown = evaluate(good_model.answer, "--only", "decision")
    assert shown.code == 0
    after = {path: path.read_bytes() for top in stores for path in top.rglob("*") if path.is_file()}
    assert after == before
    sent = json.dumps([each.body for each in evaluate.asked])
    assert "Zacharias" not in sent
    assert "real project" not in sent


def test_temporary_folders_inside_of_a_project_are_none_of_it(
    evaluate: Evaluate, memfs: Run, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memfs("init")
    inside = repo / "tmp"
    inside.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(inside))
    assert evaluate(good_model.answer, "--only", "nothing-after-thursday").code == 0
    assert memfs("show", "system_rules").out == ""
    assert list(inside.iterdir()) == []
