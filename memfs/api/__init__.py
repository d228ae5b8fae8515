"""Floor 10: the Python door: the operations of the command line, typed, without printing.

Used as `with memfs.open(".") as memory:`, then `memory.append("human", "Name: Alice")`,
`memory.undo("human")` or `memory.search("what did we decide about retries")`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Literal, Self
from weakref import WeakSet

from memfs.api.source_methods import SourceMethods, ignore_progress, load_op
from memfs.context import brief_contents, window_budget
from memfs.core import parts
from memfs.core.block import Block
from memfs.core.errors import MemfsError, NotFoundError, RejectedError, UsageError
from memfs.core.hits import Hit, SessionHit
from memfs.core.records import ACCEPTED, REJECTED, Fact, JournalEntry, Message
from memfs.core.tokens import estimate
from memfs.hosts import caller
from memfs.ingest.transcripts import Tally
from memfs.knowledge import orchestrator
from memfs.knowledge.orchestrator import Orchestrator
from memfs.ops import archive, context, history, ingest, search, sessions, show
from memfs.ops.sessions import RecordedSession
from memfs.recall.open_store import OpenStore
from memfs.search.request import Filter, Mode
from memfs.store import blocks, config, resources
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.importers.exporting import Exported
    from memfs.importers.importing import Imported


def open_memory(path: str | os.PathLike[str] = ".", session: str = "") -> Memory:
    """Open the memory of a folder: the nearest project store, and the user's.

    `session` names the session whose scratch block is meant. Raises `MemfsError` if there is no
    such folder, or no store.
    """
    return Memory(os.fspath(path), session)


class Memory(SourceMethods):
    """The stores that serve a folder. `with` closes what it has open.

    What cannot be done raises a `MemfsError` with `message` and `hint`: an edit that a rule of its
    block forbids a `RejectedError`, arguments that are not allowed a `UsageError`.
    """

    def __init__(self, path: str, session: str = "") -> None:
        if not os.path.isdir(path):
            if os.path.exists(path):
                folder = os.path.dirname(path) or "."
                raise UsageError(f"{path} is not a folder", f"open the file's folder: {folder}")
            raise NotFoundError(
                f"there is no folder {path}", "check the path, or create the folder"
            )
        super().__init__(blocks.find_place(path, session, caller.find_obstacle))
        if self._place.left_out:
            warnings.warn(f"{self._place.left_out}; to use it, run memfs trust", stacklevel=3)
        if self._place.unused:
            warnings.warn(
                f"{self._place.unused} was not created by memfs for you, so it is not used",
                stacklevel=3,
            )
        with suppress(OSError):  # a store that cannot be written can be read
            brief_contents.create_scratch_block(self._place)
        self._index = OpenStore(self._place)
        self._orchestrators: WeakSet[Orchestrator] = WeakSet()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        count = ""
        with suppress(MemfsError, OSError):  # a folder that cannot be read, or is gone
            found = len(blocks.paths(self._place))
            count = f": {found} block{'' if found == 1 else 's'}"
        return f"<Memory {self._place.home.top}{count}>"

    def close(self) -> None:
        """Close the index, and the databases of its orchestrators; what is used opens again."""
        self._index.close()
        for each in self._orchestrators:
            each.close()

    @property
    def place(self) -> Place:
        """Where this memory is: what kinds of memory are made for."""
        return self._place

    def orchestrator(self) -> Orchestrator:
        """Return the kinds of memory that are configured (`memory_blocks`), as one.

        It stores into several of them at once, and composes one context from all.
        """
        made = orchestrator.for_session(self._index)
        self._orchestrators.add(made)
        return made

    def blocks(self) -> list[Block]:
        """Return the blocks of all tiers, nearest tier first."""
        return blocks.load(self._place)

    def show(self, label: str, version: int | str = "") -> Block:
        """Return a block as it is, or as it was at a version or a commit.

        Raises `NotFoundError`.
        """
        return show.run(self._place, label, str(version)).block

    def brief(self) -> str:
        """Return the text an assistant is given when a session starts."""
        return show.brief(self._place)

    def context(self, task: str, budget: int = 0) -> str:
        """Return what memory holds for a task, in at most `budget` tokens (0: as configured)."""
        return context.for_task(self._index, task, budget).text

    def log(self, label: str = "", limit: int = 0) -> list[JournalEntry]:
        """Return what the journal and git know, newest first, of one block or of all.

        What git alone knows has the operation `commit` and the author as actor.
        """
        return history.log(self._place, label, limit)

    def archive(
        self, text: str, *, importance: int = 5, tags: Sequence[str] = (), reason: str = ""
    ) -> str:
        """Keep a passage for the long term; return its id, or that of one that says the same."""
        if isinstance(tags, str):
            raise UsageError(f"tags is {tags!r}, expected a list of strings", f"pass [{tags!r}]")
        stored = archive.run(
            self._place,
            text,
            importance=importance,
            tags=tuple(tags),
            origin=self._make_origin(reason),
        )
        return stored.id

    def search(
        self,
        query: str,
        *,
        mode: Mode | None = None,
        only: Filter | None = None,
        since: str | date = "",
        until: str | date = "",
        limit: int = 5,
        page: int = 1,
    ) -> list[Hit]:
        """Return a page of hits in recall, archive, blocks, facts, static and data sources.

        The best come first. By words and meaning if no `mode` says otherwise, by words alone where
        `embedding` is none or the model cannot be used. `since` and `until` are days: 2026-05-03,
        yesterday, 7d.
        The index stays open: the next search opens only what changed.
        """
        only = _add_days(only, since, until)
        return search.run(self._index, query, mode=mode, only=only, limit=limit, page=page).hits

    def sessions(
        self,
        query: str,
        *,
        mode: Mode | None = None,
        only: Filter | None = None,
        since: str | date = "",
        until: str | date = "",
        limit: int = 5,
        page: int = 1,
    ) -> list[SessionHit]:
        """Return a page of the sessions that say most about it, best first, with their best turns.

        `search` finds single turns; what several of them tell together is found here.
        """
        only = _add_days(only, since, until)
        return search.search_sessions(
            self._index, query, mode=mode, only=only, limit=limit, page=page
        ).hits

    def list_sessions(self, limit: int = 0) -> list[RecordedSession]:
        """Return the sessions in recall, the latest first, at most `limit` (0: all)."""
        return sessions.list_sessions(self._place, limit)

    def read_session(self, session: str) -> list[Message]:
        """Return what was said in a session (the beginning of its id will do), in its order."""
        return sessions.read_session(self._place, session)

    def outcome(
        self, session: str, how: Literal["worked", "failed"], *, why: str = "", turn: int = 0
    ) -> None:
        """Say how a past session, or one turn of it (from 1), came out."""
        if how not in ("worked", "failed"):
            raise UsageError(f"the outcome is {how!r}, expected 'worked' or 'failed'")
        load_op("graph").set_outcome(
            self._place, session, worked=how == "worked", why=why, turn=turn
        )

    def ingest(self, *paths: str | os.PathLike[str]) -> Tally:
        """Read transcripts into recall: files and folders, else all of assistants here.

        Only what is new is read. Returns how much that was, and what was skipped.
        """
        named = [os.fspath(path) for path in paths]
        planned = ingest.plan(self._place, named, os.path.expanduser("~"))
        return ingest.run(self._place, planned, ignore_progress)

    def facts(
        self,
        pattern: str = "",
        *,
        entities: Sequence[str] = (),
        categories: Sequence[str] = (),
        since: str = "",
        until: str = "",
        min_confidence: float = 0.0,
        statuses: Sequence[str] = (),
    ) -> list[Fact]:
        """Return the facts that match all conditions, those that hold unless `statuses` says.

        `pattern` is a regular expression over them; `since` and `until` are dates, or months.
        """
        found: list[Fact] = load_op("facts").select_facts(
            self._place,
            pattern,
            entities=entities,
            categories=categories,
            since=since,
            until=until,
            confidence=min_confidence,
            statuses=statuses,
        )
        return found

    def extract_facts(self) -> list[Fact]:
        """Find the facts in what is new in recall, and return those that were not known.

        By rules, or by the configured model if `extraction_model` says so.
        """
        agent = parts.find("agent.extract")
        if agent:
            return list(agent.extract_as_configured(self._place)[0].facts)
        return list(load_op("facts").extract(self._place, ignore_progress).facts)

    def accept_fact(self, ident: str) -> Fact:
        """Say that a fact is right (the beginning of its id will do)."""
        return self._decide(ident, ACCEPTED)

    def reject_fact(self, ident: str) -> Fact:
        """Reject a wrong fact: it is not extracted again."""
        return self._decide(ident, REJECTED)

    def _decide(self, ident: str, status: str) -> Fact:
        found: Fact = load_op("facts").decide(self._place, ident, status)
        return found

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        user: bool = False,
        everything: bool = False,
        force: bool = False,
        anyway: bool = False,
    ) -> Exported:
        """Write the project's store (or the user's) to a zip; `everything`: with recall, history.

        `force` replaces a file. With a secret in it, it raises `RejectedError` unless `anyway`.
        """
        exporting = parts.load("importers.exporting")
        done: Exported = exporting.run(
            self._place,
            os.fspath(path),
            user=user,
            everything=everything,
            force=force,
            anyway=anyway,
        )
        if isinstance(done, exporting.SecretsFound):
            names = ", ".join(f"{name}:{secret.line}" for name, secret in done.secrets[:5])
            raise RejectedError(
                f"cannot export: the memory contains a secret ({names})",
                "remove the secret with memfs doctor --secrets --purge, or pass anyway=True",
            )
        return done

    def import_(
        self,
        *paths: str | os.PathLike[str],
        user: bool = False,
        pin: bool = False,
        anyway: bool = False,
        dry_run: bool = False,
    ) -> Imported:
        """Import an export, or files of other tools; without paths only say which there are.

        See `memfs import --help`. The outcome of an item is "refused" if it was not imported.
        """
        op = parts.load("importers.importing")
        named = tuple(os.fspath(path) for path in paths)
        origin = self._make_origin(f"from {', '.join(map(os.path.basename, named))}")
        done: Imported
        if path := op.find_export(named):
            if pin:
                raise UsageError(
                    "'pin' works only for files from other tools, not for an export",
                    "leave out 'pin': the export records which blocks are pinned",
                )
            done = op.run(self._place, path, origin, user=user, anyway=anyway, dry_run=dry_run)
        else:
            home = os.path.expanduser("~")
            done = op.import_files(
                self._place, named, origin, home=home, user=user, pin=pin, dry_run=dry_run
            )
        return done

    def warm(self) -> None:
        """Get ready for many searches in a large memory (20,000 passages and more).

        For a million passages that takes some minutes the first time, then a second or two.
        """
        self._index.warm()


def _add_days(only: Filter | None, since: str | date, until: str | date) -> Filter:
    """Return a filter, with the days between which to search. Raises `UsageError`."""
    found = Filter() if only is None else only
    if since or until:
        search.check_filter(found)
    if since:
        found = replace(found, since=search.parse_day(str(since), end=False))
    if until:
        found = replace(found, until=search.parse_day(str(until), end=True))
    return found


@dataclass(frozen=True)
class AssembledContext:
    """A prompt: the system text with the blocks, and the latest messages that fit.

    `tokens` is what both take; `available` is left of the window for the answer and its calls.
    """

    system: str
    messages: tuple[Message, ...]
    tokens: int
    available: int


class ContextAssembler:
    """Composes prompts within a window: guidance, blocks, and the latest messages.

    `memory` is what `memfs.open` returns, or its `place`. `window` is in tokens, 0 for
    `context.max_tokens`. Raises `UsageError` for one too small.
    """

    def __init__(self, memory: Place | Memory, window: int = 0) -> None:
        self._place = place = memory if isinstance(memory, Place) else memory.place
        settings = config.load(place)
        self._budget = window_budget.load_budget(settings, window)
        self._most = settings.number("context.message_history_limit")

    def assemble(self, messages: Sequence[Message] = ()) -> AssembledContext:
        """Compose the next prompt; the earliest messages are left out where they do not fit."""
        share = self._budget.get_share("blocks")
        system = brief_contents.compose_within(self._place, share, tools=True)
        used = estimate(system)
        shown: list[Message] = []
        for message in reversed(messages[-self._most :]):
            tokens = estimate(message.text)
            if used + tokens > self._budget.room:
                break
            used += tokens
            shown.append(message)
        return AssembledContext(system, tuple(reversed(shown)), used, self._budget.window - used)


class SessionReviewer:
    """Writes the prompt by which a model saves what a conversation missed to save."""

    def __init__(self, memory: Place | Memory) -> None:
        self._place = memory if isinstance(memory, Place) else memory.place

    def should_review(self, messages: Sequence[Message], min_messages: int = 0) -> bool:
        """Return whether the user said enough: `min_messages`, 0 for `review.min_messages`."""
        least = min_messages or config.load(self._place).number("review.min_messages")
        return sum(message.role == "user" for message in messages) >= max(1, least)

    def format_conversation(self, messages: Sequence[Message], room: int = 0) -> str:
        """Return the conversation as text, of at most `room` tokens (0: the room of the window)."""
        most = room or window_budget.load_budget(config.load(self._place)).room
        return window_budget.format_transcript(messages, most)

    def get_review_prompt(self, messages: Sequence[Message]) -> str:
        """Return the prompt for one more turn of a model: the memory, and the conversation."""
        prompt = resources.read_text("templates", "prompts", "background.md")
        memory = brief_contents.compose_brief(self._place, tools=True)[0]
        return f"{memory}\n\n{prompt.replace('{conversation}', self.format_conversation(messages))}"
