"""What a prompt brings to mind, by words and meaning: for a process that keeps its index open.

Most prompts talk about the work ("ok, run the tests again") and are about nothing that could be
looked up: they are known by their words, before anything is searched. Of others, a hit has to clear
a floor (see `_clears`). A silent hook is better than a wrong reminder.
"""

from __future__ import annotations

import math
import os
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from memfs.search import identifiers, lexical, reminder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tantivy import Document

    from memfs.core.records import Hit
    from memfs.search.engine import Engine
    from memfs.search.lexical import Term, TextIndex
    from memfs.search.reasons import Told

# A hit scores its cosine, and this much of the share that it holds of what the prompt's words weigh
# (idf; a word that nobody ever wrote speaks against it); fewer than two words may be chance.
_SHARE = 0.75
_FEWER = 0.15
# In a larger store something is close to anything: what keeps prompts about other things silent
# rises with the tenfold of its size, from 10 documents to 100,000 (where it is least
# sure). All these are round numbers near what one half of the questions of LoCoMo, devmembench and
# precisionmembench chose, each asked in its own and in other stores, with prompts of real sessions.
_FLOOR = 0.42
_TENFOLD = 0.08
_FEWEST = 2  # words of a prompt that say what it is about
_PAIR = 0.5  # of a word is what two CJK characters are
_MOST_PAIRS = 24
_LOOKED = 24  # candidates that are looked at, at most
_READ = 8  # and those of them that are read
_ALIKE = 0.8  # of all their words have two texts in common that say the same
_EXCHANGE = 2  # messages apart that are of one exchange

# Words for working together, and for time: they do not say what is worked on.
TALK = """
ok okay yes no yep nope yeah sure thanks thank great good nice cool perfect fine right wrong
correct bad hi hello hey morning evening sorry wow hmm lgtm job idea sense bit go going come get
got give take make made let put keep leave start started stop wait begin finish finished done
continue proceed next step ahead first last second third again still just also instead already yet
maybe really actually exactly back forth well much many lot little do did does say said see look
looks sound sounds want need like know think mean meant understand remember forget forgot try
tried work works working help show explain tell ask check review summarize describe mention run
running fix fixed change changed add added remove removed delete update use using create write
rewrite clean cleanup move rename revert undo redo apply implement refactor improve simplify split
merge commit push pull test tests build lint linter error errors fail fails failed failing bug
issue issues problem broken break code file files function variable line lines diff branch pr
request comment comments message plan task todo option approach way thing things stuff part
everything anything something nothing one two three other others another same different both all
every each new old better best shorter simpler faster missing ready possible easy time long today
yesterday tomorrow now week weeks month year day days ago recently later before soon monday
tuesday wednesday thursday friday saturday sunday january february march april june july august
september october november december
"""


class _Asked(NamedTuple):
    """What a prompt is about: its words, the CJK pairs in it, and the idf of all together."""

    words: list[Term]
    pairs: list[Term]
    weight: float


class Looked(NamedTuple):
    """What a prompt is about, and what the index has that is near to it."""

    prompt: str
    asked: _Asked
    told: Told


def find(
    engine: Engine, prompt: str, session: str, shown: Sequence[str], limit: int
) -> Sequence[Hit | reminder.Recalled]:
    """Return at most `limit` of what a prompt is about, best first.

    Those of the running session, those in `shown`, and what tools were given and put out are left
    out, and what says the same as one of them, as a better one, or as the prompt. Of the turns of
    one exchange only the best comes. Without vectors it is what `reminder` finds.
    """
    if engine.vectors is None:
        return reminder.by_words(engine.text, prompt, session, shown, limit)
    looked = look(engine, prompt) if limit > 0 else None
    return chosen(engine, looked, session, shown, limit) if looked else []


def look(engine: Engine, prompt: str) -> Looked | None:
    """Look a prompt up; None for one that is about nothing that could be looked up."""
    prompt = reminder.ends(prompt)
    asked = _asked(engine.text, prompt)
    if _count(asked.words, asked.pairs) < _FEWEST:
        return None
    told = engine.told(prompt)
    return Looked(prompt, asked, told) if told else None


def chosen(
    engine: Engine, looked: Looked, session: str, shown: Sequence[str], limit: int
) -> list[Hit]:
    """Return at most `limit` hits of what was looked up (see `find`)."""
    told = looked.told
    taken = _Chosen(engine.text, told, looked.asked, session, shown, looked.prompt)
    count = read = 0
    for place in told.found.order:
        if told.found.cosine[place] + _SHARE < taken.floor or taken.own(place):
            continue  # whatever words it holds
        if count == _LOOKED or read == _READ or len(taken.places) == limit:
            break
        count += 1
        read += taken.look(place)
    return [told.hit(place, 0) for place in taken.places]


