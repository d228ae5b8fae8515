"""The chunk of a data source that a prompt is about: at most one. Hot path.

What past sessions say comes first, and sources have a floor of their own, higher than theirs: with
20,000 files of documentation most prompts share words with some of them. Of 30 questions about such
documentation 27 clear it, of 285 prompts about other things 1 (2 by words alone).
"""

import json
import math

from memfs import files
from memfs.core.errors import is_damage
from memfs.core.snippet import snippet, trim_heading
from memfs.core.source_location import format_location
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


class SourceMatch:
    """A chunk above the floor of its source, by `margin`, with the prompt's words in it."""

    __slots__ = ("document", "margin", "words")

    def __init__(self, document: "Document", margin: float, words: list[str]) -> None:
        self.document, self.margin, self.words = document, margin, words


def recall_sources(
    place: "Place", engines: "Sequence[Engine]", prompt: str, shown: "Sequence[str]"
) -> list[PromptHit]:
    """Return the chunk of a place's sources that a prompt is about, in a list.

    `engines` are the open indexes (see `prompts.recall`); without any it is found by words.
    """
    if engines:
        return _choose([_match_warm(engine, prompt, shown) for engine in engines[1:]])
    found = []
    for source in data_sources.list_sources(place):
        try:
            index = TextIndex.open(source.index)
            found.append(_match_by_words(index, prompt, shown) if index else None)
        except BaseException as error:
            if not is_damage(error):  # the next search rebuilds it
                raise
    return _choose(found)


def _match_by_words(index: TextIndex, prompt: str, shown: "Sequence[str]") -> SourceMatch | None:
    query = prompt_relevance.parse_prompt(index, prompt, "")
    if query is None:
        return None
    inner = [index.part_query(pair.word, 1.0) for pair in query.pairs]
    wanted = index.query(query.words, *inner)
    found = index.search(wanted, _POOL) if wanted is not None else []
    documents = ((index.load_document(address), 0.0) for _, address in found)
    return _match(index, query, documents, shown, _get_floor(index) * _LEAST_WORDS)


def _match_warm(engine: "Engine", prompt: str, shown: "Sequence[str]") -> SourceMatch | None:
    if engine.vectors is None:
        return _match_by_words(engine.text, prompt, shown)
    from memfs.search import warm_search

    lookup = warm_search.look_up(engine, prompt, "")
    if lookup is None:
        return None
    query, builder = lookup
    places = builder.found.order[:_READ]
    documents = ((builder.load_document(at), builder.found.cosine[at]) for at in places)
    return _match(engine.text, query, documents, shown, _get_floor(engine.text))


def _get_floor(text: TextIndex) -> float:
    return _FLOOR + _TENFOLD * math.log10(max(1.0, text.documents / _SMALL))


def _match(
    text: TextIndex,
    query: "PromptQuery",
    documents: "Iterable[tuple[Document | None, float]]",
    shown: "Sequence[str]",
    floor: float,
) -> SourceMatch | None:
    """Return the best of the chunks (with their cosines) above a floor."""
    best: SourceMatch | None = None
    for document, cosine in documents:
        if document is None or get_field(document, "id") in shown:
            continue
        content = get_field(document, "text")
        stems = text.match_stems(query.wanted, content)
        words = [term for term in query.words if term.stem in stems]
        words += [pair for pair in query.pairs if pair.word in content]
        if len(words) < _FEWEST:
            continue
        share = sum(term.idf for term in words) / query.weight
        margin = share + cosine - floor - (_FEWER if len(words) < _FEW else 0.0)
        if (
            margin >= 0
            and (best is None or margin > best.margin)  # of equal ones the first ranks best
            and files.is_file(get_field(document, "source"))
            and not _quotes(text, query.prompt, content)
        ):
            best = SourceMatch(document, margin, [term.word for term in words])
    return best


def _quotes(text: TextIndex, prompt: str, content: str) -> bool:
    """Tell whether a prompt quotes a chunk."""
    stems = text.stems(content)
    return len(stems & text.stems(prompt)) >= _REPEATED * max(1, len(stems))


def _choose(found: "Sequence[SourceMatch | None]") -> list[PromptHit]:
    """Return the hit of the best match, in a list; none for none."""
    matches = [each for each in found if each is not None]
    if not matches:
        return []
    best = max(matches, key=lambda each: each.margin)
    hit = PromptHit(best.document)
    meta = json.loads(get_field(best.document, "meta") or "{}")
    place = meta if isinstance(meta, dict) else {}
    heading = place.get("heading")
    hit.role = f"source {get_field(best.document, 'label')}, {format_location(place)}"
    hit.role += f", {heading}" if heading else ""
    hit.set_reasons(best.words)
    hit.snippet = snippet(trim_heading(hit.text, heading), best.words, _WIDTH)
    return [hit]
