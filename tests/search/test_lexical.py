"""The full-text index: words in, words out, and nothing lost when something fails."""

import os
import string
from pathlib import Path

import pytest
import tantivy
from hypothesis import given
from hypothesis import strategies as st

from memfs.search import encoder, stopwords
from memfs.search.lexical import MOST_TERMS, Term, TextIndex, WantedStems
from tests.examples import examples

TEXTS = [
    "The deployment of the payment service failed.",
    "We deploy to Zürich on Fridays.",
    "payment payments paying paid",
    "to be or not to be",
]


def filled(folder: Path, texts: list[str]) -> TextIndex:
    index = TextIndex.create(str(folder))
    assert index.add(
        {"id": f"d{n}", "text": text, "num": n} for n, text in enumerate(texts)
    ) == len(texts)
    index.commit()
    return index


@pytest.fixture
def index(tmp_path: Path) -> TextIndex:
    return filled(tmp_path, TEXTS)


def found(index: TextIndex, text: str) -> list[str]:
    query = index.query(index.parse_terms(text))
    if query is None:
        return []
    return [str(index.read_fields(address)["id"][0]) for _, address in index.search(query, 100)]


def test_there_is_no_index_before_it_is_made(tmp_path: Path) -> None:
    assert TextIndex.open(str(tmp_path)) is None
    TextIndex.create(str(tmp_path))
    opened = TextIndex.open(str(tmp_path))
    assert opened
    assert opened.searcher.num_docs == 0
    assert os.stat(tmp_path / "v5/text").st_mode & 0o777 == 0o700


@pytest.mark.parametrize("damage", ["meta.json", ".term"])
def test_a_damaged_index_is_none(tmp_path: Path, index: TextIndex, damage: str) -> None:
    for path in (tmp_path / "v5/text").glob(f"*{damage}"):
        path.write_bytes(b"{}")
    assert TextIndex.open(str(tmp_path)) is None


def test_words_are_found_in_any_form(index: TextIndex) -> None:
    assert set(found(index, "deploying")) == {"d0", "d1"}
    assert set(found(index, "PAYMENTS")) == {"d0", "d2"}
    assert found(index, "zurich") == found(index, "ZÜRICH") == ["d1"]
    assert found(index, "unheard of") == []


def test_common_words_count_only_where_there_are_no_others(index: TextIndex) -> None:
    assert [term.word for term in index.parse_terms("What was the payment of?")] == ["payment"]
    assert found(index, "to be or not to be")[0] == "d3"
    assert {term.word for term in index.parse_terms("to be")} == {"to", "be"}


def test_a_stop_word_is_one_whatever_its_form(index: TextIndex) -> None:
    assert index.parse_terms("payment " + " ".join(stopwords.STOP).upper())[0].word == "payment"
    assert len(index.parse_terms("payment " + " ".join(stopwords.STOP))) == 1


def test_terms_come_rarest_first_and_unknown_ones_last(index: TextIndex) -> None:
    terms = index.parse_terms("payment unheard service Fridays")
    assert [term.word for term in terms][-2:] == ["payment", "unheard"]
    assert [term.frequency for term in terms] == [1, 1, 2, 0]
    assert terms[-1].idf > terms[0].idf > terms[2].idf > 0
    assert len(index.parse_terms(" ".join(f"w{n}" for n in range(100)))) == MOST_TERMS
    assert len(index.parse_terms("one1 two2 three3", 2)) == 2


def test_every_word_is_known_by_how_its_stem_begins(index: TextIndex) -> None:
    vocabulary = [*encoder.load_bundled().check()._tokenizer.get_vocab(), "aed"]
    vocabulary += [f"{first}ying" for first in string.ascii_lowercase]
    for word in vocabulary:
        for stem in index.stems(word):
            assert index.match_stems(
                WantedStems([Term(word, stem, 1, 1)]), f"The {word}, of course"
            ) == {stem}


@given(
    st.lists(st.text("aedyingtlé0 _.—日本", min_size=1, max_size=9), min_size=1, max_size=4),
    st.text("aedyingtlé0 _.—日本\ud800", max_size=40),
)
@examples(300)
def test_words_that_a_text_holds_are_those_that_are_indexed(
    index: TextIndex, asked: list[str], text: str
) -> None:
    terms = [term for each in asked for term in index.parse_terms(each)]
    many = [Term("", f"{first}{second}", 1, 1) for first in "xyzaed" for second in "bcfghjkm"]
    for wanted in (terms, [*terms, *many]):
        assert index.match_stems(WantedStems(wanted), text) == index.stems(text) & {
            term.stem for term in wanted
        }


def test_the_same_stem_is_one_term(index: TextIndex) -> None:
    assert [(term.word, term.stem) for term in index.parse_terms("payments Payment")] == [
        ("payments", "payment")
    ]


