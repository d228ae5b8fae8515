"""What memory has for a prompt beside past sessions: items, chunks of documents, commits. Hot path.

Each kind has a floor of its own. Of commits it counts how rare the words in common are: they are
short, and bug reports long.
"""

import json
import math
from itertools import islice

from memfs import files
from memfs.core.errors import is_damage
from memfs.core.snippet import format_location, snippet, trim_heading
from memfs.search import prompt_relevance
from memfs.search.lexical import TextIndex, get_field
from memfs.search.prompt_relevance import PromptHit
from memfs.store import data_sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tantivy import Document

    from memfs.search.engine import Engine
    from memfs.search.hit_builder import HitBuilder
    from memfs.search.prompt_relevance import PromptQuery
    from memfs.store.blocks import Place

    Candidates = Iterable[tuple[Document | None, float | None]]  # with their cosines

# The floor of a chunk's relevance: its share of the prompt's words, weighted by idf, plus its
# cosine. It rises with each tenfold of the documents, in which something is close to anything.
_FLOOR, _TENFOLD, _SMALL = 1.0, 0.15, 240.0
_FEW, _FEWER = 3, 0.3  # fewer words in common may be chance: what they need beyond the floor
# The same of items, whose share of words counts less.
_OF_SHARE, _ITEM_FLOOR, _ITEM_TENFOLD, _ITEM_FEWER = 0.75, 0.61, 0.08, 0.15
_LEAST_WORDS, _ITEM_LEAST_WORDS = 0.65, 0.5  # of the floor, for a search by words alone
_LEAST_DOCUMENTS = 10
_NO_ITEMS = ("block", "message")
_FEWEST = 2
_POOL = 24  # documents that are read for a search by words
_READ = 8  # for one by meaning, too
_REPEATED = 0.8  # share of a text's words that the prompt, or what is known, has
_WIDTH, _ITEM_WIDTH = 600, 300  # characters that are shown of a chunk or commit, and of an item
# The same of commits: the cosine, plus so much for each unit of idf of the words in common.
_OF_RARE, _COMMIT_FLOOR, _COMMIT_LEAST_WORDS = 0.015, 0.5, 0.4
_FEWEST_NEW = 4  # words of a commit that the prompt has not: "fix typo" helps nobody
_MOST_COMMITS = 2
_CERTAIN, _CERTAIN_WIDTH = 0.25, 1300  # beyond the floor, and characters of such a commit
_ROOM, _LEAST_ROOM = 1480, 400  # characters for sessions and commits; what commits have in any case
_HEAD, _SECOND = 130, 200  # that the first one's head takes, and that a second one needs


class ItemMatch:
    """A document above the floor of its kind, by `margin`, with the prompt's words."""

    __slots__ = ("document", "margin", "words")

    def __init__(self, document: "Document", margin: float, words: list[str]) -> None:
        self.document, self.margin, self.words = document, margin, words


def recall_sources(
    place: "Place", engines: "Sequence[Engine]", prompt: str, shown: "Sequence[str]", used: int = 0
) -> list[PromptHit]:
    """Return the chunk of a place's sources that a prompt is about, and the commits; or [].

    `engines` are the open indexes (see `prompts.recall`); without any they are found by words.
    `used` are the characters that past sessions take.
    """
    found: list[ItemMatch] = []
    for engine in engines[1:]:
        if engine.vectors is None:
            found += _match_by_words(engine.text, prompt, shown)
        elif lookup := prompt_relevance.look_up(engine, prompt, ""):
            query, builder = lookup
            query.shown = frozenset(shown)
            found += _match(engine.text, query, list_nearest(builder))
    if engines:
        return _choose(found, used)
    for source in data_sources.list_searched(place):
        try:
            index = TextIndex.open(source.index)
            found += _match_by_words(index, prompt, shown) if index else []
        except BaseException as error:
            if not is_damage(error):  # the next search rebuilds it
                raise
    return _choose(found, used)


def recall_items(
    text: TextIndex, query: "PromptQuery", candidates: "Candidates", limit: int
) -> list[PromptHit]:
    """Return at most `limit` items that a prompt of a session is about, in their order."""
    hits = []
    for each in islice(_match(text, query, candidates), max(0, limit)):
        shown = snippet(get_field(each.document, "text"), each.words, _ITEM_WIDTH)
        hits.append(PromptHit.of_document(each.document, each.words, shown))
    return hits


def list_nearest(builder: "HitBuilder") -> "Candidates":
    """Yield the best candidates of a search by meaning that are of no session, without blocks."""
    found = builder.found
    places = (place for place in found.order if not found.group[place])
    read = ((builder.load_document(place), found.cosine[place]) for place in places)
    items = (each for each in read if each[0] and get_field(each[0], "kind") not in _NO_ITEMS)
    return islice(items, _READ)


def list_by_words(text: TextIndex, query: "PromptQuery") -> "Candidates":
    """Return the best documents that are no messages, by words."""
    wanted = prompt_relevance.build_query(text, query, messages=False)
    found = text.search(wanted, _POOL) if wanted is not None else []
    return ((text.load_document(address), None) for _, address in found)


