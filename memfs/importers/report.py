"""The report of an import, and of its undo, for people."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memfs.cli import console, layout
from memfs.cli.edit_output import format_remainder
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count, format_day
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.importers.importing import FoundTool, Imported
    from memfs.importers.merge import ImportItem
    from memfs.importers.plan import ImportedFile
    from memfs.importers.undo import ImportRecord, Unimported


_MAX_PROJECTS = 3  # that are named
_MAX_REFUSED = 10
_MAX_LABELS = 5

_PASSAGE_CELLS = 100  # cells of a passage
_MAX_ROWS = 12  # files of a folder that are listed
_NAME_CELLS = 36  # cells of a file's name, and of a label
_IMPORTS = 2  # files that a text imports
_MAX_SIGNS = 8  # texts with signs that are named
_MAX_LINES = 5  # numbers of lines that are named
_NOUNS = {
    "block": "block",
    "passage": "passage",
    "facts": "fact",
    "static": "static entry",
    "session": "session",
    "windows": "window",
    "outcomes": "outcome",
}


def print_import(
    place: Place,
    done: Imported,
    tools: Sequence[FoundTool],
    *,
    list_only: bool,
    dry_run: bool,
    pin: bool,
    user: bool,
) -> None:
    """Print for each of other tools' files its block or passages, and the next command.

    Before it a line for each of the `tools` on this machine that remember something.
    """
    for each in tools:
        what = each.problem or format_counts(each.counts) or "nothing"
        console.talk(f"{each.name}: {what}  ({each.path})")
        if not each.problem and each.counts:
            console.talk(f"→ memfs import {each.name}")
    if tools and not done.files:
        return
    if not done.files:
        console.print_done(
            "found no memory of other tools; memfs import --help lists the places searched"
        )
        return
    if dry_run and not list_only:
        _print_items(done)
    _print_table(done)
    _print_refused(done)
    _warn_of_sharing(done, user=user)
    if list_only:
        _suggest_command(place, done, options=["--user"] * user + ["--pin"] * pin)
        return
    look = [
        "check the result with memfs show or memfs search; undo one block with memfs undo LABEL"
    ]
    if not pin and any(item.kind == "block" for item in _list_added(done)):
        look.insert(
            0,
            "the blocks are not pinned, because most tools read these files themselves; "
            "pin one with memfs edit LABEL --pin",
        )
    _print_summary(done, look, dry_run=dry_run)


def print_export(done: Imported, *, dry_run: bool) -> None:
    """Print what was taken from an export, and what in it is never imported."""
    _print_items(done)
    _print_refused(done)
    if done.config:
        console.talk("  not imported: the export's config.yaml; your settings stay")
    if done.edits:
        console.talk(f"  not imported: the export's history ({format_count(done.edits, 'edit')})")
    if done.left_out:
        console.talk(
            f"  not imported: {format_count(done.left_out, 'file')} of the export that are not "
            "memory"
        )
    look = ["check the result with memfs show or memfs log; undo one block with memfs undo LABEL"]
    _print_summary(done, look, dry_run=dry_run)


def _warn_of_sharing(done: Imported, *, user: bool) -> None:
    own = [each for each in done.files if each.files and each.path.startswith(("~", "/"))]
    if own and not user and any(item.outcome in ("new", "merged") for item in done.items):
        console.talk(
            "! some of these files are not part of the project, and its store is committed to git; "
            "to keep them to yourself, add --user"
        )


def _list_added(done: Imported) -> list[ImportItem]:
    return [item for item in done.items if item.outcome in ("new", "merged")]


def _print_refused(done: Imported, most: int | None = None) -> None:
    refused = [item for item in done.items if item.outcome == "refused"]
    for item in refused[:most]:
        console.talk(f"! {item.detail}")
    if most and len(refused) > most:
        console.talk(f"! {len(refused) - most:,} more were refused; add --json to list them")


def _print_signs(done: Imported) -> None:
    """Print the lines that may be written to steer an assistant."""
    items = [item for item in done.items if item.signs]
    for item in items[:_MAX_SIGNS]:
        lines = sorted({sign.line for sign in item.signs})
        where = ", ".join(map(str, lines[:_MAX_LINES])) + ("…" if len(lines) > _MAX_LINES else "")
        what = ", ".join(sorted({sign.what for sign in item.signs}))
        noun = "line" if len(lines) == 1 else "lines"
        is_export = not (done.files or done.taken)  # other tools' words are not repeated
        texts = dict.fromkeys(sign.text for sign in item.signs[:_MAX_LINES] if sign.text)
        said = "; ".join(layout.shorten(text, 60) for text in texts)
        quoted = f": {said}" if is_export and said else ""
        console.talk(f"! {item.name}: {what} ({noun} {where}){quoted}")
    if len(items) > _MAX_SIGNS:
        console.talk(
            f"! {len(items) - _MAX_SIGNS:,} more texts need a look; add --json to list them"
        )


def _print_summary(done: Imported, look: Sequence[str], *, dry_run: bool) -> None:
    _print_signs(done)
    added = _list_added(done)
    same = sum(item.outcome == "same" for item in done.items)
    numbers: Counter[str] = Counter()
    for item in added:
        numbers[item.kind] += item.count
    counts = [format_count(number, _NOUNS[kind]) for kind, number in numbers.items()]
    what = f"{', '.join(counts) or 'nothing'} {'would be ' if dry_run else ''}added"
    what = f"{what}, {same:,} already here"
    if refused := sum(item.count for item in done.items if item.outcome == "refused"):
        console.talk(f"! {what}, {refused:,} refused")
    else:
        console.print_done(what)
    format_remainder(done.note)
    if done.own:
        owned = format_count(done.own, "session")
        console.talk(f"  {owned} went into your own store; searches in every project find them")
    if done.unpinned:
        named = ", ".join(done.unpinned[:_MAX_LABELS])
        more = len(done.unpinned) - _MAX_LABELS
        named += f" and {more:,} more" if more > 0 else ""
        console.talk(f"! not pinned, because the limit (max_blocks) is reached: {named}")
    if added and not dry_run:
        for line in (*look, f"undo the whole import: memfs import --undo {done.id}"):
            console.talk(f"  {line}")


def _print_items(done: Imported) -> None:
    for item in _list_added(done):
        if item.kind == "block":
            console.data(item.detail.rstrip("\n"))
        elif item.kind in ("facts", "windows", "outcomes"):
            for line in item.detail.splitlines():
                about = layout.shorten(line, _PASSAGE_CELLS)
                console.data(f"+ {_NOUNS[item.kind]} {about}")
        else:
            about = layout.shorten(item.detail, _PASSAGE_CELLS)
            console.data(f"+ {item.kind} {flatten_text(item.name)}: {about}")


def _print_table(done: Imported) -> None:
    """Print the files by folder; of a large folder the first ones, and the number of the others."""
    outcomes = {(item.kind, item.name): item.outcome for item in done.items}
    folders: dict[str, list[ImportedFile]] = {}
    for each in done.files:
        folders.setdefault(os.path.dirname(each.path), []).append(each)
    rows: list[tuple[str, ...]] = [("FILE", "CHARACTERS", "BECOMES")]
    between: dict[int, list[str]] = {}  # lines before a row, across the columns
    for folder, found in folders.items():
        indent = "  " if folder else ""
        between.setdefault(len(rows), []).extend([f"{folder}/"] if folder else [])
        for each in found if len(found) <= _MAX_ROWS + 1 else found[:_MAX_ROWS]:
            name, *rest = _render_row(each, outcomes)
            rows.append((indent + layout.shorten(name, _NAME_CELLS), *rest))
        if len(found) > _MAX_ROWS + 1:
            between[len(rows)] = [f"{indent}… {len(found) - _MAX_ROWS:,} more"]
    for number, line in enumerate([*layout.table(rows, right=(1,)).split("\n"), ""]):
        for other in between.get(number, []):
            console.data(flatten_text(other))
        if line:
            console.echo(line)


def _render_row(each: ImportedFile, outcomes: Mapping[tuple[str, str], str]) -> tuple[str, ...]:
    name = os.path.basename(each.path)
    if each.left:
        return name, "", "- refused" if each.refused else f"- {each.left}"
    became = format_count(len(each.files), "passage")
    if each.block:
        became = f"block {layout.shorten(each.label, _NAME_CELLS)}"
    found = [outcomes.get(key, "new") for key in each.list_items()]
    imports = [f"@{', @'.join(each.imports[:_IMPORTS])}"] if each.imports else []
    imports += [f"{len(each.imports) - _IMPORTS} more"] if len(each.imports) > _IMPORTS else []
    follows = [f"without {' and '.join(imports)}"] if imports else []
    return name, f"{each.chars:,}", "; ".join([became, *_describe_outcomes(found), *follows])


def _describe_outcomes(outcomes: list[str]) -> list[str]:
    counts = Counter(outcomes)
    if len(counts) > 1:
        words = {"same": "already here"}
        return [", ".join(f"{n:,} {words.get(what, what)}" for what, n in sorted(counts.items()))]
    words = {"new": "", "same": "already here", "merged": "merged", "refused": "refused"}
    return [word for word in (words[what] for what in counts) if word]


def _suggest_command(place: Place, done: Imported, *, options: list[str]) -> None:
    outcomes = {item.outcome for item in done.items}
    if not outcomes & {"new", "merged"}:
        if "same" in outcomes:
            console.print_done("everything is already imported")
        return
    top = place.home.top
    paths: list[str] = []
    for each in done.files:
        inside = not each.path.startswith(("~", "/"))
        folder = os.path.relpath(top) if inside else os.path.dirname(each.path)
        if each.files and folder not in paths:
            paths.append(folder)
    quoted = [path if path.startswith("~") else shlex.quote(path) for path in paths]
    words = ["memfs import", *options, *quoted]
    console.talk(f"→ {' '.join(words)}")
    console.talk(
        "  imports all of these files; --dry-run previews it; to import only some, name them"
    )


def print_assistants(found: Imported, new: Sequence[ImportedFile]) -> None:
    """Print what is new of the assistants' own memories, as diffs, and what is refused."""
    _print_items(found)
    _print_refused(found)
    _print_signs(found)
    for each in new:
        where = "your own store" if each.label.startswith("user:") else "the project's store"
        console.talk(f"new: {each.label} ({each.path}), for {where}")
    if not new:
        known = any(item.outcome == "same" for item in found.items)
        console.print_done(
            "all notes of assistants are already imported" if known else "assistants have no notes"
        )


