"""Our entries in other people's settings: in, out, and nothing else moved (`test_settings_fuzz.py`)."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.errors import StoreError
from memfs.hosts import HOOK as MARK
from memfs.hosts import jsonc_edit, settings, settings_merge
from memfs.hosts.settings_merge import Json
from tests.examples import examples

OURS = f"/py -I /x/{MARK} claude"
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop")


def group(command: str = OURS) -> dict[str, object]:
    return {"hooks": [{"type": "command", "command": command, "timeout": 5}]}


ENTRIES: Json = {"hooks": {event: [group()] for event in EVENTS}}


def ordered(value: object) -> str:
    """Everything about a value that JSON can say, the order of keys included."""
    return json.dumps(value)


@given(st.text(max_size=30) | st.sampled_from(["[" * 100_000, '{"a":' * 100_000, "1" * 5000]))
@examples(200)
def test_any_text_is_settings_or_refused(text: str) -> None:
    try:
        found = settings.parse(text, "f")
    except StoreError:
        return
    installed = settings_merge.with_entries({} if "hooks" in found else found, ENTRIES)
    assert ordered(settings.parse(jsonc_edit.set_value(text, installed), "f")) == ordered(installed)


def test_an_older_entry_is_replaced_where_it_stands_with_others() -> None:
    shared = {"matcher": "x", "hooks": [*group("lint")["hooks"], *group(f"old {MARK}")["hooks"]]}  # type: ignore[misc]
    found: Json = {"hooks": {"Stop": [shared, group("mine")], "PreToolUse": [group(f"old {MARK}")]}}
    installed = settings_merge.with_entries(found, {"hooks": {"Stop": [group()]}})
    assert installed == {
        "hooks": {"Stop": [{"matcher": "x", **group("lint")}, group(), group("mine")]}
    }


def test_what_only_held_our_entries_goes_with_them_and_no_argument_is_changed() -> None:
    found: Json = {"model": "x", "hooks": {"Stop": [group()]}}
    before = copy.deepcopy(found)
    installed = settings_merge.with_entries(found, ENTRIES)
    assert settings_merge.commands(installed) == [OURS] * len(EVENTS)
    assert found == before
    assert settings_merge.without_entries(found, ENTRIES) == {"model": "x"}


@pytest.mark.parametrize("odd", [None, [], {}, "x", 5, [None, "x", 5, {"hooks": None}]], ids=repr)
def test_odd_hooks_of_others_survive_a_removal(odd: object) -> None:
    found: Json = {"hooks": {"Odd": odd, "Stop": [group()]}}
    assert settings_merge.without_entries(found, ENTRIES) == {"hooks": {"Odd": odd}}
    installed = settings_merge.with_entries({"hooks": {"Odd": odd}}, ENTRIES)
    assert settings_merge.without_entries(installed, ENTRIES) == {"hooks": {"Odd": odd}}


@pytest.mark.parametrize("odd", [None, {}, "x", {"matcher": "y"}], ids=repr)
def test_hooks_that_are_no_list_are_not_overwritten(odd: object) -> None:
    with pytest.raises(StoreError, match="hooks for Stop are not a list"):
        settings_merge.with_entries({"hooks": {"Stop": odd}}, ENTRIES)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        ('{"hooks": {"Stop": [], "Stop": []}}', "the key 'Stop' occurs twice"),
        ('{"a": 1 // comment\n', "cannot be parsed"),
        ('{"a": NaN}', "the number NaN is out of range"),
        ('{"a": -1e999}', "the number -1e999 is out of range"),
        ('{"a": "\udc80"}', "surrogates not allowed"),
        ("[]", "is not a settings file"),
        ('"x"', "is not a settings file"),
        ('{"hooks": []}', "is not a settings file"),
        ('{"hooks": null}', "is not a settings file"),
    ],
)
def test_what_could_not_be_written_back_is_refused(text: str, why: str) -> None:
    with pytest.raises(StoreError, match=why) as raised:
        settings.parse(text, "/h/settings.json")
    assert raised.value.message.startswith("/h/settings.json ")


SERVED: Json = {
    "mcpServers": {
        "memfs": {"command": "/py", "args": ["-P", "-c", "import memfs.__main__", "mcp"]}
    },
    "permissions": {"allow": ["mcp__memfs"]},
}


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"mcpServers": {"other": {"command": "x"}}, "model": "m"},
        {"permissions": {"allow": ["Bash(ls)", "mcp__other"], "deny": ["mcp__memfs"]}},
        {"projects": {"/a": SERVED}},
    ],
)
def test_a_server_and_its_leave_go_in_and_out(others: Json) -> None:
    installed = settings_merge.with_entries(others, SERVED)
    assert settings_merge.servers(installed, "/b") == ["/py"]
    assert settings_merge.with_entries(installed, SERVED) == installed
    for words in ["/old/memfs", "mcp"], ["/py", "-P", "-m", "memfs", "mcp"]:
        old = {"mcpServers": {"memfs": {"command": words[0], "args": words[1:]}}}
        before = settings_merge.with_entries(others, {**SERVED, **old})
        assert settings_merge.with_entries(before, SERVED) == installed
    assert settings_merge.without_entries(installed, SERVED) == others


def test_what_stands_before_and_after_ours_keeps_its_place() -> None:
    found: Json = {"permissions": {"allow": ["a", "mcp__memfs", "b"]}}
    assert settings_merge.with_entries(found, {"permissions": SERVED["permissions"]}) == found


def test_another_server_of_our_name_is_neither_replaced_nor_removed() -> None:
    theirs: Json = {"mcpServers": {"memfs": {"command": "node", "args": ["their-memfs.js"]}}}
    with pytest.raises(StoreError, match="another MCP server named memfs"):
        settings_merge.with_entries(theirs, SERVED)
    assert settings_merge.without_entries(theirs, SERVED) == theirs


def test_a_server_of_one_project_is_not_that_of_another() -> None:
    found: Json = {"projects": {"/a": SERVED, "/b": {"mcpServers": {}}}}
    assert settings_merge.servers(found, "/a") == ["/py"]
    assert settings_merge.servers(found, "/b") == settings_merge.servers(found, None) == []


def test_an_empty_file_is_empty_settings() -> None:
    assert settings.parse("", "f") == settings.parse(" \n", "f") == {}
