"""The vector files: appended, cut, lost and damaged, and never wrong."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memfs.search import encoder, semantic, vector_layout
from memfs.search.semantic import OVERLAP, WINDOW, Document, VectorIndex, split_windows
from memfs.search.vector_layout import AT, GROUP, SAID, WEIGHT

TEXTS = [
    "how to bake sourdough bread",
    "the database migration fails on postgres",
    "tabs or spaces for indentation",
    "",
    " ".join(f"filler{n} nothing of interest" for n in range(200)) + " a recipe for apple pie" * 20,
]
GROUPS = [7, 7, 9, 7, 0]
DOCUMENTS = [
    Document(number, group, text, 100 + number, 1_000_000 + number, 90 + number)
    for number, (group, text) in enumerate(zip(GROUPS, TEXTS, strict=True), 1)
]
NAMES = ("vectors.i8", "owners.u32", "tokens.u16", "ends.u64", "documents.u32")


def opened(folder: Path) -> VectorIndex:
    return VectorIndex(str(folder), encoder.load_bundled())


def lies(folder: Path) -> Path:
    return Path(vector_layout.path(str(folder), encoder.load_bundled().name))


def filled(folder: Path) -> VectorIndex:
    index = opened(folder)
    index.extend(iter(DOCUMENTS), len(DOCUMENTS) + 1)
    return index


def nearest(
    index: VectorIndex, text: str, limit: int = 3, allowed: list[int] | None = None
) -> list[int]:
    only = None if allowed is None else np.array(allowed, np.int64)
    return [*map(int, index.find_nearest(vector(text), limit, only))]


def vector(text: str) -> NDArray[np.int8]:
    found = encoder.load_bundled().encode([text]).vectors[0]
    return np.asarray(np.rint(found * 127), np.int8)


def numbers(*found: int) -> NDArray[np.int64]:
    return np.array(found, np.int64)


def rows_of(index: VectorIndex, number: int) -> NDArray[np.intp]:
    (first,), (count,) = index.get_row_ranges(numbers(number))
    return np.arange(first, first + count)


def content(index: VectorIndex) -> tuple[object, ...]:
    return (
        index.extent.to_json(),
        index.vectors.tobytes(),
        index.owners.tolist(),
        index.tokens.tolist(),
        index.ends.tolist(),
        index.documents.tolist(),
        index.frequencies.tolist(),
    )


def test_an_empty_index_finds_nothing(tmp_path: Path) -> None:
    index = opened(tmp_path)
    assert (index.extent.rows, nearest(index, "bread")) == (0, [])
    assert not rows_of(index, 1).size
    assert not (tmp_path / "v5").exists(), "looking makes no files"


def test_the_nearest_comes_first_each_document_once(tmp_path: Path) -> None:
    index = filled(tmp_path)
    assert nearest(index, "baking a loaf of bread")[0] == 1
    assert nearest(index, "SQL schema change")[0] == 2
    assert nearest(index, "recipe for apple pie")[0] == 5, "in the last of its windows"
    everything = nearest(index, "anything", 100)
    assert len(everything) == len(set(everything))
    assert set(everything) <= {document.number for document in DOCUMENTS}


def test_only_allowed_documents_are_looked_at(tmp_path: Path) -> None:
    index = filled(tmp_path)
    assert nearest(index, "baking bread", allowed=[2, 3]) in ([2, 3], [3, 2])
    assert nearest(index, "baking bread", allowed=[]) == []
    assert nearest(index, "baking bread", allowed=[99]) == []
    assert nearest(index, "") == [], "a zero vector is near to nothing"


def test_rows_belong_to_documents_and_tokens_to_lies(tmp_path: Path) -> None:
    index = filled(tmp_path)
    model = encoder.load_bundled()
    assert [len(rows_of(index, number)) for number in (1, 2, 3)] == [1, 1, 1]
    assert len(rows_of(index, 5)) == len(split_windows(TEXTS[4]))
    assert not rows_of(index, 6).size
    for document in DOCUMENTS:
        counts, tokens = index.get_tokens(rows_of(index, document.number))
        lies = np.split(tokens, np.cumsum(counts)[:-1])
        for lie, piece in zip(lies, split_windows(document.text), strict=True):
            assert lie.tolist() == model.tokenize([piece])[0].tolist()
    occurring = np.bincount(index.tokens, minlength=len(model.table))
    assert index.frequencies.tolist() == occurring.tolist()


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
    with (lies(tmp_path / "torn") / name).open("ab") as file:
        file.write(b"\x01" * 301)
    torn = opened(tmp_path / "torn")
    assert torn.extent.documents == 3
    torn.extend(iter(DOCUMENTS[2:]), len(DOCUMENTS) + 1)
    assert content(torn) == whole


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_too_short_begins_anew(tmp_path: Path, name: str) -> None:
    whole = content(filled(tmp_path))
    path = lies(tmp_path) / name
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
    (lies(tmp_path) / "rows.json").write_text(text)
    np.save(lies(tmp_path) / "frequencies.npy", np.ones(17, np.uint32))
    index = opened(tmp_path)
    assert (index.extent.rows, nearest(index, "bread")) == (0, [])
    assert content(filled(tmp_path)) == whole


@pytest.mark.parametrize("damage", [None, b"", b"\x93NUMPY", b"x" * 500])
def test_lost_frequencies_are_counted_again(tmp_path: Path, damage: bytes | None) -> None:
    whole = content(filled(tmp_path))
    path = lies(tmp_path) / "frequencies.npy"
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)
    assert content(opened(tmp_path)) == whole


def test_readers_keep_what_they_opened(tmp_path: Path) -> None:
    """Truncating a file that another process has mapped would kill that process."""
    reader = filled(tmp_path)
    before = content(reader)
    (lies(tmp_path) / "rows.json").unlink()
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


@given(st.integers(0, 700))
def test_windows_cover_a_text_and_overlap(count: int) -> None:
    words = [f"w{n}" for n in range(count)]
    pieces = [piece.split() for piece in split_windows(" ".join(words))]
    assert all(len(piece) <= WINDOW for piece in pieces)
    assert pieces[0][: len(words)] == words[:WINDOW]
    joined = pieces[0] + [word for piece in pieces[1:] for word in piece[OVERLAP:]]
    assert joined == words


def test_neighbours_are_of_the_same_group_and_nearest_first(tmp_path: Path) -> None:
    index = filled(tmp_path)
    assert index.find_neighbours(numbers(1, 4, 3, 5, 99), 2).tolist() == [
        [0, 0, 2, 4],
        [2, 1, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
    ], "group 0 stands alone"
    assert index.find_neighbours(numbers(4), 1).tolist() == [[2, 0]]
    assert index.find_neighbours(numbers(), 2).shape == (0, 4)
    assert opened(tmp_path / "empty").find_neighbours(numbers(1), 2).tolist() == [[0, 0, 0, 0]]


def test_of_each_document_is_kept_what_ranking_asks_for(tmp_path: Path) -> None:
    index = filled(tmp_path)
    kept = index.get_records(numbers(0, 1, 3, 5, 99))
    assert kept[:, GROUP].tolist() == [0, 7, 9, 0, 0]
    assert kept[:, SAID].tolist() == [0, 101, 103, 105, 0]
    assert kept[:, AT].tolist() == [0, 1_000_001, 1_000_003, 1_000_005, 0]
    assert kept[:, WEIGHT].tolist() == [0, 91, 93, 95, 0]


def test_what_is_gone_is_not_near_anything_also_for_those_who_read(tmp_path: Path) -> None:
    index = filled(tmp_path)
    assert nearest(index, "baking a loaf of bread")[0] == 1
    vector_layout.delete_documents(str(tmp_path), [1, 77])
    for each in (index, opened(tmp_path)):
        assert 1 not in nearest(each, "baking a loaf of bread", 9)
        assert each.get_records(numbers(1, 2))[:, WEIGHT].tolist() == [0, 92]
    vector_layout.delete_documents(str(tmp_path / "none"), [1])
    assert not (tmp_path / "none").exists()


def test_a_text_of_many_windows_leaves_room_for_others(tmp_path: Path) -> None:
    index = opened(tmp_path)
    long = " ".join(f"bread number {n} in the oven" for n in range(4000))
    texts = [long, *(f"the oven and the bread of {n} people" for n in range(60))]
    index.extend(iter([Document(n, 0, text) for n, text in enumerate(texts, 1)]), 62)
    assert len(rows_of(index, 1)) > 100
    assert len(nearest(index, "bread in the oven", 40)) == 40


def test_cosines_are_those_of_the_lies(tmp_path: Path) -> None:
    index = filled(tmp_path)
    of = rows_of(index, 5)
    query = encoder.load_bundled().encode(["apple pie"]).vectors[0]
    exact = encoder.load_bundled().encode(split_windows(TEXTS[4])).vectors @ query
    found = index.get_cosines(vector("apple pie"), of)
    assert np.allclose(found, exact, atol=0.02)
    assert found.argmax() == len(of) - 1, "the pie is at the end"


def test_ranges_are_flattened() -> None:
    found = semantic.flatten_ranges(np.array([3, 9, 5]), np.array([2, 0, 3]))
    assert found.tolist() == [3, 4, 5, 6, 7]
    assert semantic.drop_repeats(numbers(5, 3, 5, 9, 3)).tolist() == [5, 3, 9]


def test_a_session_that_goes_on_in_later_runs_keeps_its_neighbours(tmp_path: Path) -> None:
    index = opened(tmp_path)
    for end in range(2, 8):  # one message at a time, as it is after each turn, two sessions mixed
        number = end - 1
        index.extend(iter([Document(number, 7 + number % 2, f"turn {number}")]), end)
    assert index.find_neighbours(numbers(1, 4, 6), 2).tolist() == [
        [0, 0, 3, 5],
        [2, 0, 6, 0],
        [4, 2, 0, 0],
    ]
    assert opened(tmp_path).find_neighbours(numbers(4), 2).tolist() == [[2, 0, 6, 0]]


def test_a_neighbour_that_was_never_finished_is_none(tmp_path: Path) -> None:
    """A killed run told a document of the next one, which became another one afterwards."""
    index = filled(tmp_path)
    vector_layout.write(f"{index._folder}/documents.u32", vector_layout.AFTER, {4: 6})
    assert opened(tmp_path).find_neighbours(numbers(4), 2).tolist() == [[2, 1, 0, 0]]
    index.extend(iter([Document(6, 9, "of another session")]), 7)
    assert opened(tmp_path).find_neighbours(numbers(4), 2).tolist() == [[2, 1, 0, 0]]


@given(st.lists(st.lists(st.floats(-1, 1), max_size=4), max_size=6))
def test_each_owner_has_the_largest_of_its_values(owned: list[list[float]]) -> None:
    values = np.array([value for each in owned for value in each], np.float64)
    counts = np.array([len(each) for each in owned], np.intp)
    found = semantic.most(values, counts)
    assert found.tolist() == [max(each, default=0.0) for each in owned]
    columns = semantic.most(np.stack([values, -values], axis=1), counts)
    assert columns[:, 1].tolist() == [max((-v for v in each), default=0.0) for each in owned]