class _Chosen:
    """The candidates that are brought up, looked at in their order."""

    def __init__(
        self, text: TextIndex, told: Told, asked: _Asked, session: str, shown: Sequence[str],
        prompt: str,
    ) -> None:  # fmt: skip
        self._text, self._told, self._asked = text, told, asked
        self._session, self._shown = session, set(shown)
        self._prompt = prompt
        self._known: list[set[str]] = []  # stems of what is there already
        self._said: set[int] = set()
        self._gone: set[str] = set()
        self._group = 0  # of the running session, once a turn of it was seen
        self.floor = _FLOOR + _TENFOLD * math.log10(max(10, text.searcher.num_docs))
        self.places: list[int] = []

    def own(self, place: int) -> bool:
        """Tell whether a turn is known to be of the running session, without reading it."""
        return self._group > 0 and self._told.found.group[place] == self._group

    def look(self, place: int) -> bool:
        """Take a candidate if it is to be brought up; tell whether it had to be read."""
        found = self._told.found
        if found.said[place] in self._said or self._beside(place):
            return False
        document = self._told.document(place)
        if document is None or _of(document, "kind") == "block" or _of(document, "role") == "tool":
            return False
        content = _of(document, "text")
        stems = self._text.stems(content)
        own = bool(self._session) and _of(document, "session") == self._session
        if own:
            self._group = found.group[place]
        if own or _of(document, "id") in self._shown:
            self._know(place, stems)
        elif (
            self._clears(found.cosine[place], content, stems)
            and not self._repeats(document, stems)
            and self._there(_of(document, "source"))
        ):
            self._know(place, stems)
            self.places.append(place)
        return True

    def _clears(self, cosine: float, content: str, stems: set[str]) -> bool:
        """Tell whether a text is about what the prompt is about."""
        asked = self._asked
        words = [term for term in asked.words if term.stem in stems]
        parts = set(identifiers.parts(content)) if asked.pairs else set()
        pairs = [term for term in asked.pairs if term.stem in parts]
        share = sum(term.idf for term in words + pairs) / asked.weight
        fewer = _FEWER if _count(words, pairs) < _FEWEST else 0.0
        return cosine + _SHARE * share - fewer > self.floor

    def _beside(self, place: int) -> bool:
        """Tell whether a turn is of an exchange that is brought up already."""
        numbers, group = self._told.found.numbers, self._told.found.group
        return group[place] > 0 and any(
            group[other] == group[place] and abs(numbers[other] - numbers[place]) <= _EXCHANGE
            for other in self.places
        )

    def _repeats(self, document: Document, stems: set[str]) -> bool:
        """Tell whether a text says what is known: a person also what the prompt says."""
        person = _of(document, "role") == "user"
        asked_before = person and _alike(stems, self._text.stems(self._prompt))
        return asked_before or any(_alike(stems, known) for known in self._known)

    def _know(self, place: int, stems: set[str]) -> None:
        self._known.append(stems)
        if self._told.found.said[place]:
            self._said.add(self._told.found.said[place])

    def _there(self, source: str) -> bool:
        """Tell whether a source is still there; the index is told of that by the next search."""
        if source in self._gone or (source and not os.path.exists(source)):
            self._gone.add(source)
            return False
        return True


def _asked(text: TextIndex, prompt: str) -> _Asked:
    """Return what a prompt is about; what it says of the work itself is left out."""
    said = [] if prompt.isascii() else identifiers.parts(prompt)
    inner = dict.fromkeys(part for part in said if not part.isascii())
    pairs = [text.inner(part) for part in list(inner)[:_MOST_PAIRS]]
    words = [
        term
        for term in text.terms(prompt)
        if term.stem not in _talk() and not (inner and inner.keys() & identifiers.parts(term.word))
    ]
    weight = sum(term.idf for term in [*words, *pairs])
    return _Asked(words, pairs, weight)


@cache
def _talk() -> frozenset[str]:
    return frozenset(lexical.stems(TALK))


def _count(words: list[Term], pairs: list[Term]) -> float:
    return len(words) + _PAIR * len(pairs)


def _alike(one: set[str], other: set[str]) -> bool:
    return len(one & other) >= _ALIKE * max(1, len(one | other))


def _of(document: Document, field: str) -> str:
    return str(document.get_first(field) or "")
