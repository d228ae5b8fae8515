"""The states of a block."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core import block_states

NOW = "2026-05-03T10:00:00Z"


@pytest.mark.parametrize(
    ("value", "operation", "state"),
    [
        ("", "", "empty"),
        (" \n", "append", "empty"),
        ("x", "", "populated"),
        ("x", "create", "populated"),
        ("x", "append", "populated"),
        ("x", "insert", "populated"),
        ("x", "replace", "modified"),
        ("x", "rethink", "modified"),
        ("x", "patch", "modified"),
        ("x", "remove", "reduced"),
        ("", "remove", "empty"),
    ],
)
def test_content(value: str, operation: str, state: str) -> None:
    assert block_states.describe_content(value, operation) == state


@pytest.mark.parametrize(
    ("updated_at", "state"),
    [
        (NOW, "active"),
        ("2026-04-03T10:00:01Z", "active"),
        ("2026-04-03T10:00:00Z", "stale"),
        ("2026-04-03T12:00:00+02:00", "stale"),
        ("2026-04-03", "stale"),
        ("2026-04-04", "active"),
        ("2027-01-01T00:00:00Z", "active"),
        ("", "active"),
        ("yesterday", "active"),
        ("2026-13-99", "active"),
    ],
)
def test_freshness(updated_at: str, state: str) -> None:
    assert block_states.freshness(updated_at, NOW, 30) == state


@given(st.text() | st.datetimes(timezones=st.timezones()).map(str))
def test_freshness_never_fails(updated_at: str) -> None:
    assert block_states.freshness(updated_at, NOW, 30) in {"active", "stale"}
    assert block_states.freshness(NOW, updated_at, 30) in {"active", "stale"}
