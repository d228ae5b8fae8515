"""What is read of recorded sessions: `fixtures/HOST/CASE.jsonl` gives `CASE.expected`.

There a line has the identity and the counts, and one more each message: what is empty, or as in the
line before all, is left out.

`MEMFS_TEST_RECORD=1 python -m pytest tests/hosts/test_transcripts.py -n 0` writes what is read now.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memfs import hosts
from memfs.core.records import Identity
from tests.hosts.reading import FIXTURES, in_steps, reads, said

RECORD = bool(os.environ.get("MEMFS_TEST_RECORD"))
CASES = [path for path in sorted(FIXTURES.glob("*/*.json*")) if not path.stem.startswith("hook")]
NAMES = [f"{path.parent.name}-{path.stem}" for path in CASES]
# What no host may take for its own, beside the sessions of the others.
OTHERS = {
    "any": [b"", b"\n", b"{}\n", b"[]\n", b"hello\n", b"{\n", b'{\n"a": 1}'],
    "claude": [
        b'{"type":"session_meta","payload":{"id":"x"}}\n',
        b'{"type":"user.message","data":{"content":"x"},"sessionId":"s"}\n',
        b'{"sessionId":"s","type":"user","content":"x"}\n',
    ],
    "codex": [
        b'{"session_id":"s","ts":1781460912,"text":"hi"}\n',
        b'{"sessionId":"s","projectHash":"x","startTime":"2026-11-20T09:00:00Z"}\n',
        b'{"type":"session.start","data":{"sessionId":"s"},"id":"e","timestamp":"2026-11-20T09:00:00Z"}\n',
        b'{"type":"user","message":{"content":"x"},"sessionId":"s","uuid":"u"}\n',
    ],
    "copilot": [
        b'{"type":"session_meta","payload":{"id":"x"}}\n',
        b'{"type":"user","message":{"content":"x"},"sessionId":"s","uuid":"u"}\n',
        b'{"type":"session.start","data":"x"}\n',
        b'{"type":"x","data":{"sessionId":"s"}}\n',
    ],
    "cursor": [
        b'{"type": "user", "role": "user", "message": {"content": "x"}}\n',
        b'{"role": 1}\n',
    ],
    "gemini": [
        b'{"sessionId":"s"}\n',
        b'{"type":"user","message":{"content":"x"},"sessionId":"s","startTime":"2026-11-20T11:00:00Z"}\n',
        b'{"sessionId":"s","projectHash":"x","type":"user"}\n',
    ],
    "opencode": [b'{"info": {"id": "s"}}', b'{"info": 1, "projectID": 2}'],
}


def identify(host: str, data: bytes, name: str = "y.jsonl") -> Identity | None:
    """Tell whose session a file is, by its first lines, as ingest does."""
    return hosts.reader(host).identify(data.splitlines(keepends=True)[:200], f"/x/{name}")


@pytest.mark.parametrize("path", CASES, ids=NAMES)
def test_what_a_session_said(path: Path) -> None:
    host, data = path.parent.name, path.read_bytes()
    identity = identify(host, data, path.name)
    assert identity
    found = reads(host, identity, data)(data, 0)
    first = identity._asdict() | {"host": host}
    counts = {"malformed": found.malformed, "left_out": found.left_out}
    rows = [
        first | counts,
        *(dict(each._asdict().items() - first.items()) for each in found.messages),
    ]
    made = [{key: value for key, value in row.items() if value} for row in rows]
    kept = path.with_suffix(".expected")
    if RECORD:
        lines = (json.dumps(row, ensure_ascii=False, sort_keys=True) for row in made)
        kept.write_text("\n".join(lines) + "\n")
    assert made == [json.loads(line) for line in kept.read_text().splitlines()]
    assert found.end == len(data)


@pytest.mark.parametrize("path", CASES, ids=NAMES)
def test_no_other_host_takes_a_session_for_its_own(path: Path) -> None:
    takes = [name for name in hosts.READERS if identify(name, path.read_bytes(), path.name)]
    assert takes == [path.parent.name]


@pytest.mark.parametrize("host", hosts.READERS)
def test_other_files_are_left_alone(host: str) -> None:
    for data in OTHERS["any"] + OTHERS.get(host, []):
        assert identify(host, data) is None, data


@pytest.mark.parametrize("path", CASES, ids=NAMES)
def test_a_file_reads_the_same_however_it_grows(path: Path) -> None:
    host, data = path.parent.name, path.read_bytes()
    identity = identify(host, data, path.name)
    assert identity
    read = reads(host, identity, data)
    whole = read(data, 0)
    if not identity.whole:  # such a file is read anew whenever it changed
        for step in (7, 97, 1009, 4096):
            assert in_steps(read, data, list(range(0, len(data), step))) == whole
        for cut in range(0, len(data), 61):
            assert in_steps(read, data, [cut]) == whole
    windows = data.replace(b"\n", b"\r\n")
    assert said(reads(host, identity, windows)(windows, 0)) == said(whole)
