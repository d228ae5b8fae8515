"""Conversion of content to messages, and of messages to windows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memfs import hosts
from memfs.core.errors import UsageError
from memfs.core.privacy import public, redact_names, storable
from memfs.core.records import SENTIMENTS, Message
from memfs.core.tokens import estimate
from memfs.knowledge.kinds.protocol import Content
from memfs.secrets import redact
from memfs.store import clock

_REST = {len("2026"): "-01-01", len("2026-05"): "-01"}  # completes a time without month or day
_WORDS = re.compile(r"\s*\S+\s*")
_WHO = 2  # tokens of the role in front of a text
HOST = hosts.PROGRAM  # of sessions that a program stores
_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
_LONGEST_NAME = 80  # characters of a speaker, or of an intent


@dataclass(frozen=True)
class Chunk:
    """A window of a conversation: text, tokens, ids of its messages, speakers, first and last time.

    `bytes` are those of the messages alone, in UTF-8, that no earlier window has.
    """

    text: str
    tokens: int
    messages: tuple[str, ...]
    participants: tuple[str, ...]
    began: str
    ended: str
    bytes: int


def messages(content: Content, session: str = "") -> list[Message]:
    """Convert content to messages, without secrets and `<private>` parts.

    A mapping has `content` (or `text`) and may have `id`, `role`, `speaker`, `at` (or `timestamp`:
    ISO 8601, or seconds or milliseconds since 1970), `session`, `tool`, `sentiment` (positive,
    neutral or negative), `intent`. Who is no role, as "planner-agent", is an agent of that name; a
    person's name stands beside the role user. Raises `MemfsError` for anything else.
    """
    single = isinstance(content, str | Message) or not isinstance(content, Sequence)
    found = [_parse_message(each, session) for each in ([content] if single else content)]
    return [message for message in found if message.text.strip()]


def _parse_message(each: object, session: str) -> Message:
    given = {"content": each} if isinstance(each, str) else each
    made = _parse_mapping(given, session) if isinstance(given, Mapping) else given
    if not isinstance(made, Message):
        raise UsageError(
            f"a value of type {type(each).__name__} cannot be stored",
            "give a string, a message, or a list of these",
        )
    text = made.text if made.text.isprintable() else made.text.encode("utf-8", "replace").decode()
    return redact_names(made)._replace(text=redact(public(text)))


def _parse_mapping(given: Mapping[str, object], session: str) -> Message:
    text = given.get("content", given.get("text"))
    if not isinstance(text, str):
        raise UsageError("a message has no text", "give the text of the message as `content`")
    sentiment = str(given.get("sentiment") or "").lower()
    if sentiment not in ("", *SENTIMENTS):
        raise UsageError(f"the sentiment is {sentiment!r}, expected one of {', '.join(SENTIMENTS)}")
    who = [" ".join(str(given.get(key) or "").split()) for key in ("role", "speaker")]
    role = next((_ROLES[each.lower()] for each in who if each.lower() in _ROLES), "")
    name = next((each for each in reversed(who) if each and each.lower() not in _ROLES), "")
    return Message(
        str(given.get("id") or clock.unique()),
        str(given.get("session") or session or HOST),
        HOST,
        str(given.get("project") or ""),
        str(given.get("branch") or ""),
        format_time(given.get("at", given.get("timestamp"))),
        role or ("assistant" if name else "user"),
        text,
        str(given.get("tool") or ""),
        speaker=name[:_LONGEST_NAME],
        sentiment=sentiment,
        intent=" ".join(str(given.get("intent") or "").split())[:_LONGEST_NAME],
    )


def clean_metadata(metadata: Mapping[str, object]) -> dict[str, object]:
    """Return metadata as plain JSON, without secrets and `<private>` parts."""
    return {storable(str(key)): _clean(value) for key, value in metadata.items()}


def _clean(value: object) -> object:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return clean_metadata(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(each) for each in value]
    return value if isinstance(value, int | float | None) else storable(str(value))


def format_time(value: object) -> str:
    """Format a time as ISO 8601 in UTC: now for none, a year's beginning. Raises `MemfsError`."""
    if value is None or value == "":
        return clock.now()
    try:
        if isinstance(value, int | float):
            whole = value / 1000 if value > 1e11 else value
            moment = datetime.fromtimestamp(whole, UTC)
        else:
            moment = datetime.fromisoformat(str(value) + _REST.get(len(str(value)), ""))
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(
            f"{value!r} is not a time", "write the time in ISO 8601, such as 2026-01-31T12:00"
        ) from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_until(value: str) -> str:
    """Return the last second of a day, a month or a year, as `format_time` writes it."""
    begin = datetime.fromisoformat(format_time(value).removesuffix("Z"))
    if len(value) == len("2026"):
        after = begin.replace(year=begin.year + 1)
    elif len(value) == len("2026-05"):
        after = (begin + timedelta(days=31)).replace(day=1)
    elif len(value) == len("2026-05-03"):
        after = begin + timedelta(days=1)
    else:
        after = begin + timedelta(seconds=1)
    return (after - timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


def chunks(messages: Sequence[Message], size: int, overlap: int) -> list[Chunk]:
    """Cut messages into windows of at most `size` tokens, which share about `overlap` tokens.

    A window ends between messages, or where one is too long for it, between words.
    """
    parts = [part for message in messages for part in _split_message(message, size)]
    found: list[Chunk] = []
    begin = known = 0  # parts before `known` are in an earlier window
    while begin < len(parts):
        end, tokens = begin, 0
        while end < len(parts) and (end == begin or tokens + parts[end][2] <= size):
            tokens += parts[end][2]
            end += 1
        found.append(_build_chunk(parts[begin:end], tokens, known - begin))
        known = end
        if end == len(parts):
            break
        back, again = end, 0
        while back - 1 > begin and again + parts[back - 1][2] <= overlap:
            back -= 1
            again += parts[back][2]
        begin = back
    return found


def _split_message(message: Message, size: int) -> list[tuple[Message, str, int]]:
    """Cut a message into parts of at most `size` tokens, between words or within long ones."""
    tokens = estimate(message.text) + _WHO
    if tokens <= size:
        return [(message, message.text, tokens)]
    found: list[tuple[Message, str, int]] = []
    text, used = "", _WHO
    for word in _WORDS.findall(message.text):
        for piece in _split_word(word, size - _WHO):
            cost = estimate(piece)
            if text and used + cost > size:
                found.append((message, text, used))
                text, used = "", _WHO
            text += piece
            used += cost
    return [*found, (message, text, used)] if text.strip() else found


def _split_word(word: str, size: int) -> list[str]:
    tokens = estimate(word)
    if tokens <= size:
        return [word]
    step = max(1, len(word) * size // (2 * tokens))
    return [word[at : at + step] for at in range(0, len(word), step)]


def _build_chunk(parts: Sequence[tuple[Message, str, int]], tokens: int, known: int) -> Chunk:
    messages = [message for message, _, _ in parts]
    alone = len(parts) == 1
    text = "\n".join(part if alone else f"{m.who}: {part}" for m, part, _ in parts)
    return Chunk(
        text,
        tokens,
        tuple(dict.fromkeys(m.id for m in messages)),
        tuple(dict.fromkeys(m.who for m in messages)),
        messages[0].at,
        messages[-1].at,
        sum(len(part.encode("utf-8", "replace")) for _, part, _ in parts[known:]),
    )
