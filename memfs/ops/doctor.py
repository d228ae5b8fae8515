"""Find what is wrong, say where, and what to do about it; mend what can be mended safely."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memfs import hosts
from memfs.core import label as labels
from memfs.core import merge
from memfs.core.errors import MemfsError
from memfs.core.records import Origin
from memfs.hosts import settings
from memfs.store import blocks, clock, config, files, git, journal, layout, writer
from memfs.store.writer import Change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memfs.store.blocks import Place

Level = Literal["ok", "warning", "error"]
_LOG_LINES = 3


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    level: Level
    text: str
    hint: str = ""


def run(place: Place, home: str) -> list[Finding]:
    """Look at stores, configuration, blocks, journal and hooks."""
    found: list[Finding] = []
    for tier, store in place.tiers():
        if tier != labels.SESSION:
            found.append(Finding("ok", f"{tier} store: {store.root}"))
            found += [Finding("warning", text) for text in config.problems(store)]
            found += _journal(store)
            found += _leftovers(store)
    found += _blocks(place)
    found += _merging(place)
    found += _hooks(place, home)
    found += _log(place)
    return found


def fix(place: Place) -> list[Finding]:
    """Resolve the conflicts that git left in blocks: both sides are merged.

    Each is journalled like an edit (`memfs undo` takes it back), and the file as it was is kept in
    `local/backup/`.
    """
    found: list[Finding] = []
    for block in blocks.load(place):
        merged = merge.resolve(block.raw)
        if merged is None:
            continue
        name = labels.qualified(block.tier, block.label)
        store = place.store(block.tier)
        with writer.writing(store, place) as made:
            text, version = made.settle(block.tier, block.label, block.path)
            if text != block.raw:
                continue
            backup = f"{store.local}/backup/{clock.unique()}-{block.label.replace('/', '-')}.md"
            files.make_folder(os.path.dirname(backup), private=True)
            files.write(backup, block.raw, private=True)
            change = Change(block.tier, block.label, block.path, text, merged, "merge", version + 1)
            made.commit([change], Origin("user", reason="conflicts resolved by doctor"))
        found.append(Finding("ok", f"{name}: conflicts resolved", f"as it was: {backup}"))
    return found


def _merging(place: Place) -> Iterator[Finding]:
    """Look whether git merges blocks with our driver in this clone."""
    project = place.project
    if project is None or git.top_level(project.root) is None:
        return
    driver = git.driver(project.root)
    if git.merged_by(project.root, "blocks/x.md") != "memfs" or not driver:
        yield Finding(
            "warning",
            "git does not merge blocks with memfs in this clone",
            "memfs init registers it; .agent-memory/.gitattributes needs the line: "
            "blocks/**/*.md merge=memfs",
        )
    elif not os.path.exists(_programs(driver)[0]):
        yield Finding(
            "error",
            f"git merges blocks with {_programs(driver)[0]}, which is gone",
            "register it anew: memfs init",
        )


def _blocks(place: Place) -> Iterator[Finding]:
    count = 0
    paths: dict[tuple[str, str], str] = {}
    for block in blocks.load(place):
        count += 1
        name = labels.qualified(block.tier, block.label)
        if (block.tier, block.label) in paths:
            yield Finding(
                "error", f"{block.path} and {paths[block.tier, block.label]} have one label",
                "give one of the files another name",
            )  # fmt: skip
        paths[block.tier, block.label] = block.path
        wrong = labels.problem(block.label)
        if wrong:
            yield Finding("error", f"{block.path} cannot be addressed: {wrong}", "rename the file")
        if block.problem:
            yield Finding("error", f"{name}: {block.problem}", f"mend {block.path}")
        for key, value in block.odd_keys():
            yield Finding(
                "warning", f"{name}: {key} is {value!r}, which is not used", f"mend {block.path}"
            )
        if any("\udc80" <= c <= "\udcff" for c in block.raw) or "\0" in block.raw:
            yield Finding("error", f"{name} is not UTF-8 text", f"save {block.path} as UTF-8")
        if _conflicted(block.raw):
            yield Finding(
                "error",
                f"{name} holds merge conflict markers",
                f"memfs doctor --fix merges both sides; or resolve them in {block.path}",
            )
        if block.chars > block.limit:
            yield Finding(
                "warning", f"{name}: {block.chars:,} characters, the limit is {block.limit:,}",
                f"shorten it: memfs edit {block.label}",
            )  # fmt: skip
    for path in _left_out(place, set(paths.values())):
        yield Finding(
            "warning", f"{path} is no block",
            "blocks are .md files, at most 3 levels deep, not links that leave the store",
        )  # fmt: skip
    if count:
        yield Finding("ok", f"{count} blocks were read")


def _left_out(place: Place, read: set[str]) -> list[str]:
    """List what lies among the blocks and is none."""
    found = []
    for tier, store in place.tiers():
        if tier == labels.SESSION:
            continue
        for folder, folders, names in os.walk(f"{store.root}/blocks"):
            odd = [name for name in folders if name.endswith(blocks.SUFFIX)]
            paths = [f"{folder}/{name}" for name in [*odd, *names] if not name.startswith(".")]
            found += [path for path in paths if path not in read]
    return sorted(found)


def _conflicted(raw: str) -> bool:
    lines = raw.splitlines()
    starts = [any(line.startswith(mark) for line in lines) for mark in ("<<<<<<< ", ">>>>>>> ")]
    return all(starts) and "=======" in lines


def _journal(store: layout.Store) -> Iterator[Finding]:
    entries, damaged, end = journal.since(store, 0)
    size = os.path.getsize(store.journal) if os.path.exists(store.journal) else 0
    if damaged:
        yield Finding(
            "error", f"{store.journal}: {damaged} lines cannot be read",
            "the other entries are used; the versions in these lines cannot be restored",
        )  # fmt: skip
    if end < size:
        yield Finding(
            "warning", f"{store.journal}: an entry at the end is not whole",
            "it was never acknowledged; the next edit removes it",
        )  # fmt: skip
    yield Finding("ok", f"{len(entries):,} edits in the journal")


def _leftovers(store: layout.Store) -> Iterator[Finding]:
    for folder, _, names in os.walk(store.root):
        for name in names:
            if name.startswith(".") and name.endswith(".tmp"):
                yield Finding(
                    "warning", f"{folder}/{name} was left by a run that was killed", "remove it"
                )


def _hooks(place: Place, home: str) -> Iterator[Finding]:
    for name in hosts.NAMES:
        host = hosts.get(name)
        top = place.project.top if place.project else None
        wired = settings.wired(host.SETTINGS, home, top, files.read)
        for scope, path, text in wired:
            flag = "" if scope == "project" else f" --{scope}"
            try:
                commands = settings.commands(settings.parse(text, path))
            except MemfsError as error:
                yield Finding("error", error.message, error.hint)
                continue
            missing = {word for c in commands for word in _programs(c) if not os.path.exists(word)}
            for word in sorted(missing):
                yield Finding(
                    "error", f"{path}: the hook needs {word}, which is gone",
                    f"write it anew: memfs install {name}{flag}",
                )  # fmt: skip
            if not missing:
                yield Finding("ok", f"{host.TITLE} is wired in {path}")
        if len(wired) > 1:
            yield Finding(
                "warning", f"{host.TITLE} is wired {len(wired)} times: every prompt runs each",
                f"keep one: memfs uninstall {name} [--user]",
            )  # fmt: skip
        if not wired:
            yield Finding("warning", f"{host.TITLE} is not wired", f"memfs install {name}")


def _programs(command: str) -> list[str]:
    words = shlex.split(command) if os.name != "nt" else command.replace('"', "").split()
    return [words[0], *[word for word in words if word.endswith(settings.MARK)]] if words else []


def _log(place: Place) -> Iterator[Finding]:
    for tier, store in place.tiers():
        path = f"{store.local}/hook.log"
        lines = (files.read(path) or "").splitlines()
        if lines and tier != labels.SESSION:
            shown = "; ".join(lines[-_LOG_LINES:])
            yield Finding(
                "warning",
                f"{path}: {len(lines)} hook calls failed",
                f"last: {shown}; delete the file when it is seen to",
            )
    yield Finding("ok", f"Python {sys.version.split()[0]} at {sys.executable}")
