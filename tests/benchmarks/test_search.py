"""The search benchmark, as small as it can be."""

import json
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import hook, passages, retrieval, search
from benchmarks.search import parse_sizes
from memfs.core.errors import MemfsError

NAMES = [
    "bare tantivy, all words",
    "bare tantivy, no stop words",
    "bare usearch, graph",
    "bare tantivy + usearch",
    "memfs, warm",
    "memfs, warm, by words",
    "memfs.open().search",
    "bare usearch, exact",
    'python -c "import numpy, usearch.index, tantivy"',
    "memfs search",
    "memfs search --mode text",
]


def test_passages_are_distinct_real_and_always_the_same() -> None:
    found = list(passages.passages(3000))
    assert len(set(found)) == 3000
    assert found[:50] == list(islice(passages.passages(50), 50))
    words = sum(len(text.split()) for text in found) / 3000
    assert 15 < words < 60
    modules = {sentence for module in passages.sentences() for sentence in module}
    assert any(found[0].startswith(sentence) for sentence in modules)


def test_queries_are_words_of_the_texts() -> None:
    said = {word for module in passages.sentences() for text in module for word in text.split()}
    found = passages.queries(50)
    assert len(found) == 50
    assert all(set(query.split()) <= said for query in found)


def test_each_size_is_timed_against_its_floors_and_what_was_made_is_used_again(
    tmp_path: Path,
) -> None:
    common = ["--sizes", "30", "--rounds", "5", "--cold", "1", "--cache", str(tmp_path)]
    run = CliRunner()
    done = run.invoke(search.command, [*common, "--plot", str(tmp_path / "f.svg")])
    assert done.exit_code == 0, done.output
    assert done.stderr
    assert "memfs search --mode text" in done.stdout
    assert "MEMORY COLD" in done.stdout
    assert "memfs, warm" in (tmp_path / "f.svg").read_text()
    made = (tmp_path / "30/built.json").stat().st_mtime_ns
    found = json.loads(run.invoke(search.command, [*common, "--json"]).stdout)
    assert (tmp_path / "30/built.json").stat().st_mtime_ns == made, "what is cached is used"
    assert [timing["name"] for timing in found["timings"]] == NAMES
    for timing in found["timings"]:
        assert 0 < timing["p50"] <= timing["p95"] <= timing["p99"]
    held = {timing["name"]: timing["ratio"] for timing in found["timings"]}
    assert held["bare tantivy + usearch"] == held[NAMES[8]] == 1
    assert held["bare tantivy, all words"] is None
    assert held["memfs, warm"] > 0
    [space] = found["space"]
    assert space["passages"] == 30
    assert min(space["recall"], space["words"], space["vectors"]) > 1000


@pytest.mark.parametrize("sizes", ["", "x", "1k,", "0", "-5", "k"])
def test_what_is_no_list_of_sizes_is_refused(sizes: str) -> None:
    with pytest.raises(MemfsError, match="no list of sizes"):
        parse_sizes(sizes)


def test_sizes_have_units() -> None:
    assert parse_sizes("1k, 20000,1M") == (1000, 20_000, 1_000_000)


def test_the_hook_and_retrieval_benchmarks_draw_figures(tmp_path: Path) -> None:
    corpus, queries = tmp_path / "corpus", tmp_path / "queries"
    corpus.write_text('{"id": "a", "text": "baking bread"}\n{"id": "b", "text": "a flaky test"}\n')
    queries.write_text('{"query": "bread", "relevant": ["a"], "category": "<food>"}\n')
    figure = tmp_path / "f.svg"
    command = [str(corpus), str(queries), "--plot", str(figure)]
    done = CliRunner().invoke(retrieval.command, command)
    assert done.exit_code == 0, done.output
    assert "&lt;food&gt;" in figure.read_text()
    assert "2.0 ms, x 2.0" in hook.figure(
        [hook.HookTiming("bare", 1, 1, 1), hook.HookTiming("h", 2, 2, 2)]
    )
