"""The documents that words find: BM25 over the words of a question, and what they may stand for.

Nothing here needs numpy: where only words are searched, it is not loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memfs.search.lexical import Occur, Query

if TYPE_CHECKING:
    from tantivy import DocAddress

    from memfs.search.lexical import Term, TextIndex
    from memfs.search.query_parser import Question

_NAMED = 0.3  # what an identifier counts for as a whole: its parts count already
_MISSED = 0.5  # what a word counts for that is only a part of words
_TYPOS = 3  # unknown words that may be mistyped


class Bm25Matches(NamedTuple):
    """Document numbers, the best first, and side by side their BM25 scores and addresses."""

    numbers: list[int]
    scores: list[float]
    addresses: list[DocAddress]


def find_matches(
    text: TextIndex, asked: Question, terms: list[Term], only: Query | None, limit: int
) -> Bm25Matches:
    """Return the best documents for a question, among those of `only`."""
    unknown = [term for term in terms if not term.frequency]
    pairs = [part for part in asked.parts if not part.isascii()]
    more = [
        *(text.part(name, _NAMED) for name in asked.names),
        *_humps(text, asked, terms),
        *(text.part(pair, 1.0) for pair in pairs if len(pair) > 1),
        *(text.part(term.word, _MISSED) for term in unknown),
        *(text.phrase(phrase) for phrase in asked.phrases),
        *(text.similar(term) for term in unknown[:_TYPOS]),
    ]
    if len(unknown) == len(terms) and all(len(each) == 1 for each in pairs):
        more += [text.character(each) for each in pairs]  # nothing else could find a text
    query = text.query(terms, *[each for each in more if each is not None], only=only)
    found = [] if query is None else text.search(query, limit)
    found = [pair for pair in found if pair[0] > 0]
    addresses = [address for _, address in found]
    return Bm25Matches(text.numbers(addresses), [score for score, _ in found], addresses)


def find_phrases(text: TextIndex, asked: Question, only: Query | None, limit: int) -> Bm25Matches:
    """Return the best documents that have what is quoted in a question, word by word."""
    phrases = [each for each in map(text.phrase, asked.phrases) if each is not None]
    query = text.query([], *phrases, only=only)
    found = [] if query is None else text.search(query, limit)
    addresses = [address for _, address in found]
    return Bm25Matches(text.numbers(addresses), [score for score, _ in found], addresses)


def _humps(text: TextIndex, asked: Question, terms: list[Term]) -> list[Query]:
    """Return queries for the words in camelCase names, which no other text need write so."""
    known = {term.word for term in terms} | {name.lower() for name in asked.names}
    humps = [part for part in asked.parts if part.isascii() and part not in known]
    if not humps:
        return []
    spoken = [term for term in text.terms(" ".join(humps)) if term.frequency]
    return [
        *(text.part(hump, _NAMED) for hump in humps),
        *(Query.boost_query(text.term("text", term.stem), _NAMED) for term in spoken),
    ]


def intersect(one: Bm25Matches, other: Bm25Matches) -> Bm25Matches:
    """Return what is in one of both, the best first."""
    known = set(one.numbers)
    new = [row for row in zip(*other, strict=True) if row[0] not in known]
    rows = sorted([*zip(*one, strict=True), *new], key=lambda row: -row[1])
    return Bm25Matches(*map(list, zip(*rows, strict=True))) if rows else one


def filter_documents(text: TextIndex, numbers: list[int], only: Query) -> list[int]:
    """Return those of the documents that `only` finds."""
    if not numbers:
        return []
    either = Query.boolean_query([(Occur.Should, text.term("num", each)) for each in numbers])
    query = Query.boolean_query([(Occur.Must, either), (Occur.Must, only)])
    found = text.search(Query.const_score_query(query, 1.0), len(numbers))
    return text.numbers([address for _, address in found])


def combine_queries(one: Query | None, other: Query) -> Query:
    """Return the query for what both find; None finds everything."""
    if one is None:
        return other
    return Query.boolean_query([(Occur.Must, one), (Occur.Must, other)])
