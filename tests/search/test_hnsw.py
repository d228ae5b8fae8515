"""The graph beside the rows: as good as a scan, and never used where it is not of these rows."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memfs.core.errors import StoppedError
from memfs.search import exact_search, hnsw
from memfs.search.hnsw import HnswGraph

Rows = NDArray[np.int8]
DIMS = 32
MODEL = "model-1"


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hnsw, "FEWEST", 100)


def made(count: int, seed: int = 0) -> Rows:
    found = np.random.default_rng(seed).standard_normal((count, DIMS))
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(np.rint(found * 127), np.int8)


def built(folder: Path, rows: Rows) -> HnswGraph:
    found = hnsw.open_graph(str(folder), MODEL, rows)
    assert found
    return found


def kept(folder: Path, rows: Rows, model: str = MODEL) -> HnswGraph | None:
    return hnsw.open_graph(str(folder), model, rows, build=False)


def recall(found: HnswGraph, rows: Rows, queries: Rows, depth: int = 50) -> float:
    """Share of the nearest that are found; what is as near as the last of them counts, too."""
    shares = []
    for query in queries:
        _, exact = exact_search.find_nearest(rows, query, depth)
        _, mine = found.find_nearest(rows, query, depth)
        shares.append(float((mine <= exact[-1] + 1e-4).mean()) if len(mine) == depth else 0.0)
    return float(np.mean(shares))


def test_a_graph_finds_what_a_scan_finds(tmp_path: Path) -> None:
    rows, queries = made(2000), made(20, 1)
    found = built(tmp_path, rows)
    assert recall(found, rows, queries) > 0.9
    numbers, distances = found.find_nearest(rows, rows[7], 10)
    assert numbers[0] == 7
    assert distances.tolist() == sorted(distances.tolist())
    # It is made by several threads, each time another one: it may miss one of the ten.
    nearest, exact = exact_search.find_nearest(rows, rows[7], 10)
    assert len(set(numbers.tolist()) & set(nearest.tolist())) >= 9
    assert (distances >= exact - 1e-3).all()
    assert np.allclose(distances[:8], exact_search.distances(rows[numbers[:8]], rows[7]), atol=1e-3)


def test_few_rows_need_no_graph(tmp_path: Path) -> None:
    (folder := tmp_path / "graph").mkdir()
    assert hnsw.open_graph(str(folder), MODEL, made(99)) is None
    assert not list(folder.iterdir())


def test_a_kept_graph_is_opened_again(tmp_path: Path) -> None:
    rows = made(500)
    first = built(tmp_path, rows)
    files = sorted(path.name for path in tmp_path.iterdir())
    again = kept(tmp_path, rows)
    assert again
    for query in made(5, 1):
        assert np.array_equal(
            again.find_nearest(rows, query, 9)[0], first.find_nearest(rows, query, 9)[0]
        )
    built(tmp_path, rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == files, "nothing was built anew"


def test_what_came_later_is_found_beside_the_graph_and_added_when_it_is_much(
    tmp_path: Path,
) -> None:
    rows = made(1000)
    built(tmp_path, rows[:950])
    found = built(tmp_path, rows)
    assert found.rows == 950
    assert found.find_nearest(rows, rows[980], 3)[0][0] == 980
    grown = built(tmp_path, made(1400))
    assert grown.rows == 1400
    assert recall(grown, made(1400), made(20, 1)) > 0.9
    assert len(list(tmp_path.glob("graph-*"))) == 1, "the old generation is gone"


def test_adding_takes_over_what_was_built(tmp_path: Path) -> None:
    rows = made(1000)
    rows[700:900] = rows[:200]
    built(tmp_path, rows[:600])
    added: list[int] = []
    found = hnsw.open_graph(str(tmp_path), MODEL, rows, tick=added.append)
    assert sum(added) == 200, "of the 400 new rows half are known"
    assert found
    assert recall(found, rows, made(20, 1)) > 0.9


def test_who_is_asked_to_stop_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker of the service stops for what is to be read: a large graph is made all the same."""
    monkeypatch.setattr(hnsw, "_BATCH", 300)
    rows = made(1000)
    rows[290:310] = rows[:20]  # a batch ends where rows are equal to earlier ones

    def stop(_: int) -> None:
        raise StoppedError

    saved = []
    for _ in range(4):
        with pytest.raises(StoppedError):
            hnsw.open_graph(str(tmp_path), MODEL, rows, tick=stop)
        part = kept(tmp_path, rows)
        assert part
        assert recall(part, rows, made(5, 1)) > 0.9, "what is not in it yet is scanned"
        saved.append(part.rows)
        if part.rows >= 900:
            break
    assert saved == [320, 620, 920]
    assert built(tmp_path, rows).rows == 920, "few rows are newer"
    assert len(list(tmp_path.glob("graph-*"))) == 1


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_many_equal_rows_hide_nothing(tmp_path: Path, share: float) -> None:
    rows = made(2000)
    same = np.random.default_rng(3).permutation(2000)[: int(2000 * share)]
    rows[same] = rows[same[0]]
    found = built(tmp_path, rows)
    assert recall(found, rows, made(20, 1), 20) > 0.9
    numbers, distances = found.find_nearest(rows, rows[same[0]], 300)
    assert len(set(numbers.tolist())) == len(numbers)
    assert np.count_nonzero(distances < 1e-4) == 100
    assert set(numbers[:100].tolist()) == set(np.sort(same)[-100:].tolist()), "the latest of them"


