"""The table of what memfs does in which assistant: made from outcomes, and from nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memfs import hosts
from tests.hosts import matrix
from tests.hosts.matrix import BEHAVIOURS, HOSTS, MARKS, MatrixError, Shown

ROOT = Path(__file__).parents[2]
WHOLE = [Shown(behaviour, host, "", passed=True) for behaviour in BEHAVIOURS for host in HOSTS]
BEGIN, END = (mark.format("hosts") for mark in MARKS)
PAGE = f"# memfs\n\n{BEGIN}old\n{END}\n\nThe end.\n"


def test_a_cell_is_yes_or_has_a_footnote() -> None:
    lacking = [
        Shown("hang", "gemini", "It waits.", passed=True),
        Shown("hang", "codex", "It is deaf.", passed=True),
        Shown("stop", "codex", "It waits.", passed=True),
    ]
    replaced = {(each.behaviour, each.host) for each in lacking}
    rest = [each for each in WHOLE if (each.behaviour, each.host) not in replaced]
    lines = matrix.table([*rest, *lacking]).splitlines()
    versions = [f"{each.title} {each.version}" for each in HOSTS.values()]
    assert lines[0] == f"| | {' | '.join(versions)} |"

    def row(behaviour: str, **cells: str) -> str:
        said = [cells.get(host, "yes") for host in HOSTS]
        return f"| {BEHAVIOURS[behaviour]} | {' | '.join(said)} |"

    assert lines[2] == row("start")
    assert lines[7] == row("stop", codex="- <sup>1</sup>")
    hang = row("hang", codex="- <sup>2</sup>", gemini="- <sup>1</sup>")
    assert lines[-4:] == [hang, "", "1. It waits.", "2. It is deaf."]
    counted = matrix.summary([*rest, *lacking]).splitlines()[2:4]
    assert [line.split(" | ")[-1] for line in counted] == ["10 of 10 |", "8 of 10 |"]


@pytest.mark.parametrize(
    ("outcomes", "reason"),
    [
        (WHOLE[:-1], f"{list(HOSTS)[-1]}: what shows '{BEHAVIOURS['hang']}' was not run"),
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
    found, page = tmp_path / "found.json", tmp_path / "page.md"
    matrix.write(found, WHOLE)
    page.write_text(PAGE)
    assert matrix.main([str(found), str(page), "--check"]) == 1
    assert f"hint: python -m tests.hosts.matrix {found} {page}" in capsys.readouterr().err
    assert page.read_text() == PAGE
    assert matrix.main([str(found), str(page)]) == 0
    assert matrix.main([str(found), str(page), "--check"]) == 0
    assert page.read_text() == PAGE.replace("old\n", matrix.table(WHOLE))
    page.write_text("no marks")
    assert matrix.main([str(found), str(page)]) == 1


def test_the_documentation_has_both_tables() -> None:
    made = {"hosts": "", "assistants": ""}
    readme = (ROOT / "README.md").read_text()
    page = (ROOT / "docs/start.md").read_text()
    assert matrix.placed(readme, made) != readme
    assert matrix.placed(page, made) != page
    assert all(f"\n| {words} | " in page for words in BEHAVIOURS.values())
    assert all(f"\n| {host.title} | " in readme for host in HOSTS.values())
    assert {name for name in hosts.NAMES if not hosts.get(name).TESTED} == set(HOSTS)


def test_a_run_leaves_what_its_tests_show(tmp_path: Path) -> None:
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
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.hosts.conftest", "-p", "xdist"]
    done = subprocess.run(
        [
            *command,
            *("-n", "1"),
            "-c",
            os.devnull,
            "--rootdir",
            str(tmp_path),
            "--matrix",
            str(found),
            str(tests),
        ],
        cwd=ROOT,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
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
