"""What data sources say to a prompt: one chunk of documents, and up to two commits. Hot path.

What past sessions say comes first, and sources have a floor of their own, higher than theirs: with
20,000 files of documentation most prompts share words with some of them. Of 30 questions about such
documentation 27 clear it, of 285 prompts about other things 1 (2 by words alone).

Commits are short, and bug reports long: what counts is how rare the words are that both have, not
their share of the prompt. Of 16 reports 16 bring the commit with the decision (15 among 20,000, and
by words alone), of 640 short prompts about other projects up to 1 %, of 400 long ones up to 5 %.
"""

import json
import math

from memfs import files
from memfs.core.errors import is_damage
from memfs.core.snippet import format_location, snippet, trim_heading
from memfs.search import prompt_relevance
from memfs.search.lexical import TextIndex
from memfs.search.prompt_bm25 import PromptHit, get_field
from memfs.store import data_sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tantivy import Document

    from memfs.search.engine import Engine
    from memfs.search.prompt_relevance import PromptQuery
    from memfs.store.blocks import Place

# The floor of a chunk's relevance: its share of the prompt's words, weighted by idf, plus its
# cosine. It rises with each tenfold of the documents, in which something is close to anything.
_FLOOR, _TENFOLD, _SMALL = 1.0, 0.15, 240.0
_LEAST_WORDS = 0.65  # of the floor, for a search by words alone
_FEW, _FEWER = 3, 0.3  # fewer words in common may be chance: what they need beyond the floor
_FEWEST = 2
_POOL = 24  # chunks that are read for a search by words
_READ = 8  # for one by meaning, too
_REPEATED = 0.8  # share of a chunk's words that the prompt has: it quotes the chunk
_WIDTH = 600  # characters that are shown
# The same of commits: the cosine, plus so much for each unit of idf of the words in common.
_OF_RARE, _COMMIT_FLOOR, _COMMIT_LEAST_WORDS = 0.015, 0.5, 0.4
_FEWEST_NEW = 4  # words of a commit that the prompt has not: "fix typo" helps nobody
_MOST_COMMITS = 2
_CERTAIN, _CERTAIN_WIDTH = 0.25, 1300  # beyond the floor, and characters of such a commit
_ROOM, _LEAST_ROOM = 1480, 400  # characters for sessions and commits; what commits have in any case
_HEAD, _SECOND = 130, 200  # that the first one's head takes, and that a second one needs


class SourceMatch:
    """A chunk or commit above the floor of its source, by `margin`, with the prompt's words."""

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
    found: list[SourceMatch] = []
    for engine in engines[1:]:
        found += _match_warm(engine, prompt, shown)
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


def _match_by_words(index: TextIndex, prompt: str, shown: "Sequence[str]") -> list[SourceMatch]:
    query = prompt_relevance.parse_prompt(index, prompt, "")
    if query is None:
        return []
    inner = [index.part_query(pair.word, 1.0) for pair in query.pairs]
    wanted = index.query(query.words, *inner)
    found = index.search(wanted, _POOL) if wanted is not None else []
    documents = ((index.load_document(address), None) for _, address in found)
    return _match(index, query, documents, shown)


def _match_warm(engine: "Engine", prompt: str, shown: "Sequence[str]") -> list[SourceMatch]:
    if engine.vectors is None:
        return _match_by_words(engine.text, prompt, shown)
    from memfs.search import warm_search

    lookup = warm_search.look_up(engine, prompt, "")
    if lookup is None:
        return []
    query, builder = lookup
    places = builder.found.order[:_READ]
    documents = ((builder.load_document(at), builder.found.cosine[at]) for at in places)
    return _match(engine.text, query, documents, shown)


def _match(
    text: TextIndex,
    query: "PromptQuery",
    documents: "Iterable[tuple[Document | None, float | None]]",
    shown: "Sequence[str]",
) -> list[SourceMatch]:
    """Return those of the chunks or commits (with their cosines) above the floor, in order."""
    found = []
    for document, cosine in documents:
        if document is None or get_field(document, "id") in shown:
            continue
        content = get_field(document, "text")
        stems = text.match_stems(query.wanted, content)
        words = [term for term in query.words if term.stem in stems]
        words += [pair for pair in query.pairs if pair.word in content]
        weights = [term.idf for term in words]
        margin = _measure_margin(weights, query.weight, cosine, text, _is_commit(document))
        if (
            margin >= 0
            and files.is_file(get_field(document, "source"))
            and not _is_repetition(text, query.prompt, document)
        ):
            found.append(SourceMatch(document, margin, [term.word for term in words]))
    return found


def _measure_margin(
    weights: list[float], most: float, cosine: float | None, text: TextIndex, is_commit: bool
) -> float:
    """Return how far a chunk or commit is above its floor, by the words in common and its cosine.

    `weights` are those of the words in common, `most` that of all words of the prompt.
    """
    near, by_words = cosine or 0.0, cosine is None
    grown = _TENFOLD * math.log10(max(1.0, text.documents / _SMALL))
    if is_commit:
        floor = _COMMIT_FLOOR * (_COMMIT_LEAST_WORDS if by_words else 1)
        return _OF_RARE * sum(weights) + near - floor - grown
    floor = (_FLOOR + grown) * (_LEAST_WORDS if by_words else 1)
    if len(weights) < _FEWEST:
        return -floor
    return sum(weights) / most + near - floor - (_FEWER if len(weights) < _FEW else 0.0)


def _is_commit(document: "Document") -> bool:
    return get_field(document, "kind") == data_sources.COMMITS


def _is_repetition(text: TextIndex, prompt: str, document: "Document") -> bool:
    """Tell whether a prompt says a chunk or commit already, or nearly so."""
    stems = text.stems(get_field(document, "text"))
    known = len(stems & text.stems(prompt))
    is_little = _is_commit(document) and len(stems) - known < _FEWEST_NEW
    return is_little or known >= _REPEATED * max(1, len(stems))


def _choose(found: list[SourceMatch], used: int) -> list[PromptHit]:
    """Return the hits of the best commits that there is room for, and of the best chunk."""
    found.sort(key=lambda each: -each.margin)  # of equal ones the first ranks best
    hits: list[PromptHit] = []
    room = max(_LEAST_ROOM, _ROOM - used)
    for match in [each for each in found if _is_commit(each.document)][:_MOST_COMMITS]:
        if not hits or room >= _SECOND:
            hits.append(_build_commit(match, room))
            room -= len(hits[-1].snippet) + _HEAD
    return hits + [_build_chunk(each) for each in found if not _is_commit(each.document)][:1]


def _build_chunk(match: SourceMatch) -> PromptHit:
    hit, place = _build_hit(match)
    heading = place.get("heading")
    hit.role = f"source {get_field(match.document, 'label')}, {format_location(place)}"
    hit.role += f", {heading}" if heading else ""
    hit.snippet = snippet(trim_heading(hit.text, heading), match.words, _WIDTH)
    return hit


def _build_commit(match: SourceMatch, room: int) -> PromptHit:
    hit, meta = _build_hit(match)
    hit.role = f"commit {get_field(match.document, 'label')} by {meta.get('author')}"
    width = _CERTAIN_WIDTH if match.margin >= _CERTAIN else _WIDTH
    hit.snippet = snippet(hit.text, match.words, min(width, room))
    return hit


def _build_hit(match: SourceMatch) -> "tuple[PromptHit, dict[str, object]]":
    hit = PromptHit(match.document)
    hit.set_reasons(match.words)
    meta = json.loads(get_field(match.document, "meta") or "{}")
    return hit, meta if isinstance(meta, dict) else {}
