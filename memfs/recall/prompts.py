"""What a prompt brings to mind: what past sessions say to it, and passages, facts and entries.

Hot path. By words alone in a process that has just started, by meaning too in one that keeps its
index open: the two differ in how turns are found, and whether their cosines are known.
"""

from memfs.core.errors import is_damage
from memfs.recall.answers import Anchor, PromptRecall, find_answers
from memfs.search import prompt_bm25, prompt_relevance
from memfs.search.lexical import TextIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tantivy import Document

    from memfs.search.engine import Engine

_POOL = 24  # turns that are looked at, the best first, where words alone are known
_MESSAGE = "message"


def recall_by_words(
    folder: str, prompt: str, session: str, shown: "list[str]", limit: int
) -> PromptRecall:
    """Return at most `limit` of what a prompt brings to mind, by its words; none without index."""
    index = TextIndex.open(folder)
    try:
        if index is None:
            return PromptRecall()
        return recall_from_text(index, prompt, session, shown, limit)
    except BaseException as error:
        if is_damage(error):  # the next search makes it anew
            return PromptRecall()
        raise


def recall_from_text(
    index: TextIndex, prompt: str, session: str, shown: "Sequence[str]", limit: int
) -> PromptRecall:
    """Do what `recall_by_words` does, with an index that is open."""
    asked = prompt_relevance.parse_prompt(index, prompt, session)
    brought = PromptRecall()
    if asked is not None and limit > 0:
        inner = [index.part(pair.word, 1.0) for pair in asked.pairs]
        query = index.query(asked.words, *inner)
        if query is not None:
            only = prompt_bm25.build_query(index, query, session)
            documents = (index.opened(address) for _, address in index.search(only, _POOL))
            anchors = _anchors(documents)
            brought = find_answers(index, asked, anchors, None, session, shown, limit)
    left = limit - len(brought.found)
    brought.found += prompt_bm25.by_words(index, prompt, session, shown, left)
    return brought


def recall_warm(
    engine: "Engine", prompt: str, session: str, shown: "Sequence[str]", limit: int
) -> PromptRecall:
    """Return at most `limit` of what a prompt brings to mind, by an index that stays open."""
    if engine.vectors is None:
        return recall_from_text(engine.text, prompt, session, shown, limit)
    from memfs.search import warm_search

    looked = warm_search.look_up(engine, prompt, session) if limit > 0 else None
    if looked is None:
        return PromptRecall()
    asked, told = looked
    first = _first_of_groups(told.found.order, told.found.group)
    documents = (told.document(place) for place in first)
    near = engine.vectors.nearness(told.found.vector)
    brought = find_answers(engine.text, asked, _anchors(documents), near, session, shown, limit)
    rest = prompt_relevance.select_relevant(
        engine.text, asked, told.found, told.document, session, shown, limit - len(brought.found)
    )
    brought.found += (told.brought(*each) for each in rest)
    return brought


def _first_of_groups(order: "Sequence[int]", groups: "Sequence[int]") -> "Iterator[int]":
    """Yield the first place of each session, the best first; what is of none is no turn."""
    seen = {0}
    for place in order:
        if groups[place] not in seen:
            seen.add(groups[place])
            yield place


def _anchors(documents: "Iterator[Document | None]") -> "Iterator[Anchor]":
    """Yield the turns among documents: where to look for exchanges."""
    for each in documents:
        if each is not None and prompt_bm25.get_field(each, "kind") == _MESSAGE:
            number = int(each.get_first("num") or 0)
            yield Anchor(
                number, prompt_bm25.get_field(each, "session"), prompt_bm25.get_field(each, "host")
            )
