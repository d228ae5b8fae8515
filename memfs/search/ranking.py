"""Search by words (BM25), and a ranking: candidates, evidence, duplicates. Needs no numpy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tantivy import DocAddress

from memfs.search.lexical import Occur, Query, Term, TextIndex, match_all
from memfs.search.query_dates import Question

POOL = 1000  # candidates by words alone; their order does not depend on it
IN_TIME = 0.25  # bonus of a hit from the period that the question names
_PART = 0.5  # boost of an identifier and of words inside words: most match as words already
_TYPOS = 3  # unknown words that are corrected
_FURTHER = 1 / 3
_NONE = (0, 0)  # neighbours of a single document


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
    return _search(text, query, limit)


def weigh_question(text: TextIndex, question: Question, terms: list[Term]) -> float:
    """Return the weight (idf) of a question's words and pairs that some document has."""
    pairs = map(text.build_part_term, question.pairs)
    return sum(term.idf for term in (*terms, *pairs) if term.frequency)


def find_phrases(
    text: TextIndex, question: Question, only: Query | None, limit: int
) -> Bm25Matches:
    """Return the best documents that contain a quoted phrase of a question, word by word."""
    phrases = [each for each in map(text.phrase_query, question.phrases) if each is not None]
    return _search(text, text.query([], *phrases, only=only), limit)


def _search(text: TextIndex, query: Query | None, limit: int) -> Bm25Matches:
    found = [] if query is None else text.search(query, limit)
    found = [pair for pair in found if pair[0] > 0]
    addresses = [address for _, address in found]
    return Bm25Matches(text.numbers(addresses), [score for score, _ in found], addresses)


def _build_hump_queries(text: TextIndex, question: Question, terms: list[Term]) -> list[Query]:
    known = {term.word for term in terms} | {name.lower() for name in question.names}
    humps = [part for part in question.parts if part.isascii() and part not in known]
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
    found = text.search(Query.const_score_query(match_all(either, only), 1.0), len(numbers))
    return text.numbers([address for _, address in found])


@dataclass
class Ranking:
    """`order` are positions in the other lists, the best first, without deleted documents.

    `lexical` is BM25, `around` includes the neighbouring turns. `near` are the numbers of the
    turns right before and after, 0 for none. `said` is equal for duplicates (0: unique), `group`
    for the turns of a session (0: none). `addresses` are the known ones, by number.
    """

    order: list[int]
    numbers: list[int]
    scores: list[float]
    lexical: list[float]
    around: list[float]
    cosine: list[float]
    near: list[Sequence[int]]
    said: list[int]
    group: list[int]
    in_time: list[bool]
    addresses: dict[int, DocAddress]
    vector: Any = None  # of the question, int8; None for words alone

    def deduplicate(self) -> tuple[list[int], dict[int, int]]:
        return self._deduplicate([0] * len(self.said))

    def _deduplicate(self, groups: Sequence[int]) -> tuple[list[int], dict[int, int]]:
        alike: dict[int, int] = {}
        first: dict[tuple[int, int], int] = {}
        kept = []
        for place in self.order:
            same = groups[place], self.said[place]
            if same[1] and same in first:
                alike[first[same]] = alike.get(first[same], 0) + 1
                continue
            first[same] = place
            kept.append(place)
        return kept, alike

    def rank_sessions(self) -> list[tuple[float, list[int]]]:
        """Return the score and turns of each session: its best, a third of the next, a ninth."""
        turns: dict[int, list[int]] = {}
        for place in self._deduplicate(self.group)[0]:
            if self.group[place]:
                turns.setdefault(self.group[place], []).append(place)
        scored = [
            (sum(self.scores[place] * _FURTHER**at for at, place in enumerate(places)), places)
            for places in turns.values()
        ]
        return sorted(scored, key=lambda pair: -pair[0])


def by_words(text: TextIndex, question: Question, terms: list[Term], only: Query | None) -> Ranking:
    """Rank by words alone: BM25 times the weight of each document."""
    found = find_matches(text, question, terms, only, POOL)
    count = len(found.numbers)
    weights = text.numbers(found.addresses, "weight")
    weighted = [
        score * (weight or 100) / 100 for score, weight in zip(found.scores, weights, strict=True)
    ]
    top = max(weighted, default=1.0)
    in_time = [False] * count
    if question.period:
        since, until, _ = question.period
        in_time = [since <= at <= until for at in text.numbers(found.addresses, "at")]
    scores = [
        score / top + (IN_TIME if timely else 0.0)
        for score, timely in zip(weighted, in_time, strict=True)
    ]
    order = sorted(range(count), key=lambda place: -scores[place])
    return Ranking(
        order,
        found.numbers,
        scores,
        found.scores,
        found.scores,
        [0.0] * count,
        [_NONE] * count,
        text.numbers(found.addresses, "said"),
        text.numbers(found.addresses, "group"),
        in_time,
        dict(zip(found.numbers, found.addresses, strict=True)),
    )
