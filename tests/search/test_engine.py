"""Searching: filters, paging, reasons, and queries that are anything but queries."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memfs.core.hits import Hit
from memfs.search.engine import Engine
from memfs.search.request import Filter, HitPage, Mode
from tests.examples import examples
from tests.search.stores import Corpus, Document, document

MODES: tuple[Mode, ...] = ("hybrid", "text", "semantic")
SUBJECTS = (
    "baking sourdough bread",
    "migrating the postgres database",
    "indenting with tabs",
    "a flaky login test",
    "the unpaid invoice",
    "a kernel panic",
    "playing the piano",
    "watering the garden",
)
DAY = 86_400


def messages() -> list[Document]:
    return [
        document(
            f"m{n:03}",
            f"{SUBJECTS[n % 8]}, turn {n}",
            role=("user", "assistant", "tool")[n % 3],
            host=("claude", "codex")[n % 2],
            session=f"s{n % 5}",
            project="/w",
            branch="main",
            at=n * DAY,
            time=f"day {n}",
        )
        for n in range(240)
    ]


PASSAGES = [
    document(
        "p0",
        "The team bakes bread on Fridays.",
        kind="passage",
        tag=["food", "team"],
        importance=7,
        at=5 * DAY,
    ),
    document(
        "p1",
        "Bread recipes are in the wiki.",
        kind="passage",
        tag=["food"],
        importance=3,
        at=6 * DAY,
    ),
    document(
        "p2", "Zürich is where the façade naïveté café is", kind="passage", tag=["team"], at=0
    ),
    document("p3", "to be or not to be", kind="passage", at=0),
    document(
        "b0", "Name: Alice. Bakes bread.", kind="block", label="human", tag=["team"], at=7 * DAY
    ),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    corpus = Corpus(tmp_path_factory.mktemp("engine"))
    corpus.write("log.jsonl", *messages())
    corpus.write("rest.jsonl", *PASSAGES)
    corpus.update(embed=True)
    return corpus.engine()


def ids(page: HitPage[Hit]) -> list[str]:
    return [hit.id for hit in page.hits]


def every(engine: Engine, query: str, mode: Mode = "text", **only: object) -> set[str]:
    return set(ids(engine.search(query, mode=mode, only=Filter(**only), limit=10_000)))  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", MODES)
def test_each_way_finds_what_is_asked_for(engine: Engine, mode: Mode) -> None:
    page = engine.search("who bakes bread?", mode=mode, limit=8)
    assert "b0" in ids(page)
    assert len(page.hits) == 8 <= page.total


def test_meaning_finds_what_words_do_not(engine: Engine) -> None:
    assert engine.search("musical instrument", mode="text").total == 0
    for mode in ("hybrid", "semantic"):
        found = engine.search("musical instrument", mode=mode, limit=3).hits
        assert all("piano" in hit.text for hit in found)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("only", "wanted"),
    [
        ({"kinds": ("passage",)}, {"p0", "p1"}),
        ({"kinds": ("block", "passage")}, {"p0", "p1", "b0"}),
        ({"tags": ("food",)}, {"p0", "p1"}),
        ({"tags": ("food", "team")}, {"p0"}),
        ({"tags": ("food", "nothing")}, set()),
        ({"roles": ("nobody",)}, set()),
        ({"kinds": ("passage",), "since": 6 * DAY}, {"p1"}),
        ({"kinds": ("passage",), "since": 5 * DAY, "until": 5 * DAY}, {"p0"}),
        ({"kinds": ("passage",), "until": 5 * DAY - 1}, set()),
        ({"kinds": ("passage",), "since": -(10**30), "until": 10**30}, {"p0", "p1"}),
        ({"sessions": ("\ud800",)}, set()),
    ],
)
def test_filters_hold(
    engine: Engine, mode: Mode, only: dict[str, object], wanted: set[str]
) -> None:
    found = every(engine, "bread", mode, **only)
    assert {ident for ident in found if ident not in ("p2", "p3")} == wanted


@pytest.mark.parametrize("mode", MODES)
def test_filters_on_messages_hold_together(engine: Engine, mode: Mode) -> None:
    only = Filter(
        roles=("user", "tool"),
        hosts=("codex",),
        sessions=("s1", "s3"),
        since=3 * DAY,
        until=201 * DAY,
    )
    found = engine.search("bread tabs invoice piano login", mode=mode, only=only, limit=500).hits
    assert found
    for hit in found:
        assert hit.role in ("user", "tool")
        assert (hit.host, hit.session in ("s1", "s3")) == ("codex", True)
        assert 3 <= int(hit.id[1:]) <= 201


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "query", ["bread", "turn of the garden postgres tabs", "musical instruments and turn"]
)
@pytest.mark.parametrize("limit", [1, 7, 50])
def test_pages_fit_together(engine: Engine, mode: Mode, query: str, limit: int) -> None:
    whole = engine.search(query, mode=mode, limit=10_000)
    assert whole.total == len(whole.hits)
    assert len(set(ids(whole))) == whole.total
    paged: list[Hit] = []
    offsets = range(0, whole.total + limit, limit) if limit > 1 else range(40)
    for offset in offsets:
        page = engine.search(query, mode=mode, limit=limit, offset=offset)
        assert page.total == whole.total
        paged.extend(page.hits)
    assert paged == (whole.hits if limit > 1 else whole.hits[:40])


def test_scores_fall(engine: Engine) -> None:
    for mode in ("text", "semantic"):
        scores = [hit.score for hit in engine.search("bread turn", mode=mode, limit=300).hits]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)


def test_a_rare_exact_word_is_never_pushed_out(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    near = [document(f"n{n}", f"the bakery sells bread and rolls, {n}") for n in range(60)]
    corpus.write("log.jsonl", *near, document("x", "xqz7 " + "padding about compilers " * 60))
    corpus.update(embed=True)
    assert "x" in ids(corpus.engine().search("bakery bread rolls xqz7"))


@pytest.mark.parametrize("mode", ["hybrid", "text"])
def test_of_two_equal_turns_that_of_the_user_is_first(tmp_path: Path, mode: Mode) -> None:
    corpus = Corpus(tmp_path)
    said = "the invoice is due in {}"
    corpus.write(
        "log.jsonl",
        document("a", said.format("June"), role="assistant", weight=85),
        document("u", said.format("July"), role="user", weight=100),
    )
    corpus.update(embed=True)
    assert ids(corpus.engine().search("when is the invoice due", mode=mode)) == ["u", "a"]


def test_a_score_does_not_depend_on_the_other_candidates(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    hosts = ("claude", "codex")
    texts = enumerate([*SUBJECTS, "bread and butter", "bread for the login test"])
    corpus.write("log.jsonl", *(document(f"d{n}", t, host=hosts[n % 2]) for n, t in texts))
    corpus.update(embed=True)
    engine, question = corpus.engine(), "who bakes bread for the kernel"
    scores = {hit.id: hit.score for hit in engine.search(question, limit=20).hits}
    some = engine.search(question, only=Filter(hosts=("codex",)), limit=20).hits
    assert len(some) > 2
    assert {hit.id: hit.score for hit in some} == {hit.id: scores[hit.id] for hit in some}


def test_hits_say_why_they_are_there(engine: Engine) -> None:
    hit = engine.search("bakes bread Fridays", mode="text").hits[0]
    assert (hit.id, hit.why) == ("p0", ("words: bakes, bread, fridays",)) or set(
        hit.why[0].removeprefix("words: ").split(", ")
    ) == {"bakes", "bread", "fridays"}
    far = engine.search("musical instrument", mode="semantic").hits[0]
    assert far.why[0].startswith("meaning 0.")
    both = engine.search("playing the piano").hits[0]
    assert [reason.split()[0] for reason in both.why] == ["words:", "meaning"]
    for found in engine.search("bread and wine", limit=300).hits:
        assert found.why


def test_a_hit_carries_all_that_is_known(engine: Engine) -> None:
    hit = next(hit for hit in engine.search("Bread recipes", mode="text").hits if hit.id == "p1")
    assert hit.kind == "passage"
    assert hit.text == hit.snippet == "Bread recipes are in the wiki."
    assert (hit.tags, hit.importance) == (("food",), 3)
    hit = engine.search("postgres 9", mode="text").hits[0]
    assert (hit.id, hit.role, hit.host, hit.session) == ("m009", "user", "codex", "s4")
    assert (hit.project, hit.branch, hit.at) == ("/w", "main", "day 9")
    assert engine.search("Alice", mode="text").hits[0].label == "human"


def test_a_long_text_shows_the_part_that_matched(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.write("a.md", document("long", "padding " * 500 + "the xylophone " + "padding " * 500))
    corpus.update(embed=True)
    hit = corpus.engine().search("xylophone").hits[0]
    assert "xylophone" in hit.snippet
    assert len(hit.snippet) < 300


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "query", ["*", '"', "", " \n", "(", "…—", "\x00\x07", "😀", "\ud800", "a1b2" * 20, "-" * 9999]
)
def test_a_query_without_words_finds_nothing(engine: Engine, mode: Mode, query: str) -> None:
    assert engine.search(query, mode=mode) == HitPage([], 0)


@given(st.text(st.characters(exclude_categories=[]), max_size=30), st.sampled_from(MODES))
@example("kind:message OR *", "text")
@examples(150)
def test_no_query_raises_or_finds_what_it_does_not_name(
    engine: Engine, query: str, mode: Mode
) -> None:
    page = engine.search(query, mode=mode, limit=1000)
    assert page.total == len(page.hits)
    stems = engine.text.stems(query)
    meant = any(len(word) >= 5 for word in stems)  # a word that may be mistyped
    for hit in page.hits if mode == "text" and not meant else ():
        assert stems & engine.text.stems(hit.text)


@pytest.mark.parametrize("mode", ["hybrid", "text"])
@pytest.mark.parametrize(
    "query",
    ["bread and wine " * 7000, "b" * 100_000, " ".join(f"w{n}" for n in range(15_000)) + " bread"],
)
def test_a_query_of_100_kilobytes_is_answered(engine: Engine, mode: Mode, query: str) -> None:
    page = engine.search(query, mode=mode)
    if "bread" in query:
        assert "bread" in page.hits[0].text.lower()
    assert len(page.hits) <= 10


@pytest.mark.parametrize("mode", MODES)
def test_an_empty_index_finds_nothing(tmp_path: Path, mode: Mode) -> None:
    engine = Engine.open(str(tmp_path), mode)
    assert engine.search("bread", mode=mode) == HitPage([], 0)
    assert engine.search("bread", mode=mode, only=Filter(kinds=("block",), until=5)) == HitPage(
        [], 0
    )


def test_what_was_deleted_is_not_found_by_its_vectors(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.write("a.md", document("a", "baking bread"))
    corpus.write("b.md", document("b", "baking rolls"))
    corpus.update(embed=True)
    (corpus.files / "a.md").unlink()
    corpus.update()
    for mode in MODES:
        page = corpus.engine().search("baking bread", mode=mode)
        assert (ids(page), page.total) == (["b"], 1)


def test_what_has_no_vectors_yet_is_found_by_its_words(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.write("a.md", document("a", "baking bread"))
    corpus.update(embed=True)
    corpus.write("b.md", document("b", "baking rolls"))
    corpus.update()
    assert set(ids(corpus.engine().search("baking rolls"))) == {"a", "b"}
    assert ids(corpus.engine().search("baking rolls", mode="semantic")) == ["a"]


def test_an_engine_opened_for_words_answers_every_mode(engine: Engine) -> None:
    words = Engine(engine.text, None)
    assert set(ids(words.search("sourdough"))) <= every(engine, "sourdough")
    assert words.search("sourdough", mode="semantic") == words.search("sourdough")


def test_what_a_filter_allows_is_the_same_whether_it_is_listed_or_held_against_the_nearest(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    only = Filter(roles=("user",))
    monkeypatch.setattr("memfs.search.hybrid.POOL", 100)  # more than there are
    listed = [ids(engine.search("bread", mode=mode, only=only, limit=50)) for mode in MODES]
    monkeypatch.setattr("memfs.search.hybrid._FEW", 2)
    monkeypatch.setattr("memfs.search.hybrid.POOL", 3)
    few = [ids(engine.search("bread", mode=mode, only=only, limit=50)) for mode in MODES]
    monkeypatch.setattr("memfs.search.hybrid.POOL", 100)
    held = [ids(engine.search("bread", mode=mode, only=only, limit=50)) for mode in MODES]
    assert held == listed
    for all_, some in zip(listed, few, strict=True):
        assert some
        assert set(some) <= set(all_)


def test_long_texts_that_a_filter_leaves_out_do_not_hide_what_it_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = Corpus(tmp_path)
    tools = [document(f"t{n}", "dough in the oven " * 50, role="tool") for n in range(5)]
    users = [document(f"u{n}", f"playing the piano {n}", role="user") for n in range(35)]
    corpus.write("log.jsonl", *tools, *users)
    corpus.update(embed=True)
    monkeypatch.setattr("memfs.search.hybrid._FEW", 2)
    monkeypatch.setattr("memfs.search.hybrid.POOL", 3)
    found = corpus.engine().search("dough", mode="semantic", only=Filter(roles=("user",)))
    assert len(found.hits) >= 3
    assert {hit.role for hit in found.hits} == {"user"}
