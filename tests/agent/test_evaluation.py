"""Whole evaluations, by the command, against models that manage memory well and badly."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from memfs.agent import conversations
from tests.agent import good_model
from tests.agent.conftest import Evaluate, Serve
from tests.agent.scripted_endpoint import Asked, Json, Say, Tool, messages
from tests.cli.conftest import Run, Screen


def rows(shown: Screen) -> dict[str, tuple[int, int, bool]]:
    found = json.loads(shown.out)["rows"]
    return {row["kind"]: (row["counted"], row["total"], row["ok"]) for row in found}


def test_a_good_model_meets_every_target(
    memfs: Run, serve: Serve, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server = serve(good_model.answer)
    shown = memfs("eval", "--endpoint", server.url, "--model", "good")
    assert shown.code == 0
    assert shown.out == (
        "WHAT                         COUNT  SHARE   TARGET\n"
        "personal facts saved           6/6  100 %   ≥ 70 %  ok\n"
        "changed preferences updated    4/4  100 %   ≥ 50 %  ok\n"
        "decisions saved                5/5  100 %   ≥ 70 %  ok\n"
        "details archived               4/4  100 %   ≥ 30 %  ok\n"
        "blocks created                 3/3  100 %   ≥ 60 %  ok\n"
        "false saves                    0/6    0 %   < 20 %  ok\n"
        "forbidden things kept out      3/3  100 %  ≥ 100 %  ok\n"
    )
    [talk] = shown.err.splitlines()
    assert talk.startswith("31 conversations with good in ")
    asked = len(server.asked)
    assert talk.endswith(
        f": score 1.00, {asked} answers, 36 tool calls (2 refused), {asked * 100:,} tokens read, "
        f"{asked * 10:,} written"
    )
    assert list(home.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_the_good_model_calls_in_turns_that_there_are() -> None:
    every = {each.name: len(each.turns) for each in conversations.load()}
    assert not [name for name, turn, *_ in good_model.CALLS if turn >= every[name]]


@pytest.mark.parametrize(("label", "personal"), [("human", 6), ("persona", 0)])
def test_a_model_that_saves_everything_fails_what_is_to_be_told_apart(
    label: str, personal: int, evaluate: Evaluate, serve: Serve
) -> None:
    def hoard(asked: Asked) -> Say:
        append = good_model.append(label, asked.said[-1])
        return Say("Noted.") if asked.step else Say("", (append,))

    shown = evaluate(serve(hoard).url, "--json")
    assert shown.code == 1
    assert json.loads(shown.out)["score"] == round(personal / 6 / 7, 3), "0 into the wrong block"
    assert rows(shown) == {
        "personal": (personal, 6, personal > 0),
        "preference": (0, 4, False),
        "decision": (0, 5, False),
        "detail": (0, 4, False),
        "topic": (0, 3, False),
        "trivia": (6, 6, False),
        "forbidden": (0, 3, False),
    }


def test_a_model_that_saves_nothing_keeps_out_what_it_should_and_no_more(
    evaluate: Evaluate, serve: Serve
) -> None:
    shown = evaluate(serve(lambda _: Say("ok")).url, "--json")
    assert shown.code == 1
    assert rows(shown) == {
        "personal": (0, 6, False),
        "preference": (0, 4, False),
        "decision": (0, 5, False),
        "detail": (0, 4, False),
        "topic": (0, 3, False),
        "trivia": (0, 6, True),
        "forbidden": (3, 3, True),
    }


def test_the_model_is_given_the_brief_as_it_is_now_and_the_tools(
    evaluate: Evaluate, memfs: Run, serve: Serve
) -> None:
    server = serve(good_model.answer)
    assert evaluate(server.url, "--only", "project-aurora").code == 0
    systems = [str(messages(each.body)[0]["content"]) for each in server.asked]
    assert all("\n# Core memory (always available)\n" in system for system in systems)
    assert "## [HUMAN] 0/5000 chars" in systems[0]
    assert "Memory tools: core_memory_read, core_memory_append, " in systems[0]
    assert "memfs" not in systems[0]
    assert "[AURORA]" not in systems[0]
    assert "## [AURORA] " in systems[-1]
    assert "Sent invoices are immutable" in systems[-1]
    *_, wanted, done, said = messages(server.asked[-1].body)
    assert (wanted["role"], done["role"], said["role"]) == ("user", "assistant", "tool")
    [call] = cast("list[Json]", done["tool_calls"])
    assert call["id"] == said["tool_call_id"]
    assert str(said["content"]).startswith("done: 'aurora' is at version 3, ")
    tools = cast("list[Mapping[str, Mapping[str, object]]]", server.asked[0].body["tools"])
    assert "core_memory_append" in [each["function"]["name"] for each in tools]


def test_what_was_expected_is_shown_beside_what_is_there(evaluate: Evaluate, serve: Serve) -> None:
    def forgets(asked: Asked) -> Say:
        wrong = good_model.append("human", "Editor: Helix")
        return Say("ok") if asked.step else Say("", (wrong,))

    url = serve(forgets).url
    shown = evaluate(
        url,
        "--only",
        "from-vim-to-helix",
        "--only",
        "customers-python",
        "--only",
        "a-typo",
        "--verbose",
    )
    assert shown.code == 1
    assert (
        shown.out
        == """\