def print_taken(done: Imported) -> None:
    """Print what was taken of the assistants' own memories, and how to take it back."""
    _print_summary(done, (), dry_run=False)


def print_tool(done: Imported, name: str, *, dry_run: bool) -> None:
    """Print what was taken from a tool, what was left, and how to take it back."""
    if dry_run:
        _print_items(done)
    _print_refused(done, _MAX_REFUSED)
    console.talk(f"{name}: {format_counts(done.taken) or 'nothing for this store'}")
    if done.left:
        console.talk(
            f"  not imported: {format_counts(done.left)}; to import a project, add --project NAME"
        )
    for (noun, why), number in done.omitted.items():
        console.talk(f"  not imported: {format_count(number, noun)}, {why}")
    look = ["check the result with memfs show --list, memfs archive list or memfs session list"]
    _print_summary(done, look, dry_run=dry_run)


def print_undo(done: Unimported) -> None:
    """Print what an undo removed and what it kept."""
    for name, why in done.kept:
        console.talk(f"! {name} stays: {why}")
    counts = ", ".join(format_count(number, noun) for noun, number in done.removed.items())
    told = f"the import from {done.source} is undone: {counts or 'nothing'} removed"
    console.print_done(told)
    format_remainder(done.note)


def print_list(found: Sequence[ImportRecord]) -> None:
    """Print the imports that can be taken back."""
    if not found:
        console.print_done("there is no import to undo")
        return
    rows = [("ID", "DAY", "FROM", "ADDED")]
    for each in found:
        added = f"{len(each.parts):,}"
        rows.append((each.id, format_day(each.at), layout.shorten(each.source, 40), added))
    console.data(layout.table(rows, right=(3,)))


def format_counts(counts: Mapping[tuple[str, str], int]) -> str:
    """Return counts by (noun, project): "3 observations, 1 summary in shop; 2 more projects"."""
    projects: dict[str, list[str]] = {}
    for (noun, project), number in counts.items():
        projects.setdefault(project, []).append(format_count(number, noun))
    parts = [
        ", ".join(words) + (f" in {project}" if project else "")
        for project, words in projects.items()
    ]
    more = len(parts) - _MAX_PROJECTS
    shown = parts[:_MAX_PROJECTS] if more > 0 else parts
    return "; ".join([*shown, f"{format_count(more, 'more project')}"] if more > 0 else shown)
