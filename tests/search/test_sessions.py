"""Whole sessions as hits: what several turns tell together."""

from pathlib import Path

import pytest

from memfs.search.engine import Engine
from memfs.search.federated_search import TURNS
from memfs.search.request import Filter, Mode
from tests.search.stores import Corpus, document, session

MODES: tuple[Mode, ...] = ("hybrid", "text", "semantic")
SAID = {
    "fix": ["the login test is flaky", "retry the login with a backoff", "the login works now"],
    "chat": ["lunch at noon", "the login page is blue", "see you"],
    "other": ["a kernel panic", "postgres needs a vacuum", "the invoice is unpaid"],
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    corpus = Corpus(tmp_path_factory.mktemp("sessions"))
    for group, (name, texts) in enumerate(SAID.items(), 1):
        said = [("user", text) for text in texts]
        corpus.write(f"{name}.jsonl", *session(name, group, said))
    corpus.write("passage.jsonl", document("p", "how to login", kind="passage"))
    corpus.update(embed=True)
    return corpus.engine()


@pytest.mark.parametrize("mode", MODES)
def test_the_session_that_says_most_about_it_comes_first(engine: Engine, mode: Mode) -> None:
    page = engine.search_sessions("login", mode=mode)
    best = page.hits[0]
    assert (best.session, best.host, best.turns) == ("fix", "claude", 3)
    assert len(best.hits) == 3 <= TURNS
    assert best.at == best.hits[0].at
    assert {hit.session for hit in best.hits} == {"fix"}
    scores = [each.score for each in page.hits]
    assert scores == sorted(scores, reverse=True)
    assert "" not in {each.session for each in page.hits}, "a passage is of no session"


def test_a_turn_more_about_it_is_worth_more_than_the_same_turn_alone(engine: Engine) -> None:
    (fix, chat) = engine.search_sessions("login", mode="text").hits
    assert (fix.session, chat.session) == ("fix", "chat")
    assert fix.score > max(hit.score for hit in fix.hits)


@pytest.mark.parametrize("mode", MODES)
def test_sessions_are_paged_and_filtered(engine: Engine, mode: Mode) -> None:
    everything = engine.search_sessions("login", mode=mode)
    pages = [engine.search_sessions("login", mode=mode, limit=1, offset=n) for n in range(4)]
    assert [each.session for page in pages for each in page.hits] == [
        each.session for each in everything.hits
    ]
    assert {page.total for page in pages} == {everything.total}
    only = engine.search_sessions("login", mode=mode, only=Filter(sessions=("chat",)))
    assert [each.session for each in only.hits] == ["chat"]


@pytest.mark.parametrize("mode", ["hybrid", "text"])
def test_sessions_that_say_the_same_are_sessions_all_the_same(tmp_path: Path, mode: Mode) -> None:
    same = "The zebrafish import fails with a checksum mismatch again."
    ends = ("I rebuilt the lockfile.", "I cleared the mirror.", "I pinned the version.")
    corpus = Corpus(tmp_path)
    for group, end in enumerate(ends, 1):
        said = [("user", text) for text in (same, same.lower(), end)]
        corpus.write(f"s{group}.jsonl", *session(f"s{group}", group, said))
    corpus.write("archive.jsonl", document("p", same, kind="passage"))
    corpus.update(embed=True)
    found = corpus.engine().search_sessions("zebrafish checksum", mode=mode).hits
    assert {each.session for each in found} == {"s1", "s2", "s3"}
    for each in found:
        shown = [hit.text.lower() for hit in each.hits]
        assert shown.count(same.lower()) == 1, "once in each"
