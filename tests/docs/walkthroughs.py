"""A page of the documentation, its commands run one after the other as a reader types them."""

import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tests import forked
from tests.docs.pages import list_printed_lines, split_line

# How a line begins that no walk can run, and where it is run.
ELSEWHERE: Final = {
    ".venv/bin/python -m": "docs/contributing/testing.md",  # by those who work on memfs
    "../docs-venv": ".ci/run",
    "MEMFS_ENABLED=false claude": "tests/cli/test_off_switch.py",
    "MEMFS_HOSTS_DIR=../hosts": ".ci/run",
    "MEMFS_TEST_RECORD=1": "docs/contributing/testing.md",
    "createdb": "tests/team/postgres.py",
    "python -m benchmarks": "tests/benchmarks",  # with what takes less long
    "memfs eval": "tests/agent/test_evaluation.py",
    "memfs install claude --plugin": "tests/hosts/test_plugin.py",
    "memfs model fetch": "tests/cli/test_model.py",  # from a server on loopback
    "memfs model use": "tests/cli/test_model.py",
    "npm install": ".ci/run",
    "npx skills": "tests/hosts/test_packages.py",
    "pip install": ".ci/release",
    "python3 -m venv": ".ci/run",
    "uv tool install": ".ci/release",
}
_OURS: Final = frozenset(("memfs", "git", "printf"))
_SHELL: Final = frozenset("|&;<>$`*?~(){}#!\n")
_LONG: Final = 60.0  # seconds, on a machine that has other things to do


class Walk(NamedTuple):
    """What a page's commands find when the first is run, and what its words stand for.

    `before` is a script of the shell. `instead` has a part of a line, and what is run for it: the ID
    of a session, for one.
    """

    before: str = ""
    instead: Mapping[str, str] = {}


def list_lines(page: Path) -> Iterator[str]:
    """Yield the lines of a page that its walk runs."""
    for line in list_printed_lines(page):
        if not line.startswith(tuple(ELSEWHERE)) and any(split_line(line)):
            yield line


def walk(page: Path, folder: Path, steps: Walk) -> None:
    """Run the commands of a page in a folder; AssertionError with what the first that fails says."""
    run(steps.before, folder)
    for line in list_lines(page):
        programs = {words[0] for words in split_line(line)}
        assert programs <= _OURS, f"{page.name}: is {line!r} run anywhere? Say so in {__name__}"
        for printed, real in steps.instead.items():
            line = line.replace(printed, real)  # noqa: PLW2901
        if line.startswith("memfs web"):
            look_at_page(line, folder)
        else:
            run(line, folder)


def run(script: str, folder: Path) -> None:
    """Run a script of the shell to its end; memfs alone is forked."""
    if script.startswith("memfs ") and not set(script) & _SHELL:
        done = forked.complete(shlex.split(script)[1:], folder, os.environ)
    else:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LONG,
            check=False,
        )
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    assert "error:" not in done.stderr, f"{script}\n{done.stderr}"


def look_at_page(line: str, folder: Path) -> None:
    """Serve the page until its address is printed, and end it as Ctrl-C does."""
    [words] = split_line(line)
    with subprocess.Popen(
        [*words, "--no-open"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout
        first = process.stdout.readline()
        process.send_signal(2)
        rest = process.stdout.read()
    assert "http://127.0.0.1:" in first, first + rest
    assert process.returncode in {0, 130}, first + rest


def is_used(beginning: str, pages: tuple[Path, ...]) -> bool:
    """Tell whether a line of the pages begins so."""
    return any(line.startswith(beginning) for page in pages for line in list_printed_lines(page))
