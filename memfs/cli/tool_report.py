"""The report of an import from another tool, and of its undo, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memfs.cli import console, import_report, layout
from memfs.cli.edit_output import format_remainder
from memfs.core.counts import format_count
from memfs.core.escaping import flatten_text
from memfs.core.local_time import format_day

if TYPE_CHECKING:
    from memfs.ops.import_ import FoundTool, Imported
    from memfs.ops.import_undo import Unimported
    from memfs.store.import_records import ImportRecord

_MAX_PROJECTS = 3  # that are named
_MAX_REFUSED = 10
_MAX_LABELS = 5


def print_tools(found: Sequence[FoundTool]) -> None:
    """Print what other tools on this machine remember, a line for each."""
    for each in found:
        what = each.problem or format_counts(each.counts) or "nothing"
        console.talk(f"{each.name}: {what}  ({each.path})")
        if not each.problem and each.counts:
            console.talk(f"→ memfs import {each.name}")


def print_tool(done: Imported, name: str, *, dry_run: bool) -> None:
    """Print what was taken from a tool, what was left, and how to take it back."""
    if dry_run:
        for item in done.items:
            import_report.print_item(item)
    refused = [item for item in done.items if item.outcome == "refused"]
    for item in refused[:_MAX_REFUSED]:
        console.talk(f"! {flatten_text(item.detail)}")
    if len(refused) > _MAX_REFUSED:
        console.talk(f"! {len(refused) - _MAX_REFUSED:,} more were refused: --json names them")
    console.talk(f"{name}: {format_counts(done.taken) or 'nothing for this store'}")
    if done.left:
        console.talk(f"  left: {format_counts(done.left)}; --project NAME takes those of one")
    for (noun, why), number in done.omitted.items():
        console.talk(f"  not taken: {format_count(number, noun)}, {why}")
    import_report.print_signs([item for item in done.items if item.signs])
    added = import_report.summary(done, dry_run=dry_run)
    format_remainder(done.note)
    if done.own:
        what = format_count(done.own, "session")
        console.talk(f"  {what} in your own store: searches in every project find them")
    if done.unpinned:
        named = ", ".join(done.unpinned[:_MAX_LABELS])
        more = len(done.unpinned) - _MAX_LABELS
        named += f" and {more:,} more" if more > 0 else ""
        console.talk(f"! not pinned, for enough blocks are (max_blocks): {named}")
    if added and not dry_run:
        console.talk("  look at it: memfs show --list, memfs archive list, memfs session list")
        console.talk(f"  memfs import --undo {done.id} takes all of it back")


def print_undo(done: Unimported) -> None:
    """Print what an undo removed and what it kept."""
    for name, why in done.kept:
        console.talk(f"! {flatten_text(name)} stays: {why}")
    counts = ", ".join(format_count(number, noun) for noun, number in done.removed.items())
    console.print_done(
        f"the import from {flatten_text(done.source)} is taken back: {counts or 'nothing'} removed"
    )
    format_remainder(done.note)


def print_list(found: Sequence[ImportRecord]) -> None:
    """Print the imports that can be taken back."""
    if not found:
        console.print_done("there is no import that can be taken back")
        return
    rows = [("ID", "DAY", "FROM", "ADDED")]
    for each in found:
        added = f"{len(each.parts):,}"
        rows.append((each.id, format_day(each.at), layout.shorten(each.source, 40), added))
    console.data(layout.table(rows, right=(3,)))


def format_counts(counts: Mapping[tuple[str, str], int]) -> str:
    """Return counts by (noun, project): "3 observations, 1 summary of shop; 2 more projects"."""
    projects: dict[str, list[str]] = {}
    for (noun, project), number in counts.items():
        projects.setdefault(project, []).append(format_count(number, noun))
    parts = [
        ", ".join(words) + (f" of {flatten_text(project)}" if project else "")
        for project, words in projects.items()
    ]
    more = len(parts) - _MAX_PROJECTS
    shown = parts[:_MAX_PROJECTS] if more > 0 else parts
    return "; ".join([*shown, f"{format_count(more, 'more project')}"] if more > 0 else shown)
