"""What is read of sessions: `fixtures/HOST/CASE.jsonl` gives `CASE.expected`.

There a line has the identity and the counts, and one more each message: what is empty, or as in the
line before all, is left out. Some cases are recordings, others the shapes that versions of a host
are known to write.

`MEMFS_TEST_RECORD=1 python -m pytest tests/hosts/test_transcripts.py -n 0` writes what is read now.
"""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs import hosts
from memfs.core.records import Identity
from memfs.hosts.jsonl import TOOL_CAP
from tests.examples import examples
from tests.hosts.reading import FIXTURES, JSON, can_be_kept, change, identify, in_steps, reads, said

RECORD = bool(os.environ.get("MEMFS_TEST_RECORD"))
CASES = [path for path in sorted(FIXTURES.glob("*/*.json*")) if not path.stem.startswith("hook")]
each_case = pytest.mark.parametrize(
    "path", CASES, ids=[f"{path.parent.name}-{path.stem}" for path in CASES]
)
BRIEF = "BRIEF-OF-MEMFS"  # what hooks of ours put in: it must not come back


def whose(path: Path) -> Identity:
    identity = identify(path.parent.name, path.read_bytes(), f"/x/{path.name}")
    assert identity
    return identity


@each_case
def test_what_a_session_said(path: Path) -> None:
    host, data, identity = path.parent.name, path.read_bytes(), whose(path)
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
    assert BRIEF not in kept.read_text()
    assert all(len(m.text.encode()) <= TOOL_CAP for m in found.messages if m.role == "tool")
    takes = [name for name in hosts.READERS if identify(name, data, f"/x/{path.name}")]
    assert takes == [host]


@pytest.mark.parametrize("line", (FIXTURES / "identities.jsonl").read_text().splitlines())
def test_whose_a_file_is(line: str) -> None:
    """A row without a host is of none."""
    given_ = json.loads(line)
    for host in [given_["host"]] if given_["host"] else hosts.READERS:
        found = identify(host, given_["text"].encode(), given_["path"])
        told = {key: value for key, value in found._asdict().items() if value} if found else None
        assert told == given_["is"], host


@each_case
def test_a_file_reads_the_same_however_it_grows(path: Path) -> None:
    host, data, identity = path.parent.name, path.read_bytes(), whose(path)
    read = reads(host, identity, data)
    whole = read(data, 0)
    if not identity.whole:  # such a file is read anew whenever it changed
        for step in (7, 97, 1009, 4096) if len(data) < 16_000 else (1009, 4096):
            assert in_steps(read, data, list(range(0, len(data), step))) == whole
        for cut in range(0, len(data), max(61, len(data) // 150)):
            assert in_steps(read, data, [cut]) == whole
    windows = data.replace(b"\n", b"\r\n")
    assert said(reads(host, identity, windows)(windows, 0)) == said(whole)


@st.composite
def odd_files(draw: st.DrawFn) -> tuple[Path, bytes]:
    """Lines of a case with anything in some places, and broken ones among them."""
    path, data = draw(st.sampled_from(CASES)), b""
    whole = path.read_bytes()
    lines = [whole] if path.suffix == ".json" else whole.splitlines()
    for line in draw(st.lists(st.sampled_from(lines), max_size=5)):
        value: object = json.loads(line)
        for _ in range(draw(st.integers(0, 3))):
            value = change(draw, value)
        text = json.dumps(value, ensure_ascii=draw(st.booleans()))
        data += text.encode("utf-8", "replace")
        data += draw(st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n", b"", b" "]))
        odd = [b"", b"", b"{", b"}", b"[1]", b"\xff", b"\0", b"\xef\xbb\xbf", b'{"a":NaN}']
        data += draw(st.sampled_from(odd))
    return path, data


@given(odd_files(), st.lists(st.integers(0, 4000), max_size=4))
@examples(400)
def test_odd_files_raise_nothing_and_can_be_cut(case: tuple[Path, bytes], cuts: list[int]) -> None:
    path, data = case
    host, identity = path.parent.name, whose(path)
    identify(host, data)
    read = reads(host, identity, data)
    found = read(data, 0)
    assert 0 <= found.end <= len(data)
    assert found.left_out >= 0
    assert can_be_kept(found)
    if not identity.whole:
        assert in_steps(read, data, [min(cut, len(data)) for cut in cuts]) == found


@given(st.binary(max_size=400) | JSON.map(lambda value: json.dumps(value).encode()))
@examples(100)
def test_no_bytes_make_a_reader_raise(data: bytes) -> None:
    for host in hosts.READERS:
        assert identify(host, data, "/x/agent-a.jsonl") is None
        assert reads(host, Identity("s", ""), data)(data, 0).end <= len(data)


KEPT = json.loads((FIXTURES / "kept.json").read_text())


@pytest.mark.parametrize("host", KEPT)
def test_what_a_host_keeps_of_a_project_is_listed_oldest_first(
    host: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`fixtures/kept.json` has files with their text, and whether they are of the project."""
    other, listed = tmp_path / "other", []
    monkeypatch.setenv(KEPT[host]["variable"], str(other))
    reader = hosts.reader(host)
    assert list(reader.list_transcripts(str(home), "/home/dev/shop")) == []
    for number, (name, text, is_own) in enumerate(KEPT[host]["files"]):
        path = Path(name.format(home=home, other=other))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (number, number))
        listed += [str(path)] * is_own
    assert list(reader.list_transcripts(str(home), "/home/dev/shop")) == listed
    (Path(listed[0]).parent / "gone.jsonl").symlink_to(home / "nowhere")
    (Path(listed[0]).parent / "folder.jsonl").mkdir()
    assert list(reader.list_transcripts(str(home), "/home/dev/shop")) == listed
