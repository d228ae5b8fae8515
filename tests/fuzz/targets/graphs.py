"""The graph of an index's vectors, which native code maps: damaged, and made by somebody else.

A `crafted` one comes with a stamp that fits it, as whoever commits an index can make it.
"""

import json
import shutil
import zlib
from pathlib import Path
from unittest import mock

import numpy as np

from memfs.search import hnsw
from tests.fuzz.running import Case, Target
from tests.fuzz.world import World

_ROWS, _DIMS = 300, 64


def begin(world: World) -> Target:
    mock.patch.object(hnsw, "FEWEST", 50).start()
    rows = np.random.default_rng(7).integers(-127, 127, (_ROWS, _DIMS), np.int8)
    folder, kept = world.top / "repo/graph", world.top / "home/graph"
    folder.mkdir()
    hnsw.open_graph(str(folder), "model", rows)
    name = next(path.name for path in folder.glob("*.usearch"))
    graph_data, stamp_data = (folder / name).read_bytes(), (folder / "graph.json").read_bytes()
    stamp = json.loads(stamp_data)
    shutil.copytree(folder, kept)

    def run(case: Case) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(kept, folder)
        path = folder / (name if case.name == "crafted" else case.name)
        path.write_bytes(case.data)
        if case.name == "crafted":
            told = stamp | {"size": len(case.data), "checksum": zlib.crc32(case.data)}
            Path(folder / "graph.json").write_text(json.dumps(told))
        found = hnsw.open_graph(str(folder), "model", rows)
        assert found is not None
        numbers, distances = found.find_nearest(rows, rows[5], 20)
        assert 5 in numbers.tolist(), "a row is not near to itself"
        assert len(numbers) == len(distances)
        assert 0 <= numbers.min() <= numbers.max() < _ROWS

    return Target(
        [Case("crafted", graph_data), Case(name, graph_data), Case("graph.json", stamp_data)], run
    )
