"""The exact scan, against sorting all cosines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.search import exact_search


@given(st.integers(0, 70), st.integers(0, 80), st.integers(0, 10_000))
def test_a_scan_is_a_sort_by_cosine(count: int, limit: int, seed: int) -> None:
    lot = np.random.default_rng(seed)
    rows = lot.integers(-3, 4, (count, 8)).astype(np.int8)
    query = lot.integers(-3, 4, 8).astype(np.int8)
    numbers, distances = exact_search.find_nearest(rows, query, limit)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
    cosines = rows.astype(float) @ query / np.maximum(lengths, 1e-9)
    wanted = np.sort(1 - cosines)[:limit]
    assert np.allclose(distances, wanted, atol=1e-4)
    assert np.allclose(1 - cosines[numbers], wanted, atol=1e-4)
    assert len(set(numbers.tolist())) == min(count, limit)


def test_chunks_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).integers(-9, 10, (100, 16)).astype(np.int8)
    rows[::4] = rows[3]
    whole = exact_search.find_nearest(rows, rows[3], 30)
    monkeypatch.setattr(exact_search, "_CHUNK", 7)
    for mine, theirs in zip(exact_search.find_nearest(rows, rows[3], 30), whole, strict=True):
        assert mine.tolist() == theirs.tolist()
    assert whole[0][:26].tolist() == sorted([3, *range(0, 100, 4)]), "of equals the earlier first"


@given(st.lists(st.integers(0, 3), max_size=20), st.integers(0, 25))
def test_the_smallest_are_those_of_a_stable_sort(values: list[int], limit: int) -> None:
    found = exact_search.smallest(np.array(values, np.float64), limit)
    assert found.tolist() == sorted(range(len(values)), key=lambda n: values[n])[:limit]
