"""Where a chunk of a data source stands, in words."""

from __future__ import annotations

import pytest

from memfs.core.snippet import format_location, has_lines, trim_heading


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"file": "docs/setup.md", "line": 12}, "docs/setup.md:12"),
        ({"file": "~/books/Guide.PDF", "line": 3}, "~/books/Guide.PDF, page 3"),
        ({"file": "trial.ipynb", "line": 2}, "trial.ipynb, cell 2"),
        ({"file": "Makefile", "line": 1}, "Makefile:1"),
        ({}, ":"),
    ],
)
def test_a_place_is_told_as_its_file_counts(metadata: dict[str, object], said: str) -> None:
    assert format_location(metadata) == said
    assert has_lines(str(metadata.get("file", ""))) == (", " not in said)


@pytest.mark.parametrize(
    ("text", "heading", "rest"),
    [
        ("Setup > Ports\n\nThe port is 80.", "Setup > Ports", "The port is 80."),
        ("The port is 80.", "Setup", "The port is 80."),
        ("Setup", "Setup", "Setup"),
        ("The port is 80.", "", "The port is 80."),
        ("The port is 80.", None, "The port is 80."),
        ("7 is a number", 7, "7 is a number"),
    ],
)
def test_a_heading_that_is_shown_beside_a_text_is_taken_off(
    text: str, heading: object, rest: str
) -> None:
    assert trim_heading(text, heading) == rest
