"""Answers to a prompt from past sessions: exchanges, cut to the sentences that fit. Hot path."""

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
from memfs.search.lexical import MOST_WORDS, WantedStems, get_field
from memfs.search.prompt_relevance import FEWEST_WORDS, PromptHit
from memfs.store.prompt_log import RecalledItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tantivy import Document

    from memfs.recall.exchanges import Exchange
    from memfs.recall.sentence_selection import Sentence
    from memfs.search.lexical import TextIndex
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


class PromptRecall:
    """The memory recalled for a prompt, the surest first.

    `about` is the relevance of the best exchange of past sessions, and `floor` the least that is
    needed; `nearest` describes that exchange: its date, its session and its beginning. `subject`
    are the hashes of the prompt's content words, `hidden` the ids of what is dismissed for such
    prompts. `by_words` says why the search was by words alone, "" if it was by meaning too.
    """

    __slots__ = ("about", "by_words", "floor", "found", "hidden", "nearest", "subject")

    def __init__(self, about: float = 0.0, floor: float = 0.0, nearest: str = "") -> None:
        self.found: list[PromptHit] = []
        self.about, self.floor, self.nearest = about, floor, nearest
        self.subject: frozenset[int] = frozenset()
        self.hidden: frozenset[str] = frozenset()
        self.by_words = ""

    def list_items(self) -> list[RecalledItem]:
        return [
            RecalledItem(
                f"{each.at[:10]} {each.role or each.kind}".strip(),
                each.reason,
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
    turns: "Iterable[Document | None]",
    cosines: "Callable[[list[int]], list[float]] | None",
    limit: int,
) -> PromptRecall:
    """Return the answers of at most `limit` past sessions to a prompt, the surest session first.

    `turns` are those that were found, the best first. `cosines` returns those of documents
    by number; None for a search by words alone.
    """
    candidates = find_candidates(text, query, turns, cosines)
    if not candidates:
        return PromptRecall()
    known_weight = sum(term.idf for term in (*query.words, *query.pairs) if term.frequency)
    best = max(candidates, key=lambda each: each.about)
    grown = _TENFOLD * math.log10(max(1.0, text.documents / _SMALL))
    scale = 1.0 if cosines else _LEAST_WORDS
    floor = (_LIKELY + grown) * scale
    about = best.about + _KNOWN * known_weight / query.weight
    first = best.exchange.turns[0]
    beginning = _shorten(" ".join(first.text.split()))
    nearest = f"{first.at[:10]}, {first.host}, session {first.session}: {beginning}"
    recall = PromptRecall(about, floor, nearest)
    if recall.about >= floor:
        is_certain = about >= (_CERTAIN + grown) * scale
        seen = query.shown | query.hidden
        fresh = [each for each in candidates if each.exchange.id not in seen]
        known = set(split_words(query.prompt))
        room = CERTAIN_ROOM if is_certain else LIKELY_ROOM
        chosen = choose_sentences(rate_sentences(fresh, known), known, room)
        recall.found += _build_recollections(query, text, chosen, candidates, limit)
    return recall


def _select_turns(turns: "Iterable[Document | None]", running: str) -> dict[tuple[str, str], int]:
    """Return the number of the best turn of each of the first `SESSIONS` other sessions."""
    found: dict[tuple[str, str], int] = {}
    for each in turns:
        if each is not None and get_field(each, "kind") == "message":
            host, session = get_field(each, "host"), get_field(each, "session")
            if session not in ("", running):
                found.setdefault((host, session), int(each.get_first("num") or 0))
            if len(found) == SESSIONS:
                break
    return found


def find_candidates(
    text: "TextIndex",
    query: "PromptQuery",
    turns: "Iterable[Document | None]",
    cosines: "Callable[[list[int]], list[float]] | None",
) -> list[ExchangeCandidate]:
    """Return the exchanges of the sessions that were found (arguments as `find_answers`)."""
    first = _select_turns(turns, query.session)
    sessions = [read_around(text, name, host, number) for (host, name), number in first.items()]
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
    """Return the relevance of each exchange; the next question is about its answer."""
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
    weight = sum(term.idf for term in query.words if term.stem in stems)
    weight += sum(pair.idf for pair in query.pairs if pair.word in content)
    return weight / query.weight


def _build_recollections(
    query: "PromptQuery",
    text: "TextIndex",
    chosen: "list[Sentence]",
    candidates: list[ExchangeCandidate],
    limit: int,
) -> list[PromptHit]:
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
        found.append(build_recollection(sentences, reason, snippet))
    return found


def build_recollection(sentences: "list[Sentence]", reason: str, snippet: str = "") -> PromptHit:
    """Return sentences of one session as a hit; without a snippet it is made of them."""
    ids = list(dict.fromkeys(each.candidate.exchange.id for each in sentences))
    first = sentences[0].turn
    hit = PromptHit("message", f"session {first.session}", first.at, ids, reason)
    hit.host, hit.session = first.host, first.session
    hit.snippet = snippet or "\n".join(_format_lines(sentences))
    return hit


def _find_later_days(
    text: "TextIndex", quote: str, at: str, candidates: list[ExchangeCandidate]
) -> list[str]:
    """Return the days of later sessions whose best exchange has words of a quote."""
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
    words = split_words(each.text)
    is_reply = len(words) <= _FEW_WORDS and not _REFERS.isdisjoint(words)  # alone it means nothing
    if before is None or (last is not None and last.turn is before) or not is_reply:
        return []
    return [f"{before.who}: … {split_sentences(before.text)[-1][-LEAD:]}"]


def _shorten(text: str) -> str:
    if len(text) <= LEAD:
        return text
    cut = text.rfind(" ", 0, LEAD)
    return f"{text[: cut if cut > 0 else LEAD]} …"
