"""How any host's transcripts are tested: growing files, and files with odd JSON in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
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


def odd(known: Mapping[str, st.SearchStrategy[object]]) -> st.SearchStrategy[dict[str, object]]:
    """Objects that have some of the keys of a host, with what it writes there or anything else."""
    return st.fixed_dictionaries({}, optional={key: one | JSON for key, one in known.items()})


def file_of(line: st.SearchStrategy[dict[str, object]]) -> st.SearchStrategy[bytes]:
    """Files of such lines, with broken ones among them, line ends of both kinds, and none."""
    piece = (
        line.map(lambda value: json.dumps(value).encode())
        | line.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        | st.sampled_from([b"", b"{", b"}", b"[1]", b"\xff", b"\xef\xbb\xbf", b'{"a":NaN}'])
    )
    end = st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n", b""])
    pairs = st.lists(st.tuples(piece, end), max_size=6)
    return pairs.map(lambda found: b"".join(a + b for a, b in found))


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
