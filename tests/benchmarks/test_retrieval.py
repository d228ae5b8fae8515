"""The retrieval benchmark: what search finds, and what it is held against."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import baseline, retrieval

TEXTS = {
    "bread": "We are baking bread with rye flour.",
    "flaky": "The flaky test waits for a socket that nobody opens.",
    "ship": "A large vessel sails across the sea. " * 40,
}
QUERIES = [
    {"query": "who bakes the bread?", "relevant": ["bread"], "category": "words"},
    {"query": "boats on the ocean", "relevant": ["ship"], "category": "meaning"},
    {"query": "", "relevant": ["flaky"], "category": "nothing"},
    {"query": "bread", "relevant": ["bread"], "category": "elsewhere", "space": "empty"},
    {"query": "bread", "relevant": ["bread"], "category": "no", "answerable": False},
]


def written(tmp_path: Path) -> list[str]:
    corpus, queries = tmp_path / "corpus", tmp_path / "queries"
    corpus.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in TEXTS.items()))
    queries.write_text("".join(json.dumps(query) + "\n" for query in QUERIES))
    return [str(corpus), str(queries)]


def test_search_is_held_against_words_alone_and_vectors_alone_in_the_same_run(
    tmp_path: Path,
) -> None:
    done = CliRunner().invoke(retrieval.command, [*written(tmp_path), "--json"])
    found = json.loads(done.stdout)
    assert found["queries"] == 4
    recall = {name: score["recall"]["1"] for name, score in found["by_category"].items()}
    assert recall == {"words": 1, "meaning": 1, "nothing": 0, "elsewhere": 0}
    alone = {name: score["recall"]["1"] for name, score in found["alone"].items()}
    assert alone == {
        "memfs, words alone": 0.25,
        "memfs, vectors alone": 0.5,
        "bare tantivy": 0.25,
        "bare usearch": 0.5,
    }


@pytest.mark.parametrize("mode", ["text", "semantic"])
def test_a_search_by_one_of_both_is_held_against_the_bare_engines(
    tmp_path: Path, mode: str
) -> None:
    figure = tmp_path / "f.svg"
    command = [*written(tmp_path), "--mode", mode, "--plot", str(figure)]
    done = CliRunner().invoke(retrieval.command, command)
    assert done.exit_code == 0, done.output
    held = done.stdout.split("\n\n")[1].splitlines()
    assert [line.split("  ")[0] for line in held[1:]] == [
        f"memfs, {mode}",
        "bare tantivy",
        "bare usearch",
    ]
    assert "bare usearch" in figure.read_text()


def test_the_bare_engines_find_stems_and_the_nearest_window() -> None:
    texts = [baseline.NamedText(name, text) for name, text in TEXTS.items()]
    assert baseline.by_words(texts, 2)("bakes breads") == ["bread"]
    assert baseline.by_words(texts, 2)("what is the \ud800") == []
    near = baseline.by_vectors(texts, 2)
    assert near("boats on the ocean")[0] == "ship"
    assert len(near("boats on the ocean")) == 2
    assert near("") == []


def test_a_run_without_texts_finds_nothing(tmp_path: Path) -> None:
    corpus, queries = written(tmp_path)
    Path(corpus).write_text("")
    report = retrieval.run(corpus, queries, "hybrid", lambda _: None)
    assert report.overall.record()["mrr"] == 0
    assert not report.alone
