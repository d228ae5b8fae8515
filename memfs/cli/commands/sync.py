"""`memfs sync`."""

from __future__ import annotations

import os

import click

from memfs.cli import console, layout, options
from memfs.hosts.marked_section import TARGETS
from memfs.ops import sync as op
from memfs.sync import githook, instruction_sections


@click.command("sync")
@click.argument("target", nargs=-1, type=click.Choice(tuple(TARGETS)))
@click.option("--remove", is_flag=True, help="Remove the section.")
@click.option("--dry-run", is_flag=True, help="Show the changes, and write nothing.")
@click.option(
    "--check", is_flag=True, help="Write nothing; exit with 1 if a section is out of date."
)
@click.option("--git-hook", is_flag=True, help="Let git run this before commits and after merges.")
@click.option("--no-git-hook", is_flag=True, help="Remove the memfs lines from git's hooks.")
@click.option("--stage", is_flag=True, help="In a git hook: add updated sections to the commit.")
@click.option("--merged", is_flag=True, help="In a git hook: update sections after a merge.")
@options.json_option
def command(
    target: tuple[str, ...],
    remove: bool,
    dry_run: bool,
    check: bool,
    git_hook: bool,
    no_git_hook: bool,
    stage: bool,
    merged: bool,
    as_json: bool,
) -> None:
    """Write the project's memory into files that assistants read by themselves.

    For assistants without hooks: agents is AGENTS.md, claude CLAUDE.md, gemini GEMINI.md, cursor
    .cursor/rules/memfs.mdc, copilot .github/copilot-instructions.md, windsurf .windsurfrules. The
    project's blocks go into a marked section; memfs never changes text outside of it. Without
    TARGET, it updates every file that has the section.
    """
    if check and remove:
        raise click.UsageError("--check and --remove exclude each other")
    alone = git_hook + no_git_hook + stage + merged
    if alone > 1 or (alone and (target or remove or dry_run or check or as_json)):
        raise click.UsageError("--git-hook, --no-git-hook, --stage, --merged take no other option")
    if stage:
        _stage_files()
    elif merged:
        _renew_merged()
    elif alone:
        for hook in githook.run(options.place(untrusted=True), remove=no_git_hook):
            console.print_done(f"{hook.path} {hook.outcome}")
    else:
        found = op.run(
            options.place(untrusted=True), target, remove=remove, write=not (dry_run or check)
        )
        _print_plans(found, target, dry_run=dry_run, check=check, as_json=as_json)
        if check and any(plan.outcome != "unchanged" for plan in found):
            console.refuse()


def _stage_files() -> None:
    index = os.environ.get("GIT_INDEX_FILE", "")
    staged = instruction_sections.stage_files(
        options.place(untrusted=True), os.path.abspath(index) if index else ""
    )
    for path in staged.added:
        console.print_done(f"memfs: {path} renewed, and added to the commit")
    for why in staged.left:
        console.talk(f"! memfs: not in step in this commit: {why}")


def _renew_merged() -> None:
    place = options.place(untrusted=True)
    if place.project is None or all(
        plan.outcome == "unchanged" for plan in op.run(place, write=False)
    ):
        return
    for plan in op.run(place):
        if plan.outcome != "unchanged":
            console.print_done(f"memfs: {plan.target.path} renewed after the merge: commit it")


def _print_plans(
    found: list[op.Plan], names: tuple[str, ...], *, dry_run: bool, check: bool, as_json: bool
) -> None:
    """Print the outcome for each file, done or planned."""
    if as_json:
        console.as_json(
            [
                {"target": plan.target.name, "path": plan.real, "outcome": plan.outcome}
                for plan in found
            ]
        )
        return
    if not found:
        console.print_done(
            "no file has a memfs section: memfs sync agents writes one into AGENTS.md"
        )
    for plan in found:
        path = plan.target.path
        if dry_run:
            layout.print_diff(plan.diff())
        if not (dry_run or check):
            console.print_done(f"{path} {plan.outcome}")
        elif plan.outcome == "unchanged":
            console.print_done(f"{path} " + ("is up to date" if check else "would be unchanged"))
        else:
            console.talk(f"! {path} is out of step" if check else f"{path} would be {plan.outcome}")
    if check and any(plan.outcome != "unchanged" for plan in found):
        console.talk("→ " + " ".join(["memfs sync", *names]))
