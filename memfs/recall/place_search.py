"""A search of a place: its own index, then those of its data sources and of the user's store."""

import heapq
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

from memfs.core.errors import DamagedError, MemfsError
from memfs.core.hits import Hit
from memfs.recall.open_store import OpenStore
from memfs.search import federated_search
from memfs.search.engine import Engine, IndexSearch, rank_indexes
from memfs.search.federated_search import MESSAGE
from memfs.search.request import Filter, HitPage, Mode, SearchRequest


def find(store: OpenStore, kind: str, request: SearchRequest) -> HitPage[Any]:
    """Return the page of hits or sessions that a request asks for. Raises `MemfsError`."""
    make_page: Callable[..., HitPage[Any]] = federated_search.make_page
    wanted = request.only
    if kind == "sessions":
        make_page = federated_search.make_session_page
        wanted = replace(request.only, kinds=(MESSAGE,))
    chosen = _choose_mode(store, request.mode)
    others = store.list_searches(chosen, wanted)
    only = federated_search.drop_sources(request.only)
    offset = (request.page - 1) * request.limit

    def search(engine: Engine | None) -> HitPage[Any]:
        own = [] if engine is None or only is None else [IndexSearch(engine, only)]
        try:
            found = rank_indexes([*own, *others], request.query, chosen)
            return make_page(found, request.limit, offset)
        except DamagedError:
            if not others or not store.remove_damaged(lambda each: each.search(request.query)):
                raise
            again = store.list_searches(chosen, wanted)
            found = rank_indexes([*own, *again], request.query, chosen)
            return make_page(found, request.limit, offset)

    if only is None:
        store.note = store.source_note
        return search(None)
    page = store.ask(chosen, search)
    store.note = "; ".join(filter(None, (store.note, store.source_note)))
    return page


def list_by_date(store: OpenStore, *, only: Filter, limit: int, page: int) -> HitPage[Hit]:
    """Return one page (from 1) of the documents that pass a filter, in order of time."""
    first, end = (page - 1) * limit, page * limit
    others = store.list_searches("text", only)
    if not others:
        return store.ask("text", lambda e: e.list_by_time(only, limit=limit, offset=first))
    own = store.ask("text", lambda engine: engine.list_by_time(only, limit=end))
    more = [each.engine.list_by_time(each.only or Filter(), limit=end) for each in others]
    hits = heapq.merge(*(each.hits for each in [own, *more]), key=lambda hit: hit.at)
    return HitPage([*islice(hits, first, end)], own.total + sum(each.total for each in more))


def _choose_mode(store: OpenStore, mode: Mode | None) -> Mode:
    model = store.load_model()
    if model.off and mode in ("hybrid", "semantic"):
        raise MemfsError(
            f"search by meaning is turned off in {model.model.said}",
            "leave out --mode to search by words, or turn on search by meaning: "
            "memfs model use bundled",
        )
    return "text" if model.off else mode or "hybrid"
