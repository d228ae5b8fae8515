"""A warm engine finds through its graph what a cold one finds, for any caller."""

import random
from pathlib import Path

import pytest

from memfs.core.hits import Hit
from memfs.search import hnsw
from memfs.search.engine import Engine
from memfs.search.request import Filter
from tests.search.stores import Corpus, document

SUBJECTS = ("bread", "tabs", "piano", "garden", "invoice", "kernel", "postgres", "marmalade")
QUERIES = [f"{one} and {two}" for one in SUBJECTS for two in SUBJECTS]


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    monkeypatch.setattr(hnsw, "FEWEST", 5)
    corpus = Corpus(tmp_path)
    texts = (f"turn {n} is about {SUBJECTS[n % 8]}, {SUBJECTS[n % 7]} too" for n in range(200))
    corpus.write("log", *(document(f"m{n:03}", text) for n, text in enumerate(texts)))
    corpus.update(embed=True)
    return corpus


def warm(corpus: Corpus) -> Engine:
    engine = corpus.engine()
    assert engine.vectors
    engine.vectors.warm()
    assert engine.vectors.graph
    return engine


def hits(engine: Engine, query: str) -> list[Hit]:
    return engine.search(query, limit=20).hits


def test_it_finds_what_a_cold_one_finds(corpus: Corpus) -> None:
    cold, ready = corpus.engine(), warm(corpus)
    for query in QUERIES[:20]:
        assert {hit.id for hit in hits(ready, query)} == {hit.id for hit in hits(cold, query)}
        assert ready.search(query, mode="semantic").hits == cold.search(query, mode="semantic").hits
        only = Filter(kinds=("passage",))
        assert ready.search(query, only=only).total == 0


def test_meaning_alone_is_not_left_to_the_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graph loses some of the nearest: where words find nothing, all rows are looked at."""
    monkeypatch.setattr(hnsw, "FEWEST", 5)
    monkeypatch.setattr(hnsw, "_LEAST_EXPANSION", 1)
    monkeypatch.setattr("memfs.search.hybrid._FEW", 2)
    lot = random.Random(3)  # noqa: S311 - texts, no secrets
    texts = [" ".join("".join(lot.sample("aeioulmnrst", 4)) for _ in range(9)) for _ in range(1500)]
    corpus = Corpus(tmp_path)
    corpus.write("log", *(document(f"m{n:04}", text) for n, text in enumerate(texts)))
    corpus.update(embed=True)
    cold, ready = corpus.engine(), warm(corpus)
    assert cold.vectors
    assert ready.vectors
    missed = 0
    for subject in ("bread", "garden", "kernel", "postgres", "marmalade"):  # like none of them
        asked = (ready.vectors.encoder.encode([subject]).vectors[0] * 127).astype("int8")
        exact = cold.vectors.find_nearest(asked, 48).tolist()
        assert ready.vectors.find_nearest(asked, 48, exact=True).tolist() == exact
        missed += ready.vectors.find_nearest(asked, 48).tolist() != exact
        assert hits(ready, subject) == hits(cold, subject) != []
        for only in (None, Filter(kinds=("message",))):  # a filter that is not listed, too
            both = [each.search(subject, mode="semantic", only=only).hits for each in (ready, cold)]
            assert both[0] == both[1] != []
    assert missed, "the graph finds them all: there is nothing to be seen here"
