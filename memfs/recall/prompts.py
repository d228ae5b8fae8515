"""The recall for a prompt, by words, or by meaning where the index stays open. Hot path."""

from memfs import files
from memfs.core.errors import is_damage
from memfs.recall import item_recall
from memfs.recall.answers import PromptRecall, find_answers
from memfs.search import prompt_relevance
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
    if engines:
        found = recall_warm(engines[0], prompt, place.session, shown, limit, hidden)
    else:
        found = recall_by_words(place.home.index, prompt, place.session, shown, limit, hidden)
    found.subject, found.hidden = subject, hidden
    if names := _list_files(prompt):  # what is about a file that the prompt names comes first
        found.found.sort(key=lambda hit: not any(name in hit.snippet for name in names))
    return found


def _list_files(prompt: str) -> "list[str]":
    found = []
    for word in prompt.split() if "." in prompt else ():
        name = word.strip("`'\"()[]<>*,;?!.").partition(":")[0].rpartition("/")[2]
        stem, _, ending = name.rpartition(".")
        if len(stem) > 1 and ending.isalnum() and ending[0].isalpha():
            found.append(name)
    return found


def recall_by_words(
    folder: str,
    prompt: str,
    session: str,
    shown: "list[str]",
    limit: int,
    hidden: frozenset[str] = frozenset(),
) -> PromptRecall:
    """Return at most `limit` items for a prompt, by its words, without `hidden` ids."""
    try:
        index = TextIndex.open(folder)
        found = index and _recall_from_text(index, prompt, session, shown, limit, hidden)
        return found or PromptRecall()
    except BaseException as error:
        if is_damage(error):  # the next search rebuilds it
            return PromptRecall()
        raise


def _recall_from_text(
    index: TextIndex,
    prompt: str,
    session: str,
    shown: "Sequence[str]",
    limit: int,
    hidden: frozenset[str],
) -> PromptRecall:
    query = prompt_relevance.parse_prompt(index, prompt, session) if limit > 0 else None
    if query is None:
        return PromptRecall()
    query.shown, query.hidden, brought = frozenset(shown), hidden, PromptRecall()
    if (wanted := prompt_relevance.build_query(index, query)) is not None:
        turns = (index.load_document(address) for _, address in index.search(wanted, _POOL))
        brought = find_answers(index, query, turns, None, limit)
    items, left = item_recall.list_by_words(index, query), limit - len(brought.found)
    brought.found += item_recall.recall_items(index, query, items, left)
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
        brought = _recall_from_text(engine.text, prompt, session, shown, limit, hidden)
        brought.by_words = _NO_VECTORS
        return brought
    lookup = prompt_relevance.look_up(engine, prompt, session) if limit > 0 else None
    if lookup is None:
        return PromptRecall()
    query, builder = lookup
    query.shown, query.hidden = frozenset(shown), hidden
    score = engine.vectors.build_scorer(builder.found.vector)
    brought = find_answers(engine.text, query, list_turns(builder), score, limit)
    items, left = item_recall.list_nearest(builder), limit - len(brought.found)
    brought.found += item_recall.recall_items(engine.text, query, items, left)
    return brought


def list_turns(builder: "HitBuilder") -> "Iterator[Document | None]":
    """Yield the best turn of each session that a search by meaning found, the best first."""
    first: dict[int, int] = {}
    for place in builder.found.order:
        first.setdefault(builder.found.group[place], place)
    first.pop(0, None)  # of no session
    return map(builder.load_document, first.values())
