"""`benchmarks.ingest`: its set is read by us as by the floor, and its figures are shown."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import ingest
from memfs.core.errors import NotFoundError

FLOORS = [f"json.loads and bare tantivy, {what}" for what in ("every line", "texts alone")]
NAMES = [*FLOORS, "recall and index", "again, nothing is new", "vectors"]


def test_a_small_run_gives_every_figure() -> None:
    done = CliRunner().invoke(ingest.command, ["--size", "1"])
    assert done.exit_code == 0, done.output
    head, *rows = done.stdout.splitlines()
    assert head.split()[-4:] == ["MEMORY", "RATIO", "OF", "TEXTS"]
    assert [row.partition("  ")[0] for row in rows] == NAMES


def test_transcripts_of_a_folder_are_read_where_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "said"
    ingest.write(str(folder), 1_000_000, lambda _: None)
    (folder / "notes.jsonl").write_text('{"no": "transcript"}\n')
    [session, *_] = sorted(folder.glob("5e*.jsonl"))
    strange = '{"message": {"content": [1, {"type": "image"}, {"text": "caf\\ud800"}]}}'
    session.write_text(f"{session.read_text()}broken\n[]\n{strange}\n")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = CliRunner().invoke(ingest.command, ["--json", "--from", str(folder)])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [each["name"] for each in found] == NAMES
    lines, texts, ours, again, vectors = found
    read = [before[path] for path in folder.glob("5e*.jsonl")]
    assert lines["bytes"] == texts["bytes"] == sum(map(len, read)) >= 1_000_000
    assert lines["documents"] == b"".join(read).count(b"\n") - 1  # one is broken
    assert texts["documents"] == ours["documents"] + 1
    assert lines["documents"] > texts["documents"]  # each turn has a line without a text
    assert ours["documents"] == vectors["documents"] > 100
    assert (again["documents"], vectors["ratio"], vectors["of_texts"]) == (0, 0, 0)
    for floor, name in ((lines, "ratio"), (texts, "of_texts")):
        assert floor[name] == 1.0
        assert ours[name] == pytest.approx(floor["seconds"] / ours["seconds"])
    assert all(each["bytes"] >= 1_000_000 and each["memory"] > 0 for each in found)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_without_transcripts_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(ingest.command, ["--from", str(tmp_path)])
    assert isinstance(done.exception, NotFoundError)
