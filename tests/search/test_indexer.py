"""Index runs: what is new goes in once, what is gone goes out, whatever interrupts them."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memfs.search import encoder, segments, semantic, vector_layout
from memfs.search.catalog import Catalog, IndexSource
from memfs.search.indexer import Indexed, Indexer
from memfs.search.lexical import TextIndex
from memfs.search.semantic import VectorIndex
from memfs.search.vector_layout import WEIGHT
from tests.search.stores import Corpus, Document, document, lines, read

SUBJECTS = ("bread", "postgres", "tabs", "login", "invoice", "kernel", "piano", "garden")


def said(first: int, last: int) -> list[Document]:
    return [document(f"m{n}", f"{SUBJECTS[n % 8]} matter number{n}") for n in range(first, last)]


def names(first: int, last: int) -> list[str]:
    return sorted(f"m{n}" for n in range(first, last))


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    made = Corpus(tmp_path)
    made.write("log.jsonl", *said(0, 3))
    made.write("one.md", document("p1", "a passage about bread"))
    return made


def embedded(corpus: Corpus) -> dict[str, int]:
    """How many vector rows each living document has."""
    engine = corpus.engine()
    assert engine.vectors
    found: dict[str, int] = {}
    for _, address in engine.text.search(engine.text.number_query(0), 10_000):
        ident = str(engine.text.read_fields(address)["id"][0])
        _, counts = engine.vectors.get_row_ranges(np.array(engine.text.numbers([address])))
        found[ident] = found.get(ident, 0) + int(counts[0])
    return found


def test_a_run_adds_what_is_new_and_a_second_nothing(corpus: Corpus) -> None:
    assert corpus.update() == Indexed(4, 2)
    assert corpus.update() == Indexed(0, 0)
    assert corpus.ids() == ["m0", "m1", "m2", "p1"]


def test_of_a_file_that_grew_the_tail_is_read(corpus: Corpus) -> None:
    corpus.update()
    corpus.append("log.jsonl", *said(3, 5))
    assert corpus.update() == Indexed(2, 1)
    assert corpus.ids() == [*names(0, 5), "p1"]


def test_a_changed_and_a_deleted_source_leave_nothing_behind(corpus: Corpus) -> None:
    corpus.update()
    corpus.write("one.md", document("p1", "now about wine"))
    (corpus.files / "log.jsonl").unlink()
    assert corpus.update() == Indexed(1, 2)
    assert corpus.ids() == ["p1"]
    assert corpus.engine("text").search("wine", mode="text").total == 1
    assert corpus.engine("text").search("bread", mode="text").total == 0


def test_a_file_that_shrank_or_was_replaced_is_read_whole(corpus: Corpus) -> None:
    corpus.update()
    corpus.write("log.jsonl", *said(0, 1))
    assert corpus.update() == Indexed(1, 1)
    corpus.write("log.jsonl", *said(10, 20))
    assert corpus.update() == Indexed(10, 1)
    assert corpus.ids() == [*names(10, 20), "p1"]


def test_another_file_with_the_same_inode_is_read_whole(corpus: Corpus) -> None:
    """A file system gives the inode of a removed file to the next one."""
    corpus.update()
    path = corpus.files / "log.jsonl"
    with path.open("r+b") as file:
        file.write(lines(*said(30, 39)))
        file.truncate()
    assert corpus.update() == Indexed(9, 1)
    assert corpus.ids() == [*names(30, 39), "p1"]


def test_a_file_that_grows_while_it_is_read_gives_each_document_once(corpus: Corpus) -> None:
    def growing(source: IndexSource, start: int) -> Iterator[Document]:
        if source.path.endswith(".jsonl"):
            corpus.append("log.jsonl", *said(3, 4))
        yield from read(source, start)

    indexer = Indexer(corpus.index)
    indexer.update(corpus.sources(), growing)
    indexer.close()
    assert corpus.ids() == [*names(0, 4), "p1"]
    corpus.update()
    corpus.append("log.jsonl", *said(4, 6))
    corpus.update()
    assert corpus.ids() == [*names(0, 6), "p1"]
    assert corpus.update() == Indexed(0, 0)


class KilledError(Exception):
    """What stops a run in the middle."""


@pytest.mark.parametrize("after", [0, 1, 2, 3, 4])
def test_a_run_that_is_killed_is_done_again(corpus: Corpus, after: int) -> None:
    corpus.update(embed=True)
    corpus.append("log.jsonl", *said(3, 5))
    corpus.write("one.md", document("p1", "about wine"))
    corpus.write("two.md", document("p2", "about beer"))
    count = 0

    def mortal(source: IndexSource, start: int) -> Iterator[Document]:
        nonlocal count
        for each in read(source, start):
            if count == after:
                raise KilledError
            count += 1
            yield each

    indexer = Indexer(corpus.index)
    try:
        if after < 4:
            with pytest.raises(KilledError):
                indexer.update(corpus.sources(), mortal)
        else:
            indexer.update(corpus.sources(), mortal)
    finally:
        indexer.close()
    if after < 4:
        assert corpus.ids() == ["m0", "m1", "m2", "p1"], "nothing of the killed run is visible"
    corpus.update(embed=True)
    assert corpus.ids() == [*names(0, 5), "p1", "p2"]
    assert set(embedded(corpus).values()) == {1}
    assert corpus.update(embed=True) == Indexed(0, 0)


def test_a_kill_between_commit_and_catalog_repeats_nothing(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.update(embed=True)
    corpus.append("log.jsonl", *said(3, 5))
    corpus.write("one.md", document("p1", "about wine"))
    taken = tmp_path / "taken"
    publish = Catalog.publish

    def photographed(self: Catalog, number: int, done: dict[str, object]) -> None:
        shutil.copytree(corpus.index, taken)
        publish(self, number, done)  # type: ignore[arg-type]

    monkeypatch.setattr(Catalog, "publish", photographed)
    corpus.update()
    monkeypatch.undo()
    shutil.rmtree(corpus.index)
    shutil.copytree(taken, corpus.index)
    assert len(corpus.ids()) == 6, "the text index is ahead of its catalog"
    corpus.append("log.jsonl", *said(5, 6))
    corpus.update(embed=True)
    assert corpus.ids() == [*names(0, 6), "p1"]
    assert set(embedded(corpus).values()) == {1}
    assert corpus.engine("text").search("wine", mode="text").total == 1


def test_large_sources_are_committed_in_batches(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memfs.search.indexer.COMMIT", 2)
    (corpus.files / "z.md").write_bytes(b"broken")
    indexer = Indexer(corpus.index)
    with pytest.raises(ValueError, match="Expecting value"):
        indexer.update(corpus.sources(), read)
    indexer.close()
    assert corpus.ids() == ["m0", "m1", "m2"], "the first batch was published"
    (corpus.files / "z.md").unlink()
    assert corpus.update() == Indexed(1, 1)


def test_documents_are_counted_without_opening_the_index(corpus: Corpus) -> None:
    assert segments.count_documents(corpus.index) == 0
    corpus.update()
    assert segments.count_documents(corpus.index) == len(corpus.ids()) == 4
    index = TextIndex.open(corpus.index)
    assert index
    index.delete("id", "m1")
    index.commit()
    assert segments.count_documents(corpus.index) == index.searcher.num_docs == 3
    for damaged in ("", "[]", '{"segments": [{"max_doc": "x", "deletes": null}]}'):
        Path(corpus.index, "v5/text/meta.json").write_text(damaged)
        assert segments.count_documents(corpus.index) == 0


def test_a_source_that_cannot_be_read_is_tried_again(corpus: Corpus) -> None:
    corpus.update()
    corpus.append("log.jsonl", *said(3, 4))

    def partly(source: IndexSource, start: int) -> Iterator[Document]:
        yield from read(source, start)
        if source.path.endswith(".jsonl"):
            raise PermissionError

    indexer = Indexer(corpus.index)
    assert indexer.update(corpus.sources(), partly).added == 0
    indexer.close()
    assert corpus.ids() == ["p1"]
    assert corpus.update() == Indexed(4, 1)
    assert corpus.ids() == [*names(0, 4), "p1"]


def test_a_source_that_is_listed_but_gone_is_no_trouble(corpus: Corpus) -> None:
    listed = [*corpus.sources(), IndexSource("/nowhere/x.jsonl", "message", grows=True)]
    indexer = Indexer(corpus.index)
    assert indexer.update(listed, read) == Indexed(4, 2)
    indexer.close()


@pytest.mark.parametrize("lost", ["v5", "v5/text/meta.json", "catalog.sqlite"])
def test_an_index_that_lost_a_part_is_rebuilt(corpus: Corpus, lost: str) -> None:
    corpus.update(embed=True)
    path = f"{corpus.index}/{lost}"
    if os.path.isdir(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
    assert corpus.update(embed=True) == Indexed(4, 2)
    assert corpus.ids() == ["m0", "m1", "m2", "p1"]
    assert set(embedded(corpus).values()) == {1}


def test_an_index_of_another_version_is_rebuilt(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.update(embed=True)
    monkeypatch.setattr("memfs.search.lexical.TEXT", "v6/text")
    assert TextIndex.open(corpus.index) is None
    assert corpus.update(embed=True) == Indexed(4, 2)
    assert corpus.ids() == ["m0", "m1", "m2", "p1"]
    assert not os.path.exists(f"{corpus.index}/v5/text")
    assert set(embedded(corpus).values()) == {1}


def test_vectors_catch_up_with_words(corpus: Corpus) -> None:
    corpus.update()
    assert set(embedded(corpus).values()) == {0}
    corpus.append("log.jsonl", *said(3, 5))
    corpus.update()
    corpus.update(embed=True)
    assert set(embedded(corpus).values()) == {1}
    indexer = Indexer(corpus.index)
    assert indexer.embed() == 0
    indexer.close()


@pytest.mark.parametrize("damage", ["gone", "torn", "other", "ahead"])
def test_vectors_that_do_not_fit_are_made_again(corpus: Corpus, damage: str) -> None:
    corpus.update(embed=True)
    before = embedded(corpus)
    rows = Path(vector_layout.path(corpus.index, encoder.load_bundled().name), "rows.json")
    if damage == "gone":
        rows.unlink()
    elif damage == "torn":
        os.truncate(rows.parent / "vectors.i8", 10)
    elif damage == "other":
        rows.write_text(rows.read_text().replace('"model": "', '"model": "not-'))
    else:
        vectors = VectorIndex(corpus.index, encoder.load_bundled())
        vectors.extend(iter([semantic.Document(50, 0, "from a future that was lost")]), 60)
    corpus.update(embed=True)
    assert embedded(corpus) == before
    vectors = VectorIndex(corpus.index, encoder.load_bundled())
    assert vectors.extent.rows == sum(before.values())


def test_the_dead_do_not_pile_up_before_the_living(corpus: Corpus) -> None:
    """A block that is edited often leaves a row for each version."""
    for number in range(5):
        texts = (document(f"p{n}", f"the deployment, edition {number}") for n in range(30))
        corpus.write("one.md", *texts)
        corpus.update(embed=True)
    corpus.write("one.md", document("p1", "the deployment notes, the last edition"))
    corpus.update(embed=True)
    vectors = VectorIndex(corpus.index, encoder.load_bundled())
    assert vectors.extent.rows < 120
    assert set(embedded(corpus).values()) == {1}
    assert corpus.engine().search("deployment", mode="semantic").hits[0].id == "p1"


def test_what_a_killed_run_took_out_is_not_near_anything(corpus: Corpus) -> None:
    corpus.update(embed=True)
    text = TextIndex.open(corpus.index)
    assert text
    path = corpus.files / "one.md"
    (number,) = text.numbers(text.find_all(text.term_query("source", str(path))))
    path.unlink()
    text.delete("source", str(path))
    text.commit()  # and then it was killed: nobody noted which documents those were
    text.finish()
    catalog = Catalog(corpus.index)
    catalog.put("dirty", "1")
    catalog.close()
    corpus.update(embed=True)
    vectors = corpus.engine().vectors
    assert vectors
    assert vectors.get_records(np.arange(number + 1))[:, WEIGHT].tolist()[1:] == [
        0 if each == number else 100 for each in range(1, number + 1)
    ]


def test_what_is_gone_is_left_out_once(corpus: Corpus) -> None:
    """Most of what was ever numbered is gone: that is no reason to begin anew each time."""
    for number in range(4):
        texts = (document(f"p{n}", f"deployment {n} edition {number}") for n in range(120))
        corpus.write("one.md", *texts)
        corpus.update(embed=True)
    indexer = Indexer(corpus.index)
    indexer.embed()
    assert indexer.embed() == 0
    indexer.close()
    assert VectorIndex(corpus.index, encoder.load_bundled()).extent.rows < 250


def test_progress_is_told_document_by_document(corpus: Corpus) -> None:
    corpus.write("log.jsonl", *said(0, 450))
    told: list[int] = []
    indexer = Indexer(corpus.index)
    indexer.update(corpus.sources(), read, told.append)
    assert sum(told) == 451
    told.clear()
    assert indexer.embed(told.append) == 451
    assert sum(told) == 451
    indexer.close()


def test_odd_names_and_texts_of_sources_are_indexed(corpus: Corpus) -> None:
    name = os.fsdecode(b"\xff odd 'name'.md")
    corpus.write(name, document("half \ud800", "surrogate \udc80 soup", tag=["\ud800"]))
    assert corpus.update() == Indexed(5, 3)
    assert corpus.update() == Indexed(0, 0)
    (corpus.files / name).unlink()
    assert corpus.update() == Indexed(0, 1)
    assert corpus.ids() == ["m0", "m1", "m2", "p1"]


def test_a_name_that_was_blanked_out_by_hand_in_the_middle_is_found_no_more(corpus: Corpus) -> None:
    """As large as before, and with the same first and last pages."""
    long = [document(f"l{n}", f"filler {n} {'word ' * 300}") for n in range(20)]
    long[10] = document("name", "Zacharias Quellmann signed it")
    path = corpus.write("log.jsonl", *long)
    corpus.update()
    data = path.read_bytes()
    with path.open("r+b") as file:
        file.write(data.replace(b"Zacharias Quellmann", b"XXXXXXXXX XXXXXXXXX"))
    assert path.stat().st_size == len(data)
    assert corpus.update() == Indexed(20, 1)
    assert corpus.engine("text").search("Quellmann", mode="text").total == 0
    assert corpus.update() == Indexed(0, 0)


def test_a_file_that_is_damaged_while_an_index_is_open_does_not_count_as_verified(
    corpus: Corpus,
) -> None:
    corpus.update()
    indexer = Indexer(corpus.index)
    corpus.append("log.jsonl", *said(3, 4))
    store = max(Path(corpus.index).glob("v5/text/*.store"))
    store.write_bytes(b"damage" + store.read_bytes()[6:])
    indexer.update(corpus.sources(), read)
    indexer.close()
    assert store.exists()
    assert TextIndex.open(corpus.index) is None
    assert corpus.update() == Indexed(5, 2)
