"""Writing front matter: only what is named changes; and what the full reader makes of texts."""

import warnings

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memfs.core import frontmatter, yaml_edit
from tests.core.samples import alike, yaml_texts
from tests.examples import examples

# Ways to write one entry; KEY becomes its key.
ENTRIES = [
    *("KEY: plain\n", "KEY:    5000   # odd  spacing\n", "KEY : 1\n"),
    *('"KEY": "quoted # no comment"\n', "'KEY': 'it''s'  # c\n", "KEY:\n"),
    *("KEY: # a comment alone\n", "KEY: |\n  one\n\n  # no comment\n"),
    *("KEY: >-\n  folded\n  text\n\n", "KEY: long\n  text goes\n  on # c\n"),
    *('KEY: "over\n  two lines"\n', "KEY:\n- a\n- b # c\n", "KEY:\n  - a\n\n  - b\n"),
    *("KEY: [a, b]  # list\n", "KEY: [a,\n  b]\n", "KEY: {a: 1, b: [c]}\n"),
    *("KEY:\n  a: 1\n  b:\n    c: |\n      # deep\n", "KEY: 2026-01-01T00:00:00Z\n"),
    *("KEY: !!str 5\n", "KEY: &anchor x\n", "KEY: 1_000\n", "KEY:\n  # first\n  x: 1\n"),
    "KEY: 名前 😀  # ø\n",
]
BETWEEN = ["", "", "", "\n", "# a comment\n", " # indented\n", "\n# two\n\n"]
NAMES = ["description", "limit", "version", "x-own", "updated_at"]
WRITTEN = st.one_of(
    st.integers(-5, 10**6),
    st.booleans(),
    st.text(max_size=20),
    st.sampled_from(
        ["yes", "true", "1", "a: b", "a # b", "2026-01-01T00:00:00Z", "-", "[a]", "\U000e0041"]
    ),
    st.lists(st.text(max_size=5), max_size=3),
)


ALIASES = "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 8}]\n" for n in range(1, 10))


def meant(value: object) -> object:
    """What reading gives for a written value: white space in texts is folded."""
    return " ".join(value.split()) if isinstance(value, str) else value


def reread(head: str) -> dict[str, object]:
    inner = frontmatter.strip_fences(head)
    found, problem = yaml_edit.read(inner)
    assert not problem
    return found


@st.composite
def chunks(draw: st.DrawFn) -> list[tuple[str, str]]:
    """A readable front matter in pieces: (key, its text), comments and blank lines as ("", text)."""
    found: list[tuple[str, str]] = []
    for key in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=5)):
        found.append(("", draw(st.sampled_from(BETWEEN))))
        found.append((key, draw(st.sampled_from(ENTRIES)).replace("KEY", key)))
    found.append(("", draw(st.sampled_from(BETWEEN))))
    return found


@given(
    chunks(),
    st.sampled_from(NAMES),
    st.none() | WRITTEN,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
)
@example([("limit", "limit: |\n  a\n\n  # b\n"), ("version", "version: 1\n")], "limit", 5, "\n", "")
@examples(450)
def test_every_other_byte_stays(
    pieces: list[tuple[str, str]], key: str, value: object, eol: str, mark: str
) -> None:
    """None: the key is removed, with its lines alone."""
    texts = [text.replace("\n", eol) for _, text in pieces]
    front, back = f"{mark}---{eol}", f"---{eol}"
    head = front + "".join(texts) + back
    assume(frontmatter.split(head) == (head, ""))
    before, problem = yaml_edit.read(frontmatter.strip_fences(head))
    assume(not problem)
    new = yaml_edit.write(head, {key: value}, eol)
    keys = [name for name, _ in pieces]
    at = keys.index(key) if key in keys else len(keys)
    front, back = front + "".join(texts[:at]), "".join(texts[at + 1 :]) + back
    assert new.startswith(front)
    assert new.endswith(back)
    assert (key in new[len(front) : len(new) - len(back)]) is (value is not None)
    after = reread(new)
    assert (key in after) is (value is not None)
    assert alike(after.pop(key, None), meant(value))
    before.pop(key, None)
    assert alike(after, before)
    assert yaml_edit.write(new, {key: value}, eol) == new


