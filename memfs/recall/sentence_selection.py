"""The sentences of exchanges that answer a prompt: scores, and a choice within a size. Hot path.

The weights are the rounded ones of a logistic regression over eight projects
(`python -m training.recall`); "wordy" was chosen on half of the questions of LongMemEval.
"""

import math

from memfs.core.snippet import EDGES, split_words
from memfs.recall.own_words import own_words
from memfs.recall.rule_recognition import is_rule
from memfs.recall.sentences import count_specifics, is_specific, split_sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.recall.exchanges import Exchange, SessionTurn

BASE = -4.66
WEIGHTS = {
    "short": -2.15,  # how much less relevant the exchange is than the best one of all
    "previous": 1.62,  # that of the exchange before it
    "next": -0.81,
    "gap": -1.38,  # between its session and the best one
    "rank": -0.27,  # of its session
    "newest": 0.13,  # its session is the newest one found
    "nearest": 0.24,  # the most relevant exchange of its session
    "after": 0.63,  # divided by the exchanges since that one
    "earlier": -0.36,  # it comes before that one
    "restated": 5.86,  # its answer sums the session up
    "specific": 0.95,  # the share of `_MOST_SPECIFIC` exact names that are not in the prompt
    "rule": 1.19,
    "code": 0.72,
    "user": 0.27,
    "length": 0.89,
    "wordy": -1.5,  # of an answer with many sentences, each decides less
}
_MOST = sum(WEIGHTS[name] for name in ("specific", "rule", "code", "user", "length"))
_CERTAIN = 30.0  # beyond it a score makes no difference
_TERSE = 6  # sentences of an answer
_EXCHANGES = 12  # whose sentences are rated: those of others hardly ever come
_MOST_SPECIFIC = 3  # exact names that count
_LONG = 200  # characters
_LONGEST = 700
_LEAST = 40  # characters; shorter sentences count as long
_NEW = 0.2  # least share of words that are not in the prompt
_SHARE = 0.05  # least share of the best sentence's probability
# Characters that a line, a session's head, and the question that an answer refers to may add.
_LINE, _HEAD, LEAD = 8, 70, 90


class ExchangeCandidate:
    """An exchange that may answer, with its session's place among those found.

    `about` is its relevance, `previous` and `next` those of its neighbours in the session, `best`
    and `top` those of the most relevant exchange of its session and of all. `distance` counts
    exchanges from that one of its session, `rank` is 0 for the session that was found first,
    `newest` 1 for the newest one.
    """

    __slots__ = (
        "about", "best", "distance", "exchange", "newest", "next", "previous", "rank", "top",
    )  # fmt: skip

    def __init__(
        self,
        exchange: "Exchange",
        relevance: "Sequence[float]",
        best: float,
        distance: int,
        rank: int,
    ) -> None:
        """`relevance` is that of the exchange before it, its own, and of the one after."""
        self.exchange = exchange
        self.previous, self.about, self.next = relevance
        self.best, self.distance, self.rank = best, distance, rank
        self.top, self.newest = best, 0

    def describe(self) -> dict[str, float]:
        return {
            "short": self.top - self.about,
            "previous": self.previous,
            "next": self.next,
            "gap": self.top - self.best,
            "rank": self.rank,
            "newest": self.newest,
            "nearest": self.distance == 0,
            "after": 1 / self.distance if self.distance > 0 else 0.0,
            "earlier": self.distance < 0,
            "restated": self.exchange.restated,
        }


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


