"""Records: messages, passages, facts and journal entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from memfs.core.snippet import shorten

ACTIVE, SUPERSEDED, ACCEPTED, REJECTED = "active", "superseded", "accepted", "rejected"
ARCHIVED = "archived"  # removed for lack of capacity: archive search finds it
STATUSES = (ACTIVE, SUPERSEDED, ACCEPTED, REJECTED, ARCHIVED)
HOLDS = (ACTIVE, ACCEPTED)
RULES = "rules"  # the extractor that is no model

# The kinds of what is searched, by the names that people give them.
KINDS = {
    "recall": "message",
    "archive": "passage",
    "blocks": "block",
    "facts": "fact",
    "static": "static",
    "sources": "source",
    "commits": "commit",
}
SENTIMENTS = ("positive", "neutral", "negative")


class Message(NamedTuple):
    """One normalised turn of a recorded session.

    `at` is UTC in ISO 8601 (empty if the host did not say), `role` is user, assistant or tool,
    `tool` the name of the tool for role tool. `side` marks side chains (subagents). `speaker` is
    the name of who spoke where it is known: one of several agents, or a person. `sentiment` is
    positive, neutral or negative if whoever stored it said so, else "". So is `intent`, in any
    words.
    """

    id: str
    session: str
    host: str
    project: str
    branch: str
    at: str
    role: str
    text: str
    tool: str = ""
    speaker: str = ""
    side: bool = False
    sentiment: str = ""
    intent: str = ""

    @property
    def who(self) -> str:
        """The name of the speaker, or the role."""
        return self.speaker or self.role

    def __repr__(self) -> str:
        return f"<Message {self.host} {self.who} {self.at[:10]}: {shorten(self.text)}>"


class Identity(NamedTuple):
    """Whose session a transcript is; `agent` names a side chain's agent ("" for the main one).

    `project` and `branch` are those of hosts that name them once, at the beginning. `whole`: later
    lines change earlier ones, so that it is read from its beginning whenever it changed. `mark`,
    where a file holds several sessions, is another whenever this one changed.
    """

    session: str
    agent: str
    project: str = ""
    branch: str = ""
    whole: bool = False
    mark: str = ""

    def make_message(
        self, host: str, id: str, at: str, role: str, text: str, tool: str = "", side: bool = False
    ) -> Message:
        """Return a message of this session, in its project and on its branch."""
        side = side or bool(self.agent)
        return Message(
            id, self.session, host, self.project, self.branch, at, role, text, tool, side=side
        )


class Transcript(NamedTuple):
    """The result of reading a transcript: messages, and counts of skipped lines.

    `end` is the byte offset behind the last whole line, `malformed` counts lines that are no
    JSON objects, `left_out` those that are ours (injections) or bookkeeping.
    """

    messages: list[Message]
    end: int
    malformed: int
    left_out: int


@dataclass(frozen=True, repr=False)
class Passage:
    """One archived item: archival memory. `importance` is 1 to 10.

    `review_after` and `expires_at` are as they stand in its file (see `store.review_dates`).
    """

    id: str
    text: str
    created_at: str
    importance: int = 5
    tags: tuple[str, ...] = ()
    source: str = ""
    review_after: str = ""
    expires_at: str = ""

    def __repr__(self) -> str:
        return f"<Passage {self.id}: {shorten(self.text)}>"


def block_key(tree: str, tier: str, session: str, label: str) -> str:
    """Return the key of a block, unique among those that share a journal."""
    return f"{tree}|{tier}@{session}:{label}" if tier == "session" else f"{tree}|{tier}:{label}"


@dataclass(frozen=True, repr=False)
class JournalEntry:
    """One journalled edit; `before` and `after` are whole file texts, None where there is no file.

    `version` is the block's version after the edit. `tree` names the linked worktree the block
    belongs to (empty for the main one). `group` ties the edits of one patch: (id, size). `tied`
    names the journals of other stores that hold the rest of it. `commit` is the id of a commit that
    holds the same text: git knows that, no journal does. `digest` is the hash of the file's text
    where `after` is not all of it: an editor may write a secret, and none is kept here.
    """

    id: str
    at: str
    actor: str
    host: str
    session: str
    tier: str
    label: str
    op: str
    reason: str
    version: int
    before: str | None
    after: str | None
    tree: str = ""
    group: tuple[str, int] | None = None
    tied: tuple[str, ...] = ()
    commit: str = ""
    digest: str = ""

    @property
    def key(self) -> str:
        """The key of its block: each has versions of its own."""
        return block_key(self.tree, self.tier, self.session, self.label)

    def __repr__(self) -> str:
        what = f"{self.op} by {self.actor}, {self.at[:10]}"
        reason = f": {shorten(self.reason)}" if self.reason else ""
        return f"<JournalEntry {self.tier}:{self.label} version {self.version}: {what}{reason}>"


class Origin(NamedTuple):
    """The author of an edit, and the reason for it."""

    actor: str = "user"
    host: str = ""
    session: str = ""
    reason: str = ""


@dataclass(frozen=True, repr=False)
class Fact:
    """One fact. `host`, `session` and `message` name its source, `at` its time.

    `confidence` is 0 to 1. `key` names its subject: of two facts with one key the later one
    counts. `over` are words it speaks against. `by` is the fact that superseded it; `revision`
    counts the changes of its status. `personal`: it is about the user, and not for the project.
    `extractor` is what found it: `RULES`, or the name of a model; "" if that is unknown.
    `review_after` and `expires_at` are dates (see `store.review_dates`).
    """

    id: str
    statement: str
    confidence: float
    category: str
    entities: tuple[str, ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()
    key: str = ""
    over: tuple[str, ...] = ()
    host: str = ""
    session: str = ""
    message: str = ""
    at: str = ""
    status: str = ACTIVE
    by: str = ""
    personal: bool = False
    revision: int = 0
    extractor: str = ""
    review_after: str = ""
    expires_at: str = ""

    def __repr__(self) -> str:
        head = f"{self.id[:8]} {self.category} {self.confidence:.2f} {self.status}"
        return f"<Fact {head}: {shorten(self.statement)}>"

    @property
    def holds(self) -> bool:
        """Whether it is valid: neither superseded, rejected nor archived."""
        return self.status in HOLDS

    def revise(self, status: str, by: str = "") -> Fact:
        """Return the next revision, with another status; `by` is the fact that superseded it."""
        return replace(self, status=status, by=by or self.by, revision=self.revision + 1)


def make_id(*parts: str) -> str:
    """Return an id: 16 hex digits, the same for the same parts."""
    import hashlib  # 3 ms, which a search need not wait for

    return hashlib.sha256("|".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