@pytest.mark.parametrize(
    ("length", "known"), [(40, True), (59, True), (60, False), (64, False), (5000, False)]
)
def test_endless_tokens_are_no_words_and_do_not_hide_others(
    tmp_path: Path, length: int, known: bool
) -> None:
    token = "a1" * (length // 2) + "b" * (length % 2)
    index = filled(tmp_path, [f"before {token} after", "else"])
    assert found(index, token) == (["d0"] if known else [])
    assert found(index, f"{token} after") == ["d0"]


@pytest.mark.parametrize(
    "text", ["half \ud83d pair", "nul \x00 byte", "\x1b[2m dim", "a\u2028b", "\ufeffx", ""]
)
def test_any_text_can_be_added(tmp_path: Path, text: str) -> None:
    index = TextIndex.create(str(tmp_path))
    index.add([{"id": text, "session": text, "tag": [text, "x"], "text": text, "num": 1}])
    index.commit()
    assert index.searcher.num_docs == 1
    assert len(index.search(index.term_query("session", text), 5)) == 1
    index.delete("session", text)
    index.commit()
    assert index.searcher.num_docs == 0


SYNTAX = (
    "foo:bar AND (", "don't", "*", '"', "text:*", "[a TO z]", "payment^5 OR", "-payment",
    "a" * 100_000, "\\", "/regex.*/", "NOT", "{", "\ud800", "\x00\x07", "IN [", "payment~2", "@#%",
)  # fmt: skip


@pytest.mark.parametrize("text", SYNTAX, ids=lambda text: repr(text)[:20])
def test_query_syntax_is_text(index: TextIndex, text: str) -> None:
    named = {"d0", "d2"} if "payment" in text else {"d3"} if text == "NOT" else set()
    assert set(found(index, text)) == named


def test_a_document_that_is_refused_leaves_the_index_usable(index: TextIndex) -> None:
    with pytest.raises(ValueError, match="num"):
        index.add(
            [{"id": "x", "text": "added before", "num": 7}, {"id": "y", "text": "no", "num": -1}]
        )
    index.rollback()
    index.add([{"id": "z", "text": "added later", "num": 8}])
    index.commit()
    assert found(index, "added") == ["z"]


def test_a_failed_commit_does_not_lose_later_documents(index: TextIndex) -> None:
    """tantivy accepts a document of wrong types, fails to commit it, and then drops all others."""
    index._open_writer().add_document(tantivy.Document(id="x", text="never there", num="five"))
    with pytest.raises(ValueError, match=r".+"):
        index.commit()
    for number in range(20, 23):
        index.add([{"id": f"d{number}", "text": "afterwards", "num": number}])
        index.commit()
    assert sorted(found(index, "afterwards")) == ["d20", "d21", "d22"]
    assert found(index, "never") == []
    assert index.searcher.num_docs == len(TEXTS) + 3


def test_what_is_deleted_is_gone_after_the_commit(index: TextIndex) -> None:
    index.delete("id", "d0")
    index.delete_matching(index.number_query(2, 3))
    assert index.searcher.num_docs == 4
    index.commit()
    assert sorted(found(index, "deploy paid payment not")) == ["d1"]
    index.commit()


def test_a_reader_sees_a_commit_when_it_opens_again(tmp_path: Path, index: TextIndex) -> None:
    reader = TextIndex.create(str(tmp_path))
    index.add([{"id": "new", "text": "novelty", "num": 9}])
    index.commit()
    assert found(reader, "novelty") == []
    assert found(TextIndex.create(str(tmp_path)), "novelty") == ["new"]


def test_ranges_include_both_ends(tmp_path: Path) -> None:
    index = TextIndex.create(str(tmp_path))
    index.add(
        {"id": str(at), "text": "x", "num": n, "at": at} for n, at in enumerate((-5, 0, 10, 20))
    )
    index.commit()

    def between(first: int | None, last: int | None) -> list[str]:
        hits = index.search(index.range_query("at", first, last), 10)
        return sorted(str(index.read_fields(address)["id"][0]) for _, address in hits)

    assert between(0, 10) == ["0", "10"]
    assert between(None, 0) == ["-5", "0"]
    assert between(11, None) == ["20"]
    assert len(between(None, None)) == len(between(-(10**30), 10**30)) == 4
    assert between(30, 10) == []
    assert len(index.search(index.number_query(1, 3), 10)) == 2
    assert index.search(index.number_query(0), 0) == []


def test_a_name_counts_the_same_however_many_others_a_text_has(tmp_path: Path) -> None:
    others = " ".join(f"helper_{n}" for n in range(30))
    index = filled(tmp_path, [*TEXTS, "next_job", f"next_job, {others}"])
    (one, _), (other, _) = index.search(index.part_query("Next_Job", 0.5), 10)
    assert one == other > 0
