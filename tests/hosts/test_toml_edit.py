"""A table of ours in somebody's TOML; `test_settings_fuzz.py` has any TOML."""

from __future__ import annotations

import tomllib

import pytest

from memfs.hosts import toml_edit

TABLE = '[servers.ours]\ncommand = "x"\nargs = ["[y]"]\n'


def test_what_its_user_added_to_our_table_stays_when_it_is_replaced() -> None:
    added = "wait = 9\n[servers.ours.env]\nA = 'b'\n"
    after = toml_edit.put_table(
        toml_edit.put_table("", TABLE) + added + "\n[other]\n", TABLE.replace('"x"', '"z"')
    )
    ours = {"command": "z", "args": ["[y]"], "wait": 9, "env": {"A": "b"}}
    assert tomllib.loads(after) == {"servers": {"ours": ours}, "other": {}}
    assert tomllib.loads(toml_edit.remove_table(after, TABLE)) == {"other": {}}


@pytest.mark.parametrize("text", [TABLE, f"{toml_edit.MARK}\n\n{TABLE}", f"# mine\n{TABLE}"])
def test_a_table_without_our_mark_is_not_ours(text: str) -> None:
    assert not toml_edit.has_table(text, TABLE)
    assert toml_edit.remove_table(text, TABLE) == text


def test_values_over_lines_and_tables_below_ours_are_what_they_are() -> None:
    """Of ours, one is written over lines; keys of a table below it are named like ours."""
    mine = TABLE.replace('["[y]"]', '[\n  "[old]",\n  "command = 2",\n]')
    added = 'long = """\ncommand = \'no key\'\n[no.table]\n"""\n[servers.ours.env]\nargs = 1\n'
    text = toml_edit.put_table("a = 1\n", mine) + added
    after = toml_edit.put_table(text, TABLE)
    ours = {
        "command": "x",
        "args": ["[y]"],
        "long": "command = 'no key'\n[no.table]\n",
        "env": {"args": 1},
    }
    assert tomllib.loads(after) == {"a": 1, "servers": {"ours": ours}}
    assert toml_edit.remove_table(after, TABLE) == "a = 1\n"
