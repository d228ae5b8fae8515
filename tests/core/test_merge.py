"""Merging block files: what either side wrote is in the result, and the file stays a block."""

import random
import re
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.merge import merge, resolve
from tests.core.samples import block, yaml_texts
from tests.examples import examples

HEAD = """\
---
description: Everything known about the user.
limit: 5000            # characters
version: {version}
updated_at: 2026-01-{day:02}T00:00:00Z
updated_by: {who}
---
"""
LINES = ["Name: Alice", "Languages: TypeScript, Python", "- likes tea"]
BASE = HEAD.format(version=3, day=1, who="user")
OURS = HEAD.format(version=5, day=3, who="agent")
THEIRS = HEAD.format(version=4, day=2, who="system")
MERGED = "".join(line for line in HEAD.splitlines(True) if "{" not in line)  # without the keys


def text(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def head(*lines: str) -> str:
    return "---\n" + text(*lines) + "---\n"


def content(body: str) -> list[str]:
    return [line for line in body.split("\n") if line]


BODIES = [
    pytest.param("a b", "a b o", "a b t", "a b o t", id="both appended"),
    pytest.param("a b", "A b", "a b t", "A b t", id="one edited, one appended"),
    pytest.param("a b", "A b", "a B", "A B", id="lines beside each other edited"),
    pytest.param("a b", "A1 b", "A2 b", "A1 A2 b", id="the same line edited"),
    pytest.param("a b", "A b", "A b", "A b", id="the same edit"),
    pytest.param("a b c", "a c", "a B c", "a B c", id="deleted and edited"),
    pytest.param("a b c", "a c", "a b c t", "a c t", id="deleted and left alone"),
    pytest.param("a b c", "a c", "a c t", "a c t", id="both deleted"),
    pytest.param("a", "A new", "a new", "A new", id="identical addition beside an edit"),
    pytest.param("a b", "B1", "a b c", "B1 c", id="a rewritten region and an addition behind it"),
    pytest.param("a b c d", "b c d a", "b a c d", "b c d a", id="both moved a line"),
    pytest.param("x a x b c", "a x b c x", "x a b c x", "a b c x x", id="both moved another copy"),
    pytest.param("", "h o g p", "h t g q", "h o t g p q", id="added by both, sections in common"),
    pytest.param("", "a b", "b a", "a b", id="added by both, in another order"),
    pytest.param("a a b", "a a b a", "a a b", "a a b a", id="repeated lines stay"),
]


@pytest.mark.parametrize(("base", "ours", "theirs", "merged"), BODIES)
def test_bodies_are_merged_by_line(base: str, ours: str, theirs: str, merged: str) -> None:
    parts = [text(*words.split()) for words in (base, ours, theirs)]
    assert merge(*parts) == text(*merged.split())
    heads = [head + part for head, part in zip((BASE, OURS, THEIRS), parts, strict=True)]
    assert merge(*heads) == MERGED + text(*merged.split())


def test_paragraphs_stay_apart_and_lists_and_tables_together() -> None:
    assert merge("a\n", "a\n\nOurs.\n", "a\n\nTheirs.\n") == "a\n\nOurs.\n\nTheirs.\n"
    assert merge("a\n", "Ours.\n\na\n", "Theirs.\n\na\n") == "Ours.\n\nTheirs.\n\na\n"
    assert merge("a\n", "a\n\n- o\n", "a\n\n- t\n") == "a\n\n- o\n- t\n"
    assert merge("a\n", "a\n\n| o |\n", "a\n\n| t |\n") == "a\n\n| o |\n| t |\n"
    ours = "## Languages\n- Go\n\n## Tools\n- vim\n"
    theirs = "## Languages\n- C\n\n## Tools\n- ed\n"
    assert merge(None, ours, theirs) == "## Languages\n- Go\n- C\n\n## Tools\n- vim\n- ed\n"


def test_line_ends_are_those_of_ours_and_one_may_be_missing_at_the_end() -> None:
    base, ours, theirs = BASE + text("a"), OURS + text("a", "o"), THEIRS + text("a", "t")
    merged = MERGED + text("a", "o", "t")
    assert merge(base, ours, theirs.replace("\n", "\r\n")) == merged
    assert merge(base, ours.replace("\n", "\r\n"), theirs) == merged.replace("\n", "\r\n")
    assert merge(base, base.replace("\n", "\r\n"), theirs) == theirs.replace("\n", "\r\n")
    assert merge("a\nb\n", "a\nb\r\no\n", "a\nb\nt\n") == "a\nb\r\no\nt\n"
    assert merge("a", "a\no", "a\nt") == "a\no\nt"
    assert merge("a\n", "a\no", "a\nt\n") == "a\no\nt"
    assert merge("a", "a\no", "a\nt\n") == "a\no\nt\n"
    assert merge(None, "o", "t\n") == "o\nt\n"
    assert merge(BASE, OURS.rstrip("\n"), THEIRS + "t\n") == MERGED + "t\n"


def test_a_byte_order_mark_is_kept() -> None:
    base, ours, theirs = BASE + text("a"), OURS + text("a", "o"), THEIRS + text("a", "t")
    merged = MERGED + text("a", "o", "t")
    assert merge("\ufeff" + base, "\ufeff" + ours, "\ufeff" + theirs) == "\ufeff" + merged
    assert merge(base, "\ufeff" + ours, theirs) == "\ufeff" + merged
    assert merge("\ufeff" + base, "\ufeff" + ours, theirs) == merged
    assert merge(None, ours, "\ufeff" + theirs).startswith("\ufeff---\n")


def test_front_matter_is_merged_by_key() -> None:
    base = head(
        "# ours to keep",
        "limit: 5000  # characters",
        "description: old",
        "tags: [a, b]",
        "ttl: 1d",
        "version: 1",
        "updated_at: 2026-01-01T00:00:00Z",
    )
    ours = head(
        "# ours to keep",
        "limit: 6000  # characters",
        "description: mine",
        "tags: [a, b, o]",
        "ttl: 1d",
        "pinned: false",
        "version: 2",
        "updated_at: 2026-01-02T00:00:00Z",
        "updated_by: agent",
    )
    theirs = head(
        "# ours to keep",
        "limit: 5000  # characters",
        "description: theirs",
        "# why",
        "priority: 3  # high",
        "tags: [b, t]",
        "version: 7",
        "updated_at: 2026-01-03T00:00:00+00:00",
        "updated_by: user",
        "x: {y: [1, a]}",
    )
    assert merge(base, ours, theirs) == head(
        "# ours to keep",
        "limit: 6000  # characters",
        "description: mine",
        "# why",
        "priority: 3  # high",
        'tags: ["b", "o", "t"]',
        "pinned: false",
        "x: {y: [1, a]}",
    )


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("k: a", "k: b", "# c\nk: a", "# c\nk: b"),
        ("k: a", "k: a # mine", "k: b", "k: b # mine"),
        ("k: a # c", "k: b # c", "k: c # d", "k: b # c"),  # ours
        ("k: a", "k: b", "", "k: b"),  # changed and removed
        ("k: a\nl: a", "k: a\nl: b", "l: a", "l: b"),
        ("", "tags:\n  - a # c", "tags: [b, a]", "tags:\n  - a # c\n  - b"),
        ("", "tags: [1]", "tags: [2, x]", 'tags: [1, 2, "x"]'),
        ("", "o: 1", "t: |\n  two\n\n  # lines", "o: 1\nt: |\n  two\n\n  # lines"),
        ("", "o: caf\udce9", "t: caf\udce9", "o: caf\udce9\nt: caf\udce9"),
        ("a: 1", "a: 1\nversion: x", "a: 2", "a: 2"),
        ("", "version: 2\nb: 1", "a: 2", "b: 1\na: 2"),
        ("", "o: 1", "'q': 1", "o: 1\n'q': 1"),
    ],
)
def test_rules_of_front_matter(base: str, ours: str, theirs: str, merged: str) -> None:
    parts = [head(*part.split("\n")) if part else head() for part in (base, ours, theirs)]
    assert merge(*parts) == head(*merged.split("\n"))


