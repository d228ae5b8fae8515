"""All searchable sources of a place, as documents of its index; vectors of a new model."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from typing import TypeAlias

from memfs import files
from memfs.core import file_redaction
from memfs.core import label as labels
from memfs.core.errors import DamagedError, LockedError, MemfsError, StoppedError, StoreError
from memfs.core.records import Passage
from memfs.recall import model_config
from memfs.search import doc_json, indexer
from memfs.search.catalog import IndexSource
from memfs.search.doc_json import epoch
from memfs.search.engine import Engine
from memfs.search.indexer import Indexed, Indexer
from memfs.search.lexical import TextIndex, get_field
from memfs.search.model_files import ModelFiles
from memfs.search.stopwords import STOP
from memfs.store import (
    archive,
    blocks,
    chunk_log,
    facts,
    local_folder,
    lock,
    recall,
    standing_rules,
    static,
)
from memfs.store.blocks import Place
from memfs.store.standing_rules import StandingRule
from memfs.store.store_paths import Store

_MESSAGES = 600  # the newest of users
_MOST = {True: 60, False: 30}  # certain rules, likely ones
_FIELDS = ("text", "time", "host", "session", "id")
_SAME = 0.6  # of the shorter rule's words in common: the same subject

_STEP = 500  # documents: a fifth of a second
_PAUSE = 0.06  # seconds between two steps: waiters try the lock every 0.05 s
_GLANCE = 0.2  # seconds: a process that only probes the lock releases it at once
_PATIENCE = 60.0  # seconds for that lock


def rebuild_vectors(
    place: Place,
    tick: Callable[[int], object] | None = None,
    rest: Callable[[], object] = lambda: None,
) -> bool:
    """Make the configured model's vectors for all documents, then search by these.

    If the configuration changes meanwhile, it goes on with the new model. `rest` is called between
    two steps. False if there is nothing to make: no index, no model. Raises `LockedError` if
    another process does it, `MemfsError` for a model that cannot be used.
    """
    with lock.hold_lock(place.home, _GLANCE, lock.VECTORS):
        while True:
            model = model_config.load_wanted_model(place)
            if model.problem:
                raise model.problem
            if model.files is None or not files.is_folder(place.home.index):
                return False
            try:
                if not _step(place.home, model.files, tick):
                    return True
            except FileNotFoundError:  # another process removes the index
                return False
            time.sleep(_PAUSE)
            rest()


def _step(store: Store, model: ModelFiles, tick: Callable[[int], object] | None) -> bool:
    with lock.hold_lock(store, _PATIENCE, lock.INDEX), indexer.open_writer(store.index) as writer:
        writer.embed(tick, model, _STEP)
        return writer.count_missing_vectors(model.name) > 0


_FACT, _STATIC = 95, 100  # percent of the weight of a user's message

Stage: TypeAlias = Callable[[str, int], Callable[[int], object]]


def sources(place: Place, logs: Iterable[str] | None = None) -> list[IndexSource]:
    """List what to index of project and user; `logs` limits the recall files, None: all."""
    paths = recall.sources(place.home) if logs is None else logs
    found = [IndexSource(path, "message", grows=True) for path in paths]
    for tier, store in place.list_lasting_tiers():
        found += [IndexSource(path, "passage", tier=tier) for path in archive.sources(store)]
        found += [
            IndexSource(path, "window", tier=tier, grows=True)
            for path in chunk_log.list_segments(store)
        ]
        found += [IndexSource(path, "fact", tier=tier) for path in facts.sources(store)]
        found += [
            IndexSource(path, "static", tier=tier, label=key) for key, path in static.sources(store)
        ]
    found.extend(
        IndexSource(path, "block", tier=tier, label=label)
        for tier, label, path in blocks.paths(place)
        if tier != labels.SESSION
    )
    return found


def sync(
    place: Place,
    *,
    embed: bool,
    wait: float = 10.0,
    stage: Stage | None = None,
    logs: Iterable[str] | None = None,
    rebuild: bool = True,
) -> Indexed | None:
    """Bring the index up to date; None if another process indexes for longer than `wait`.

    With `logs`, once the index is complete, only these are checked and nothing is removed:
    there may be thousands of others, and a hook must be quick.

    `stage` is called with the name of each stage and its number of documents (0: unknown), and
    returns a function that is called with the number of those done. Many vectors of a new model are
    made only with `stage` and `rebuild`; else they are left to the service, or to `memfs ingest`.
    """
    indexed = sources(place, logs)
    path = place.home.index
    if not indexed and not files.is_folder(path):
        return indexer.Indexed(0, 0)
    try:
        with lock.hold_lock(place.home, wait, lock.INDEX):
            try:
                done, missing = _update_index(place, indexed, stage, logs, embed=embed)
            except DamagedError:
                done, missing = _update_index(place, indexed, stage, logs, embed=embed)
    except LockedError:
        return None
    if missing and embed and rebuild and stage is not None:
        with suppress(MemfsError):  # the service does it, or a search reports the problem
            rebuild_vectors(place, stage("embedding", missing))
    return done


def _update_index(
    place: Place,
    indexed: list[IndexSource],
    stage: Stage | None,
    logs: Iterable[str] | None,
    *,
    embed: bool,
) -> tuple[Indexed, int]:
    """Do what `sync` does; return also how many vectors are left to make. Raises `DamagedError`."""
    path = place.home.index
    files.make_folder(path, private=True)
    with indexer.open_writer(path) as writer:
        partly = logs is not None and writer.whole
        done = writer.update(
            indexed if partly or logs is None else sources(place),
            make_documents,
            stage and stage("indexing", 0),
            partly=partly,
        )
        if done.sources:
            prepare_session_start(place)
        return done, _embed(place, writer, stage, embed=embed)


def renew(place: Place) -> None:
    """Remove a damaged index: the next search rebuilds it. Raises `LockedError`."""
    with lock.hold_lock(place.home, name=lock.INDEX):
        indexer.remove(place.home.index)


@contextmanager
def open_feed(
    place: Place, stage: Stage | None = None, wait: float = 10.0
) -> Iterator[Indexer | None]:
    """Yield the writer that indexes messages while they are read; None if another process indexes.

    Messages count at the end, or with their batch. All else that is new is indexed at the end, in
    the same commit. Raises `DamagedError` for a damaged index, which is removed: all can be read
    again.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(lock.hold_lock(place.home, wait, lock.INDEX))
        except LockedError:
            yield None
            return
        files.make_folder(place.home.index, private=True)
        writer = stack.enter_context(indexer.open_writer(place.home.index))
        try:
            yield writer
        except StoppedError:  # what was read until then is found
            writer.publish()
            raise
        writer.update(sources(place), make_documents, stage and stage("indexing", 0))
        prepare_session_start(place)


