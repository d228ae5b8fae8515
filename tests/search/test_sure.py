"""Search says when it does not know: whether what was found is clearly about the question."""

from pathlib import Path

import numpy as np
import pytest

from memfs.search.engine import Engine
from tests.search.stores import Corpus, document

TEXTS = [
    "The payment client retries five times with exponential backoff.",
    "Nightly database backups are made at three o'clock by pg_dump.",
    "Sessions expire in redis after 1800 seconds.",
    "The header of the customer portal is teal.",
    "Invoices are exported WITH HOLD, else the cursor closes after 500 rows.",
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    corpus = Corpus(tmp_path_factory.mktemp("sure"))
    for number, text in enumerate(TEXTS):
        corpus.write(f"{number}.jsonl", document(f"{number}", text, kind="passage"))
    corpus.update(embed=True)
    return corpus.engine()


@pytest.mark.parametrize(
    "query",
    [
        "how often does the payment client retry?",
        "when are the database dumps taken",
        "redis",
        '"cursor closes"',
        "pg_dump",
        "exponental backoff",
    ],
)
def test_what_is_there_is_sure(engine: Engine, query: str) -> None:
    assert engine.search(query).sure


@pytest.mark.parametrize(
    "query",
    [
        "zxqwv",
        "which hiking boots keep dry in the snow",
        "the capital of Mongolia",
        "sourdough bread",
    ],
)
def test_what_nothing_is_about_is_not(engine: Engine, query: str) -> None:
    found = engine.search(query)
    assert not found.sure or not found.hits


def test_by_words_alone_one_of_many_words_is_not_enough(engine: Engine) -> None:
    assert engine.search("payment client retries", mode="text").sure
    assert not engine.search("which client pays for hiking boots in winter", mode="text").sure


def test_no_number_is_odd_on_the_way(engine: Engine) -> None:
    with np.errstate(all="raise"):
        for text in TEXTS:
            assert engine.search(text).hits[0].text == text


def test_nothing_found_is_certain(tmp_path: Path) -> None:
    assert Corpus(tmp_path).engine().search("anything").sure
