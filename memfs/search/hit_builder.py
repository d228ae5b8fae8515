"""Builds search hits: the matched text, the reasons, and the neighbouring turns."""

import difflib
import json
import math
from collections.abc import Sequence

from tantivy import Document

from memfs.core.hits import Hit
from memfs.core.snippet import snippet, trim_heading
from memfs.search import identifiers
from memfs.search.lexical import (
    MOST_WORDS,
    Term,
    TextIndex,
    WantedStems,
    get_field,
    may_be_mistyped,
)
from memfs.search.query_dates import Question
from memfs.search.ranking import Ranking

_BESIDE = 160  # characters of a neighbouring turn
_UNSPACED_TEXT = 200  # characters of a question
# The least sum of word share and cosine of a hit that is about the question. Nineteen of twenty
# questions on five sets have more; half to three quarters of off-topic questions have less.
_SURE, _TENFOLD, _SMALL = 0.4, 0.2, 240.0
_CHECKED = 5  # of the best
_CLOSE = 0.35  # the least cosine that is shown as a reason
_NEIGHBOUR_TEXT = 8 * _BESIDE  # of its characters, with white space


class HitBuilder:
    """Builds the hits of one question from its candidates."""

    def __init__(
        self, text: TextIndex, question: Question, terms: list[Term], found: Ranking
    ) -> None:
        self._text = text
        self._question = question
        self._terms = terms
        self._stems = WantedStems(terms)
        start = question.text[:_UNSPACED_TEXT]
        self._runs = [] if start.isascii() else identifiers.find_unspaced_runs(start)
        self.found = found
        self._addresses = dict(found.addresses)
        self._documents: dict[int, Document] = {}  # loaded ones, by position

    def locate(self, places: list[int]) -> list[int]:
        """Look up the addresses of candidates; return the candidates that still exist."""
        numbers = self.found.numbers
        missing = [numbers[place] for place in places if numbers[place] not in self._addresses]
        self._addresses |= self._text.find_addresses(missing)
        return [place for place in places if numbers[place] in self._addresses]

    def load_document(self, place: int) -> Document | None:
        found = self._documents.get(place)
        if found is None and self.locate([place]):
            found = self._text.load_document(self._addresses[self.found.numbers[place]])
            self._documents[place] = found
        return found

    def build(self, place: int, alike: int) -> Hit:
        """Return the hit of a candidate that still exists, with its neighbouring turns."""
        document = self._text.load_document(self._addresses[self.found.numbers[place]])
        content = get_field(document, "text")
        words = self._match_words(content)
        why = tuple(self._list_reasons(place, content, words))
        score = round(min(1.0, self.found.scores[place]), 4)
        before, after = map(self._format_neighbour, self.found.near[place])
        return build_hit(document, words, why, score, (before, after), alike)

    def is_sure(self, order: list[int]) -> bool:
        """Tell whether one of the best is clearly about the question, or that is unclear."""
        if not order or not self._terms or self._runs:
            return True
        exact = [each.lower() for each in (*self._question.phrases, *self._question.names)]
        for place in self.locate(order[:_CHECKED]):
            document = self.load_document(place)
            content = get_field(document, "text") if document else ""
            words = self._match_words(content)
            folded = " ".join(content.lower().split())
            if (
                self._measure_margin(place, words) >= 0
                or len(words) >= len(self._terms)
                or any(identifiers.contains_name(folded, each) for each in exact)
            ):
                return True
        return False

    def get_margin(self, place: int) -> float:
        """Return how far a candidate is above the floor of `is_sure`: comparable between indexes.

        That is its share of the question's words, weighted by idf, plus its cosine, less the floor:
        in a larger index something is close to anything.
        """
        document = self.load_document(place)
        content = get_field(document, "text") if document else ""
        return self._measure_margin(place, self._match_words(content))

    def _measure_margin(self, place: int, words: list[str]) -> float:
        weight = sum(term.idf for term in self._terms) or 1.0
        share = sum(term.idf for term in self._terms if term.word in words) / weight
        documents = self._text.documents
        floor = _SURE + _TENFOLD * math.log10(max(1.0, documents / _SMALL))
        return share + max(0.0, self.found.cosine[place]) - floor

    def _match_words(self, content: str) -> list[str]:
        stems = self._text.match_stems(self._stems, content)
        found = [term.word for term in self._terms if term.stem in stems]
        folded = content.lower()
        if any(term.stem not in stems and term.word in folded for term in self._terms):
            inner = set(identifiers.extract_parts(content))
            found = [t.word for t in self._terms if t.stem in stems or t.word in inner]
        for term in self._terms:
            if not term.frequency and term.word not in found and may_be_mistyped(term.word):
                found += _correct_word(term.word, content)
        return found + [piece for run in self._runs for piece in _match_run(run, content)]

    def _list_reasons(self, place: int, content: str, words: list[str]) -> list[str]:
        found = self.found
        folded = " ".join(content.lower().split())
        named = [
            name for name in self._question.names if identifiers.contains_name(folded, name.lower())
        ]
        paths = [name for name in named if identifiers.is_path(name)]
        others = [name for name in named if name not in paths]
        why = [f'quoted: "{each}"' for each in self._question.phrases if each.lower() in folded]
        why += [f"same file: {path}" for path in paths[:2]]
        if others:
            why.append("names: " + ", ".join(others[:MOST_WORDS]))
        if words:
            why.append("words: " + ", ".join(words[:MOST_WORDS]))
        cosine = found.cosine[place]
        if cosine >= _CLOSE or (not why and cosine > 0):
            why.append(f"meaning {cosine:.2f}")
        if not words and found.lexical[place] == 0 and found.around[place] > 0:
            why.append("next to a turn with these words")
        if found.in_time[place]:
            why.append("from that time")
        return why or ["parts of words"]

    def _format_neighbour(self, number: int) -> str:
        """Return a turn beside a message, shortened; "" for none (0)."""
        for address in self._text.find_addresses([number] if number else ()).values():
            document = self._text.load_document(address)
            content = snippet(get_field(document, "text")[:_NEIGHBOUR_TEXT], [], _BESIDE)
            who = get_field(document, "speaker") or get_field(document, "role")
            return f"{who}: {content}" if content else ""
        return ""


