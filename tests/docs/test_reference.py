"""The reference says what the program does."""

from __future__ import annotations

import pytest

from memfs.store import config_check
from tests.docs.reference import FOLDER, make_pages


@pytest.mark.parametrize("name", ["assistants.md", "commands.md", "configuration.md", "python.md"])
def test_the_reference_is_what_the_program_says(name: str) -> None:
    told = (FOLDER / name).read_text(encoding="utf-8")
    assert told == make_pages()[name], "python -m tests.docs.reference"


def test_each_setting_is_told_of() -> None:
    told = [name for entry in config_check.list_settings() for name in entry.names]
    assert sorted(told) == sorted(config_check.list_known_names())