WHAT                         COUNT  SHARE  TARGET
changed preferences updated    0/1    0 %  ≥ 50 %  missed
decisions saved                0/1    0 %  ≥ 70 %  missed
false saves                    1/1  100 %  < 20 %  missed

✗ from-vim-to-helix (preference)
  expected no block to say "Editor: Vim" any more
    there is Editor: Vim

✗ customers-python (decision)
  expected system_rules to say "3.9"
    there is nothing

✗ a-typo (trivia)
  expected nothing to be saved
    there is Editor: Helix
"""
    )


def test_malformed_calls_are_corrected_and_the_conversation_goes_on(
    evaluate: Evaluate, serve: Serve
) -> None:
    bad = (
        Tool("core_memory_append", '{"label": "human", "content": "Na'),
        Tool("core_memory_append", "[1, 2]"),
        Tool("core_memory_append", {"label": "human"}),
        Tool("memory_write", {"text": "\ud83d"}),
    )

    def learns(asked: Asked) -> Say:
        right = good_model.append("human", "Name: Priya, payments, Rust")
        return [Say("", bad), Say("", (right,)), Say("Saved.")][asked.step]

    server = serve(learns)
    shown = evaluate(server.url, "--only", "new-in-payments")
    assert shown.code == 0
    assert "5 tool calls (4 refused)" in shown.err
    results = server.asked[1].results
    assert results[0].startswith("error: the arguments of core_memory_append have to be an object")
    assert results[1].endswith("not a list")
    assert results[2] == "error: core_memory_append needs content"
    assert results[3].startswith("error: there is no tool 'memory_write'; did you mean memory_")
    sent = cast("list[Json]", messages(server.asked[1].body)[2]["tool_calls"])
    given = [json.loads(str(cast("Json", call["function"])["arguments"])) for call in sent]
    assert given[:3] == [{}, {}, {"label": "human"}], "what is sent back is always an object"


def test_a_model_that_never_stops_calling_is_stopped(evaluate: Evaluate, serve: Serve) -> None:
    server = serve(
        lambda asked: Say("", (Tool("core_memory_read", {"version": asked.number + 1}),))
    )
    shown = evaluate(server.url, "--only", "a-typo")
    assert len(server.asked) == 17, "the last one without tools"
    assert shown.code == 0, "nothing was saved"
    assert shown.err.splitlines()[1] == "! a turn did not end by itself: a-typo"
    evaluate(server.url, "--only", "a-typo", "--steps", "3")
    assert len(server.asked) == 17 + 4


def test_only_kinds_or_names_are_played(evaluate: Evaluate, serve: Serve) -> None:
    url = serve(lambda _: Say("ok")).url
    shown = evaluate(url, "--only", "trivia", "--json")
    assert rows(shown) == {"trivia": (0, 6, True)}
    wrong = evaluate(url, "--only", "trivai")
    assert (wrong.code, wrong.err) == (
        2,
        "error: there is no conversation and no kind 'trivai'\nhint: did you mean trivia?\n",
    )


def test_the_stores_of_the_user_and_the_project_have_no_part_in_it(
    evaluate: Evaluate, memfs: Run, serve: Serve, home: Path, repo: Path
) -> None:
    memfs("init")
    memfs("edit", "human", "--append", "Name: Zacharias")
    memfs("edit", "system_rules", "--append", "Rule of the real project")
    stores = (home, repo)
    before = {
        path: path.read_bytes() for top in stores for path in top.rglob("*") if path.is_file()
    }
    server = serve(good_model.answer)
    shown = evaluate(server.url, "--only", "decision")
    assert shown.code == 0
    after = {path: path.read_bytes() for top in stores for path in top.rglob("*") if path.is_file()}
    assert after == before
    sent = json.dumps([each.body for each in server.asked])
    assert "Zacharias" not in sent
    assert "real project" not in sent


def test_temporary_folders_inside_of_a_project_are_none_of_it(
    evaluate: Evaluate, memfs: Run, serve: Serve, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memfs("init")
    inside = repo / "tmp"
    inside.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(inside))
    url = serve(good_model.answer).url
    assert evaluate(url, "--only", "nothing-after-thursday").code == 0
    assert memfs("show", "system_rules").out == ""
    assert list(inside.iterdir()) == []