def build_hit(
    document: Document,
    words: Sequence[str] = (),
    why: tuple[str, ...] = (),
    score: float = 0.0,
    beside: tuple[str, str] = ("", ""),
    alike: int = 0,
) -> Hit:
    """Return a document as a hit; without words and reasons for a listing."""
    content = get_field(document, "text")
    metadata = json.loads(get_field(document, "meta") or "{}")
    metadata = metadata if isinstance(metadata, dict) else {}
    return Hit(
        id=get_field(document, "id"),
        kind=get_field(document, "kind"),
        text=content,
        snippet=snippet(trim_heading(content, metadata.get("heading")), [*words]),
        why=why,
        score=score,
        at=get_field(document, "time"),
        role=get_field(document, "role"),
        host=get_field(document, "host"),
        session=get_field(document, "session"),
        project=get_field(document, "project"),
        branch=get_field(document, "branch"),
        tags=tuple(str(tag) for tag in document.get_all("tag")),
        importance=document.get_first("importance") or 0,
        label=get_field(document, "label"),
        before=beside[0],
        after=beside[1],
        alike=alike,
        speaker=get_field(document, "speaker") if get_field(document, "role") else "",
        metadata=metadata,
    )


def _match_run(run: str, content: str) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(run):
        end = at
        while end < len(run) and run[at : end + 1] in content:
            end += 1
        if end - at > 1 or (end > at and len(run) == 1):
            found.append(run[at:end])
        at = max(end, at + 1)
    return list(dict.fromkeys(found))


def _correct_word(word: str, content: str) -> list[str]:
    """Return the word of a text that a mistyped word most likely means, in a list; or []."""
    words = sorted({each.strip(".,;:!?()\"'") for each in content.lower().split()})
    near = [each for each in words if abs(len(each) - len(word)) <= 2]
    close = difflib.get_close_matches(word, near, 1, 0.75)
    longer = [each for each in words if each.startswith(word)]
    return (close or longer)[:1]
