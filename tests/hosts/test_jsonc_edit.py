"""JSON of people: what is not to be changed keeps its bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.hosts import jsonc_edit

VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=2), inner),
    max_leaves=12,
)
GAP = st.sampled_from(
    ["", " ", "\n", "\r\n", "\n  ", "\t", " // a comment\n", "/* another, {\n */"]
)


@st.composite
def written(draw: st.DrawFn, value: object) -> str:
    """A value as somebody may write it: comments, trailing commas, any spacing."""

    def write(one: object) -> str:
        if isinstance(one, dict) and one:
            pairs = [f"{json.dumps(k)}{draw(GAP)}:{draw(GAP)}{write(v)}" for k, v in one.items()]
            return "{" + inside(pairs) + "}"
        if isinstance(one, list) and one:
            return "[" + inside([write(each) for each in one]) + "]"
        return json.dumps(one, ensure_ascii=draw(st.booleans()))

    def inside(items: list[str]) -> str:
        text = ",".join(f"{draw(GAP)}{item}{draw(GAP)}" for item in items)
        return text + ("," + draw(GAP) if draw(st.booleans()) else "")

    return draw(GAP) + write(value) + draw(GAP)


TEXT = VALUE.flatmap(lambda value: st.tuples(st.just(value), written(value)))


@given(TEXT)
def test_comments_and_trailing_commas_are_read_over(given_: tuple[object, str]) -> None:
    value, text = given_
    assert json.dumps(jsonc_edit.loads(text)) == json.dumps(value)
    assert jsonc_edit.set_value(text, value) == text


@given(TEXT, VALUE)
def test_any_text_can_be_made_to_say_anything(given_: tuple[object, str], wanted: object) -> None:
    _, text = given_
    found = jsonc_edit.loads(jsonc_edit.set_value(text, wanted))
    assert found == wanted
    assert (
        jsonc_edit.loads(jsonc_edit.set_value(jsonc_edit.set_value(text, wanted), given_[0]))
        == given_[0]
    )


@given(
    st.dictionaries(st.text("abc", max_size=3), VALUE, min_size=1, max_size=4),
    st.dictionaries(st.text("xyz", min_size=1, max_size=3), VALUE, min_size=1, max_size=3),
    st.data(),
)
def test_what_is_added_and_taken_out_again_leaves_the_very_bytes(
    value: dict[str, object], more: dict[str, object], data: st.DataObject
) -> None:
    text = data.draw(written(value))
    with_more = jsonc_edit.set_value(text, {**value, **more})
    for comment in ("// a comment", "/* another, {\n */"):
        assert with_more.count(comment) == text.count(comment)
    assert jsonc_edit.set_value(with_more, value) == text


@pytest.mark.parametrize(
    ("text", "wanted", "after"),
    [
        ('{"a": 1}', {"a": 1, "b": 2}, '{"a": 1, "b": 2}'),
        ('{\n  "a": 1 // one\n}\n', {"a": 1, "b": 2}, '{\n  "a": 1, // one\n  "b": 2\n}\n'),
        ('{\n  "a": 1,\n}\n', {"a": 1, "b": 2}, '{\n  "a": 1,\n  "b": 2,\n}\n'),
        ('{\n\t"a": [1, 2]\n}', {"a": [1, 9, 2]}, '{\n\t"a": [1, 9, 2]\n}'),
        (
            '{\r\n  "a": 1\r\n}',
            {"a": 1, "b": [2]},
            '{\r\n  "a": 1,\r\n  "b": [\r\n    2\r\n  ]\r\n}',
        ),
        ('{\n  // mine\n  "a": 1,\n  "b": 2\n}', {"b": 2}, '{\n  // mine\n  "b": 2\n}'),
        ('{\n  "a": 1,\n  "b": 2 // two\n}', {"a": 1}, '{\n  "a": 1 // two\n}'),
        ("[1, // c\n2,\n3]", [1], "[1 // c\n]"),
        ("[1, // c\n2, 3]", [9, 1], "[9,\n  1 // c\n]"),
        ('{"a": {}}', {"a": {"b": 1}}, '{"a": {\n  "b": 1\n}}'),
        ("", {"a": 1}, '{\n  "a": 1\n}\n'),
    ],
)
def test_only_what_has_to_change_does(text: str, wanted: object, after: str) -> None:
    assert jsonc_edit.set_value(text, wanted) == after


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "a": 2}', "the key 'a' occurs twice on line 1"),
        ('{\n"a": NaN}', "the number NaN is out of range on line 2"),
        ('{"a": -1e999}', "out of range"),
        ('{"a" 1}', "expected a colon"),
        ("{a: 1}", "expected a name in double quotes"),
        ("[1 2]", r"expected a comma or \]"),
        ("{} {}", "unexpected text after the last bracket"),
        ('{"a": /* open', "expected a value"),
        ('{"a": nope}', "on line 1"),
        ("[" * 100_000, "more than 100 nested levels"),
        ('"' + "\\" * 3, "expected a value"),
    ],
)
def test_what_is_no_json_is_named_with_its_line(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        jsonc_edit.loads(text)


@given(st.text('{}[]":,/*\\ \n\t1ae-.', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = jsonc_edit.loads(text)
    except ValueError:
        return
    assert jsonc_edit.set_value(text, value) == text
