"""The recall for a prompt: answers of past sessions, and passages, facts and entries.

Hot path. By words alone in a process that has just started, by meaning too in one that keeps its
index open: the two differ in how turns are found, and whether their cosines are known.
"""

from memfs import files
from memfs.core.errors import is_damage
from memfs.recall.answers import Anchor, PromptRecall, find_answers
from memfs.search import prompt_bm25, prompt_relevance
from memfs.search.lexical import TextIndex
from memfs.store import prompt_log, store_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tantivy import Document

    from memfs.search.engine import Engine
    from memfs.search.hit_builder import HitBuilder
    from memfs.store.blocks import Place

_POOL = 24  # documents read, the best first, for a search by words
_MESSAGE = "message"
_NO_VECTORS = "the index has no vectors"


def recall(
    place: "Place", engines: "Sequence[Engine]", prompt: str, shown: "list[str]", limit: int
) -> PromptRecall:
    """Return at most `limit` items for a prompt in a session.

    `engines` are the open indexes of a place: its own, then those of its data sources. Without any
    this process opens the index, and searches by words.
    """
    subject = prompt_log.hash_words(prompt_relevance.list_content(prompt))
    hidden: frozenset[str] = frozenset()
    if files.is_file(f"{place.home.local}/{store_paths.DISMISSED}"):
        from memfs.store import dismissals  # mostly there are none

        hidden = dismissals.list_hidden(place.home, subject)
    session = place.session
    if engines:
        found = recall_warm(engines[0], prompt, session, shown, limit, hidden)
    else:
        found = recall_by_words(place.home.index, prompt, session, shown, limit, hidden)
    found.subject, found.hidden = subject, hidden
    return found


def recall_by_words(
    folder: str,
    prompt: str,
    session: str,
    shown: "list[str]",
    limit: int,
    hidden: frozenset[str] = frozenset(),
) -> PromptRecall:
    """Return at most `limit` items for a prompt, by its words; none without an index.

    `hidden` are the ids of what is dismissed for such prompts.
    """
    index = TextIndex.open(folder)
    try:
        if index is None:
            return PromptRecall()
        return recall_from_text(index, prompt, session, shown, limit, hidden)
    except BaseException as error:
        if is_damage(error):  # the next search rebuilds it
            return PromptRecall()
        raise


def recall_from_text(
    index: TextIndex,
    prompt: str,
    session: str,
    shown: "Sequence[str]",
    limit: int,
    hidden: frozenset[str] = frozenset(),
) -> PromptRecall:
    """Do what `recall_by_words` does, with an open index."""
    shown = [*shown, *hidden]
    prompt_query = prompt_relevance.parse_prompt(index, prompt, session)
    brought = PromptRecall()
    if prompt_query is not None and limit > 0:
        prompt_query.hidden = hidden
        inner = [index.part_query(pair.word, 1.0) for pair in prompt_query.pairs]
        query = index.query(prompt_query.words, *inner)
        if query is not None:
            only = prompt_bm25.build_query(index, query, session)
            documents = (index.load_document(address) for _, address in index.search(only, _POOL))
            anchors = _to_anchors(documents)
            brought = find_answers(index, prompt_query, anchors, None, session, shown, limit)
    left = limit - len(brought.found)
    brought.found += prompt_bm25.by_words(index, prompt, session, shown, left)
    return brought


def recall_warm(
    engine: "Engine",
    prompt: str,
    session: str,
    shown: "Sequence[str]",
    limit: int,
    hidden: frozenset[str] = frozenset(),
) -> PromptRecall:
    """Return at most `limit` items for a prompt, from an index that stays open."""
    if engine.vectors is None:
        brought = recall_from_text(engine.text, prompt, session, shown, limit, hidden)
        brought.by_words = _NO_VECTORS
        return brought
    lookup = prompt_relevance.look_up(engine, prompt, session) if limit > 0 else None
    if lookup is None:
        return PromptRecall()
    query, builder = lookup
    query.hidden, shown = hidden, [*shown, *hidden]
    score = engine.vectors.build_scorer(builder.found.vector)
    anchors = list_anchors(builder)
    brought = find_answers(engine.text, query, anchors, score, session, shown, limit)
    left = limit - len(brought.found)
    rest = prompt_relevance.select_relevant(
        engine.text, query, builder.found, builder.load_document, session, shown, left
    )
    brought.found += (builder.build_from_document(*each) for each in rest)
    return brought


def list_anchors(builder: "HitBuilder") -> "Iterator[Anchor]":
    """Yield the best turn of each session that a search by meaning found, the best first."""
    first = _list_first_places(builder.found.order, builder.found.group)
    return _to_anchors(builder.load_document(place) for place in first)


def _list_first_places(order: "Sequence[int]", groups: "Sequence[int]") -> "Iterator[int]":
    """Yield the first position of each session, the best first; documents of none are skipped."""
    seen = {0}
    for place in order:
        if groups[place] not in seen:
            seen.add(groups[place])
            yield place


def _to_anchors(documents: "Iterator[Document | None]") -> "Iterator[Anchor]":
    """Yield an anchor for each message among documents."""
    for each in documents:
        if each is not None and prompt_bm25.get_field(each, "kind") == _MESSAGE:
            number = int(each.get_first("num") or 0)
            yield Anchor(
                number, prompt_bm25.get_field(each, "session"), prompt_bm25.get_field(each, "host")
            )