def test_two_heads_that_are_no_yaml_are_merged_by_line() -> None:
    ours, theirs = head("a: [", "o: 1") + "o\n", head("a: [", "t: 1") + "t\n"
    merged = head("a: [", "o: 1", "t: 1") + text("o", "t")
    assert merge(head("a: [") + "x\n", ours, theirs) == merged


def test_a_head_that_is_no_yaml_gives_way_and_its_lines_go_into_the_body() -> None:
    broken = head("description: [mine", "limit: 5000", "version: 9") + text("a", "o")
    merged = MERGED
    lost = text("description: [mine", "limit: 5000")
    theirs = THEIRS + text("a", "t")
    assert merge(BASE + "a\n", broken, theirs) == merged + text("a", "o", "t") + lost
    assert merge(BASE + "a\n", theirs, broken) == merged + text("a", "t", "o") + lost
    bad, good = head("description: [mine"), head("limit: 9")  # mended by theirs
    assert merge(bad + "a\n", bad + "b\n", good + "a\n") == good + "b\n"
    ours = head("a: [x]", "version: 1")
    for lost in ("{b: 2, c: 3}", "a: [caf\udce9]"):  # cannot be put together
        assert merge(None, ours, head(lost)) == head("a: [x]") + lost + "\n"


def test_a_side_without_front_matter_or_with_conflicts_in_it_loses_nothing() -> None:
    merged = MERGED + text("a", "o", "t")
    assert merge(BASE + "a\n", text("a", "o"), THEIRS + text("a", "t")) == merged
    assert merge("a\n", OURS + text("a", "o"), text("a", "t")) == MERGED + text("a", "o", "t")
    assert merge("a\n", text("a", "o"), text("a", "t")) == text("a", "o", "t")
    unfenced = BASE.removesuffix("---\n") + text("a", "t")
    assert merge(BASE + "a\n", OURS + text("a", "o"), unfenced) == MERGED + text("a", "o", "t")
    ours = "---\nlimit: 5\n<<<<<<< o\nversion: 2\n=======\nversion: 3\n>>>>>>> t\n---\na\no\n"
    merged = head("limit: 5") + text("a", "o", "t")
    assert merge(BASE + "a\n", ours, THEIRS + text("a", "t")) == merged


