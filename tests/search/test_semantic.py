"""The vector files: appended, cut, lost and damaged, and never wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.search import encoder
from memfs.search.semantic import OVERLAP, WINDOW, Document, VectorIndex, split

TEXTS = [
    "how to bake sourdough bread",
    "the database migration fails on postgres",
    "tabs or spaces for indentation",
    "",
    " ".join(f"filler{n} nothing of interest" for n in range(200)) + " a recipe for apple pie" * 20,
]
GROUPS = [7, 7, 9, 7, 0]
DOCUMENTS = [
    Document(number, group, text)
    for number, (group, text) in enumerate(zip(GROUPS, TEXTS, strict=True), 1)
]
NAMES = ("vectors.i8", "owners.u32", "tokens.u16", "ends.u64", "groups.u32")


def opened(folder: Path) -> VectorIndex:
    return VectorIndex(str(folder), encoder.bundled())


def filled(folder: Path) -> VectorIndex:
    index = opened(folder)
    index.extend(iter(DOCUMENTS), len(DOCUMENTS) + 1)
    return index


def nearest(
    index: VectorIndex, text: str, limit: int = 3, allowed: list[int] | None = None
) -> list[int]:
    vector = encoder.bundled().encode([text]).vectors[0]
    return index.candidates(
        vector, limit, None if allowed is None else np.array(allowed, np.uint32)
    )


def content(index: VectorIndex) -> tuple[object, ...]:
    return (
        vars(index.extent), index.vectors.tobytes(), index.owners.tolist(), index.tokens.tolist(),
        index.ends.tolist(), index.groups.tolist(), index.frequencies.tolist(),
    )  # fmt: skip


def test_an_empty_index_finds_nothing(tmp_path: Path) -> None:
    index = opened(tmp_path)
    assert (index.extent.rows, nearest(index, "bread")) == (0, [])
    assert index.windows([1, 2]) == [(0, 0), (0, 0)]
    assert not (tmp_path / "v2").exists(), "looking makes no files"


def test_the_nearest_comes_first_each_document_once(tmp_path: Path) -> None:
    index = filled(tmp_path)
    assert nearest(index, "baking a loaf of bread")[0] == 1
    assert nearest(index, "SQL schema change")[0] == 2
    assert nearest(index, "recipe for apple pie")[0] == 5, "in the last of its windows"
    everything = nearest(index, "anything", 100)
    assert len(everything) == len(set(everything))
    assert set(everything) <= {number for number, _, _ in DOCUMENTS}


def test_only_allowed_documents_are_looked_at(tmp_path: Path) -> None:
    index = filled(tmp_path)
    assert nearest(index, "baking bread", allowed=[2, 3]) in ([2, 3], [3, 2])
    assert nearest(index, "baking bread", allowed=[]) == []
    assert nearest(index, "baking bread", allowed=[99]) == []
    assert nearest(index, "") == [], "a zero vector is near to nothing"


def test_rows_belong_to_documents_and_tokens_to_rows(tmp_path: Path) -> None:
    index = filled(tmp_path)
    model = encoder.bundled()
    windows = dict(zip([1, 2, 3, 4, 5, 6], index.windows([1, 2, 3, 4, 5, 6]), strict=True))
    assert [last - first for first, last in windows.values()][:3] == [1, 1, 1]
    assert windows[5][1] - windows[5][0] == len(split(TEXTS[4]))
    assert windows[6] == (index.extent.rows, index.extent.rows)
    for number, _, text in DOCUMENTS:
        for row, piece in zip(range(*windows[number]), split(text), strict=True):
            assert index.tokens_of(row).tolist() == model.tokens([piece])[0].tolist()
    counts = np.bincount(index.tokens, minlength=len(model.table))
    assert index.frequencies.tolist() == counts.tolist()


def test_extending_in_steps_is_extending_at_once(tmp_path: Path) -> None:
    whole = filled(tmp_path / "whole")
    for end in (2, 3, 6):
        steps = opened(tmp_path / "steps")
        first = max(1, steps.extent.documents)
        steps.extend(iter(DOCUMENTS[first - 1 : end - 1]), end)
    assert content(steps) == content(whole)
    assert content(opened(tmp_path / "steps")) == content(whole)


@pytest.mark.parametrize("name", NAMES)
def test_a_torn_tail_is_cut(tmp_path: Path, name: str) -> None:
    whole = content(filled(tmp_path / "whole"))
    index = opened(tmp_path / "torn")
    index.extend(iter(DOCUMENTS[:2]), 3)
    with (tmp_path / "torn/v2/vectors" / name).open("ab") as file:
        file.write(b"\x01" * 301)
    torn = opened(tmp_path / "torn")
    assert torn.extent.documents == 3
    torn.extend(iter(DOCUMENTS[2:]), len(DOCUMENTS) + 1)
    assert content(torn) == whole


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_too_short_begins_anew(tmp_path: Path, name: str) -> None:
    whole = content(filled(tmp_path))
    path = tmp_path / "v2/vectors" / name
    os.truncate(path, path.stat().st_size - 1)
    assert opened(tmp_path).extent.rows == 0
    path.unlink()
    assert opened(tmp_path).extent.rows == 0
    assert content(filled(tmp_path)) == whole


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"model": "other", "rows": 5, "tokens": 9, "documents": 3}', '{"x": 1}'],
)
def test_an_extent_that_is_lost_or_of_another_model_begins_anew(tmp_path: Path, text: str) -> None:
    whole = content(filled(tmp_path))
    (tmp_path / "v2/vectors/rows.json").write_text(text)
    np.save(tmp_path / "v2/vectors/frequencies.npy", np.ones(17, np.uint32))
    index = opened(tmp_path)
    assert (index.extent.rows, nearest(index, "bread")) == (0, [])
    assert content(filled(tmp_path)) == whole


@pytest.mark.parametrize("damage", [None, b"", b"\x93NUMPY", b"x" * 500])
def test_lost_frequencies_are_counted_again(tmp_path: Path, damage: bytes | None) -> None:
    whole = content(filled(tmp_path))
    path = tmp_path / "v2/vectors/frequencies.npy"
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)
    assert content(opened(tmp_path)) == whole


def test_readers_keep_what_they_opened(tmp_path: Path) -> None:
    """Truncating a file that another process has mapped would kill that process."""
    reader = filled(tmp_path)
    before = content(reader)
    (tmp_path / "v2/vectors/rows.json").unlink()
    writer = opened(tmp_path)
    writer.extend(iter([Document(1, 0, "something else")]), 2)
    assert content(reader) == before
    writer.clear()
    assert (writer.extent.rows, nearest(writer, "bread")) == (0, [])
    assert content(reader) == before


def test_a_run_that_fails_leaves_what_there_was(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.extend(iter(DOCUMENTS[:2]), 3)
    before = content(opened(tmp_path))

    def broken() -> object:
        yield DOCUMENTS[2]
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        opened(tmp_path).extend(broken(), 9)  # type: ignore[arg-type]
    assert content(opened(tmp_path)) == before
    assert content(filled_from(tmp_path, 2)) == content(filled(tmp_path / "whole"))


def filled_from(folder: Path, first: int) -> VectorIndex:
    index = opened(folder)
    index.extend(iter(DOCUMENTS[first:]), len(DOCUMENTS) + 1)
    return index


def test_the_extent_is_readable(tmp_path: Path) -> None:
    index = filled(tmp_path)
    saved = json.loads((tmp_path / "v2/vectors/rows.json").read_text())
    assert saved == {
        "model": encoder.bundled().name, "rows": len(index.owners), "tokens": len(index.tokens),
        "documents": len(DOCUMENTS) + 1,
    }  # fmt: skip


@given(st.integers(0, 700))
def test_windows_cover_a_text_and_overlap(count: int) -> None:
    words = [f"w{n}" for n in range(count)]
    pieces = [piece.split() for piece in split(" ".join(words))]
    assert all(len(piece) <= WINDOW for piece in pieces)
    assert pieces[0][: len(words)] == words[:WINDOW]
    joined = pieces[0] + [word for piece in pieces[1:] for word in piece[OVERLAP:]]
    assert joined == words


def test_neighbours_are_of_the_same_group_and_nearest_first(tmp_path: Path) -> None:
    index = filled(tmp_path)
    assert index.neighbours([1, 4, 3, 5, 99], 2) == {
        1: ([], [2, 4]), 4: ([2, 1], []), 3: ([], []), 5: ([], []), 99: ([], []),
    }, "group 0 stands alone"  # fmt: skip
    assert index.neighbours([4], 1) == {4: ([2], [])}
    assert index.neighbours([], 2) == {}
    assert opened(tmp_path / "empty").neighbours([1], 2) == {1: ([], [])}
    assert index.groups_of([1, 3, 5, 99]).tolist() == [7, 9, 0, 0]


def test_cosines_are_those_of_the_best_row(tmp_path: Path) -> None:
    index = filled(tmp_path)
    query = encoder.bundled().encode(["apple pie"]).vectors[0]
    found = index.cosines(query, [1, 99, 5, 4])
    assert found[1] == 0
    [(first, last)] = index.windows([5])
    assert last - first > 2
    assert len(index.rows_of((first, last), 2, query)) == 2
    assert index.rows_of((first, last), 2, query)[0] == last - 1, "the pie is at the end"
    assert index.rows_of((first, last), 2) == [first, first + 1]


def test_what_says_the_same_has_the_same_tokens(tmp_path: Path) -> None:
    index = opened(tmp_path)
    texts = ["Run the tests", "the tests: run!", "run the other tests", TEXTS[4], ""]
    index.extend(iter([Document(n, 0, text) for n, text in enumerate(texts, 1)]), 6)
    same = index.said(list(range(1, 7)))
    assert same[0] != same[2]
    assert same[3] == same[5] == frozenset()
