"""What members push and take back: checked, and made into rows of the database."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import blake2b

from msgspec.structs import replace
from psycopg.types.json import Jsonb

from memfs import secrets
from memfs.core import privacy
from memfs.core.errors import UsageError
from memfs.search import identifiers, lexical, stopwords, text_vectors
from memfs.team import protocol
from memfs.team.server.database import Ledger

_MOST = 1000  # keys of a message
_LONGEST = 60  # letters of a part; longer ones are no words

UNDATED = datetime.fromtimestamp(0, UTC)  # when a message counts as said whose time is unknown
_OLDEST = datetime(2000, 1, 1, tzinfo=UTC)
_AHEAD = timedelta(days=2)  # that a clock may be
_ROLES = ("user", "assistant", "tool")
_SPOKEN = ("user", "assistant")  # only these have vectors
_LONGEST_NAME, _LONGEST_TITLE = 300, 200  # characters
_LAST = (1 << 31) - 1  # ordinal


def push(ledger: Ledger, request: protocol.PushRequest, *, vectors: bool) -> protocol.PushReply:
    """Store messages; what is there already stays. Raises `UsageError` for a malformed request."""
    size, most = sum(len(message.text) for message in request.messages), protocol.MOST_BYTES
    if size > most and len(request.messages) > 1:
        raise UsageError(f"the texts have {size:,} characters in total, the limit is {most:,}")
    rows: list[dict[str, object]] = []
    refused = []
    for message in request.messages:
        if not 0 <= message.of < len(request.sessions):
            raise UsageError("a message refers to a session that is not in the request")
        try:
            rows.append(_make_row(request.project, message))
        except UsageError as error:
            refused.append(protocol.RefusedMessage(message.id, error.message))
    if vectors:
        _add_vectors(rows)
    sessions = [_make_session(each) for each in request.sessions]
    redactor = _clean(request.redactor)[:_LONGEST_NAME]
    of = (request.project, request.stamp, redactor)
    (reply,) = ledger.call(protocol.PushReply, "push", *of, Jsonb(sessions), Jsonb(rows))
    return replace(reply, refused=refused)


def retract(ledger: Ledger, request: protocol.RetractRequest) -> protocol.RetractReply:
    """Take messages of the member back."""
    of = (request.project, request.stamp, request.host, request.session, request.ids or None)
    return ledger.call(protocol.RetractReply, "retract", *of)[0]


def format_vector(values: Sequence[float]) -> str:
    """Return a vector as the database reads it."""
    return "[" + ",".join(f"{value:.4g}" for value in values) + "]"


def _make_row(project: int, message: protocol.SharedMessage) -> dict[str, object]:
    text = _clean(message.text)[: protocol.LONGEST]
    if not text.strip():
        raise UsageError("the text is empty")
    # Whatever a client says it did: an old one, or a forged one, brings no secret in.
    if secrets.redact(text) != text or privacy.public(text) != text:
        raise UsageError(
            "the text contains a secret; newer versions of memfs remove secrets before sending"
        )
    if message.role not in _ROLES:
        raise UsageError(f"the role is not one of {', '.join(_ROLES)}")
    return {
        "id": message.id,
        "of": message.of,
        "ordinal": min(max(0, message.ordinal), _LAST),
        "at": _parse_time(message.at).isoformat(),
        "role": message.role,
        "speaker": _redact_name(message.speaker),
        "text": text,
        "words": list_keys(project, text),
    }


def _parse_time(text: str) -> datetime:
    if not text:
        return UNDATED
    try:
        at = datetime.fromisoformat(text)
        at = (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError("the time is not in ISO 8601 format") from None
    if at < _OLDEST:
        raise UsageError("the time is before the year 2000")
    if at > datetime.now(UTC) + _AHEAD:
        raise UsageError("the time is in the future")
    return at


def _make_session(session: protocol.SharedSession) -> dict[str, object]:
    return {
        "host": session.host,
        "ident": session.session,
        "branch": _redact_name(session.branch),
        "title": secrets.redact(privacy.public(_clean(session.title)))[:_LONGEST_TITLE],
    }


def _add_vectors(rows: list[dict[str, object]]) -> None:
    spoken = [row for row in rows if row["role"] in _SPOKEN]
    if spoken:
        vectors = text_vectors.embed_texts([str(row["text"]) for row in spoken])
        for row, vector in zip(spoken, vectors.tolist(), strict=True):
            row["vector"] = format_vector(vector)


def _redact_name(name: str) -> str:
    return secrets.redact(_clean(name))[:_LONGEST_NAME]


def _clean(text: str) -> str:
    """Return a text that the database can hold: without NUL, and without lone surrogates."""
    return str(stopwords.replace_surrogates(text)).replace("\0", "")


def list_keys(project: int, text: str) -> list[int]:
    """Return the keys of a text's stems and word parts, as signed 64-bit numbers."""
    parts = (part for part in identifiers.extract_parts(text) if len(part) <= _LONGEST)
    terms = dict.fromkeys([*sorted(lexical.stems(text)), *parts])
    return sorted(map_terms(project, list(terms)[:_MOST]).values())


def map_terms(project: int, terms: Iterable[str]) -> dict[str, int]:
    """Return the key of each term in a project."""
    hashed = _begin(project)
    found = {}
    for term in terms:
        each = hashed.copy()
        each.update(term.encode("utf-8", "replace"))
        found[term] = int.from_bytes(each.digest(), "big", signed=True)
    return found


@cache
def _begin(project: int) -> blake2b:
    return blake2b(f"{project}\0".encode(), digest_size=8)
