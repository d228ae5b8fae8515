"""Answers to a prompt from past sessions: exchanges, cut to the sentences that fit. Hot path.

Turns that were found by words or meaning lead to their sessions. The exchanges around each are
scored by the share of the prompt's words in them and by their nearest turn. The surer the best one,
the more is returned; below the floor nothing is: a silent hook is better than a wrong reminder.
"""

import math

from memfs.core.snippet import split_words
from memfs.recall.exchanges import read_around
from memfs.recall.sentence_selection import (
    LEAD,
    ExchangeCandidate,
    choose_sentences,
    rate_sentences,
)
from memfs.recall.sentences import split_sentences
from memfs.search.lexical import WantedStems
from memfs.search.prompt_bm25 import FEWEST_WORDS, MOST_WORDS
from memfs.store.prompt_log import RecalledItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memfs.core.hits import Hit
    from memfs.recall.exchanges import Exchange, SessionTurn
    from memfs.recall.sentence_selection import Sentence
    from memfs.search.lexical import TextIndex
    from memfs.search.prompt_bm25 import PromptHit
    from memfs.search.prompt_relevance import PromptQuery

SESSIONS = 4  # past sessions that are read
# Characters of a reply where the best exchange is certainly about the prompt, and where it may be.
CERTAIN_ROOM, LIKELY_ROOM = 1500, 700
# The least relevance of the best exchange: its share of the prompt's words, plus its cosine, plus
# the share that the store has at all. In a larger store something is close to anything: it rises
# with each tenfold of the documents.
_CERTAIN, _LIKELY, _TENFOLD, _SMALL = 0.75, 0.65, 0.3, 240.0
_KNOWN = 0.25
_LATER = 0.04  # share of the words of a quote: a later session with so many speaks of the same
_MOST_LATER = 3
_LEAST_WORDS = 0.65  # of the floor, for a search by words alone
_FEW_WORDS = 8
_REFERS = frozenset((
    "it", "that", "this", "these", "those", "both", "either", "first", "second", "third", "latter",
    "former", "one", "option", "a", "b", "c", "same", "yes", "no", "do", "ok",
))  # fmt: skip


class Anchor:
    """A turn that was found; exchanges are read around it."""

    __slots__ = ("host", "number", "session")

    def __init__(self, number: int, session: str, host: str) -> None:
        self.number, self.session, self.host = number, session, host


class Recollection:
    """The answer of one past session to a prompt. `snippet` has a line for each quoted turn.

    The fields are those that rendering reads of a hit; `ids` are the shown exchanges. `reason` is
    for people: the words that matched.
    """

    __slots__ = ("at", "host", "id", "ids", "kind", "reason", "role", "session", "snippet", "text")

    why = ()  # rendering shows the quotes instead

    def __init__(self, first: "SessionTurn", ids: list[str], snippet: str, reason: str) -> None:
        self.id, self.ids = ids[0], ids
        self.kind, self.role = "message", f"session {first.session}"
        self.at, self.host, self.session = first.at, first.host, first.session
        self.snippet = self.text = snippet
        self.reason = reason


class TeamRecollection(Recollection):
    """The answer of a session that somebody of the team shared; `role` says who, and where."""

    __slots__ = ()

    def __init__(self, role: str, at: str, ids: list[str], snippet: str, reason: str) -> None:
        self.id, self.ids = ids[0], ids
        self.kind, self.role, self.at, self.host, self.session = "team", role, at, "", ""
        self.snippet = self.text = snippet
        self.reason = reason


class PromptRecall:
    """The memory recalled for a prompt, the surest first.

    `about` is the relevance of the best exchange of past sessions, and `floor` the least that is
    needed; `nearest` describes that exchange: its date, its session and its beginning. `subject`
    are the hashes of the prompt's content words, `hidden` the ids of what is dismissed for such
    prompts. `by_words` says why the search was by words alone, "" if it was by meaning too.
    """

    __slots__ = ("about", "by_words", "floor", "found", "hidden", "nearest", "subject")

    def __init__(self, about: float = 0.0, floor: float = 0.0, nearest: str = "") -> None:
        self.found: list[Recollection | PromptHit | Hit] = []
        self.about, self.floor, self.nearest = about, floor, nearest
        self.subject: frozenset[int] = frozenset()
        self.hidden: frozenset[str] = frozenset()
        self.by_words = ""

    def list_items(self) -> list[RecalledItem]:
        """Return for each recalled item where it is from, and why it came."""
        return [
            RecalledItem(
                f"{each.at[:10]} {each.role or each.kind}".strip(),
                each.reason if isinstance(each, Recollection) else "; ".join(each.why),
                len(each.snippet),
                each.host,
                each.session,
                [*each.ids],
            )
            for each in self.found
        ]


