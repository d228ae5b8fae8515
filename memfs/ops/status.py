"""The state of a place: blocks, recall, archive, index, assistants."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from memfs import files, hosts
from memfs.core import block_states, parts
from memfs.core import label as labels
from memfs.core.block import Block
from memfs.core.errors import StoreError
from memfs.files import logs, outside, trees
from memfs.hosts import own_memory, settings
from memfs.ipc import service_status
from memfs.ipc.service_status import ServiceStatus
from memfs.ops import review
from memfs.recall import model_config
from memfs.store import (
    archive,
    block_history,
    blocks,
    clock,
    commits,
    config,
    data_sources,
    git,
    journal,
    journal_query,
    prompt_log,
    recall,
    remote_store,
    sessions,
    spool,
)
from memfs.store.blocks import Place

_PROMPTS = 100  # the last ones that are counted


class BlockState(NamedTuple):
    """A block with its three states.

    `sync`: clean, or dirty where the last commit has another text; outside git, where the journal
    has another one. What no journal has yet is clean there.
    """

    block: Block
    version: int
    content: str
    freshness: str
    sync: str


class SourceStatus(NamedTuple):
    """What the index of a data source holds; `current`: nothing of it has changed since.

    `kind` is source or commit; `chunks` counts commits then.
    """

    name: str
    tier: str
    files: int
    chunks: int
    current: bool
    kind: str = data_sources.FILES


class Status(NamedTuple):
    """The data of `memfs status`. Sizes are bytes.

    `trusted`: hooks use the project's store. `embedding`: how much of the index has vectors of
    which model; `ran`: the last hook run in each assistant, its event, when (seconds since 1970)
    and its milliseconds.
    `off`: what turns memory off, the variable or a file that says `enabled: false`.
    `refused`: what the project's `memory_blocks`, and any `sources`, name and may not. `team` says
    how the project's team stands, "" where it has joined none. Of the last `prompts` that were
    searched for, `by_words` were by words alone. `to_decide` counts what `memfs review` lists, by
    kind, without what the project contradicts. `own_memories` are those that assistants keep by
    themselves, as (host, line). `uncommitted` counts the project's blocks that git has otherwise.
    `synced` says how the user's store stands with its remote, "" where it has none.
    """

    project: str
    trusted: bool
    user: str
    blocks: tuple[BlockState, ...]
    sessions: int
    messages: int
    recall_bytes: int
    passages: int
    index_bytes: int
    embedding: str
    waiting: int
    wired: tuple[tuple[str, str], ...]
    ran: dict[str, tuple[str, float, float]]
    service: ServiceStatus | None = None
    off: str = ""
    refused: tuple[str, ...] = ()
    sources: tuple[SourceStatus, ...] = ()
    team: str = ""
    prompts: int = 0
    by_words: int = 0
    own_memories: tuple[tuple[str, str], ...] = ()
    uncommitted: int = 0
    synced: str = ""
    to_decide: Mapping[str, int] = {}


def run(place: Place, home: str) -> Status:
    """Return the status of a place. Writes nothing."""
    logs = recall.sources(place.home)
    stores = place.stores()
    states = tuple(_load_block_states(place))
    team = parts.find("team.seam")
    searched = prompt_log.read(place.home, _PROMPTS)
    blocks_here = (each for each in states if each.block.tier == labels.PROJECT)
    dirty = [each for each in blocks_here if each.sync != "clean"]
    return Status(
        project=place.project.root if place.project else "",
        trusted=place.project is not None and place.project.trusted,
        user=place.user.root if place.user else "",
        blocks=states,
        sessions=len(logs),
        messages=sum(_count_lines(path) for path in logs),
        recall_bytes=sum(files.get_size(path) for path in logs),
        passages=sum(len(archive.sources(store)) for store in stores),
        index_bytes=trees.measure_size(place.home.index),
        embedding=model_config.load_status(place).format_line(),
        waiting=len(spool.list_notes(place.home)),
        wired=tuple(list_wired_files(place, home)),
        ran={name: run for name in hosts.NAMES if (run := sessions.last_run(place.home, name))},
        service=service_status.load_status(),
        off=blocks.find_off_switch(place),
        refused=(*config.list_refused_kinds(place), *data_sources.refuse_sources(place)),
        sources=tuple(_load_sources(place)),
        team=team.describe_status(place) if team else "",
        prompts=len(searched),
        by_words=sum(bool(each.by_words) for each in searched),
        own_memories=tuple(own_memory.describe_memories(home, place.top, outside.read)),
        uncommitted=len(dirty) if dirty and git.get_head_commit(place.top) else 0,
        synced=remote_store.describe_state(place.user) if place.user else "",
        to_decide=Counter(item.kind for item in review.list_items(place, deep=False)),
    )


def _load_sources(place: Place) -> Iterator[SourceStatus]:
    for source in data_sources.list_searched(place):
        from memfs.recall import source_state  # with what walks files

        state = source_state.load_state(source)
        is_log = source.kind == data_sources.COMMITS
        if is_log and not (state and state.chunks) and not git.get_head_commit(source.top):
            continue  # there is no commit yet
        current = state is not None and source_state.is_current(source, state)
        files, chunks = (state.files, state.chunks) if state else (0, 0)
        yield SourceStatus(source.name, source.tier, files, chunks, current, source.kind)


def list_wired_files(place: Place, home: str) -> list[tuple[str, str]]:
    """List the settings files with our hooks, or that enable our plugin, as (host, path)."""
    found = []
    for name in hosts.NAMES:
        given = (hosts.get(name), home, place.top)
        found += [(name, each.path) for each in settings.list_hook_files(*given)]
        with suppress(StoreError):  # memfs doctor names what cannot be read
            found += [(name, path) for path in settings.list_plugin_files(*given)]
    return list(dict.fromkeys(found))


def _load_block_states(place: Place) -> list[BlockState]:
    now, days = clock.now(), config.load(place).number("paging.stale_days")
    changed = {store.root: commits.list_dirty(store.root, "blocks") for store in place.stores()}
    found = []
    for block in blocks.load(place):
        store = place.store(block.tier)
        head = journal_query.get_head(place, block.tier, block.label)
        entry = journal.entry_at(store, head.offset) if head else None
        version = journal_query.get_version(place, block)
        behind = entry is not None and version > entry.version
        at = entry.at if entry and not behind else block_history.get_file_time(block.path)
        in_git = None if block.tier == labels.SESSION else changed[store.root]
        dirty = behind if in_git is None else os.path.realpath(block.path) in in_git
        operation = journal.ADOPT if behind else entry.op if entry else ""
        content = block_states.describe_content(block.value, operation)
        fresh = _describe_freshness(place, block, at, now, days)
        found.append(BlockState(block, version, content, fresh, "dirty" if dirty else "clean"))
    return found


def _describe_freshness(place: Place, block: Block, at: str, now: str, days: int) -> str:
    read = block_history.get_last_read(place.store(block.tier), block.tier, block.label)
    referenced = max(at, read)
    gone = False
    if block.paged_out:
        from memfs.context import page_scores  # with what scores by meaning

        gone = not page_scores.split_parts(block.body)
    return block_states.freshness(referenced, now, days, paged_out=gone)


def _count_lines(path: str) -> int:
    with logs.open_stream(path) as handle:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: handle.read(1 << 20), b""))
