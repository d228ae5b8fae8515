"""Block files as people, editors, git and disks break them: made from samples, the same each time.

A mutation is a function of bytes and a source of chance; `broken` applies one to three of them.
"""

from collections.abc import Iterator, Sequence
from random import Random

from tests.fuzz import mutate
from tests.fuzz.mutate import Mutation

SAMPLES = (
    (
        b"---\ndescription: What the user likes\nlimit: 5000   # characters\nread_only: false\n"
        b"pinned: true\nversion: 3\nupdated_at: 2026-05-03T10:00:00Z\nupdated_by: agent\n---\n"
        b"Name: Alice\nLanguages: TypeScript, Python\n\n- one\n- two\n"
    ),
    b"---\r\ndescription: \"Windows: line ends\"\r\ntags: [a, 'b c']\r\nlimit: 800\r\n---\r\nfirst\r\nsecond\r\n",
    (
        b"---\n# a comment of ours\ndescription: >\n  folded over\n  two lines\ntags:\n  - x\n  - y # why\n"
        b"own:\n  nested: {a: 1, b: [2, 3]}\nlimit: 1_000\n---\n# Title\n\n```python\nprint('---')\n```\n"
    ),
    "\ufeff---\ndescription: Größe 名前 😀\nlimit: 300\nversion: 12\n---\nZeile mit ü\n名前: アリス\n".encode(),
    b"no front matter at all\n\nlimit: 5 is what the text says\n---\nand a rule\n",
    b"---\ndescription: protected\nread_only: true\nlimit: 100\n---\nnever touched\n",
    b"---\n{description: flow, limit: 70, version: 2}\n---\nbody without an end of line",
    b"",
)
_MARKS = (b"<<<<<<< HEAD\n", b"=======\n", b">>>>>>> theirs\n")
_BOMB = b"".join(
    b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 9)
)
_ENTRIES = (
    b"limit: 0x" + b"F" * 5000,
    b"limit: " + b"9" * 6000,
    b"description: " + b"x" * 20_000,
    b"deep: " + b"[" * 400 + b"]" * 400,
    b"deep: " + b"{a: " * 300,
    b"a0: &a0 [x]\n" + _BOMB,
    b"limit: !!bool x",
    b"version: !!python/object:os.system x",
    b"? [complex, key]\n: value",
    b"description: |\n  limit: 7\n  ---\n  more",
    b"<<: *nothing",
    b"read_only: yes",
    b"read_only:\ttrue",
    b"\tlimit: 7",
    b"limit:\t\t9",
    b"limit: 8\nlimit: 9",
    b"read_only: true\nread_only: false",
    b"tags: [a\ntags: [b]",
    b"just a line",
    b"--- two",
    b"...",
    b"limit: .inf",
    b"priority: -0o17",
    b"description: !!binary aGVsbG8=",
    b"pinned: [true]",
    b"ttl: 2026-13-45",
    b"key with spaces : {",
)


def _at(data: bytes, chance: Random) -> int:
    """Pick a place, more often near the beginning: that is where front matter is."""
    most = len(data) if chance.random() < 0.5 else min(len(data), 160)
    return chance.randint(0, most)


def add_an_entry(data: bytes, chance: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    lines.insert(chance.randint(1, 4), chance.choice(_ENTRIES) + b"\n")
    return b"".join(lines)


def fences(data: bytes, chance: Random) -> bytes:
    """Repeat a fence, take one out, or put a second front matter behind the first."""
    kind = chance.randrange(3)
    if kind == 0:
        return (
            data.replace(b"---", b"", 1)
            if chance.random() < 0.5
            else data.replace(b"\n---", b"", 1)
        )
    if kind == 1:
        lines = data.splitlines(keepends=True)
        for _ in range(chance.randint(1, 3)):
            lines.insert(chance.randint(0, len(lines)), b"---\n")
        return b"".join(lines)
    return b"---\nlimit: 40\nversion: 9\n---\n" + data


def conflict(data: bytes, chance: Random) -> bytes:
    """Put git's markers around some lines; now and then one is missing."""
    lines = data.splitlines(keepends=True) or [b"x\n"]
    start = chance.randrange(len(lines))
    end = min(len(lines), start + chance.randint(1, 5))
    ours = lines[start:end]
    theirs = [line.replace(b"e", b"E", 1) for line in ours]
    parts = [_MARKS[0], *ours, _MARKS[1], *theirs, _MARKS[2]]
    if chance.random() < 0.2:
        parts.remove(chance.choice(_MARKS))
    return b"".join([*lines[:start], *parts, *lines[end:]])


def tabs(data: bytes, chance: Random) -> bytes:
    return data.replace(b": ", b":\t") if chance.random() < 0.5 else data.replace(b"\n  ", b"\n\t")


def line_ends(data: bytes, chance: Random) -> bytes:
    unified = data.replace(b"\r\n", b"\n")
    return unified.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\r\r\n", b"\n\r")))


def long_line(data: bytes, chance: Random) -> bytes:
    at = _at(data, chance)
    return (
        data[:at] + chance.choice((b"x", b"[", b"key: ", b"a,", b" ", b"\t")) * 30_000 + data[at:]
    )


def utf_16(data: bytes, chance: Random) -> bytes:
    order = chance.choice(("utf-16-le", "utf-16-be"))
    mark = "\ufeff" if chance.random() < 0.5 else ""
    made = (mark + data.decode("utf-8", "replace").removeprefix("\ufeff")).encode(order)
    return made if chance.random() < 0.8 else made[: chance.randint(0, len(made))]


MUTATIONS: Sequence[Mutation] = (
    *(mutate.flip, mutate.end, mutate.insert, mutate.repeat, mutate.swap, mutate.cut, add_an_entry),
    *(fences, conflict, tabs, line_ends, long_line, utf_16),
)


def broken(
    count: int, seed: int, samples: Sequence[bytes] = SAMPLES
) -> Iterator[tuple[str, bytes]]:
    """Yield `count` different (name, bytes): the name says how they were made."""
    chance = Random(seed)  # noqa: S311 - the same files each time
    seen: set[bytes] = set()
    while len(seen) < count:
        number = chance.randrange(len(samples))
        steps = chance.choices(MUTATIONS, k=chance.choice((1, 1, 2, 3)))
        data = samples[number]
        for step in steps:
            data = step(data, chance)
        if data not in seen:
            seen.add(data)
            yield f"sample {number}: {', '.join(step.__name__ for step in steps)}", data
