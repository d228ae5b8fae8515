"""Forms of a tool's memory, each named by what holds of it: what becomes of them is recorded."""

import os
import shutil
from pathlib import Path

import pytest

from memfs.store.blocks import Place
from tests.importers.importing import check_recording, import_path

CASES = Path(__file__).parent / "cases"
WRITTEN = 1_767_225_600  # 2026-01-01


@pytest.mark.parametrize("name", sorted(os.listdir(CASES)))
def test_what_becomes_of_it_is_recorded(name: str, place: Place, tmp_path: Path) -> None:
    path = tmp_path / "cases" / name
    path.parent.mkdir()
    (shutil.copytree if (CASES / name).is_dir() else shutil.copy)(CASES / name, path)
    for each in [path, *path.rglob("*")]:
        os.utime(each, (WRITTEN, WRITTEN))
    done = import_path(place, path, user=True)
    check_recording(name.partition(".")[0], done, place, tmp_path)
