"""Export: a whole store in one file, the same every time, and no secret in it unasked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memfs.core.body_edits import Append
from memfs.core.errors import StoreError
from memfs.core.records import Origin
from memfs.importers import export_format, exporting
from memfs.importers.exporting import Exported, SecretsFound
from memfs.ops import archive, edit
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.ops.test_purge import SECRET, put

WRITE = Callable[[str, str], Path]


OPTIONS: dict[str, Any] = dict.fromkeys(("user", "everything", "force", "anyway"), False)


def run(place: Place, path: str | Path = "", **given: bool) -> Exported | SecretsFound:
    return exporting.run(place, str(path), **(OPTIONS | given))


def members(done: Exported | SecretsFound, tmp_path: Path) -> dict[str, bytes]:
    assert isinstance(done, Exported)
    path = tmp_path / "read.zip"
    path.write_bytes(done.data)
    return export_format.read(str(path)).files


def fill(place: Place) -> None:
    root = place.home.root
    archive.run(place, "Green tea at 70 degrees.", importance=5, tags=("tea",), origin=Origin())
    put(f"{root}/facts/2026-05.jsonl", '{"statement": "a"}\n{"statement": "b"}\n')
    put(f"{root}/static/limits.md", "five\n")
    put(f"{root}/README.md", "of somebody else\n")
    line = '{"id": "m", "session": "s", "host": "claude", "project": "", "branch": "", "at": "", '
    put(f"{root}/local/recall/claude/s.jsonl", line + '"role": "user", "text": "hello"}\n')


def test_the_projects_memory_is_in_it_and_nothing_else(place: Place, tmp_path: Path) -> None:
    fill(place)
    path = Path(blocks.get(place, "persona").path)
    path.write_bytes(b"\xef\xbb\xbfby hand \xff\r\n")
    done = run(place)
    assert isinstance(done, Exported)
    found = members(done, tmp_path)
    tops = "archive blocks blocks config.yaml facts static"
    assert sorted(name.partition("/")[0] for name in found) == tops.split()
    counts = {"blocks": 2, "passages": 1, "facts": 2, "static": 1}
    assert {name: count for name, count in done.counts.items() if count} == counts
    assert found["blocks/persona.md"] == path.read_bytes()


def test_all_adds_what_was_said_and_the_history(place: Place, tmp_path: Path) -> None:
    fill(place)
    done = run(place, everything=True)
    assert isinstance(done, Exported)
    assert {"local/recall/claude/s.jsonl", "local/journal.jsonl"} < set(members(done, tmp_path))
    assert (done.counts["sessions"], done.counts["edits"]) == (1, 2)


def test_the_users_store_is_exported_apart(place: Place, tmp_path: Path) -> None:
    found = members(run(place, user=True), tmp_path)
    assert set(found) == {"blocks/human.md", "config.yaml"}


def test_the_same_memory_is_the_same_bytes(place: Place) -> None:
    fill(place)
    assert run(place, everything=True) == run(place, everything=True)


def test_a_secret_in_it_is_named_and_nothing_is_written(
    place: Place, tmp_path: Path, block_file: WRITE
) -> None:
    block_file("api", f"one\nuse {SECRET}\n")
    put(f"{place.home.root}/archive/2026-05/p.md", SECRET)
    held = run(place, tmp_path / "m.zip")
    assert isinstance(held, SecretsFound)
    assert [(name, leak.line) for name, leak in held.secrets] == [
        ("blocks/api.md", 2),
        ("archive/2026-05/p.md", 1),
    ]
    assert not (tmp_path / "m.zip").exists()
    done = run(place, tmp_path / "m.zip", anyway=True)
    assert isinstance(done, Exported)
    assert done.secrets == held.secrets
    assert SECRET.encode() in export_format.read(str(tmp_path / "m.zip")).files["blocks/api.md"]


def test_a_secret_in_the_history_counts_where_that_is_exported(
    place: Place, block_file: WRITE
) -> None:
    path = block_file("api", f"use {SECRET}\n")
    edit.run(place, [Append("api", "more")], Origin())
    path.write_text("use the vault\n")
    assert isinstance(run(place), Exported)
    assert isinstance(run(place, everything=True), Exported)
    journal = Path(place.home.journal)
    journal.write_text(journal.read_text().replace("[redacted:github-token]", SECRET))  # of old
    assert isinstance(run(place, everything=True), SecretsFound)


def test_files_without_a_name_that_can_be_imported_are_named(
    place: Place, block_file: WRITE
) -> None:
    odd = block_file("Übung", "x\n")
    strange = Path(place.home.root, "archive/2026-05/a\nb.md")
    put(strange, "x\n")
    done = run(place)
    assert isinstance(done, Exported)
    assert sorted(done.left_out) == sorted([str(odd), str(strange)])


def test_an_old_file_is_written_over_only_by_force(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "m.zip"
    run(place, path)
    before = path.read_bytes()
    edit.run(place, [Append("persona", "more")], Origin())
    with pytest.raises(StoreError, match="already exists"):
        run(place, path)
    assert path.read_bytes() == before
    run(place, path, force=True)
    assert path.read_bytes() != before


@pytest.mark.usefixtures("bound")
def test_a_store_that_may_only_be_read_can_be_exported(place: Place) -> None:
    local = Path(place.home.local)
    for path in local.rglob("*"):
        path.chmod(0o400)
    local.chmod(0o500)
    try:
        assert isinstance(run(place), Exported)
    finally:
        local.chmod(0o700)