CONFLICTS = {
    "body": ("a\n<<<<<<< HEAD\no\n=======\nt\n>>>>>>> b\nz\n", "a\no\nt\nz\n"),
    "diff3": (
        "a\n<<<<<<< o\n- b\n- o\n||||||| 1a2b\n- b\n=======\n- t\n>>>>>>> t\n",
        "a\n- t\n- o\n",
    ),
    "bare markers": ("<<<<<<<\no\n|||||||\n=======\nt\n>>>>>>>", "o\nt\n"),
    "several": (
        "<<<<<<< o\n1\n=======\n2\n>>>>>>> t\nm\n<<<<<<< o\n3\n=======\n>>>>>>> t\n",
        "1\n2\nm\n3\n",
    ),
    "front matter": (
        "---\nlimit: 9\n<<<<<<< o\nversion: 2\na: o\n=======\nversion: 4\nb: t\n>>>>>>> t\n---\na\n",
        "---\nlimit: 9\na: o\nb: t\n---\na\n",
    ),
    "whole file": (
        f"<<<<<<< o\n{OURS}a\no\n=======\n{THEIRS}a\nt\n>>>>>>> t\n",
        f"{MERGED}a\no\nt\n",
    ),
    "head into body": (
        "---\na: 1\n<<<<<<< o\n---\no\n=======\nb: 2\n---\nt\n>>>>>>> t\n",
        "---\na: 1\nb: 2\n---\no\nt\n",
    ),
    "an underline": (
        "Title\n=======\n<<<<<<< o\no\n=======\nt\n>>>>>>> t\n",
        "Title\n=======\no\nt\n",
    ),
    "the same": ("<<<<<<< o\na\n=======\na\n>>>>>>> t\n", "a\n"),
}


