"""git merges block files with our driver, and what it leaves without one is resolved."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import memfs
from memfs.core.merge import resolve
from tests.core.test_merge import BASE, BODY, EDITS, MERGED, content, text

DRIVER = """\
#!/bin/sh
PYTHONPATH='{path}' exec '{python}' -c '
import sys
from memfs.core.merge import merge
texts = [open(name, encoding="utf-8", errors="surrogateescape", newline="").read() for name in sys.argv[1:]]
open(sys.argv[2], "w", encoding="utf-8", errors="surrogateescape", newline="").write(merge(*texts))
' "$@"
"""


def git(folder: Path, *words: str, check: bool = True) -> int:
    run = subprocess.run(["git", "-C", folder, *words], check=False, capture_output=True)
    assert not check or run.returncode == 0, run.stdout + run.stderr
    return run.returncode


def two_clones(folder: Path, ours: str, theirs: str) -> Path:
    """Commit a block, edit it in two clones, and return the one that has fetched the other."""
    origin = folder / "origin"
    git(folder, "init", "-q", "-b", "main", str(origin))
    (origin / "human.md").write_text(BASE + BODY)
    (origin / ".gitattributes").write_text("*.md merge=memfs\n")
    git(origin, "add", ".")
    git(origin, "commit", "-qm", "base")
    for name, edit in (("one", ours), ("two", theirs)):
        git(folder, "clone", "-q", str(origin), str(folder / name))
        (folder / name / "human.md").write_text(edit)
        git(folder / name, "commit", "-qam", name)
    git(folder / "one", "fetch", "-q", str(folder / "two"), "main")
    return folder / "one"


@pytest.mark.parametrize("name", EDITS)
def test_git_merges_two_clones_with_the_driver(name: str, tmp_path: Path) -> None:
    ours, theirs, lines = EDITS[name]
    clone = two_clones(tmp_path, ours, theirs)
    script = tmp_path / "driver"
    script.write_text(DRIVER.format(path=Path(memfs.__file__).parents[1], python=sys.executable))
    script.chmod(0o700)
    git(clone, "config", "merge.memfs.driver", f"'{script}' %O %A %B")
    git(clone, "merge", "-q", "--no-edit", "FETCH_HEAD")
    assert (clone / "human.md").read_text() == MERGED + text(*lines)


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
@pytest.mark.parametrize("name", EDITS)
def test_what_git_leaves_without_it_is_resolved(name: str, style: str, tmp_path: Path) -> None:
    ours, theirs, lines = EDITS[name]
    clone = two_clones(tmp_path, ours, theirs)
    assert git(clone, "-c", f"merge.conflictStyle={style}", "merge", "FETCH_HEAD", check=False) == 1
    found = resolve((clone / "human.md").read_text())
    assert found is not None
    if style == "merge" and name == "edit and append":  # git does not say that a line was replaced
        assert set(lines) <= set(content(found))
        return
    assert found == MERGED + text(*lines)
