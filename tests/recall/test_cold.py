"""What a prompt brings to mind in a process that has just started, by words and meaning."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memfs.recall import prompts
from memfs.search import cold, encoder, extents, plain
from memfs.search.lexical import TextIndex
from tests.search.stores import Corpus, document

TEXTS = {
    "backup": "Backups of the postgres database run at three in the night and are kept for a month.",
    "retry": "Requests to the payment provider are retried three times with exponential backoff.",
    "colour": "The header of the customer portal is dark blue, its links are orange.",
    "cjk": "データベースの接続は五秒でタイムアウトします",
}
PROMPT = "how often do we retry when the payment service is down?"
NEAR = "at which hour are the nightly database dumps taken?"  # one word in common


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    corpus = Corpus(tmp_path)
    for name, text in TEXTS.items():
        corpus.write(f"{name}.jsonl", document(name, text, kind="passage", time="2026-05-03"))
    corpus.update(embed=True)
    return corpus


def ids(corpus: Corpus, prompt: str) -> list[str]:
    return [hit.id for hit in prompts.recall_cold(corpus.index, prompt, "now", [], 3).found]


def by_words(corpus: Corpus, prompt: str) -> list[str]:
    return [hit.id for hit in prompts.recall_by_words(corpus.index, prompt, "now", [], 3).found]


def folder(corpus: Corpus) -> Path:
    return Path(extents.path(corpus.index, encoder.bundled().name))


def test_meaning_finds_what_words_do_not(corpus: Corpus) -> None:
    assert by_words(corpus, NEAR) == []
    assert ids(corpus, NEAR) == ["backup"]


def test_a_hit_says_what_matched(corpus: Corpus) -> None:
    (hit,) = prompts.recall_cold(corpus.index, PROMPT, "now", [], 3).found
    assert (hit.id, hit.kind, hit.at, hit.text) == (
        "retry",
        "passage",
        "2026-05-03",
        TEXTS["retry"],
    )
    words, meaning = hit.why
    assert (words[:7], meaning[:10]) == ("words: ", "meaning 0.")
    assert hit.snippet


def test_parts_of_words_are_a_reason_too(corpus: Corpus) -> None:
    text = "鬱蒼鸞鳳麒麟"  # the model has no token for it
    corpus.write("rare.jsonl", document("rare", f"{text}鬱", kind="passage"))
    corpus.update(embed=True)
    (hit,) = prompts.recall_cold(corpus.index, text, "now", [], 3).found
    assert (hit.id, hit.why) == ("rare", ("parts of words",))


def test_what_tools_put_out_leaves_room_for_what_was_said(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    said = "The flaky login test fails because its clock is not frozen."
    corpus.write(
        "old.jsonl", document("old", said, role="user", session="old", group=1, host="claude")
    )
    corpus.write("cli.jsonl", *(
        document(f"cli{n}", f"flaky login test {n}: clock {n} is not frozen", role="tool",
                 session="cli", group=2)
        for n in range(60)
    ))  # fmt: skip
    corpus.update(embed=True)
    assert ids(corpus, "why is the login test so flaky? is its clock frozen?") == ["old"]


def test_what_is_new_is_found_by_its_words_until_it_has_vectors(corpus: Corpus) -> None:
    text = "The flaky login test fails because its clock is not frozen."
    corpus.write("login.jsonl", document("login", text, kind="passage"))
    corpus.update()
    assert ids(corpus, "why does the flaky login test fail? is its clock frozen?") == ["login"]


def test_what_is_gone_is_not_found(corpus: Corpus) -> None:
    (corpus.files / "backup.jsonl").unlink()
    corpus.update()
    assert ids(corpus, NEAR) == []


def test_without_an_index_or_vectors_it_goes_by_words(tmp_path: Path) -> None:
    assert prompts.recall_cold(str(tmp_path), PROMPT, "now", [], 3).found == []
    corpus = Corpus(tmp_path / "some")
    corpus.write("retry.jsonl", document("retry", TEXTS["retry"], kind="passage"))
    corpus.update()
    found = prompts.recall_cold(
        corpus.index, "requests retried with exponential backoff", "now", [], 3
    ).found
    assert [hit.why for hit in found] == [("words: requests, retried, exponential, backoff",)]


@pytest.mark.parametrize(
    "name", ["vectors.i8", "owners.u32", "documents.u32", "rows.json", plain.FILE, plain.WORDS]
)
@pytest.mark.parametrize("data", [None, b"", b"{}"])
def test_with_files_that_are_not_whole_it_goes_by_words(
    corpus: Corpus, name: str, data: bytes | None
) -> None:
    path = folder(corpus) / name
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    for prompt in (PROMPT, NEAR):
        assert ids(corpus, prompt) == by_words(corpus, prompt)


def test_more_rows_than_there_is_time_for_are_left_alone(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cold, "MOST_ROWS", len(TEXTS) - 1)
    assert ids(corpus, NEAR) == by_words(corpus, NEAR) == []
    monkeypatch.setattr(cold, "MOST_ROWS", len(TEXTS))
    assert ids(corpus, NEAR) == ["backup"]


def test_cosines_are_those_of_the_engine(corpus: Corpus) -> None:
    extent = extents.served(corpus.index)
    assert extent
    rows = cold.Rows.open(corpus.index, extent)
    assert rows
    vector = rows.model.vector(NEAR)
    assert vector
    far = rows.distances(vector)
    index = corpus.engine().vectors
    assert index is not None
    numbers = index.nearest(np.frombuffer(vector, np.int8), 4)
    assert rows.nearest(far) == numbers.tolist()
    first = index.cosines(np.frombuffer(vector, np.int8), index.spans(numbers)[0])
    assert [rows.cosine(n, far) for n in numbers.tolist()] == pytest.approx(first.tolist())


NUMBERS = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 2), max_size=300)


@given(NUMBERS, st.integers(1, 40), st.sampled_from([7, 64, 1 << 16]))
@example([0.0] * 6 + [0.5, 0.0, 0.25], 8, 7)
@settings(deadline=None)
def test_the_smallest_are_those_that_sorting_finds(
    values: list[float], count: int, chunk: int
) -> None:
    data = memoryview(struct.pack(f"{len(values)}d", *values)).cast("d")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cold, "_CHUNK", chunk)
        found = cold.smallest(data, count)
    assert found == sorted(range(len(values)), key=lambda at: (values[at], at))[:count]


RUN = """
import sys
sys.path[:0] = {path!r}
from memfs.recall import prompts
print(*(hit.id for hit in prompts.recall_cold({index!r}, {prompt!r}, "now", [], 3).found))
print(*sorted(set(sys.modules) & set({heavy!r})))
import numpy, numkong
rows = numpy.ones((2, 32), numpy.int8)
print(numpy.asarray(numkong.cdist(rows[:1], rows, "angular")).ravel().round(6).tolist())
"""
HEAVY = ["numpy", "tokenizers", "usearch", "json", "re", "typing", "dataclasses", "threading"]


def test_a_process_that_has_just_started_loads_nothing_that_takes_long(corpus: Corpus) -> None:
    path = [
        str(Path(cold.__file__).parents[2]),
        *(each for each in sys.path if "site-packages" in each),
    ]
    code = RUN.format(path=path, index=corpus.index, prompt=NEAR, heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-E", "-c", code], capture_output=True, text=True, check=True
    )
    found, heavy, after = done.stdout.split("\n")[:3]
    assert (found, heavy) == ("backup", "")
    assert after == "[0.0, 0.0]", "numpy that comes later, and numkong, understand each other"


def test_the_index_is_only_read(corpus: Corpus) -> None:
    before = {path: path.stat().st_mtime_ns for path in Path(corpus.index).rglob("*")}
    ids(corpus, NEAR)
    after = {path: path.stat().st_mtime_ns for path in Path(corpus.index).rglob("*")}
    assert {p: t for p, t in after.items() if "text" not in p.parts} == {
        p: t for p, t in before.items() if "text" not in p.parts
    }
    assert TextIndex.open(corpus.index) is not None