@given(yaml_texts(), st.dictionaries(st.sampled_from(NAMES), st.none() | WRITTEN, min_size=1))
@example("{limit: 1, a: b} # c\n", {"limit": 5000, "version": 2})
@example("a: &x [1]\nlimit: *x\n", {"limit": 5})
@example("? limit\n: 3\n", {"limit": None})
@example("a: 1\n...\n", {"limit": 5})
@examples(400)
def test_any_head_gets_the_values_or_stays_as_it_is(text: str, changes: dict[str, object]) -> None:
    head = "---\n" + text + ("" if text.endswith("\n") else "\n") + "---\n"
    assume(frontmatter.split(head)[0] == head)
    before, problem = yaml_edit.read(frontmatter.strip_fences(head))
    new = yaml_edit.write(head, changes, "\n")
    assert frontmatter.split(new) == (new, "")
    if problem or new == head:
        assert new == head
        return
    after = reread(new)
    for key, value in changes.items():
        assert (key in after) is (value is not None)
        assert alike(after.pop(key, None), meant(value))
        before.pop(key, None)
    assert alike(after, before)
    assert yaml_edit.write(new, changes, "\n") == new


@pytest.mark.parametrize(
    ("inner", "changes", "expected"),
    [
        ("limit: 1   # chars\n", {"limit": 2}, "limit: 2   # chars\n"),
        ("limit:# no\nb: 1\n", {"b": 2}, None),
        ("a: 1\nlimit:   1\n\n# end\n", {"version": 3}, "a: 1\nlimit:   1\n\n# end\nversion: 3\n"),
        ('"limit" :  1 # c\n', {"limit": 2}, '"limit" :  2 # c\n'),
        (
            "tags: # mine\n- a # first\n- b # last\n# end\n",
            {"tags": ["c"]},
            'tags: ["c"] # mine # last\n# end\n',
        ),
        ("a: |\n  x\n\n  # y\n\nb: 1\n", {"a": "z"}, "a: z\n\nb: 1\n"),
        ("{a: 1, limit: 2} # c\n", {"limit": 3, "d": "x, y"}, '{a: 1, limit: 3, d: "x, y"} # c\n'),
        ('{\n  "a": 1,\n  "b": 2 # c\n}\n', {"v": 3}, '{\n  "a": 1,\n  "b": 2, v: 3 # c\n}\n'),
        ("  a: 1\n  b: 2\n", {"limit": 3}, "  a: 1\n  b: 2\n  limit: 3\n"),
        ("a: 1\nb: 2\nc: 3\n", {"b": None}, "a: 1\nc: 3\n"),
        ("version: 7\n", {"version": 7}, "version: 7\n"),
        ("version: '7'\n", {"version": 7}, "version: 7\n"),
        ("limit: 0x10\n", {"limit": 16}, "limit: 0x10\n"),
        ("", {"limit": 5}, "limit: 5\n"),
        ("# only\n", {"limit": 5}, "# only\nlimit: 5\n"),
        ("\n", {"limit": 5}, "\nlimit: 5\n"),
        ("a: 1\n", {"read_only": True, "b": False}, "a: 1\nread_only: true\nb: false\n"),
        ("a: 1\na: 2\n", {"a": 3}, None),
        ("<<<<<<< ours\na: 1\n=======\na: 2\n>>>>>>> theirs\n", {"a": 3}, None),
        ("{a: 1, b: 2, c: 3} # d\n", {"b": None, "c": None}, "{a: 1} # d\n"),
        ("{a: 1, b: [2, x], c: 3}\n", {"a": None, "v": 4}, "{b: [2, x], c: 3, v: 4}\n"),
        ("{a: 1}\n", {"a": None, "v": 4}, "{v: 4}\n"),
        ("a: &x [1]\nb: *x  # c\n", {"b": 2}, "a: &x [1]\nb: 2  # c\n"),
        ("a: &x [1] # c\nb: *x\n", {"a": 2}, "a: 2 # c\nb: &x [1]\n"),
        ("a: &x [1]\n# *x\n", {"a": 2}, "a: 2\n# *x\n"),
        ("...x: 1\n", {"b": 2}, "...x: 1\nb: 2\n"),
        ("a: 1\n...\n", {"b": 2}, "a: 1\nb: 2\n...\n"),
        ("a: .nan\n", {"b": 2}, "a: .nan\nb: 2\n"),
        ("a: [1\n", {"a": 3}, None),
        ("a: \x07\n", {"a": 3}, None),
    ],
)
def test_writing(inner: str, changes: dict[str, object], expected: str | None) -> None:
    """None: the head cannot be read, so it comes back as it was."""
    new = yaml_edit.write(f"---\n{inner}---\n", changes, "\n")
    assert new == f"---\n{inner if expected is None else expected}---\n"


