"""The budget of a window, and texts that are cut to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.context import window_budget
from memfs.context.window_budget import Budget
from memfs.core.errors import MemfsError
from memfs.core.settings import Settings
from memfs.core.tokens import estimate


def of(window: int = 0, **context: int) -> Budget:
    return window_budget.load_budget(Settings([{"context": context}]), window)


def test_what_is_kept_free_is_configured() -> None:
    found = of(max_tokens=8192, reserve_for_response=2000, reserve_for_tools=192)
    assert found == Budget(8192, 2000, 192)
    assert found.room == 6000
    assert found.get_share("blocks") == 1980


def test_a_small_window_keeps_less_free() -> None:
    assert of(8192) == Budget(8192, 2730, 512)
    assert of(max_tokens=4096, reserve_for_response=4000).room > 2000


def test_a_window_too_small_is_refused() -> None:
    with pytest.raises(MemfsError, match="a window of 100 tokens is too small"):
        of(100)


@given(st.text(max_size=2000), st.integers(0, 200))
def test_a_text_is_cut_to_its_room(text: str, room: int) -> None:
    found = window_budget.cut_middle(text, room)
    assert estimate(found) <= room
    if estimate(text) <= room:
        assert found == text


def test_the_beginning_and_the_end_stay() -> None:
    text = "The first line.\n" + "filler words here\n" * 500 + "The last line."
    found = window_budget.cut_middle(text, 100)
    assert found.startswith("The first line.\n")
    assert found.endswith("The last line.")
    assert "tokens left out …]" in found
