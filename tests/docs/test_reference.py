"""The reference says what the program does."""

import pytest

from tests.docs.reference import FOLDER, make_pages


@pytest.mark.parametrize("name", ["assistants.md", "commands.md", "configuration.md", "python.md"])
def test_the_reference_is_what_the_program_says(name: str) -> None:
    told = (FOLDER / name).read_text(encoding="utf-8")
    assert told == make_pages()[name], "python -m tests.docs.reference"
