"""Any text may be an argument: one that begins with a hyphen is a text, and no option."""

import json

import pytest

from memfs.store.blocks import Place
from tests.cli.conftest import Run

TEXTS = [
    "- a list item",
    "-h is no help here",
    "--append is what it said",
    "-x \"quoted\" 'twice' `code` $HOME",
    "- one\n- two\n\n-- three",
    "-\tafter a tab",
    "— a dash, and no hyphen",
    "-n 5 lines " * 300,
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("first", [True, False])
def test_a_text_may_begin_with_a_hyphen(place: Place, memfs: Run, text: str, first: bool) -> None:
    options = ["--importance", "7", "--tag", "- odd"]
    words = [text, *options] if first else [*options, text]
    done = memfs("archive", "add", *words, "--json")
    assert done.code == 0, done.err
    shown = memfs("archive", "show", json.loads(done.out)["id"], "--json")
    found = json.loads(shown.out)
    assert (found["text"], found["importance"]) == (text.strip("\n"), 7)
    for command in (
        ["edit", "system_rules", "--append", text],
        ["edit", "system_rules", "--replace", text, "plain"],
        ["static", "add", "key", text],
        ["search", text[:200]],
        ["search", "-n", "3", text[:200]],
    ):
        done = memfs(*command)
        assert done.code == 0, (command, done.err)
        assert "no such option" not in done.err


def test_what_may_be_an_option_is_said_to_need_two_hyphens_before_it(
    place: Place, memfs: Run
) -> None:
    done = memfs("search", "-foo")
    assert done.code == 2
    assert "write '--' before a text that begins with '-'" in done.err
    assert place
    assert memfs("search", "--", "-foo").code == 0


@pytest.mark.parametrize(
    "words", [["-q", "log", "none"], ["log", "-q", "none"], ["log", "none", "--quiet"]]
)
def test_what_is_said_can_be_left_out_before_and_behind_a_command(
    place: Place, memfs: Run, words: list[str]
) -> None:
    memfs("create", "none", "x", "--description", "None")
    assert memfs("delete", "none", "-q").err == ""
    assert memfs(*words, "--since", "2090-01-01") == (0, "", "")
    assert memfs("log", "none", "--since", "2090-01-01").err == "no edits found\n", "not for ever"
    assert memfs("archive", "add", "One.", "-q").err == ""
    assert "create" in memfs("log", "none", "--since", "2020-01-01").out
    assert memfs("log", "--since", "soon").code == 2
