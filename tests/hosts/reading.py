"""How any host's transcripts are tested: growing files, and files with odd JSON in them."""

from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st

from memfs import hosts
from memfs.core.records import Identity, Message, Transcript
from memfs.hosts.transcript_files import BEFORE

FIXTURES = Path(__file__).parent / "fixtures"
Read = Callable[[bytes, int], Transcript]  # the bytes, and at which byte of the file they begin

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def change(draw: st.DrawFn, value: object) -> object:
    """Put anything in some place of a JSON value, or take that out."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 3)) == 0:
        return draw(JSON)
    if isinstance(value, list):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], change(draw, value[place]), *value[place + 1 :]]
    key = draw(st.sampled_from(sorted(value)))
    if draw(st.integers(0, 5)) == 0:
        return {each: value[each] for each in value if each != key}
    return {**value, key: change(draw, value[key])}


def identify(host: str, data: bytes, path: str = "/x/y.jsonl") -> Identity | None:
    """Tell whose session a file is, by its first lines, as ingest does."""
    return hosts.reader(host).identify(data.splitlines(keepends=True)[:200], path)


def reads(host: str, identity: Identity, file: bytes) -> Read:
    """Return how parts of a file are read: with what stands before them."""

    def read(data: bytes, start: int) -> Transcript:
        before = file[max(0, start - BEFORE) : start]
        return hosts.reader(host).read_transcript(data, identity, start=start, before=before)

    return read


def in_steps(read: Read, data: bytes, cuts: list[int]) -> Transcript:
    """Read a file that grows to each of `cuts`, then to its whole, going on where it ended."""
    messages: dict[str, Message] = {}
    end = malformed = left_out = 0
    for size in [*sorted(cuts), len(data)]:
        part = read(data[end:size], end)
        assert end <= part.end <= size
        for message in part.messages:
            messages.setdefault(message.id, message)
        end = part.end
        malformed += part.malformed
        left_out += part.left_out
    return Transcript(list(messages.values()), end, malformed, left_out)


def can_be_kept(found: Transcript) -> bool:
    """Tell whether every message can be stored: texts that are some, and can be encoded."""
    for message in found.messages:
        for value in message:
            if isinstance(value, str):
                value.encode()
    return all(message.text and type(message.side) is bool for message in found.messages)


def said(found: Transcript) -> list[tuple[str, str]]:
    return [(message.tool or message.role, message.text) for message in found.messages]
