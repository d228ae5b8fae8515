"""Search by words: BM25 over the words of a question, their parts and their corrections.

Nothing here needs numpy: a search by words alone does not load it.
"""

from __future__ import annotations

from typing import NamedTuple

from tantivy import DocAddress

from memfs.search.lexical import Occur, Query, Term, TextIndex
from memfs.search.query_dates import Question

_PART = 0.5  # boost of an identifier and of words inside words: most match as words already
_TYPOS = 3  # unknown words that are corrected


class Bm25Matches(NamedTuple):
    """Document numbers, the best first, with the BM25 score and the address of each."""

    numbers: list[int]
    scores: list[float]
    addresses: list[DocAddress]


def find_matches(
    text: TextIndex, question: Question, terms: list[Term], only: Query | None, limit: int
) -> Bm25Matches:
    """Return the best documents for a question, among those that `only` matches."""
    unknown = [term for term in terms if not term.frequency]
    pairs = question.pairs
    more = [
        *(text.part_query(name, _PART) for name in question.names),
        *_build_hump_queries(text, question, terms),
        *(text.part_query(pair, 1.0) for pair in pairs if len(pair) > 1),
        *(text.part_query(term.word, _PART) for term in unknown),
        *(text.phrase_query(phrase) for phrase in question.phrases),
        *(text.fuzzy_query(term) for term in unknown[:_TYPOS]),
    ]
    if len(unknown) == len(terms) and all(len(each) == 1 for each in pairs):
        more += [text.character_query(each) for each in pairs]  # nothing else could find a text
    query = text.query(terms, *[each for each in more if each is not None], only=only)
    found = [] if query is None else text.search(query, limit)
    found = [pair for pair in found if pair[0] > 0]
    addresses = [address for _, address in found]
    return Bm25Matches(text.numbers(addresses), [score for score, _ in found], addresses)


def weigh_question(text: TextIndex, question: Question, terms: list[Term]) -> float:
    """Return the weight (idf) of a question's words and pairs that some document has."""
    pairs = map(text.build_part_term, question.pairs)
    return sum(term.idf for term in (*terms, *pairs) if term.frequency)


def find_phrases(
    text: TextIndex, question: Question, only: Query | None, limit: int
) -> Bm25Matches:
    """Return the best documents that contain a quoted phrase of a question, word by word."""
    phrases = [each for each in map(text.phrase_query, question.phrases) if each is not None]
    query = text.query([], *phrases, only=only)
    found = [] if query is None else text.search(query, limit)
    addresses = [address for _, address in found]
    return Bm25Matches(text.numbers(addresses), [score for score, _ in found], addresses)


def _build_hump_queries(text: TextIndex, question: Question, terms: list[Term]) -> list[Query]:
    """Return queries for the words inside camelCase names, as parts and as words of their own."""
    known = {term.word for term in terms} | {name.lower() for name in question.names}
    humps = [part for part in question.parts if part.isascii() and part not in known]
    if not humps:
        return []
    known_terms = [term for term in text.parse_terms(" ".join(humps)) if term.frequency]
    return [
        *(text.part_query(hump, _PART) for hump in humps),
        *(Query.boost_query(text.term_query("text", term.stem), _PART) for term in known_terms),
    ]


def unite(one: Bm25Matches, other: Bm25Matches) -> Bm25Matches:
    """Return the union of both, the best first; a document in both keeps its score in `one`."""
    known = set(one.numbers)
    new = [row for row in zip(*other, strict=True) if row[0] not in known]
    rows = sorted([*zip(*one, strict=True), *new], key=lambda row: -row[1])
    return Bm25Matches(*map(list, zip(*rows, strict=True))) if rows else one


def filter_documents(text: TextIndex, numbers: list[int], only: Query) -> list[int]:
    """Return the documents that `only` matches."""
    if not numbers:
        return []
    either = Query.boolean_query([(Occur.Should, text.term_query("num", each)) for each in numbers])
    query = Query.boolean_query([(Occur.Must, either), (Occur.Must, only)])
    found = text.search(Query.const_score_query(query, 1.0), len(numbers))
    return text.numbers([address for _, address in found])


def combine_queries(one: Query | None, other: Query) -> Query:
    """Return the query for documents that match both; None matches everything."""
    if one is None:
        return other
    return Query.boolean_query([(Occur.Must, one), (Occur.Must, other)])
