"""JSON without the `json` package: the same values, and ValueError for everything else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memfs
from memfs.core import fastjson
from tests.core.samples import alike, examples

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

TEXT = st.text(st.characters(codec=None, exclude_categories=[]), max_size=8)
LEAF = st.none() | st.booleans() | st.integers() | TEXT


def nested(leaf: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    def extend(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
        lists: st.SearchStrategy[Json] = st.lists(inner, max_size=4).map(list)
        mappings: st.SearchStrategy[Json] = st.dictionaries(TEXT, inner, max_size=4).map(dict)
        return lists | mappings

    return st.recursive(leaf, extend, max_leaves=12)


@given(nested(LEAF | st.floats()), st.sampled_from([None, 0, 2]), st.booleans())
@examples(400)
def test_reads_what_json_writes(value: Json, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert alike(fastjson.loads(text), json.loads(text))
    assert alike(fastjson.loads(f" \r\n\t{text}\n "), json.loads(text))


@given(nested(LEAF))
@examples(400)
def test_writes_what_json_writes(value: Json) -> None:
    text = fastjson.dumps(value)
    assert text == json.dumps(value)
    assert text.isascii()
    assert alike(fastjson.loads(text), json.loads(text))


@given(st.text(alphabet='{}[]":,truefalsn0123.-+eE \n\\u\u2028/', max_size=16))
@examples(1000)
def test_garbage_is_a_value_error(text: str) -> None:
    try:
        expected = json.loads(text, strict=False)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011  the type is the contract
            fastjson.loads(text)
    else:
        assert alike(fastjson.loads(text), expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        (" \n", "not JSON"),
        ("nope", "not JSON"),
        ("\ufeff{}", "not JSON"),
        ("\xa0{}", "not JSON"),
        ("{} {}", "text behind"),
        ("1 2", "text behind"),
        ('"a" b', "text behind"),
        ("[1]\x0b", "text behind"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"a": 1,}', "property name|trailing comma"),
        ("{a: 1}", "property name"),
        ("[1", "delimiter"),
        ('"open', "Unterminated"),
        ("9" * 5000, "digits"),
    ],
)
def test_what_is_no_document_is_a_value_error(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fastjson.loads(text)


def test_line_ends_within_a_string_are_taken() -> None:
    assert fastjson.loads('"a\nb\tc"') == "a\nb\tc"


def test_tuples_are_lists_and_odd_values_are_refused() -> None:
    assert fastjson.dumps({"a": (1, "é")}) == '{"a": [1, "\\u00e9"]}'
    for value in (1.5, {1: 2}, b"", object()):
        with pytest.raises(TypeError):
            fastjson.dumps(value)


@pytest.mark.parametrize("text", ["", "[" * 100_000, "{} {}", "nope"])
def test_an_interpreter_without_the_c_scanner_does_the_same(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fastjson, "scanner", None)
    assert fastjson.loads(' {"a": [1, "x"]}\n') == {"a": [1, "x"]}
    with pytest.raises(ValueError, match=r"."):
        fastjson.loads(text)


def test_garbage_is_a_value_error_where_json_is_not_loaded() -> None:
    program = (
        "from memfs.core import fastjson\n"
        "for text in ('[\"a', '{\"a\": \"b', '[1,', '{'):\n"
        "    try: fastjson.loads(text)\n"
        "    except ValueError: print('ValueError')\n"
    )
    root = str(Path(memfs.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", program], cwd=root, capture_output=True, check=True
    )
    assert done.stdout.split() == [b"ValueError"] * 4
