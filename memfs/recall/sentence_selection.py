"""The sentences of exchanges that answer a prompt: scores, and a choice within a size. Hot path.

The weights are the rounded ones of a logistic regression over the sentences of four projects, each
tested against the other three. Two were raised since: that of newer sessions, for superseded
statements, and that of the matching sentence, for talk that is no work. Exchanges after the one
that a prompt is about count more than those before, exact names more than talk.
"""

import math

from memfs.core.snippet import split_words
from memfs.recall.own_words import own_words
from memfs.recall.rule_recognition import is_rule
from memfs.recall.sentences import count_specifics, split_sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memfs.recall.exchanges import Exchange, SessionTurn

_ABOUT = 2.0  # the exchange's relevance to the prompt
_GAP = -6.5  # the gap between its session and the best one
_AFTER = 1.0  # the exchange right after the matching one
_BEFORE = -2.0
_NEWER = 1.0  # from the oldest session found to the newest
_USER = 0.8
_RULE = 1.0
_SPECIFIC = 1.9
_LENGTH = 1.25
_BASE = -6.0
_SHARED = 4.5  # the share of the prompt's words, in the most relevant exchange
_MOST = _USER + _RULE + _SPECIFIC + _LENGTH  # the most that a sentence can add
_MOST_SPECIFIC = 3  # exact names that count
_LONG = 200  # characters
_LONGEST = 700
_LEAST = 40  # characters; shorter sentences count as long
_NEW = 0.2  # least share of words that are not in the prompt
_SHARE = 0.05  # least share of the best sentence's probability
_LINE, _HEAD = 8, 70  # characters that a line and a session's head add


class ExchangeCandidate:
    """An exchange that may answer: its relevance `about`, and its session's place.

    `distance` counts exchanges from the most relevant one of its session, `gap` is how much less
    that one's relevance is than the best of all, `age` 0 for the oldest session to 1.
    """

    __slots__ = ("about", "age", "distance", "exchange", "gap")

    def __init__(
        self, exchange: "Exchange", about: float, gap: float, distance: int, age: float
    ) -> None:
        self.exchange, self.about = exchange, about
        self.gap, self.distance, self.age = gap, distance, age


class Sentence:
    """A sentence of a candidate's turn, with the probability that it is an answer."""

    __slots__ = ("candidate", "likely", "place", "text", "turn")

    def __init__(
        self,
        candidate: ExchangeCandidate,
        turn: "SessionTurn",
        place: int,
        text: str,
        likely: float,
    ) -> None:
        self.candidate, self.turn = candidate, turn
        self.place, self.text, self.likely = place, text, likely


def rate_sentences(
    candidates: "Sequence[ExchangeCandidate]", known: "set[str]", share: "Callable[[str], float]"
) -> list[Sentence]:
    """Return the sentences of exchanges that may be shown, each with its score.

    `known` are the words of the prompt: a sentence of hardly any others is left out. Exchanges
    whose sentences cannot come near the best one so far are skipped.
    """
    bases = [_rate_exchange(candidate) for candidate in candidates]
    most = [
        base + _MOST + _SHARED * (candidate.distance == 0)
        for base, candidate in zip(bases, candidates, strict=True)
    ]
    best = 0.0
    rated: dict[int, list[Sentence]] = {}
    for at in sorted(range(len(candidates)), key=lambda at: -most[at]):
        if _compute_probability(most[at]) < _SHARE * best:
            break
        rated[at] = found = []
        for turn in candidates[at].exchange.turns:
            for place, text in enumerate(split_sentences(turn.text)):
                if _is_repetition(split_words(text), known):
                    continue
                points = bases[at] + _rate_sentence(text, turn)
                if candidates[at].distance == 0:
                    points += _SHARED * share(text)
                likely = _compute_probability(points)
                found.append(Sentence(candidates[at], turn, place, text, likely))
        best = max(best, *(each.likely for each in found)) if found else best
    return [each for at in sorted(rated) for each in rated[at]]


def _is_repetition(words: "list[str]", known: "set[str]") -> bool:
    """Tell whether a sentence adds hardly a word to the prompt, and no exact name."""
    new = [word for word in words if word not in known]
    return len(new) < _NEW * max(1, len(words)) and not count_specifics(" ".join(new))


def _rate_exchange(candidate: ExchangeCandidate) -> float:
    return (
        _BASE
        + _ABOUT * candidate.about
        + _GAP * candidate.gap
        + _NEWER * candidate.age
        + _AFTER * (candidate.distance == 1)
        + _BEFORE * (candidate.distance < 0)
    )


def _rate_sentence(text: str, turn: "SessionTurn") -> float:
    points = _SPECIFIC * min(_MOST_SPECIFIC, count_specifics(text)) / _MOST_SPECIFIC
    points += _LENGTH * min(1.0, len(text) / _LONG)
    if turn.role != "user":
        return points
    rule = is_rule(text) and text in split_sentences(own_words(turn.text))
    return points + _USER + _RULE * rule


def _compute_probability(score: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def choose_sentences(sentences: "Sequence[Sentence]", room: int) -> list[Sentence]:
    """Return the best sentences within `room` characters, in their original order.

    The heads of sessions and lines count, too. Duplicates are left out, and sentences far less
    likely than the best, even where there is room.
    """
    ranked = sorted(
        range(len(sentences)),
        key=lambda at: -sentences[at].likely / max(_LEAST, len(sentences[at].text)) ** 0.5,
    )
    least = _SHARE * max((each.likely for each in sentences), default=0.0)
    taken = []
    sessions: set[str] = set()
    seen: set[str] = set()
    for at in ranked:
        each = sentences[at]
        size = len(each.text) + _LINE + _HEAD * (each.turn.session not in sessions)
        folded = each.text.lower()
        if size > room or len(each.text) > _LONGEST or each.likely < least or folded in seen:
            continue
        seen.add(folded)
        sessions.add(each.turn.session)
        taken.append(at)
        room -= size
    return [sentences[at] for at in sorted(taken)]
