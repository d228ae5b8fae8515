"""What messages are about, and how a flow is drawn."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.knowledge.session_graph import intents
from memfs.knowledge.session_graph import queries as session_graph_patterns
from memfs.knowledge.session_graph.turns import Flow
from memfs.ops import graph


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Fix the retry test of the payment client", ["client", "payment", "retry"]),
        ("Please update src/config.py and README.md", ["config.py", "readme.md"]),
        ("the API returns HTTP 502", ["api", "http", "returns"]),
        ("commit a119127 was made", []),
        ("ok, thanks, now go on with it", []),
        ("Whatever happens, nobody says it rather goes away", []),
        ("It was fixed.Now the tests are adding it again", []),
        ("a read-only volume, updates and dry-run", ["dry-run", "volume"]),
    ],
)
def test_names_and_words_that_say_something(text: str, found: list[str]) -> None:
    assert sorted(intents.extract_topics([text])) == found


@given(st.text())
def test_every_text_has_a_few_at_most(text: str) -> None:
    assert len(intents.extract_topics([text, text])) <= intents.MOST


def flow(number: int, prompt: str, steps: tuple[str, ...], outcome: int) -> Flow:
    return Flow(
        number,
        "s",
        "claude",
        "/p",
        number,
        "2026-05-03T09:00:00Z",
        "request",
        prompt,
        "Done.",
        steps,
        outcome,
        "tests passed",
    )


@given(st.text(max_size=200), st.lists(st.text(max_size=40), max_size=6))
def test_a_picture_is_well_formed_whatever_it_shows(prompt: str, names: list[str]) -> None:
    flows = (flow(1, prompt, ("test!", "edit", "test"), 1), flow(2, "x" * 500, ("read",) * 40, -1))
    drawing = graph.GraphDrawing(f"session <{prompt}>", flows, {1: tuple(names)})
    drawn = graph.draw_svg(drawing)
    root = ET.fromstring(drawn)  # noqa: S314 - our own
    shown = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "test! \u2192 edit \u2192 test" in shown
    assert max(map(len, shown)) <= 100


def test_a_part_of_a_pattern_is_no_pattern_of_its_own() -> None:
    turns = [(("read", "edit", "test"), 1)] * 3 + [(("read", "edit"), -1)]
    found = session_graph_patterns.find_patterns(turns, 10)
    assert [(p.steps, p.turns, p.worked, p.failed) for p in found] == [
        (("read", "edit", "test"), 3, 3, 0),
        (("read", "edit"), 4, 3, 1),
    ]


def test_what_came_next_after_the_longest_end_of_a_path() -> None:
    like = [
        flow(1, "a", ("read", "edit", "test"), 1),
        flow(2, "b", ("edit", "commit"), 0),
        flow(3, "c", ("edit", "run"), -1),
    ]
    assert [
        (s.name, s.worked) for s in session_graph_patterns.find_steps(like, ["read", "edit"], 3)
    ] == [("test", 1), ("commit", 0)]
    assert session_graph_patterns.find_steps(like, ["web"], 3) == []