def _embed(place: Place, writer: Indexer, stage: Stage | None, *, embed: bool) -> int:
    files = model_config.load_wanted_model(place).files
    if files is None:
        return 0
    missing = writer.count_missing_vectors(files.name)
    if model_config.is_left(place.home.index, files, missing):
        return missing
    if embed:
        with suppress(StoreError):
            writer.embed(stage and stage("embedding", missing), files)
    return 0


def open_engine(store: Store, index: str, model: ModelFiles | None) -> Engine:
    """Open an index with a model's vectors, or by words alone. Raises `StoreError`."""
    local_folder.make(store)
    files.make_folder(index, private=True)
    if model is None:
        return Engine.open(index, "text")
    from memfs.search import encoder  # with numpy

    return Engine.open(index, "hybrid", encoder.open_model(model).check())


def make_documents(source: IndexSource, start: int) -> Iterator[dict[str, object]]:
    """Yield the documents of a source from byte `start` on, without secrets."""
    if source.kind == "message":
        yield from map(doc_json.document, recall.messages(source.path, start))
    elif source.kind == "window":  # neither of these two holds one
        yield from _read_windows(source, start)
    else:  # an editor may have written one
        yield from map(file_redaction.redact_record, _read_entries(source))


def _read_windows(source: IndexSource, start: int) -> Iterator[dict[str, object]]:
    owner = chunk_log.get_owner(source.path)
    for each in chunk_log.read(source.path, start):
        who = each.meta.get("participants")
        yield {
            **_build_passage(each.passage, source.path),
            "project": owner,
            "session": each.passage.source,
            "speaker": [str(name) for name in who] if isinstance(who, list) else [],
            "meta": json.dumps(each.meta),
        }