def rate_sentences(candidates: "Sequence[ExchangeCandidate]", known: "set[str]") -> list[Sentence]:
    """Return the sentences of exchanges that may be shown, each with its score.

    `known` are the words of the prompt. Sentences that cannot come near the best one so far are
    skipped, and exchanges but the best.
    """
    bases = [BASE + weigh(each.describe()) for each in candidates]
    best, least = 0.0, -math.inf
    rated: dict[int, list[Sentence]] = {}
    for at in sorted(range(len(candidates)), key=lambda at: -bases[at])[:_EXCHANGES]:
        if bases[at] + _MOST < least:
            break
        rated[at] = found = []
        for turn in candidates[at].exchange.turns:
            sentences = split_sentences(turn.text)
            of_rule = WEIGHTS["rule"] if turn.role == "user" else 0.0
            for place, text in enumerate(sentences):
                score = bases[at] + weigh(describe_form(text, turn, len(sentences)))
                if score + WEIGHTS["specific"] + of_rule < least:
                    continue
                score += WEIGHTS["specific"] * count_names(text, known)
                if score + of_rule < least:
                    continue
                score += of_rule * states_rule(text, turn)
                likely = 1 / (1 + math.exp(-max(-_CERTAIN, min(_CERTAIN, score))))
                found.append(Sentence(candidates[at], turn, place, text, likely))
                if likely > best and not _is_repetition(text, known):
                    best = likely
                    least = math.log(_SHARE * best / (1 - _SHARE * best))
    return [each for at in sorted(rated) for each in rated[at]]


def _is_repetition(text: str, known: "set[str]") -> bool:
    """Tell whether a sentence adds hardly a word to the prompt, and no exact name."""
    words = split_words(text)
    new = [word for word in words if word not in known]
    return len(new) < _NEW * max(1, len(words)) and not count_specifics(" ".join(new))


def describe_form(text: str, turn: "SessionTurn", sentences: int) -> dict[str, float]:
    """Return what is weighed (see `WEIGHTS`) of the form of a sentence, of a turn with so many."""
    found = {"code": float("`" in text), "length": min(1.0, len(text) / _LONG)}
    if turn.role == "user":
        found["user"] = 1.0
    elif sentences > _TERSE:
        found["wordy"] = math.log(sentences / _TERSE)
    return found


def count_names(text: str, known: "set[str]") -> float:
    """Return how many exact names a sentence has that are not in the prompt; 1: enough of them."""
    named = [word for word in text.split() if is_specific(word)]
    count = sum(word.lower().strip(EDGES) not in known for word in named)
    return min(_MOST_SPECIFIC, count) / _MOST_SPECIFIC


def states_rule(text: str, turn: "SessionTurn") -> bool:
    """Tell whether a sentence of a turn states a rule of the user."""
    is_user = turn.role == "user"
    return is_user and is_rule(text) and text in split_sentences(own_words(turn.text))


def weigh(found: dict[str, float]) -> float:
    """Return the weighted sum of what was found of an exchange or a sentence."""
    return sum([WEIGHTS[name] * value for name, value in found.items()])


def choose_sentences(
    sentences: "Sequence[Sentence]", known: "set[str]", room: int
) -> list[Sentence]:
    """Return the best sentences within `room` characters, in their original order.

    The heads of sessions and lines count, too. Duplicates are left out, repetitions of the prompt,
    whose words are `known`, and sentences far less likely than the best, even where there is room.
    """
    by_score = sorted(sentences, key=lambda each: -each.likely)
    best = next((each for each in by_score if not _is_repetition(each.text, known)), None)
    if best is None:
        return []
    ranked = sorted(
        [at for at, each in enumerate(sentences) if each.likely >= _SHARE * best.likely],
        key=lambda at: -sentences[at].likely / max(_LEAST, len(sentences[at].text)) ** 0.5,
    )
    taken = []
    sessions: set[str] = set()
    led: set[ExchangeCandidate] = set()
    seen: set[str] = set()
    for at in ranked:
        each = sentences[at]
        size = len(each.text) + _LINE + _HEAD * (each.turn.session not in sessions)
        if each.candidate not in led and each.turn.role != "user":
            size += min(LEAD, len(each.candidate.exchange.question)) + _LINE
        folded = each.text.lower()
        if size > room or len(each.text) > _LONGEST or folded in seen:
            continue
        if _is_repetition(each.text, known):
            continue
        seen.add(folded)
        sessions.add(each.turn.session)
        led.add(each.candidate)
        taken.append(at)
        room -= size
    return [sentences[at] for at in sorted(taken)]
