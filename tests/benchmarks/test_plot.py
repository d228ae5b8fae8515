"""Figures are well-formed, show what they are given, and cover nothing."""

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import plot
from benchmarks.plot import Bar, PlotLine

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [str(each.text) for each in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - ours


def test_lines_have_axes_in_powers_of_ten_and_names() -> None:
    svg = plot.lines(
        "A <title>",
        ("n & m", "ms"),
        [
            PlotLine("ours", [(1000, 0.5), (10_000, 30)]),
            PlotLine("bare", [(1000, 0.1)], floor=True),
        ],
    )
    found = texts(svg)
    assert {"A <title>", "n & m", "ms", "ours", "bare"} <= set(found)
    assert {"0.1", "1", "10", "100", "1,000", "10,000"} <= set(found)
    assert svg.count("floor") == 2, "its style, and the one line"
    assert "prefers-color-scheme: dark" in svg


def test_bars_are_as_long_as_their_values() -> None:
    svg = plot.bars("Bars", "ms", [Bar("a", 10, "10 ms"), Bar("b", 5, "5 ms", floor=True)])
    bars = [each for each in ET.fromstring(svg).iter(f"{SVG}rect") if each.get("x")]  # noqa: S314
    first, second = (float(str(each.get("width"))) for each in bars)
    assert first == pytest.approx(2 * second, abs=0.1)
    assert {"a", "10 ms", "b", "5 ms"} <= set(texts(svg))


def test_nothing_to_draw_is_drawn() -> None:
    assert texts(plot.lines("Empty", ("x", "y"), [PlotLine("none", [])]))
    assert texts(plot.bars("Empty", "", []))
    assert texts(plot.lines("Zero", ("x", "y"), [PlotLine("zero", [(1, 0)])]))


@given(st.lists(st.floats(0, 500), max_size=12))
def test_labels_do_not_cover_each_other_and_keep_their_order(places: list[float]) -> None:
    found = plot._spread_labels(places)
    order = sorted(range(len(places)), key=places.__getitem__)
    for above, below in pairwise(order):
        assert found[below] - found[above] >= plot._LABEL - 1e-6
    if len(places) == 1:
        assert found == places
