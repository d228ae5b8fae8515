"""`memfs bench ingest`: its set is read by us as by the floor, and its figures are shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from memfs.bench import ingest as bench
from memfs.cli.main import group
from memfs.core.errors import NotFoundError


@pytest.mark.parametrize("as_json", [True, False])
def test_a_small_run_gives_every_figure(as_json: bool) -> None:
    done = CliRunner().invoke(
        group(), ["bench", "ingest", "--size", "1", *(["--json"] if as_json else [])]
    )
    assert done.exit_code == 0, done.output
    names = ["json.loads and bare tantivy", "recall and index", "again, nothing is new", "vectors"]
    if not as_json:
        head, *rows = done.stdout.splitlines()
        assert head.split() == ["STEP", "TIME", "SPEED", "DOCUMENTS/S", "MEMORY", "RATIO"]
        assert [row.partition("  ")[0] for row in rows] == names
        return
    floor, ours, again, vectors = json.loads(done.stdout)
    assert [each["name"] for each in (floor, ours, again, vectors)] == names
    assert floor["documents"] == ours["documents"] == vectors["documents"] > 100
    assert (again["documents"], floor["ratio"], vectors["ratio"]) == (0, 1.0, 0)
    assert all(each["bytes"] >= 1_000_000 and each["memory"] > 0 for each in (floor, ours, again))


def test_transcripts_of_a_folder_are_read_where_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "said"
    bench.write(str(folder), 1_000_000, lambda _: None)
    (folder / "notes.jsonl").write_text('{"no": "transcript"}\n')
    [session, *_] = sorted(folder.glob("5e*.jsonl"))
    strange = '{"message": {"content": [1, {"type": "image"}, {"text": "caf\\ud800"}]}}'
    session.write_text(f"{session.read_text()}broken\n[]\n{strange}\n")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = CliRunner().invoke(group(), ["bench", "ingest", "--json", "--from", str(folder)])
    assert done.exit_code == 0, done.output
    floor, ours, *_ = json.loads(done.stdout)
    assert floor["bytes"] == sum(len(before[path]) for path in folder.glob("5e*.jsonl"))
    assert floor["documents"] == ours["documents"] + 1
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_without_transcripts_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(group(), ["bench", "ingest", "--from", str(tmp_path)])
    assert isinstance(done.exception, NotFoundError)
