import json
import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs import files
from memfs.files import atomic, logs


@given(st.binary(max_size=2000))
def test_any_bytes_survive_reading_and_writing(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/x.md"
        Path(path).write_bytes(data)
        text = files.read(path)
        assert text is not None
        atomic.write(path, text)
        assert Path(path).read_bytes() == data


def test_a_relative_path_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    for path in ("a/a.md", f"{tmp_path}/a/../a.md"):
        with pytest.raises(OSError, match="the path is not absolute"):
            atomic.write(path, "one", durable=False)
        (tmp_path / path).write_text("one")
        with pytest.raises(OSError, match="the path is not absolute"):
            files.read(path)


def test_what_is_no_regular_file_reads_as_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.md")
    (tmp_path / "folder.md").mkdir()
    assert files.read(str(tmp_path / "fifo.md")) is None
    assert files.read(str(tmp_path / "folder.md")) is None
    assert files.read(str(tmp_path / "missing.md")) is None


def test_reading_stops_at_the_cap(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 10_000)
    assert files.read(str(tmp_path / "large"), cap=100) == "x" * 100
    assert files.beginning(str(tmp_path / "large"), 100, 10) == ("x" * 10, 10_000)
    assert files.beginning(str(tmp_path / "large"), 10_000, 10) == ("x" * 10_000, 10_000)
    assert files.beginning(str(tmp_path / "missing"), 100, 10) == (None, 0)


def test_a_write_keeps_the_mode_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_text("old")
    path.chmod(0o640)
    atomic.write(str(path), "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [entry.name for entry in tmp_path.iterdir() if entry.name != "home"] == ["x.md"]


def test_private_files_and_folders_are_private(tmp_path: Path) -> None:
    files.make_folder(str(tmp_path / "a" / "b"), private=True)
    atomic.write(str(tmp_path / "a" / "b" / "x"), "secret", private=True)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "b" / "x").stat().st_mode) == 0o600


def limit_file_size(size: int) -> None:
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.parametrize("operation", ["write", "append"])
def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, operation: str) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(b"old")
    pid = os.fork()
    if pid == 0:
        limit_file_size(1000)
        try:
            if operation == "write":
                atomic.write(str(path), "new" * 1000)
            else:
                logs.append(str(path), b"new" * 1000)
        except OSError as error:
            os._exit(7 if error.filename == str(path) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir() if entry.name != "home"] == ["x.md"]


@given(st.lists(st.text(), max_size=4), st.integers(0, 60), st.booleans())
def test_records_survive_a_line_that_a_kill_cut_off(
    texts: list[str], cut: int, shared: bool
) -> None:
    def encode(text: str) -> bytes:
        return json.dumps([text], ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    log: logs.JsonLog[str] = logs.JsonLog(encode, lambda line: json.loads(line)[0], shared)
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.jsonl")
        starts = log.append(str(path), texts)
        ends = [*starts[1:], path.stat().st_size] if texts else []
        assert list(log.read(str(path))) == list(zip(texts, ends, strict=True))
        assert [next(log.read(str(path), start))[0] for start in starts] == texts
        torn = encode("é" * 40)[:cut]
        path.write_bytes(path.read_bytes() + torn)
        assert [text for text, _ in log.read(str(path)) if text is not None] == texts
        log.append(str(path), ["new"])
        assert [text for text, _ in log.read(str(path)) if text is not None] == [*texts, "new"]
        left = bool(torn) and shared  # a person may have written it
        assert log.find_damaged(str(path)) == [len(texts) + 1] * left
        assert log.rewrite(str(path), lambda text: None if text == "new" else text) == 1
        assert path.read_bytes() == b"".join(map(encode, texts)) + (torn + b"\n") * left


def test_append_returns_the_new_size(tmp_path: Path) -> None:
    path = str(tmp_path / "log")
    assert logs.append(path, b"one\n") == 4
    assert logs.append(path, b"two\n") == 8
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


@pytest.mark.parametrize(
    ("path", "folder", "below"),
    [
        ("/a/b", "/a", True),
        ("/a", "/a", True),
        ("/ab", "/a", False),
        ("/a", "/a/b", False),
        ("/a", "/", True),
    ],
)
def test_what_is_below_a_folder(path: str, folder: str, below: bool) -> None:
    assert files.is_below(path, folder) == below