@pytest.mark.parametrize("name", CONFLICTS)
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_conflict_markers_are_resolved(name: str, eol: str) -> None:
    conflicted, resolved = (part.replace("\n", eol) for part in CONFLICTS[name])
    assert resolve(conflicted) == resolved
    assert resolve("\ufeff" + conflicted) == "\ufeff" + resolved


@pytest.mark.parametrize(
    "broken",
    [
        *("", "a\n", BASE, "=======\n", "a\n||||||| x\n", "<<<<<<< o\na\n"),
        *("<<<<<<< o\na\n=======\nb\n", "a\n>>>>>>> t\n", "<<<<<<< o\na\n>>>>>>> t\n"),
        " <<<<<<< o\na\n=======\nb\n>>>>>>> t\n",
        "<<<<<<< o\n<<<<<<< p\na\n=======\nb\n>>>>>>> q\n=======\nc\n>>>>>>> t\n",
        "<<<<<<< o\na\n=======\nb\n=======\nc\n>>>>>>> t\n",
        "<<<<<<< o\na\n=======\nb\n>>>>>>> t\n<<<<<<< o\n",
        "<<<<<<<<\na\n=======\nb\n>>>>>>>>\n",
    ],
)
def test_what_is_no_whole_conflict_is_left_alone(broken: str) -> None:
    assert resolve(broken) is None


ANY = st.one_of(
    st.text(max_size=30),
    st.builds(
        "".join,
        st.lists(
            st.sampled_from(
                [
                    *("a", "b", "\n", "\r\n", "---\n", "k: 1\n", "\ufeff", "\x00", "\udcff", "\r"),
                    *("\x85", "<<<<<<< x\n", "=======\n", ">>>>>>> x\n", BASE),
                ]
            ),
            max_size=12,
        ),
    ),
    st.builds("---\n{}---\n{}".format, yaml_texts(), st.sampled_from(["", "a", "a\n", "a\nb\n"])),
)
Sides = tuple[list[str], list[str], list[str]]
WORDS = st.sampled_from(["a", "b", "c", "- d", "- e", ""])


@st.composite
def edited(draw: st.DrawFn) -> Sides:
    """Draw a list of lines, some of them alike, and two edited copies of it."""
    words = draw(st.sampled_from([WORDS, st.integers(0, 30).map(str)]))
    base = draw(st.lists(words, max_size=9))
    sides = []
    for _ in range(2):
        side = list(base)
        for _ in range(draw(st.integers(0, 5))):
            at, to = draw(st.integers(0, len(side))), draw(st.integers(0, len(side)))
            cut = at + draw(st.integers(0, 1))
            taken = side[at:cut]
            del side[at:cut]
            side[to:to] = draw(st.sampled_from([[], taken, [draw(words)]]))
        sides.append(side)
    return base, sides[0], sides[1]


@given(ANY, ANY)
@examples(200)
def test_a_side_that_changed_nothing_has_no_say(base: str, side: str) -> None:
    assert merge(base, side, base) == side
    assert merge(base, base, side) == side
    assert merge(base, side, side) == side


@given(st.none() | ANY, ANY, ANY)
@examples(400)
def test_merging_never_fails(base: str | None, ours: str, theirs: str) -> None:
    merged = merge(base, ours, theirs)
    resolve(merged)
    resolve(f"<<<<<<< o\n{ours}\n=======\n{theirs}\n>>>>>>> t\n")
    had, has = (re.sub("[\r\ufeff]", "", x).split("\n") for x in (f"{ours}\n{theirs}", merged))
    assert {line for line in has if re.match("<{7}|>{7}|={7}", line)} <= set(had)