def _match_by_words(index: TextIndex, prompt: str, shown: "Sequence[str]") -> "Iterable[ItemMatch]":
    query = prompt_relevance.parse_prompt(index, prompt, "")
    if query is None:
        return []
    query.shown = frozenset(shown)
    return _match(index, query, list_by_words(index, query))


def _match(
    text: TextIndex, query: "PromptQuery", candidates: "Candidates"
) -> "Iterator[ItemMatch]":
    """Yield new candidates above the floor of their kind, without repetitions, in order."""
    known: list[set[str]] = []
    left_out = query.shown | query.hidden
    for document, cosine in candidates:
        if document is None:
            continue
        content = get_field(document, "text")
        is_own = bool(query.session) and get_field(document, "session") == query.session
        if is_own or get_field(document, "id") in left_out:
            known.append(text.stems(content))
            continue
        stems = text.match_stems(query.wanted, content)
        words = [term for term in query.words if term.stem in stems]
        words += [pair for pair in query.pairs if pair.word in content]
        weights = [term.idf for term in words]
        margin = _measure_margin(weights, query.weight, cosine, text, get_field(document, "kind"))
        source = get_field(document, "source")
        if margin < 0 or (source and not files.is_file(source)):
            continue
        said = text.stems(content)
        if not _is_repetition(text, query.prompt, document, said, known):
            known.append(said)
            yield ItemMatch(document, margin, [term.word for term in words])


def _measure_margin(
    weights: list[float], most: float, cosine: float | None, text: TextIndex, kind: str
) -> float:
    """Return how far a document is above its floor: weights in common of `most`, cosine."""
    near, least = cosine or 0.0, 1.0 if cosine is not None else _LEAST_WORDS
    tenfolds = math.log10(max(_LEAST_DOCUMENTS, text.documents) / _SMALL)
    grown = max(0.0, tenfolds)
    if kind == data_sources.COMMITS:
        floor = _COMMIT_FLOOR * (_COMMIT_LEAST_WORDS if cosine is None else 1)
        return _OF_RARE * sum(weights) + near - floor - _TENFOLD * grown
    is_chunk = kind == data_sources.FILES
    if len(weights) < _FEWEST and (is_chunk or cosine is None):
        return -1.0
    share = sum(weights) / most
    if is_chunk:
        fewer = _FEWER if len(weights) < _FEW else 0.0
        return share + near - (_FLOOR + _TENFOLD * grown) * least - fewer
    fewer = _ITEM_FEWER if len(weights) < _FEWEST else 0.0
    least = 1.0 if cosine is not None else _ITEM_LEAST_WORDS
    return _OF_SHARE * share + near - (_ITEM_FLOOR + _ITEM_TENFOLD * tenfolds) * least - fewer


def _is_commit(document: "Document") -> bool:
    return get_field(document, "kind") == data_sources.COMMITS


def _is_repetition(
    text: TextIndex, prompt: str, document: "Document", stems: set[str], known: list[set[str]]
) -> bool:
    if any(len(stems & each) >= _REPEATED * max(1, len(stems | each)) for each in known):
        return True
    if get_field(document, "kind") not in (data_sources.FILES, data_sources.COMMITS):
        return False
    said = len(stems & text.stems(prompt))
    is_little = _is_commit(document) and len(stems) - said < _FEWEST_NEW
    return is_little or said >= _REPEATED * max(1, len(stems))


def _choose(found: list[ItemMatch], used: int) -> list[PromptHit]:
    found.sort(key=lambda each: -each.margin)  # of equal ones the first ranks best
    hits: list[PromptHit] = []
    room = max(_LEAST_ROOM, _ROOM - used)
    for match in [each for each in found if _is_commit(each.document)][:_MOST_COMMITS]:
        if not hits or room >= _SECOND:
            hits.append(_build_commit(match, room))
            room -= len(hits[-1].snippet) + _HEAD
    return hits + [_build_chunk(each) for each in found if not _is_commit(each.document)][:1]


def _build_chunk(match: ItemMatch) -> PromptHit:
    place = _load_place(match)
    heading = place.get("heading")
    text = trim_heading(get_field(match.document, "text"), heading)
    shown = snippet(text, match.words, _WIDTH)
    hit = PromptHit.of_document(match.document, match.words, shown)
    hit.role = f"source {get_field(match.document, 'label')}, {format_location(place)}"
    hit.role += f", {heading}" if heading else ""
    return hit


def _build_commit(match: ItemMatch, room: int) -> PromptHit:
    width = _CERTAIN_WIDTH if match.margin >= _CERTAIN else _WIDTH
    shown = snippet(get_field(match.document, "text"), match.words, min(width, room))
    hit = PromptHit.of_document(match.document, match.words, shown)
    author = _load_place(match).get("author")
    hit.role = f"commit {get_field(match.document, 'label')} by {author}"
    return hit


def _load_place(match: ItemMatch) -> "dict[str, object]":
    found = json.loads(get_field(match.document, "meta") or "{}")
    return found if isinstance(found, dict) else {}
