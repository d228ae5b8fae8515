"""What memfs does in which assistant, as tables in the documentation, made from what the tests found.

    python -m pytest -m host tests/hosts --matrix FILE
    python -m tests.hosts.matrix FILE README.md docs/start.md [--check]

The README has how much was shown in each assistant, docs/start.md what.

A test says by `pytest.mark.behaviour` what it shows of the assistant that is its parameter `host`
(or the mark's `host`). One that shows what an assistant cannot do says by `lacks` why: that is the
footnote. A cell is "yes" if every test that shows it passed, and nothing else writes a cell.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tests.hosts.assistants import ALL

HOSTS: Final = {each.name: each.installation for each in ALL if each.is_complete}
BEHAVIOURS: Final = {
    "start": "the brief is there from the first request on, once",
    "news": "a later prompt brings what changed, as a diff, once",
    "compaction": "the whole brief comes again after a compaction",
    "once": "no text comes twice, even if the project and the user are wired",
    "tools": "a tool call edits a block, as that session's edit",
    "stop": "a search finds the messages of the running session",
    "end": "no message is lost when the program ends",
    "transcript": "a search shows the speaker and the time",
    "failure": "a hook that fails leaves the session undisturbed",
    "hang": "a hook that hangs is cut off, by its own alarm or by the assistant's",
}
MARKS: Final = "<!-- {0}: begin -->\n", "<!-- {0}: end -->"


class Shown(NamedTuple):
    """What one test says of one assistant; `lacks` is why that cannot be had."""

    behaviour: str
    host: str
    lacks: str
    passed: bool


class MatrixError(Exception):
    """The outcomes do not make a whole table."""


def table(outcomes: Iterable[Shown]) -> str:
    """Return the table with its footnotes; MatrixError for a cell that nothing was shown of."""
    found: dict[tuple[str, str], list[Shown]] = {}
    for each in outcomes:
        found.setdefault((each.behaviour, each.host), []).append(each)
    if unknown := {key for key in found if key[0] not in BEHAVIOURS or key[1] not in HOSTS}:
        raise MatrixError(f"no row or column of the table: {sorted(unknown)}")
    notes: list[str] = []
    rows = ["| | " + " | ".join(f"{h.title} {h.version}" for h in HOSTS.values()) + " |"]
    rows.append("|---|" + "---|" * len(HOSTS))
    for behaviour, words in BEHAVIOURS.items():
        cells = [_cell(found.get((behaviour, host), []), notes, behaviour, host) for host in HOSTS]
        rows.append(f"| {words} | {' | '.join(cells)} |")
    lines = [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    return "\n".join([*rows, *(["", *lines] if lines else [])]) + "\n"


def summary(outcomes: Iterable[Shown]) -> str:
    """Return a row for each assistant; MatrixError for an outcome that makes no whole table."""
    shown = list(outcomes)
    table(shown)
    rows = ["| assistant | version | passed |", "|---|---|---|"]
    for host, program in HOSTS.items():
        lacks = {each.behaviour for each in shown if each.host == host and each.lacks}
        count = f"{len(BEHAVIOURS) - len(lacks)} of {len(BEHAVIOURS)}"
        rows.append(f"| {program.title} | {program.version} | {count} |")
    return "\n".join(rows) + "\n"


def _cell(shown: list[Shown], notes: list[str], behaviour: str, host: str) -> str:
    if not shown or not all(each.passed for each in shown):
        what = "failed" if shown else "was not run"
        raise MatrixError(f"{host}: what shows '{BEHAVIOURS[behaviour]}' {what}")
    lacks = {each.lacks for each in shown}
    if "" in lacks and len(lacks) > 1:
        raise MatrixError(f"{host}: '{BEHAVIOURS[behaviour]}' is shown, and that it cannot be had")
    if "" in lacks:
        return "yes"
    [why] = lacks
    if why not in notes:
        notes.append(why)
    return f"- <sup>{notes.index(why) + 1}</sup>"


def placed(text: str, made: Mapping[str, str]) -> str:
    """Return a text with each table of `made` between the marks of its name that the text has.

    Raises MatrixError for a text without any, with one twice, or without its end.
    """
    places = [name for name in made if MARKS[0].format(name) in text]
    if not places:
        raise MatrixError(f"there is no place of {' or '.join(made)}")
    for name in places:
        before, begin, rest = text.partition(MARKS[0].format(name))
        _, end, after = rest.partition(MARKS[1].format(name))
        if not end or begin in after:
            raise MatrixError(f"there has to be one place of {name}, with an end")
        text = before + begin + made[name] + end + after
    return text


def read(path: Path) -> list[Shown]:
    """Read what a run of the tests left."""
    return [Shown(**each) for each in json.loads(path.read_text())]


def write(path: Path, outcomes: Iterable[Shown]) -> None:
    """Leave what a run of the tests found."""
    path.write_text(json.dumps([each._asdict() for each in sorted(outcomes)], indent=1) + "\n")


def main(words: list[str]) -> int:
    """Put the tables into files, or with `--check` tell by the exit code whether they are there."""
    check = "--check" in words
    outcomes, *targets = (Path(word) for word in words if word != "--check")
    try:
        left_out = {each.name for each in ALL if not each.is_complete}
        shown = [each for each in read(outcomes) if each.host not in left_out]
        made = {"hosts": table(shown), "assistants": summary(shown)}
        after = {target: placed(target.read_text(), made) for target in targets}
    except MatrixError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    for target, text in after.items():
        if not check:
            target.write_text(text)
        elif text != target.read_text():
            hint = f"python -m tests.hosts.matrix {outcomes} {target}"
            sys.stderr.write(f"error: {target} does not show what the tests found\nhint: {hint}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
