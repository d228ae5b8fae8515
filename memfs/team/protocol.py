"""What a team's server and its members' machines tell each other: JSON over HTTP.

Each class is the body of a request or of an answer. A member's token is in the `Authorization`
header, the version of this protocol in `Memfs-Protocol`.
"""

import hashlib
import json
from typing import Annotated, NamedTuple

import msgspec

PROTOCOL = 1
HEADER = "Memfs-Protocol"
PREFIX = "mft_"  # of a member's token
MOST_MESSAGES = 200  # in a push
MOST_BYTES = 1 << 20  # of the texts in a push
LONGEST = 256 << 10  # characters of a message; a longer one is cut
MOST_IDS = 5000  # in a retraction
MOST_PROJECTS = 100  # that are searched at once
MOST_HITS = 50

ProjectNumber = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]
Projects = Annotated[list[ProjectNumber], msgspec.Meta(min_length=1, max_length=MOST_PROJECTS)]
Stamp = Annotated[int, msgspec.Meta(gt=0, lt=1 << 53)]  # milliseconds since 1970
MessageId = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$", max_length=32)]
HostName = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9-]{0,39}$(?!\n)")]
SessionIdent = Annotated[str, msgspec.Meta(pattern="^[^\x00]+$", max_length=300)]
_Many = msgspec.Meta(min_length=1, max_length=MOST_MESSAGES)


class TeamProject(msgspec.Struct, frozen=True):
    """A project that a member may see. `origins` are hashes of addresses of its repository.

    `role` is reader or writer; only writers share.
    """

    id: int
    name: str
    role: str
    origins: list[str] = []


class Membership(msgspec.Struct, frozen=True):
    """Who a token stands for, and until when (ISO 8601 in UTC)."""

    team: str
    member: str
    scopes: list[str]
    expires: str
    server: str  # its version of memfs
    projects: list[TeamProject]


class SharedSession(msgspec.Struct, frozen=True):
    """A session of which messages are shared. `title` is its first prompt, shortened."""

    host: HostName
    session: SessionIdent
    branch: str = ""
    title: str = ""


class SharedMessage(msgspec.Struct, frozen=True):
    """A message. `of` is the place of its session in the request, `ordinal` its own in the session.

    `id` is made by `compute_id`. `at` is UTC in ISO 8601, "" where it is unknown.
    """

    id: MessageId
    of: int
    ordinal: int
    at: str
    role: str
    text: str
    speaker: str = ""


class PushRequest(msgspec.Struct, frozen=True):
    """Messages for a project. `stamp` is when it was decided to share them, in milliseconds.

    `redactor` is the version of memfs that took secrets out of them.
    """

    project: ProjectNumber
    stamp: Stamp
    redactor: str
    sessions: Annotated[list[SharedSession], _Many]
    messages: Annotated[list[SharedMessage], _Many]


class RefusedMessage(msgspec.Struct, frozen=True):
    """A message that the server did not take, and why: it tells nothing of the text."""

    id: str
    why: str


class PushReply(msgspec.Struct, frozen=True):
    """What came of a push: `stored` are new, `known` were there, `retracted` were taken back later.

    The sender need not send any of them again.
    """

    stored: int
    known: int
    retracted: int
    refused: list[RefusedMessage] = []


class RetractRequest(msgspec.Struct, frozen=True):
    """Messages of the sender that are to go: some of a session, or all of it (no ids)."""

    project: ProjectNumber
    stamp: Stamp
    host: HostName
    session: SessionIdent
    ids: Annotated[list[MessageId], msgspec.Meta(max_length=MOST_IDS)] = []


class RetractReply(msgspec.Struct, frozen=True):
    """How many messages are gone."""

    removed: int


class PurgeRequest(msgspec.Struct, frozen=True):
    """Everything of the sender's in a project is to go, or in all (0)."""

    project: ProjectNumber = 0


class PurgeReply(msgspec.Struct, frozen=True):
    """What is gone of a member's: sessions and messages."""

    sessions: int
    messages: int


class TeamSearchRequest(msgspec.Struct, frozen=True):
    """A search in projects. `since` and `until` are epoch seconds, None for open."""

    projects: Projects
    query: str
    limit: int = 10
    roles: list[str] = []
    since: int | None = None
    until: int | None = None


class TeamHit(msgspec.Struct, frozen=True):
    """A message that was found, the person who shared it, and the name of its project.

    `margin` is how far it is above the floor of relevance.
    """

    id: str
    text: str
    snippet: str
    why: list[str]
    margin: float
    at: str
    role: str
    host: str
    session: str
    project: str
    member: str
    speaker: str = ""
    before: str = ""
    after: str = ""


class SearchReply(msgspec.Struct, frozen=True):
    """The hits, the best first. `note` says why some may be missing, "" for no reason."""

    hits: list[TeamHit]
    note: str = ""


class RecallRequest(msgspec.Struct, frozen=True):
    """A prompt in a session of the sender; ids in `shown` are not given again."""

    projects: Projects
    prompt: str
    session: str = ""
    shown: list[str] = []
    limit: int = 2


class TeamAnswer(msgspec.Struct, frozen=True):
    """What a session of somebody says to a prompt: a line for each turn that is quoted."""

    ids: list[str]
    snippet: str
    reason: str
    at: str
    host: str
    session: str
    project: str
    member: str


class RecallReply(msgspec.Struct, frozen=True):
    """The answers to a prompt, the surest first; mostly none."""

    answers: list[TeamAnswer]


class Refusal(msgspec.Struct, frozen=True):
    """Why a request was refused, and what to do."""

    error: str
    hint: str = ""


class ApiEndpoint(NamedTuple):
    """An address: the classes of its request (None: it takes no body) and of its answer."""

    method: str
    path: str
    summary: str
    takes: type | None
    gives: type


ENDPOINTS = (
    ApiEndpoint(
        "GET",
        "/v1/me",
        "Show the token's owner and the projects that the token can read",
        None,
        Membership,
    ),
    ApiEndpoint("POST", "/v1/push", "Share messages in a project", PushRequest, PushReply),
    ApiEndpoint(
        "POST", "/v1/retract", "Take back messages that you shared", RetractRequest, RetractReply
    ),
    ApiEndpoint("POST", "/v1/purge", "Remove everything that you shared", PurgeRequest, PurgeReply),
    ApiEndpoint("POST", "/v1/search", "Search projects", TeamSearchRequest, SearchReply),
    ApiEndpoint(
        "POST", "/v1/recall", "Search the sessions of teammates", RecallRequest, RecallReply
    ),
)


def compute_id(host: str, session: str, ident: str, at: str, role: str, text: str) -> str:
    """Return the id of a shared message: whoever sends it, however often, it is the same one.

    Another text gives another id. 32 hexadecimal digits.
    """
    parts = json.dumps([host, session, ident, at, role, text])
    return hashlib.sha256(parts.encode("ascii")).hexdigest()[:32]


def hash_origin(address: str) -> str:
    """Return the hash of a repository's address, "" for none: ways to write it give the same.

    `git@host:a/b.git` and `https://user@host/a/b` are one; the address itself is not sent.
    """
    bare = address.strip().removesuffix("/").removesuffix(".git").lower()
    _, scheme, rest = bare.partition("://")
    rest = rest if scheme else bare.replace(":", "/", 1)
    rest = rest.rpartition("@")[2] if "@" in rest.partition("/")[0] else rest
    return hashlib.sha256(rest.encode("utf-8", "replace")).hexdigest() if rest else ""
