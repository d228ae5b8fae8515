"""`memfs ingest`, killed at any moment and run again: in the end as if nobody had killed it."""

import hashlib
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import ingest as bench
from memfs.ops import init
from memfs.search import encoder
from memfs.search.lexical import TextIndex
from memfs.search.semantic import VectorIndex

KILLS = 5
# As `memfs ingest` runs it, but in parts and batches of a size that a small set has many of.
RUN = """
import sys
from memfs.cli.main import main
from memfs.ingest import transcripts, workers
from memfs.search import indexer

workers.PART, workers.MUCH, transcripts._BATCH_BYTES, indexer.COMMIT = 20_000, 0, 100_000, 200
if __name__ == "__main__":
    sys.argv[1:1] = ["ingest", "--json"]
    sys.exit(main())
"""


def project(path: Path) -> Path:
    path.mkdir()
    init.run(str(path), str(Path.home()))
    return path


def start(project: Path, script: Path, said: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(script), str(said)]
    return subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def recall_files(project: Path) -> dict[str, str]:
    folder = project / ".agent-memory/local/recall"
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(".state.json")
    }


def indexed(project: Path) -> Counter[tuple[str, str]]:
    """The documents that are found, each of which must have vectors."""
    folder = str(project / ".agent-memory/local/index")
    text = TextIndex.open(folder)
    assert text
    found: Counter[tuple[str, str]] = Counter()
    numbers = set()
    for _, address in text.search(text.number_query(0), 100_000):
        document = text.read_fields(address)
        found[str(document["id"][0]), str(document["text"][0])] += 1
        numbers.add(document["num"][0])
    assert numbers == set(VectorIndex(folder, encoder.load_bundled()).owners.tolist())
    return found


@pytest.mark.parametrize("seed", [1])
def test_an_ingestion_that_is_killed_again_and_again_ends_like_an_undisturbed_one(
    tmp_path: Path, seed: int
) -> None:
    said = tmp_path / "said"
    bench.write(str(said), 2_000_000, lambda _: None)
    script = tmp_path / "run.py"
    script.write_text(RUN)
    calm, killed = project(tmp_path / "calm"), project(tmp_path / "killed")
    began = time.monotonic()
    process = start(calm, script, said)
    output, _ = process.communicate()
    took = time.monotonic() - began
    assert process.returncode == 0, output
    lots = random.Random(seed)  # noqa: S311 - lots that can be drawn again, no secrets
    for _ in range(KILLS):
        process = start(killed, script, said)
        try:
            process.communicate(timeout=lots.uniform(0.1, 0.9) * took)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
    process = start(killed, script, said)
    output, _ = process.communicate()
    assert process.returncode == 0, output
    assert recall_files(killed) == recall_files(calm)
    found = indexed(killed)
    assert found == indexed(calm)
    assert set(found.values()) == {1}
