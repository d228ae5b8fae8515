"""How much of what `memfs check` reports is no longer true, and how much of that it reports.

`check_labels.tsv` names anchors of memory files in the histories of public repositories, each by
the commit and line where it stands, with the head that it is compared with. They were labelled by
hand: `stale` (the project has it no longer, and the line says that it has), or `current`. What is
stale by another sign than a commit or a manifest has no label. The rules were written with the
repositories of the part `seen`. All that was reported on those of `held_out` was labelled, then the
rules were mended; what the mended ones reported on those of `fresh` was labelled last.
"""

import os
from collections import Counter, defaultdict
from itertools import groupby

import click

from benchmarks import command as runner
from memfs.cli import console, layout, options
from memfs.core.anchors import find_anchors
from memfs.knowledge.stale_anchors import find_stale
from memfs.store import commits, git
from memfs.store.project_files import ProjectFiles

LABELS = os.path.join(os.path.dirname(__file__), "check_labels.tsv")
_STALE = "stale"


def read_labels() -> list[list[str]]:
    """Return each anchor: repository, head, commit, path, line, kind, name, label, part."""
    with open(LABELS, encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines][1:]


def measure_project(folder: str, rows: list[list[str]]) -> Counter[str]:
    """Count the labelled anchors of one repository by label, and whether they are reported."""
    project, counts, texts, groups = ProjectFiles(folder), Counter[str](), [], []
    for (commit, path), group in groupby(sorted(rows, key=lambda row: row[2:4]), lambda r: r[2:4]):
        text = commits.read_file(project.top, commit, path) or ""
        near = f"{os.path.dirname(path)}/" if "/" in path else ""
        wanted = list(group)
        lines = {row[4] for row in wanted}
        anchors = [each for each in find_anchors(text) if str(each.line) in lines]
        texts.append((near, anchors))
        groups.append(wanted)
    for wanted, stale in zip(groups, find_stale(project, texts), strict=True):
        found = {(str(each.anchor.line), each.anchor.kind, each.anchor.name) for each in stale}
        for row in wanted:
            reported = "reported" if tuple(row[4:7]) in found else "silent"
            counts[f"{row[7]} {reported}"] += 1
    return counts


@click.command("check")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@options.json_option
def command(folder: str, as_json: bool) -> None:
    """Measure `memfs check` on labelled memory files of repositories.

    FOLDER has their clones with the whole history, each as owner+name. One that is missing, or has
    another head than the labels, is left out.
    """
    by_repository = defaultdict(list)
    for row in read_labels():
        by_repository[row[0], row[1], row[8]].append(row)
    totals, rows = defaultdict[str, Counter[str]](Counter), []
    for (name, head, part), labelled in by_repository.items():
        clone = os.path.join(folder, name.replace("/", "+"))
        if not os.path.isdir(clone) or not git.get_head_commit(clone).startswith(head):
            console.talk(f"! left out: {name} at {head}")
            continue
        counts = measure_project(clone, labelled)
        totals[part] += counts
        rows.append((name, *_format(counts)))
    if as_json:
        console.as_json({part: dict(total) for part, total in totals.items()})
        return
    titles = ("repository", "reported", "right", "stale", "found", "current", "silent")
    lines = [titles, *rows, *((f"all: {part}", *_format(each)) for part, each in totals.items())]
    console.echo(layout.table(lines, right=tuple(range(1, 7))))


def _format(counts: Counter[str]) -> tuple[str, ...]:
    right, wrong = counts["stale reported"], counts["current reported"]
    stale, current = right + counts["stale silent"], wrong + counts["current silent"]
    columns = (right + wrong, right, stale, right, current, counts["current silent"])
    return tuple(map(str, columns))


if __name__ == "__main__":
    runner.run(command)
