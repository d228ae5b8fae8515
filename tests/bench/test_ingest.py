"""`memfs bench ingest`: its set is read by us as by the floor, and its figures are shown."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from memfs.cli.main import group


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