def find_answers(
    text: "TextIndex",
    query: "PromptQuery",
    anchors: "Iterable[Anchor]",
    cosines: "Callable[[list[int]], list[float]] | None",
    session: str,
    shown: "Sequence[str]",
    limit: int,
) -> PromptRecall:
    """Return the answers of at most `limit` past sessions to a prompt, the surest session first.

    `anchors` are the turns that were found, the best first. `cosines` returns those of documents
    by number; None for a search by words alone. The running session and ids in `shown` are left
    out.
    """
    candidates = find_candidates(text, query, anchors, cosines, session)
    if not candidates:
        return PromptRecall()
    known_weight = sum(term.idf for term in (*query.words, *query.pairs) if term.frequency)
    best = max(candidates, key=lambda each: each.about)
    grown = _TENFOLD * math.log10(max(1.0, text.documents / _SMALL))
    scale = 1.0 if cosines else _LEAST_WORDS
    floor = (_LIKELY + grown) * scale
    about = best.about + _KNOWN * known_weight / query.weight
    recall = PromptRecall(about, floor, _describe_exchange(best.exchange))
    if recall.about >= floor:
        is_certain = about >= (_CERTAIN + grown) * scale
        seen = set(shown)
        fresh = [each for each in candidates if each.exchange.id not in seen]
        known = set(split_words(query.prompt))
        room = CERTAIN_ROOM if is_certain else LIKELY_ROOM
        chosen = choose_sentences(rate_sentences(fresh, known), known, room)
        recall.found += _build_recollections(query, text, chosen, candidates, limit)
    return recall


def _describe_exchange(exchange: "Exchange") -> str:
    first = exchange.turns[0]
    beginning = _shorten(" ".join(first.text.split()))
    return f"{first.at[:10]}, {first.host}, session {first.session}: {beginning}"


def _select_anchors(anchors: "Iterable[Anchor]", session: str) -> list[Anchor]:
    """Return the first turn of each of the first `SESSIONS` sessions, without the running one."""
    found: dict[tuple[str, str], Anchor] = {}
    for each in anchors:
        if each.session and each.session != session:
            found.setdefault((each.host, each.session), each)
        if len(found) == SESSIONS:
            break
    return list(found.values())


def find_candidates(
    text: "TextIndex",
    query: "PromptQuery",
    anchors: "Iterable[Anchor]",
    cosines: "Callable[[list[int]], list[float]] | None",
    session: str,
) -> list[ExchangeCandidate]:
    """Return the exchanges of the sessions that were found, a session after the other.

    The arguments are those of `find_answers`.
    """
    first = _select_anchors(anchors, session)
    sessions = [read_around(text, each.session, each.host, each.number) for each in first]
    if query.hidden:
        sessions = [
            [each for each in exchanges if query.hidden.isdisjoint(turn.id for turn in each.turns)]
            for exchanges in sessions
        ]
    sessions = [exchanges for exchanges in sessions if exchanges]
    near: dict[int, float] = {}
    if cosines:
        numbers = [t.number for session in sessions for each in session for t in each.turns]
        near = dict(zip(numbers, cosines(numbers), strict=True))
    rated = [_rate_exchanges(text, query, session, near) for session in sessions]
    if not rated:
        return []
    found = []
    for rank, (exchanges, about) in enumerate(zip(sessions, rated, strict=True)):
        best = max(range(len(about)), key=about.__getitem__)
        padded = [0.0, *about, 0.0]
        for place, exchange in enumerate(exchanges):
            beside = padded[place : place + 3]
            distance = place - best
            found.append(ExchangeCandidate(exchange, beside, about[best], distance, rank))
    top = max(map(max, rated))
    newest = max(each.exchange.turns[0].at for each in found)
    for each in found:
        each.top = top
        each.newest = int(sessions[each.rank][-1].turns[0].at >= newest)
    return found


def _rate_exchanges(
    text: "TextIndex", query: "PromptQuery", exchanges: "list[Exchange]", near: dict[int, float]
) -> list[float]:
    """Return the relevance of each exchange to a prompt.

    The words of the next question count, too: it is about the answer.
    """
    held = [
        [(turn, text.match_stems(query.wanted, turn.text)) for turn in each.turns]
        for each in exchanges
    ]
    found = []
    for place, turns in enumerate(held):
        behind = held[place + 1] if place + 1 < len(held) else []
        asks = [stems for turn, stems in behind if turn.role == "user"]
        stems = set().union(*(stems for _, stems in turns), *asks)
        content = "\n".join(turn.text for turn, _ in turns) if query.pairs else ""
        share = _compute_share(query, stems, content)
        if not near and len(stems) < FEWEST_WORDS and not query.pairs:
            share = 0.0  # without cosines, one word in common is chance
        found.append(share + max(near.get(turn.number, 0.0) for turn, _ in turns))
    return found