@given(edited(), st.booleans())
@examples(400)
def test_what_either_side_wrote_is_kept(sides: Sides, bare: bool) -> None:
    base, ours, theirs = sides
    heads = ("", "", "") if bare else (BASE, OURS, THEIRS)
    texts = [start + text(*lines) for start, lines in zip(heads, sides, strict=True)]
    merged = Counter(content(block("x", merge(*texts)).body))
    turned = Counter(content(block("x", merge(texts[0], texts[2], texts[1])).body))
    assert merged == turned
    counts = [Counter(lines) for lines in (base, ours, theirs)]
    for line in {line for lines in sides for line in lines if line}:
        old, mine, other = (count[line] for count in counts)
        least = max(mine, other) if min(mine, other) >= old else max(mine, other) > old
        assert merged[line] >= least
        assert merged[line] == old or not old == mine == other


@given(edited(), st.sampled_from(["merge", "diff3"]))
@examples(150)
def test_a_conflict_around_everything_loses_nothing(sides: Sides, style: str) -> None:
    base, ours, theirs = sides
    between, old = (["||||||| base", *base], set(base)) if style == "diff3" else ([], set())
    found = resolve(text("<<<<<<< o", *ours, *between, "=======", *theirs, ">>>>>>> t"))
    assert found is not None
    assert set(ours + theirs) <= old | set(found.split("\n"))


@given(yaml_texts(), yaml_texts(), yaml_texts())
@examples(150)
def test_front_matter_that_was_readable_stays_so(base: str, ours: str, theirs: str) -> None:
    texts = [f"---\n{base}---\na\n", f"---\n{ours}---\no\n", f"---\n{theirs}---\nt\n"]
    sides = [block("x", side) for side in texts]
    found = block("x", merge(*texts))
    if all(len(side.head) > 1 for side in sides):
        assert {"o", "t"} <= set(found.body.split("\n"))
        if not all(side.problem for side in sides[1:]):
            assert not found.problem


BODY = text(*LINES)
EDITS = {
    "append and append": (
        OURS + BODY + "- likes jazz\n",
        THEIRS + BODY + "- has a cat\n",
        [*LINES, "- likes jazz", "- has a cat"],
    ),
    "edit and append": (
        OURS + BODY.replace("Python", "Rust"),
        THEIRS + BODY + "- has a cat\n",
        [LINES[0], "Languages: TypeScript, Rust", LINES[2], "- has a cat"],
    ),
    "items in the list": (
        OURS + text(*LINES[:2], "- likes jazz", LINES[2]),
        THEIRS + text(*LINES[:2], "- has a cat", LINES[2]),
        [*LINES[:2], "- likes jazz", "- has a cat", LINES[2]],
    ),
    "front matter alone": (OURS + BODY, THEIRS + BODY, LINES),
}


HUGE = 12_000


def marked(name: str, step: int) -> list[str]:
    return [f"{'' if at % step else name}{at}" for at in range(HUGE)]


def spaced(lines: list[str]) -> list[str]:
    return [line if at % 2 else "" for at, line in enumerate(lines)]


SHAPES = {
    "unlike lines": [marked("b", HUGE), marked("o", 3), marked("t", 5)],
    "like lines": [["x"] * HUGE, ["o", *["x"] * HUGE, "o"], [*["x"] * HUGE, "t"]],
    "two lines": [random.Random(seed).choices("ab", k=1500) for seed in range(3)],  # noqa: S311
    "blank lines": [spaced(marked("b", HUGE)), spaced(marked("o", 7)), spaced(marked("t", 11))],
}


@pytest.mark.parametrize("name", SHAPES)
def test_huge_texts_are_merged_in_time(name: str) -> None:
    base, ours, theirs = SHAPES[name]
    started = time.process_time()
    merged = merge(text(*base), text(*ours), text(*theirs)).split("\n")
    assert time.process_time() - started < 10
    assert set(ours) | set(theirs) <= set(merged) | set(base)
    assert name != "unlike lines" or len(merged) == HUGE + HUGE // 15 + 1
