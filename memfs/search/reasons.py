"""Hits as people are shown them: what matched, and the turns beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.core.records import Hit
from memfs.core.snippet import snippet
from memfs.search import candidates, identifiers

if TYPE_CHECKING:
    from tantivy import DocAddress

    from memfs.search.candidates import Candidates
    from memfs.search.lexical import Term, TextIndex
    from memfs.search.question import Question

_CLOSE = 0.35  # a cosine worth naming as a reason
_MOST_WORDS = 6
_BESIDE = 160  # characters of a turn beside a hit


class Told:
    """Makes hits of candidates, for one question."""

    def __init__(
        self, text: TextIndex, asked: Question, terms: list[Term], found: Candidates,
        addresses: dict[int, DocAddress],
    ) -> None:  # fmt: skip
        self._text = text
        self._asked = asked
        self._terms = terms
        self._found = found
        self._addresses = addresses

    def locate(self, indexes: list[int]) -> None:
        """Find the turns beside some candidates, all at once."""
        near = (self._found.near.get(self._found.numbers[index], ([], [])) for index in indexes)
        wanted = {side[0] for sides in near for side in sides if side} - self._addresses.keys()
        self._addresses = {**self._addresses, **candidates.located(self._text, sorted(wanted))}

    def hit(self, index: int, score: float, alike: int, *, in_time: bool) -> Hit:
        """Return the hit of a candidate that is still there."""
        number = self._found.numbers[index]
        document = self._text.document(self._addresses[number])
        content = first(document, "text")
        words = self._words(content)
        before, after = self._beside(number)
        return Hit(
            id=first(document, "id"), kind=first(document, "kind"), text=content,
            snippet=snippet(content, words),
            why=tuple(self._why(index, content, words, in_time=in_time)), score=score,
            at=first(document, "time"), role=first(document, "role"),
            host=first(document, "host"), session=first(document, "session"),
            project=first(document, "project"), branch=first(document, "branch"),
            tags=tuple(str(tag) for tag in document.get("tag", [])),
            importance=int(first(document, "importance") or 0), label=first(document, "label"),
            before=before, after=after, alike=alike,
        )  # fmt: skip

    def _words(self, content: str) -> list[str]:
        """Return the words of the question that are in a text, also those that were mistyped."""
        stems = self._text.stems(content)
        inner = set(identifiers.parts(content))
        found = [term.word for term in self._terms if term.stem in stems or term.word in inner]
        for term in self._terms:
            if not term.frequency and term.word not in found:
                found += _meant(term.word, content)
        return found

    def _why(self, index: int, content: str, words: list[str], *, in_time: bool) -> list[str]:
        evidence = self._found.found
        folded = content.lower()
        named = [name for name in self._asked.names if name.lower() in folded]
        paths = [name for name in named if identifiers.is_path(name)]
        others = [name for name in named if name not in paths]
        why = [f"same file: {path}" for path in paths[:2]]
        if others:
            why.append("names: " + ", ".join(others[:_MOST_WORDS]))
        if words:
            why.append("words: " + ", ".join(words[:_MOST_WORDS]))
        cosine = float(evidence.cosine[index])
        if cosine >= _CLOSE or (not why and cosine > 0):
            why.append(f"meaning {cosine:.2f}")
        if not words and evidence.lexical[index] == 0 and evidence.around[index] > 0:
            why.append("beside a turn with these words")
        if in_time:
            why.append("of that time")
        return why or ["parts of words"]

    def _beside(self, number: int) -> tuple[str, str]:
        """Return the turns before and after a message, shortened; "" where there are none."""
        sides = self._found.near.get(number, ([], []))
        wanted = [side[0] if side else 0 for side in sides]
        told = []
        for beside in wanted:
            address = self._addresses.get(beside)
            document = self._text.document(address) if address is not None else {}
            role, content = first(document, "role"), first(document, "text")
            told.append(f"{role}: {snippet(content, [], _BESIDE)}" if content else "")
        return told[0], told[1]


def first(document: dict[str, list[object]], name: str) -> str:
    """Return a stored field as text, "" where it has none."""
    values = document.get(name)
    return str(values[0]) if values else ""


def _meant(word: str, content: str) -> list[str]:
    """Return the word of a text that a mistyped one is likely to mean."""
    import difflib

    words = sorted({each.strip(".,;:!?()\"'") for each in content.lower().split()})
    near = [each for each in words if abs(len(each) - len(word)) <= 2]
    close = difflib.get_close_matches(word, near, 1, 0.75)
    longer = [each for each in words if each.startswith(word)]
    return (close or longer)[:1]