def _compute_share(query: "PromptQuery", stems: set[str], content: str) -> float:
    """Return the weighted share of a prompt's words that a text has; `stems` are the text's."""
    weight = sum(term.idf for term in query.words if term.stem in stems)
    weight += sum(pair.idf for pair in query.pairs if pair.word in content)
    return weight / query.weight


def _build_recollections(
    query: "PromptQuery",
    text: "TextIndex",
    chosen: "list[Sentence]",
    candidates: list[ExchangeCandidate],
    limit: int,
) -> list[Recollection]:
    """Return the chosen sentences as one answer for each of at most `limit` sessions.

    One names the days of later sessions among the candidates that speak of the same, and are not
    quoted: what it says may not hold any more.
    """
    sessions: dict[tuple[str, str], list[Sentence]] = {}
    for each in chosen:
        sessions.setdefault((each.turn.host, each.turn.session), []).append(each)
    ranked = sorted(sessions.values(), key=lambda sentences: -sentences[0].candidate.best)[:limit]
    quoted = {sentences[0].candidate.rank for sentences in ranked}
    found = []
    for sentences in ranked:
        snippet = "\n".join(_format_lines(sentences))
        unquoted = [each for each in candidates if each.rank not in quoted]
        if later := _find_later_days(text, snippet, sentences[0].turn.at, unquoted):
            snippet += f"\n(later on this: {', '.join(later)})"
        stems = text.match_stems(query.wanted, snippet)
        words = [term.word for term in query.words if term.stem in stems]
        reason = "words: " + ", ".join(words[:MOST_WORDS]) if words else "by meaning"
        ids = list(dict.fromkeys(each.candidate.exchange.id for each in sentences))
        found.append(Recollection(sentences[0].turn, ids, snippet, reason))
    return found


def _find_later_days(
    text: "TextIndex", quote: str, at: str, candidates: list[ExchangeCandidate]
) -> list[str]:
    """Return the days of later sessions whose most relevant exchange speaks of a quote's subject.

    How near they are to the prompt does not tell: their words in common with the quote do.
    """
    later = [
        each.exchange
        for each in candidates
        if each.distance == 0 and each.exchange.turns[0].at[:10] > at[:10]
    ]
    if not later:
        return []
    terms = text.parse_terms(quote)
    wanted, least = WantedStems(terms), _LATER * sum(term.idf for term in terms)
    days = set()
    for exchange in later:
        stems = text.match_stems(wanted, "\n".join(turn.text for turn in exchange.turns))
        if sum(term.idf for term in terms if term.stem in stems) >= least:
            days.add(exchange.turns[0].at[:10])
    return sorted(days)[-_MOST_LATER:]


def _format_lines(sentences: "list[Sentence]") -> list[str]:
    """Return a line for each turn: its speaker, and its sentences; `…` marks omissions."""
    lines: list[str] = []
    last: Sentence | None = None
    for each in sentences:
        if last is not None and last.turn is each.turn:
            gap = " " if each.place == last.place + 1 else " … "
            lines[-1] += gap + each.text
        else:
            lines += _format_lead(each, last)
            lines.append(f"{each.turn.who}: {each.text}")
        last = each
    return lines


def _format_lead(each: "Sentence", last: "Sentence | None") -> list[str]:
    """Return a line with the question or proposal that a turn refers to, if it is not shown."""
    exchange = each.candidate.exchange
    if each.turn.role != "user":
        if last is not None and last.candidate.exchange is exchange:
            return []
        question = " ".join(exchange.question.split())
        return [f"user: {_shorten(question)}"] if question else []
    before = exchange.before
    if before is None or (last is not None and last.turn is before) or not _is_reply(each.text):
        return []
    return [f"{before.who}: … {split_sentences(before.text)[-1][-LEAD:]}"]


def _is_reply(text: str) -> bool:
    """Tell whether a sentence is a short answer, which means nothing by itself."""
    words = split_words(text)
    return len(words) <= _FEW_WORDS and not _REFERS.isdisjoint(words)


def _shorten(text: str) -> str:
    if len(text) <= LEAD:
        return text
    cut = text.rfind(" ", 0, LEAD)
    return f"{text[: cut if cut > 0 else LEAD]} …"