def test_a_text_without_front_matter_gets_one() -> None:
    changes: dict[str, object] = {"version": 1, "tags": None, "description": "x: y"}
    assert yaml_edit.write("", changes, "\n") == '---\nversion: 1\ndescription: "x: y"\n---\n'
    assert yaml_edit.write("\ufeff", {"v": 1}, "\r\n") == "\ufeff---\r\nv: 1\r\n---\r\n"


def test_bytes_that_are_no_utf8_stay() -> None:
    head = "---\nname: caf\udce9\nlimit: 1\n---\n"
    assert yaml_edit.write(head, {"limit": 2}, "\n") == "---\nname: caf\udce9\nlimit: 2\n---\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (5, "5"),
        (0.5, "0.5"),
        ("plain words", "plain words"),
        ("", '""'),
        ("yes", "yes"),
        ("true", '"true"'),
        ("null", '"null"'),
        ("5", '"5"'),
        ("e5", "e5"),
        ("a: b", '"a: b"'),
        ("a #b", '"a #b"'),
        ("ends:", '"ends:"'),
        ("it's", "it's"),
        ('a "b"', 'a "b"'),
        ("- a", '"- a"'),
        ("back\\slash", "back\\slash"),
        ('"', '"\\""'),
        ("two\nlines", "two lines"),
        ("2026-05-03T10:00:00Z", "2026-05-03T10:00:00Z"),
        ("2026-05-03", '"2026-05-03"'),
        ("1234: #  T  : ! Z Z", '"1234: # T : ! Z Z"'),
        ("ends\u200b", '"ends\\u200b"'),
        ("\U000e0041", '"\\U000e0041"'),
        (["a", "b, c"], '["a", "b, c"]'),
        ((), "[]"),
        ("é", '"é"'),
    ],
)
def test_scalars(value: object, text: str) -> None:
    assert yaml_edit.scalar(value) == text


@given(st.text())
@examples(500)
def test_any_text_can_be_a_scalar(text: str) -> None:
    found, problem = yaml_edit.read(f"k: {yaml_edit.scalar(text)}\n")
    assert not problem
    assert found == {"k": " ".join(text.split())}


@given(yaml_texts() | st.text(max_size=30))
@example("a: !!bool x\n")
@example("!!timestamp x: !!int y\n")
@example("a: &a 1\nb: &a 2\n")
@examples(400)
def test_reading_never_fails_and_never_warns(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, problem = yaml_edit.read(text)
    assert not (found and problem)
    assert "\n" not in problem
    assert len(problem) <= 200


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: 2026-11-20T04:30:00+02:00\n", {"a": "2026-11-20T04:30:00+02:00"}),
        ("a: 2026-11-20\nb: 2024-13-99\n", {"a": "2026-11-20", "b": "2024-13-99"}),
        ("a: [2026-01-01 10:00:00]\n", {"a": ["2026-01-01 10:00:00"]}),
        ("- a\n", "expected keys with values"),
        ("text\n", "expected keys with values"),
        ("# nothing\n", {}),
        ("2: a\ntrue: b\nc: {2026-01-01: d}\n", {"2": "a", "True": "b", "c": {"2026-01-01": "d"}}),
        (f"a0: &a0 [{'x, ' * 8}]\n{ALIASES}", "too many values"),
    ],
)
def test_what_is_read(text: str, found: object) -> None:
    """A text: the problem."""
    assert yaml_edit.read(text) == (({}, found) if isinstance(found, str) else (found, ""))


def test_what_has_no_end_or_two_values_is_unreadable() -> None:
    assert yaml_edit.read("a: 1\na: 2\n")[1].startswith("line 2: while constructing a mapping")
    assert yaml_edit.read("a: &a [*a]\n")[0] == {}
    text = "a: " + "[" * 1000 + "\n"
    assert yaml_edit.read(text)[0] == {}
    assert yaml_edit.write(f"---\n{text}---\n", {"limit": 5}, "\n") == f"---\n{text}---\n"
