"""No link is followed below a store: not in any part of a path, not one put there meanwhile."""

import os
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from memfs import files
from memfs.core.errors import StoreError
from memfs.files import LinkError, NotAFileError, atomic, logs, outside, trees

LINES: logs.JsonLog[bytes] = logs.JsonLog(bytes, bytes)
WRITING: dict[str, Callable[[str], object]] = {
    "write": lambda path: atomic.write(path, "x"),
    "write_derived": lambda path: atomic.write_derived(path, b"x"),
    "write_private": lambda path: atomic.write_private(path, b"x"),
    "append": lambda path: logs.append(path, b"x"),
    "append records": lambda path: LINES.append(path, [b"x\n"]),
    "rewrite records": lambda path: LINES.rewrite(path, lambda _: None),
    "open_appending": lambda path: logs.open_appending(path).close(),
    "open_patching": lambda path: logs.open_patching(path).close(),
    "cut": lambda path: logs.truncate_log(path, 0),
    "touch": lambda path: atomic.touch(path, 1.0),
    "make_empty": files.make_empty,
    "make_folder": lambda path: files.make_folder(f"{path}/a"),
    "set_mode": lambda path: trees.set_mode(path, 0o600),
    "rename to": lambda path: atomic.rename(str(Path(path).parents[1] / "other"), f"{path}/x"),
}
READING: dict[str, Callable[[str], object]] = {
    "read": files.read,
    "read_whole": logs.read_whole,
    "records": lambda path: list(LINES.read(path)),
    "status": files.status,
    "is_file": files.is_file,
    "is_folder": files.is_folder,
    "size": files.get_size,
    "names": files.names,
    "walk": lambda path: list(trees.walk(path)),
    "tree size": trees.measure_size,
}


def look(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture(params=["file", "folder", "far"])
def way(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """A path in a store that a link is in, at its end or before, and what the link leads to."""
    out = tmp_path / "out"
    (out / "folder/deep").mkdir(parents=True)
    for path in ("a.md", "folder/a.md", "folder/deep/a.md"):
        (out / path).write_text("secret")
    store = tmp_path / "store"
    store.mkdir()
    (store / "other").write_text("other")
    if request.param == "file":
        (store / "x").mkdir()
        (store / "x/a.md").symlink_to(out / "a.md")
        return f"{store}/x/a.md", out
    (store / "x").symlink_to(out / "folder")
    return f"{store}/x/{'deep/' if request.param == 'far' else ''}a.md", out


@pytest.mark.parametrize("name", WRITING)
def test_nothing_is_written_through_a_link(way: tuple[str, Path], name: str) -> None:
    path, out = way
    before = look(out)
    with suppress(OSError):  # or the link itself is replaced
        WRITING[name](path)
    assert look(out) == before


@pytest.mark.parametrize("name", READING)
def test_no_link_in_any_part_of_a_path_is_followed(way: tuple[str, Path], name: str) -> None:
    path, _ = way
    assert not READING[name](path)
    assert not READING[name](os.path.dirname(path)) or name in ("status", "is_folder")


def test_a_removal_takes_the_link_alone(way: tuple[str, Path]) -> None:
    path, out = way
    before = look(out)
    for remove in (files.remove, trees.remove, lambda each: trees.remove(os.path.dirname(each))):
        try:
            remove(path)
        except LinkError:
            continue
    assert look(out) == before


def test_a_folder_that_becomes_a_link_meanwhile_is_noticed(tmp_path: Path) -> None:
    """Somebody swaps a folder for a link, again and again, while files in it are written."""
    out, store = tmp_path / "out", tmp_path / "store"
    (out / "x").mkdir(parents=True)
    (store / "x").mkdir(parents=True)
    ends = threading.Event()

    def swap() -> None:
        while not ends.is_set():
            os.rename(store / "x", store / "kept")
            os.symlink(out / "x", store / "x")
            os.unlink(store / "x")
            os.rename(store / "kept", store / "x")

    swapping = threading.Thread(target=swap)
    swapping.start()
    went: Counter[bool] = Counter()
    try:
        while min(went[True], went[False]) < 500:
            path = f"{store}/x/{went.total()}"
            for write in (
                lambda path: atomic.write(path, "x", durable=False),
                lambda path: logs.append(path, b"x", durable=False),
                files.make_empty,
            ):
                try:
                    write(path)
                    went[True] += 1
                except OSError:
                    went[False] += 1
    finally:
        ends.set()
        swapping.join()
    assert list((out / "x").iterdir()) == []


@pytest.mark.parametrize("kind", ["fifo", "folder"])
def test_what_is_no_file_is_not_opened(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    assert files.read(str(path)) is None
    assert outside.read(str(path)) is None
    for open_ in (files.open_file, outside.open_file):
        with pytest.raises((NotAFileError, IsADirectoryError)):
            open_(str(path))
    with pytest.raises(OSError):  # noqa: PT011
        logs.append(str(path), b"x")


def test_a_walk_says_what_it_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "a/b/c/deep.md").touch()
    (tmp_path / "a/x.md").touch()
    (tmp_path / "a/link.md").symlink_to("x.md")
    os.mkfifo(tmp_path / "a/fifo")
    (tmp_path / "sub/.git").mkdir(parents=True)
    (tmp_path / "sub/theirs.md").touch()
    told: list[tuple[str, str]] = []
    left_out = lambda path, what: told.append((os.path.relpath(path, tmp_path), what))  # noqa: E731
    assert [each.name for each in trees.walk(str(tmp_path), levels=3, left_out=left_out)] == [
        "a/x.md"
    ]
    assert sorted(told) == [
        ("a/b/c", "a folder nested too deeply"),
        ("a/fifo", "a FIFO"),
        ("a/link.md", "a link"),
        ("sub", "a separate git repository"),
    ]


def test_a_link_that_stays_in_the_project_is_its_file(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "link").symlink_to("in")
    (tmp_path / "out").symlink_to("/")
    assert outside.real_path(f"{tmp_path}/link/x", str(tmp_path)) == f"{tmp_path}/in/x"
    for path in ("out/x", "../x"):
        with pytest.raises(StoreError, match="outside of the project"):
            outside.real_path(f"{tmp_path}/{path}", str(tmp_path))