def test_rows_of_zeros_are_near_to_nothing(tmp_path: Path) -> None:
    rows = made(400)
    rows[::2] = 0
    found = built(tmp_path, rows)
    numbers, distances = found.find_nearest(rows, rows[7], 50)
    assert numbers[0] == 7
    assert (numbers % 2 == 1).all()
    assert np.isfinite(distances).all()
    nothing = built(tmp_path / "nothing", np.zeros((200, DIMS), np.int8))
    assert not len(nothing.find_nearest(np.zeros((200, DIMS), np.int8), rows[7], 5)[0])


def test_a_graph_of_other_rows_or_of_another_model_is_not_used(tmp_path: Path) -> None:
    rows = made(500)
    built(tmp_path, rows)
    other = rows.copy()
    other[250, 3] ^= 1
    assert kept(tmp_path, other) is None
    assert kept(tmp_path, rows[:499]) is None
    assert kept(tmp_path, rows, "model-2") is None
    assert kept(tmp_path, rows)
    assert built(tmp_path, other).find_nearest(other, other[250], 1)[0].tolist() == [250]
    assert kept(tmp_path, rows) is None


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "gone"])
def test_a_damaged_file_is_not_used_and_made_again(tmp_path: Path, damage: str) -> None:
    rows = made(500)
    built(tmp_path, rows)
    (path,) = tmp_path.glob("graph-*")
    data = bytearray(path.read_bytes())
    path.unlink()  # a file that is mapped is never written to
    if damage != "gone":
        data[len(data) // 2] ^= 1
        path.write_bytes(data[: {"cut": -9, "flip": None, "empty": 0}[damage]])
    assert kept(tmp_path, rows) is None
    assert built(tmp_path, rows).find_nearest(rows, rows[3], 1)[0].tolist() == [3]
    assert kept(tmp_path, rows)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"model": 5}', '{"model": "model-1", "rows": "x", "content": 0}']
)
def test_a_stamp_that_is_damaged_is_no_stamp(tmp_path: Path, text: str) -> None:
    rows = made(200)
    built(tmp_path, rows)
    (tmp_path / "graph.json").write_text(text)
    assert kept(tmp_path, rows) is None
    assert built(tmp_path, rows)


def test_a_stamp_names_no_file_elsewhere(tmp_path: Path) -> None:
    rows = made(200)
    folder = tmp_path / "graph"
    folder.mkdir()
    built(folder, rows)
    (path,) = folder.glob("graph-*")
    path.rename(tmp_path / path.name)
    stamp = json.loads((folder / "graph.json").read_text())
    (folder / "graph.json").write_text(json.dumps({**stamp, "name": f"../{path.name}"}))
    assert kept(folder, rows) is None


def test_a_folder_that_cannot_be_written_costs_only_the_file(tmp_path: Path) -> None:
    rows = made(300)
    found = built(tmp_path / "is" / "not", rows)
    assert found.find_nearest(rows, rows[5], 1)[0].tolist() == [5]
    assert not (tmp_path / "is").exists()


def test_what_a_killed_build_left_is_removed(tmp_path: Path) -> None:
    half = tmp_path / "graph-9-00.usearch.tmp"
    half.write_bytes(b"half")
    built(tmp_path, made(300))
    assert not half.exists()
    assert len(list(tmp_path.glob("graph*"))) == 2


def test_threads_search_one_graph(tmp_path: Path) -> None:
    rows = made(2000)
    found = built(tmp_path, rows)
    alone = [found.find_nearest(rows, rows[row], 5)[0].tolist() for row in range(1100)]
    wrong: list[int] = []

    def work(first: int) -> None:
        for row in range(first, first + 300):
            if found.find_nearest(rows, rows[row], 5)[0].tolist() != alone[row]:
                wrong.append(row)

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 400, 800)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


READER = """
import sys
import numpy as np
from memfs.search import hnsw
hnsw.FEWEST = 100
rows = np.fromfile(sys.argv[2], np.int8).reshape(-1, 32)
for round in range(25):
    found = hnsw.open_graph(sys.argv[1], "model-1", rows, build=False)
    if found:
        assert found.rows in range(400, 2001), found.rows
        hits = sum(found.find_nearest(rows, rows[n], 3)[0][0] == n for n in range(0, 400, 20))
        assert hits > 17, hits
"""


def test_processes_read_while_one_writes(tmp_path: Path) -> None:
    """A file that another process has mapped must not change under it: that would kill it."""
    rows = made(2000)
    rows.tofile(tmp_path / "rows")
    folder = tmp_path / "graph"
    folder.mkdir()
    command = [sys.executable, "-c", READER, str(folder), str(tmp_path / "rows")]
    env = {"PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1"}
    readers = [subprocess.Popen(command, env=env, stderr=subprocess.PIPE) for _ in range(2)]
    count = 400
    while any(reader.poll() is None for reader in readers):
        count = 400 if count > 1400 else int(count * 1.5)
        built(folder, rows[:count])
    for reader in readers:
        _, error = reader.communicate()
        assert reader.returncode == 0, error.decode()
