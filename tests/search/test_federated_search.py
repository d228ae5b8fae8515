"""Several indexes are searched as one: each keeps its order, and none drowns another."""

from pathlib import Path

import pytest

from memfs.core.hits import Hit
from memfs.search import federated_search
from memfs.search.engine import Engine, IndexSearch, rank_indexes
from memfs.search.request import Filter, HitPage
from tests.search.stores import Corpus, document, session

QUERY = "how are requests to the payment provider retried"
OWN = {
    "retry": "Requests to the payment provider are retried three times with a growing pause.",
    "colour": "The header of the customer portal is dark blue, its links are orange.",
    "provider": "The payment provider sends its invoices in May.",
}
GUIDE = {
    "guide-retry": "A client retries requests to a payment provider with an idempotency key.",
    "guide-colour": "Colors of the portal are set in its theme.",
}
FILLER = "Chapter {n} of the manual tells how widgets {n} of row {n} are fitted and payment is due."


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return index(tmp_path_factory.mktemp("own"), OWN, kind="passage")


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return index(tmp_path_factory.mktemp("guide"), GUIDE, kind="source")


def index(folder: Path, texts: dict[str, str], **more: object) -> Engine:
    corpus = Corpus(folder)
    corpus.write("all.jsonl", *(document(name, text, **more) for name, text in texts.items()))
    corpus.update(embed=True)
    return corpus.engine()


def search(*engines: Engine, query: str = QUERY, limit: int = 20, offset: int = 0) -> HitPage[Hit]:
    searches = [IndexSearch(engine, None) for engine in engines]
    return federated_search.make_page(rank_indexes(searches, query, "hybrid"), limit, offset)


def ids(page: HitPage[Hit]) -> list[str]:
    return [hit.id for hit in page.hits]


def test_what_is_about_the_query_comes_first_whichever_index_has_it(
    own: Engine, guide: Engine
) -> None:
    found = ids(search(own, guide))
    assert set(found[:2]) == {"retry", "guide-retry"}
    assert ids(search(own, guide, query="colors of the portal theme"))[0] == "guide-colour"


def test_each_index_keeps_its_order(own: Engine, guide: Engine) -> None:
    found = ids(search(own, guide))
    for engine in (own, guide):
        alone = ids(engine.search(QUERY, limit=20))
        assert [ident for ident in found if ident in alone] == alone


def test_of_equal_ones_that_of_the_first_index_comes_first(tmp_path: Path) -> None:
    engines = [index(tmp_path / name, {name: OWN["retry"]}, kind="passage") for name in "abc"]
    assert ids(search(*engines)) == ["a", "b", "c"]
    assert ids(search(*reversed(engines))) == ["c", "b", "a"]


def test_pages_fit_together(own: Engine, guide: Engine) -> None:
    whole = search(own, guide)
    pages = [search(own, guide, limit=2, offset=offset) for offset in range(0, 8, 2)]
    assert [ident for page in pages for ident in ids(page)] == ids(whole)
    assert {page.total for page in pages} == {whole.total} == {len(whole.hits)}


def test_one_index_is_searched_as_by_itself(own: Engine) -> None:
    assert search(own, limit=2, offset=1) == own.search(QUERY, limit=2, offset=1)


def test_a_large_index_does_not_drown_a_small_one(own: Engine, tmp_path: Path) -> None:
    """Something in it is close to anything: with 2,000 chapters, the floor is higher."""
    filler = {f"chapter{n}": FILLER.format(n=n) for n in range(2000)}
    large = index(tmp_path, filler, kind="source")
    query = "when is payment due to the provider"
    assert "provider" in ids(search(own, large, query=query, limit=5))
    assert ids(search(own, large, query="how are widgets 7 of row 7 fitted", limit=1)) == [
        "chapter7"
    ]


def test_it_is_sure_if_one_index_is(own: Engine, guide: Engine) -> None:
    assert search(own, guide).sure
    assert not search(own, guide, query="mountain goats in winter").sure
    nothing = search(own, guide, query="…")
    assert (nothing.hits, nothing.total, nothing.sure) == ([], 0, True)


def test_an_index_without_vectors_is_searched_by_words(own: Engine, guide: Engine) -> None:
    words = Engine(guide.text, None)
    for mode in ("hybrid", "semantic"):
        searches = [IndexSearch(own, None), IndexSearch(words, None)]
        found = federated_search.make_page(rank_indexes(searches, QUERY, mode), 9)
        assert "guide-retry" in ids(found)


def test_sessions_of_two_indexes_are_merged(tmp_path: Path) -> None:
    engines = []
    for number, (name, text) in enumerate({**OWN, **GUIDE}.items(), 1):
        corpus = Corpus(tmp_path / name)
        said = [("user", text), ("user", f"Thanks for {name}.")]
        corpus.write("all.jsonl", *session(name, number, said))
        corpus.update(embed=True)
        engines.append(corpus.engine())
    searches = [IndexSearch(each, Filter(kinds=("message",))) for each in engines]
    rankings = rank_indexes(searches, QUERY, "hybrid")
    found = federated_search.make_session_page(rankings, 2)
    assert {each.session for each in found.hits} == {"retry", "guide-retry"}
    assert found.total == len(engines)
    rest = federated_search.make_session_page(rankings, 9, offset=2)
    assert {each.session for each in rest.hits} == {"colour", "provider", "guide-colour"}
