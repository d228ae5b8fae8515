"""The words inside of words: the quick way to have those of much text gives the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.search import identifiers

PIECES = st.sampled_from((
    *"getUserName HTTPServer src/x.py E_NO foo. -- a----b 连接失败 カ é … \udce9 : # @ \\".split(),
    *("x" * 120, "A" * 99 + "b", " ", "\n"),
))  # fmt: skip


@given(st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=12).map("".join))
def test_all_parts_of_a_text_are_joined(text: str) -> None:
    found = identifiers.join_parts(text).split()
    assert set(found) == {part for part in identifiers.extract_parts(text) if part.strip()}


def test_what_is_remembered_is_bounded() -> None:
    for number in range(0, identifiers._REMEMBERED * 2, 1000):
        identifiers.join_parts(" ".join(f"aB{number + each}" for each in range(1000)))
    assert len(identifiers._INNER) <= identifiers._REMEMBERED
    assert sorted(identifiers.join_parts("abC12 abC12").split()) == ["12", "ab", "abc12"]


@pytest.mark.parametrize("name", ["src/x.py", "x.py", "src/store/lock", "/etc/hosts", "a/b.c"])
def test_what_looks_like_a_file(name: str) -> None:
    assert identifiers.is_path(name)


@pytest.mark.parametrize("name", ["e.g", "i.e", "and/or", "client/server", "10.0.0.1", "E_NO", "."])
def test_what_does_not_look_like_a_file(name: str) -> None:
    assert not identifiers.is_path(name)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("src/app.js", True),
        ("app.js", True),
        ("app.json, app.js", True),
        ("app.json", False),
        ("myapp.js", False),
        ("", False),
    ],
)
def test_a_name_is_held_whole(text: str, found: bool) -> None:
    assert identifiers.contains_name(text, "app.js") is found
