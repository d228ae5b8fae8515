"""`memfs sync`."""

from __future__ import annotations

import click

from memfs.cli import context, diff, screen
from memfs.hosts.instructions import TARGETS
from memfs.ops import sync as op


@click.command("sync")
@click.argument("target", nargs=-1, type=click.Choice(tuple(TARGETS)))
@click.option("--remove", is_flag=True, help="Take our section out again.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if something is out of step.")
@context.json_option
def command(
    target: tuple[str, ...], remove: bool, dry_run: bool, check: bool, as_json: bool
) -> None:
    """Keep the project's memory in files that assistants read by themselves.

    For assistants without hooks: agents is AGENTS.md, claude CLAUDE.md, gemini GEMINI.md, cursor
    .cursor/rules/memfs.mdc, copilot .github/copilot-instructions.md, windsurf .windsurfrules. A
    file has the project's blocks in a section of ours; what is outside its marks is never touched.

    Without TARGET, every file that has our section already.
    """
    if check and remove:
        raise click.UsageError("--check and --remove exclude each other")
    looked = dry_run or check
    found = op.run(context.place(), target, remove=remove, write=not looked)
    if as_json:
        screen.as_json(
            [{"target": plan.target.name, "path": plan.real, "outcome": plan.outcome}
             for plan in found]
        )  # fmt: skip
    for plan in found if not as_json else ():
        path = plan.target.path
        if dry_run:
            diff.show(plan.diff())
        if not looked:
            screen.done(f"{path} {plan.outcome}")
        elif plan.outcome == "unchanged":
            screen.done(f"{path} " + ("is in step" if check else "would be unchanged"))
        else:
            screen.talk(f"! {path} is out of step" if check else f"{path} would be {plan.outcome}")
    if not found and not as_json:
        screen.done("no file has a section of ours: memfs sync agents begins one in AGENTS.md")
    if check and any(plan.outcome != "unchanged" for plan in found):
        if not as_json:
            screen.talk("→ " + " ".join(["memfs sync", *target]))
        screen.refuse()