def _read_entries(source: IndexSource) -> Iterator[dict[str, object]]:
    if source.kind == "passage":
        passage = archive.read(source.path)
        if passage and passage.text:
            yield _build_passage(passage, source.path)
    elif source.kind == "fact":
        yield from _read_facts(source)
    elif source.kind == "static":
        yield from _read_static(source)
    else:
        yield from _read_block(source)


def _build_passage(passage: Passage, path: str) -> dict[str, object]:
    at, time = epoch(passage.created_at), passage.created_at
    if passage.created_at == archive.UNKNOWN:
        at, time = 0, ""
    elif at is None:  # written by hand: the time of its file
        found = files.status(path)
        at = int(found.st_mtime) if found else 0
        time = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "id": passage.id,
        "kind": "passage",
        "text": passage.text,
        "tag": list(passage.tags),
        "importance": max(0, min(10, passage.importance)),
        "weight": 95 + max(0, min(10, passage.importance)),
        "at": at,
        "time": time,
        **({"meta": json.dumps({"source": passage.source})} if passage.source else {}),
    }


def _read_facts(source: IndexSource) -> Iterator[dict[str, object]]:
    for fact in facts.read(source.path).values():
        if fact.holds:
            yield {
                "id": fact.id,
                "kind": "fact",
                "text": fact.statement,
                "host": fact.host,
                "session": fact.session,
                "tag": [fact.category],
                "weight": _FACT,
                "at": epoch(fact.at) or 0,
                "time": fact.at,
            }


def _read_static(source: IndexSource) -> Iterator[dict[str, object]]:
    entry = static.load(source.path, source.label)
    if entry and entry.text:
        yield {
            "id": f"static/{entry.key}",
            "kind": "static",
            "text": entry.text,
            "label": entry.key,
            "tag": [*filter(None, [entry.category]), *entry.tags],
            "weight": _STATIC,
            "at": epoch(entry.created_at) or 0,
            "time": entry.created_at,
        }


def _read_block(source: IndexSource) -> Iterator[dict[str, object]]:
    block = blocks.read(source.tier, source.label, source.path)
    text = f"{block.description}\n{block.value}".strip()
    if text:
        from memfs.store import block_history  # with git, where a block is new

        at = block_history.find_write_time(source.path, block.raw)
        yield {
            "id": labels.qualify(source.tier, source.label),
            "kind": "block",
            "text": text.encode("utf-8", "replace").decode(),
            "label": source.label,
            "tag": block.tags,
            "at": epoch(at) or 0,
            "time": at,
        }


def prepare_session_start(place: Place) -> None:
    """Write what the start of a session reads: rules, handovers. The caller locks."""
    from memfs.recall import handoffs  # with many patterns, which a search does without

    text = TextIndex.open(place.home.index)
    if text is not None:
        standing_rules.write(place.home, find_rules(text))
        handoffs.refresh(place.home, text)


def find_rules(text: TextIndex) -> list[StandingRule]:
    """Return the rules of users, the newest first, one for a subject; sure ones win."""
    found: list[StandingRule] = []
    room = dict(_MOST)
    for rule in _scan_rules(text):
        later = [other for other in found if other.certain or not rule.certain]
        if room[rule.certain] and not any(_is_same(rule, other) for other in later):
            found.append(rule)
            room[rule.certain] -= 1
    return found


def _extract_subject(rule: StandingRule) -> set[str]:
    """Return the words of a rule that tell its subject: neither "never" nor "the"."""
    from memfs.recall.rule_recognition import MARKS  # as above

    return rule.words.difference(STOP, MARKS) or rule.words


def _is_same(one: StandingRule, other: StandingRule) -> bool:
    words, others = _extract_subject(one), _extract_subject(other)
    return len(words & others) >= _SAME * min(len(words), len(others))


def _scan_rules(text: TextIndex) -> Iterator[StandingRule]:
    from memfs.recall.own_words import own_words  # as above
    from memfs.recall.rule_recognition import extract_rules  # likewise
    from memfs.recall.sentences import split_sentences  # likewise

    for document in text.list_prompts(_MESSAGES):
        content, at, host, session, ident = (get_field(document, name) for name in _FIELDS)
        for rule, certain in reversed(extract_rules(split_sentences(own_words(content)))):
            yield StandingRule(at, host, session, ident, rule, certain=certain)
