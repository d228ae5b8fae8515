"""The table of what memfs does in which assistant: made from outcomes, and from nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hosts import matrix
from tests.hosts.matrix import BEGIN, BEHAVIOURS, END, HOSTS, MatrixError, Shown

ROOT = Path(__file__).parents[2]
WHOLE = [Shown(behaviour, host, "", passed=True) for behaviour in BEHAVIOURS for host in HOSTS]
README = f"# memfs\n\n{BEGIN}\nold\n{END}\n\nThe end.\n"


def test_a_cell_is_yes_or_has_a_footnote() -> None:
    lacking = [
        Shown("hang", "gemini", "It waits.", passed=True),
        Shown("hang", "codex", "It is deaf.", passed=True),
        Shown("stop", "codex", "It waits.", passed=True),
    ]
    replaced = {(each.behaviour, each.host) for each in lacking}
    rest = [each for each in WHOLE if (each.behaviour, each.host) not in replaced]
    lines = matrix.table([*rest, *lacking]).splitlines()
    assert lines[0].startswith("| | Claude Code 2.1.328 | Codex 0.169.0 | Gemini CLI 0.61.0 | ")
    assert lines[2] == f"| {BEHAVIOURS['start']} | yes | yes | yes | yes | yes |"
    assert lines[7] == f"| {BEHAVIOURS['stop']} | yes | - <sup>1</sup> | yes | yes | yes |"
    hang = f"| {BEHAVIOURS['hang']} | yes | - <sup>2</sup> | - <sup>1</sup> | yes | yes |"
    assert lines[-4:] == [hang, "", "1. It waits.", "2. It is deaf."]


@pytest.mark.parametrize(
    ("outcomes", "reason"),
    [
        (WHOLE[:-1], f"opencode: what shows '{BEHAVIOURS['hang']}' was not run"),
        ([*WHOLE, WHOLE[0]._replace(passed=False)], "claude: what shows .* failed"),
        ([*WHOLE, WHOLE[0]._replace(lacks="No.")], "is shown, and that it cannot be had"),
        ([*WHOLE, Shown("dance", "claude", "", passed=True)], "no row or column"),
    ],
)
def test_what_makes_no_whole_table_is_refused(outcomes: list[Shown], reason: str) -> None:
    with pytest.raises(MatrixError, match=reason):
        matrix.table(outcomes)


def test_the_table_stands_between_its_marks_and_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, readme = tmp_path / "found.json", tmp_path / "README.md"
    matrix.write(found, WHOLE)
    readme.write_text(README)
    assert matrix.main([str(found), str(readme), "--check"]) == 1
    assert f"hint: python -m tests.hosts.matrix {found} {readme}" in capsys.readouterr().err
    assert readme.read_text() == README
    assert matrix.main([str(found), str(readme)]) == 0
    assert matrix.main([str(found), str(readme), "--check"]) == 0
    assert readme.read_text() == README.replace("old\n", matrix.table(WHOLE))
    readme.write_text("no marks")
    assert matrix.main([str(found), str(readme)]) == 1


def test_the_readme_has_a_row_for_each_behaviour() -> None:
    text = (ROOT / "README.md").read_text()
    assert matrix.placed(text, "") != text
    assert all(f"\n| {words} | " in text for words in BEHAVIOURS.values())


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one process", "workers"])
def test_a_run_leaves_what_its_tests_show(tmp_path: Path, workers: list[str]) -> None:
    tests = tmp_path / "test_it.py"
    tests.write_text("""
import pytest
shows = pytest.mark.behaviour
@shows("start", "news")
@pytest.mark.parametrize("host", ["claude", pytest.param("codex", marks=shows("end", lacks="No."))])
def test_both(host): pass
@shows("stop", host="gemini")
def test_one(): assert False
@shows("once", host="gemini")
def test_skipped(): pytest.skip("not here")
def test_nothing(): pass
""")
    found = tmp_path / "found.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.hosts.conftest", "-c", os.devnull]
    done = subprocess.run(
        [*command, *workers, "--rootdir", str(tmp_path), "--matrix", str(found), str(tests)],
        cwd=ROOT,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert b"1 failed, 3 passed, 1 skipped" in done.stdout, done.stdout.decode()
    assert matrix.read(found) == [
        Shown("end", "codex", "No.", passed=True),
        Shown("news", "claude", "", passed=True),
        Shown("news", "codex", "", passed=True),
        Shown("once", "gemini", "", passed=False),
        Shown("start", "claude", "", passed=True),
        Shown("start", "codex", "", passed=True),
        Shown("stop", "gemini", "", passed=False),
    ]
