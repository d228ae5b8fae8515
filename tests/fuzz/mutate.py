"""Bytes that were valid, broken as disks, editors and people who mean harm break them."""

import json
import re
from collections.abc import Callable, Sequence
from random import Random

Mutation = Callable[[bytes, Random], bytes]

LARGEST = 96 << 10  # bytes of what is made
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_QUOTED = re.compile(rb'"(?:[^"\\\n]|\\.)*"')
_ODD_BYTES = (
    *(b"\0", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80", b"\xed\xa0\x80"),
    *(b"\xef\xbb\xbf", b"\r\n", b"\n", b"{", b"[", b'"', b"\\", b"---\n", b"../../../etc/passwd"),
    b"\x1b[31m",
)
_ODD_NUMBERS = (
    *(b"-1", b"0", b"1e999", b"NaN", b"-0", b"9223372036854775808", b"18446744073709551615"),
    *(b"4294967296", b"1" * 5000, b"0.1", b"-Infinity"),
)
_ODD_VALUES = (
    *(b"null", b"true", b"[]", b"{}", b'""', b"-1", b'"\\ud800"', b'"\\u0000"'),
    *(b"[[[[[[[[]]]]]]]]", b"[" * 3000, b'{"a":' * 3000, b"1e400"),
)


def flip(data: bytes, chance: Random) -> bytes:
    out = bytearray(data)
    for _ in range(chance.randint(1, 8) if out else 0):
        out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def insert(data: bytes, chance: Random) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.choice(_ODD_BYTES) * chance.choice((1, 1, 1, 50)) + data[at:]


def overwrite(data: bytes, chance: Random) -> bytes:
    at, odd = chance.randint(0, len(data)), chance.choice(_ODD_BYTES)
    return data[:at] + odd + data[at + len(odd) :]


def cut(data: bytes, chance: Random) -> bytes:
    first, last = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
    return data[:first] + data[last:]


def end(data: bytes, chance: Random) -> bytes:
    return data[: chance.randint(0, len(data))]


def repeat(data: bytes, chance: Random) -> bytes:
    first, last = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
    return data[:last] + data[first:last] * chance.choice((1, 1, 9)) + data[last:]


def swap(data: bytes, chance: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines)


def noise(data: bytes, chance: Random) -> bytes:
    at, size = chance.randint(0, len(data)), chance.choice((1, 4, 8, 64, 1024))
    return data[:at] + chance.randbytes(size) + data[at + size :]


def number(data: bytes, chance: Random) -> bytes:
    return _replace(_NUMBER, data, chance.choice(_ODD_NUMBERS), chance)


def value(data: bytes, chance: Random) -> bytes:
    return _replace(_QUOTED, data, chance.choice(_ODD_VALUES), chance)


def key(data: bytes, chance: Random) -> bytes:
    """Take the word that one quoted text holds for another."""
    found = _QUOTED.findall(data)
    return _replace(_QUOTED, data, chance.choice(found), chance) if found else data


def tree(data: bytes, chance: Random) -> bytes:
    """Change something inside of a line that is JSON, which stays JSON."""
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    try:
        found = json.loads(lines[at])
    except (ValueError, RecursionError):
        return data
    lines[at] = json.dumps(_changed(found, chance)).encode()
    return b"\n".join(lines)


def _changed(found: object, chance: Random) -> object:
    odd: tuple[object, ...] = (
        None,
        True,
        -1,
        1e300,
        "",
        "x" * 3000,
        [],
        {},
        [None],
        {"a": []},
        "\ud800",
        1 << 70,
    )
    if isinstance(found, dict) and found and chance.random() < 0.85:
        name = chance.choice(list(found))
        if chance.random() < 0.1:
            return {other: each for other, each in found.items() if other != name}
        return {**found, name: _changed(found[name], chance)}
    if isinstance(found, list) and found and chance.random() < 0.85:
        at = chance.randrange(len(found))
        return [*found[:at], _changed(found[at], chance), *found[at + 1 :]]
    return chance.choice(odd)


def _replace(pattern: re.Pattern[bytes], data: bytes, new: bytes, chance: Random) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data
    match = chance.choice(found)
    return data[: match.start()] + new + data[match.end() :]


ALL: Sequence[Mutation] = (
    *(flip, insert, overwrite, cut, end, repeat, swap, noise, number, value, key, tree, tree),
)


def mutated(data: bytes, chance: Random) -> bytes:
    """Return bytes with one to four things changed; now and then bytes drawn by lot."""
    if chance.random() < 0.03:
        return chance.randbytes(chance.choice((0, 1, 16, 256, 4096)))
    for _ in range(chance.choice((1, 1, 1, 2, 2, 4))):
        data = chance.choice(ALL)(data, chance)
    return data[: max(LARGEST, len(data) if len(data) > LARGEST * 4 else 0)]
