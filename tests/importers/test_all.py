"""What holds for the import from every tool."""

import os
import shutil
from pathlib import Path

import pytest

from memfs.core.errors import MemfsError, StoreError
from memfs.importers import readers
from memfs.importers.importing import Imported
from memfs.ops import doctor
from memfs.store.blocks import Place
from tests.importers.importing import (
    check_recording,
    count_outcomes,
    import_path,
    list_details,
    read_memory,
    read_stores,
    undo_import,
)
from tests.importers.note_samples import SAMPLES
from tests.importers.samples import SECRET_TEXT, STEERING

pytestmark = pytest.mark.parametrize("tool", sorted(SAMPLES))


def test_every_tool_has_a_sample(tool: str) -> None:
    assert sorted(readers.NAMES) == sorted(SAMPLES)
    assert tool == readers.get(tool).name
    assert f"`{tool}`" in (Path(__file__).parents[2] / "docs/importers.md").read_text("utf-8")


def test_a_sample_is_recognised_and_no_other_tool_takes_it(tool: str, tmp_path: Path) -> None:
    path = str(SAMPLES[tool](tmp_path / "tool"))
    found = [name for name in readers.NAMES if readers.get(name).sniff(path)]
    assert found in ([tool], [tool, "memory-folder"])  # which takes what no other one takes


def test_what_a_sample_becomes_is_recorded(tool: str, place: Place, tmp_path: Path) -> None:
    path = SAMPLES[tool](tmp_path / "tool")
    check_recording(tool, import_path(place, path, project="repo"), place, tmp_path)


def test_twice_adds_nothing_and_an_undo_leaves_every_file_as_it_was(
    tool: str, place: Place, tmp_path: Path
) -> None:
    path = SAMPLES[tool](tmp_path / "tool")
    theirs = _read_folder(tmp_path / "tool")
    before = read_stores(place)
    done = import_path(place, path)
    assert count_outcomes(done)["new"] > 0
    assert not list_details(done, "refused")
    after = read_stores(place)
    again = import_path(place, path)
    assert set(count_outcomes(again)) == {"same"}
    assert read_stores(place) == after
    undone = undo_import(place, done)
    assert not undone.kept
    assert read_stores(place) == before
    assert _read_folder(tmp_path / "tool") == theirs


def test_a_dry_run_writes_nothing(tool: str, place: Place, tmp_path: Path) -> None:
    before = read_stores(place)
    done = import_path(place, SAMPLES[tool](tmp_path / "tool"), dry_run=True)
    assert count_outcomes(done)["new"] > 0
    assert read_stores(place) == before


def test_no_secret_comes_in(tool: str, place: Place, tmp_path: Path) -> None:
    import_path(place, SAMPLES[tool](tmp_path / "tool", text=SECRET_TEXT))
    assert "ghp_" not in read_memory(place)


def test_lines_that_steer_are_named(tool: str, place: Place, tmp_path: Path) -> None:
    done = import_path(place, SAMPLES[tool](tmp_path / "tool", text=STEERING))
    steering = [item for item in done.items if item.signs]
    assert steering or all(item.kind == "session" for item in done.items)


def test_what_is_private_is_left_out(tool: str, place: Place, tmp_path: Path) -> None:
    import_path(place, SAMPLES[tool](tmp_path / "tool", text="<private>my diary</private> kept"))
    assert "my diary" not in read_memory(place)


@pytest.mark.parametrize("part", [0.25, 0.5, 0.9])
def test_a_damaged_copy_gets_a_clear_word_and_loses_nothing(
    tool: str, part: float, place: Place, tmp_path: Path
) -> None:
    path = SAMPLES[tool](tmp_path / "tool")
    for each in [path, *path.rglob("*")] if path.is_dir() else [path]:
        if each.is_file():
            data = each.read_bytes()
            each.write_bytes(data[: int(len(data) * part)])
    before = read_stores(place)
    if readers.recognise(str(path)) is None:
        return
    done = _try_import(place, path)
    assert done
    if isinstance(done, Imported) and done.id:
        undo_import(place, done)
    assert read_stores(place) == before


def test_links_and_devices_are_not_read(tool: str, place: Place, tmp_path: Path) -> None:
    path = SAMPLES[tool](tmp_path / "tool")
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    os.mkfifo(path)
    assert readers.recognise(str(path)) is None


def test_what_came_in_is_sound(tool: str, place: Place, tmp_path: Path, home: Path) -> None:
    import_path(place, SAMPLES[tool](tmp_path / "tool"))
    found = doctor.run(place, str(home))
    assert not [each for each in found if each.level == "error"]


def test_without_any_store_it_is_said(tool: str, tmp_path: Path) -> None:
    path = SAMPLES[tool](tmp_path / "tool")
    with pytest.raises(StoreError, match="there is no"):
        import_path(Place(None, None), path)


def _try_import(place: Place, path: Path) -> Imported | str:
    """Import a path, and return the outcome, or the message of the error."""
    try:
        return import_path(place, path)
    except (MemfsError, OSError) as error:
        return str(error)


def _read_folder(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
