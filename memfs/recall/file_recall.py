"""What past sessions decided about a file that an assistant opens. Hot path."""

from memfs.recall.answers import build_recollection
from memfs.recall.exchanges import read_around
from memfs.recall.sentence_selection import ExchangeCandidate, choose_sentences, rate_sentences
from memfs.search.lexical import get_field, match_all
from memfs.search.prompt_relevance import exclude_running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.recall.exchanges import Exchange
    from memfs.recall.sentence_selection import Sentence
    from memfs.search.engine import Engine
    from memfs.search.prompt_relevance import PromptHit

_POOL = 24  # turns that name the file, which are read
_SESSIONS = 2
_NEAR = 2  # exchanges behind one that names the file
# Names that many files of a project have: their folder tells them apart.
_COMMON = frozenset("__init__ index main mod readme conftest setup package utils types".split())


def find_decisions(
    engine: "Engine", path: str, session: str, shown: "Sequence[str]", room: int
) -> "list[PromptHit]":
    """Return what past sessions decided about a file, in `room` characters, the newest one first.

    `path` is relative to the project. The running session and exchanges in `shown` are left out.
    """
    text = engine.text
    parts = path.split("/")
    name = parts[-1] if parts[-1].split(".")[0].lower() not in _COMMON else "/".join(parts[-2:])
    phrase = text.phrase_query(name)
    if phrase is None or ("." not in name and "/" not in name):
        return []
    messages = text.term_query("kind", "message")
    query = match_all(exclude_running(text, phrase, session), messages)
    named: dict[tuple[str, str], list[int]] = {}
    newest: dict[tuple[str, str], str] = {}
    for _, address in text.search(query, _POOL):
        document = text.load_document(address)
        key = get_field(document, "host"), get_field(document, "session")
        named.setdefault(key, []).append(int(document.get_first("num") or 0))
        newest[key] = max(newest.get(key, ""), get_field(document, "time"))
    candidates = []
    ranked = sorted(named, key=lambda key: newest[key], reverse=True)
    for rank, (host, ident) in enumerate(ranked[:_SESSIONS]):
        numbers = sorted(named[host, ident])
        candidates += _list_candidates(read_around(text, ident, host, numbers[0]), numbers, rank)
    seen = set(shown)
    fresh = [each for each in candidates if each.exchange.id not in seen]
    known = {part.lower() for part in parts}
    chosen: dict[str, list[Sentence]] = {}
    for each in choose_sentences(rate_sentences(fresh, known), known, room):
        chosen.setdefault(each.turn.session, []).append(each)
    return [build_recollection(sentences, name) for sentences in chosen.values()]


def _list_candidates(
    exchanges: "list[Exchange]", numbers: list[int], rank: int
) -> list[ExchangeCandidate]:
    starts = [each.turns[0].number for each in exchanges]
    naming = {max([at for at, start in enumerate(starts) if start <= n] or [0]) for n in numbers}
    found = []
    for at, exchange in enumerate(exchanges):
        distances = [at - place for place in naming if 0 <= at - place <= _NEAR]
        if distances:
            relevance = [float(place in naming) for place in (at - 1, at, at + 1)]
            found.append(ExchangeCandidate(exchange, relevance, 1.0, min(distances), rank))
    return found
