"""`memfs sync`."""

import os

import click

from memfs.cli import console, layout, options
from memfs.core import label as labels
from memfs.core.errors import RejectedError
from memfs.core.formats import format_count
from memfs.hosts import caller
from memfs.hosts.marked_section import TARGETS
from memfs.ops import sync as op
from memfs.ops import sync_user
from memfs.store import remote_store
from memfs.sync import githook, instruction_sections

_NOUNS = {
    "blocks": "block",
    "archive": "passage",
    "facts": "fact file",
    "static": "static entry",
    "prompts": "prompt",
    "recall": "session",
}
_NAMED = 5  # of several


@click.command("sync")
@click.argument("target", nargs=-1, type=click.Choice((*TARGETS, labels.USER)))
@click.option("--remote", metavar="URL", help="With the target 'user': the git repository to use.")
@click.option(
    "--sessions/--no-sessions", default=None, help="With the target 'user': also sync sessions."
)
@click.option(
    "--remove", is_flag=True, help="Remove the memfs section; with the target 'user': stop syncing."
)
@click.option("--dry-run", is_flag=True, help="Show the changes without writing anything.")
@click.option(
    "--check", is_flag=True, help="Write nothing; exit with code 1 if a section is out of date."
)
@click.option(
    "--git-hook", is_flag=True, help="Let git run memfs sync before commits and after merges."
)
@click.option("--no-git-hook", is_flag=True, help="Remove the memfs lines from git's hooks.")
@click.option("--stage", is_flag=True, help="In a git hook: add updated sections to the commit.")
@click.option("--merged", is_flag=True, help="In a git hook: update sections after a merge.")
@options.json_option
def command(
    target: tuple[str, ...],
    remote: str | None,
    sessions: bool | None,
    remove: bool,
    dry_run: bool,
    check: bool,
    git_hook: bool,
    no_git_hook: bool,
    stage: bool,
    merged: bool,
    as_json: bool,
) -> None:
    """Write the project's memory to files that assistants read automatically.

    For assistants without hooks: agents is AGENTS.md, claude CLAUDE.md, gemini GEMINI.md, cursor
    .cursor/rules/memfs.mdc, copilot .github/copilot-instructions.md, windsurf .windsurfrules. The
    project's blocks go into a marked section; memfs never changes text outside of it. Without
    TARGET, it updates every file that has the section.

    The target user is different: it syncs your own store (blocks, archive, facts, static entries
    and prompts in ~/.agent-memory) with a git repository that you own, for your other machines. It
    pulls, merges and pushes. Syncing is off until you set the repository with --remote.
    """
    if check and remove:
        raise click.UsageError("use --check or --remove, not both")
    alone = git_hook + no_git_hook + stage + merged
    if labels.USER in target:
        if remove and (remote or dry_run):
            raise click.UsageError("--remove cannot be combined with --remote or --dry-run")
        if len(set(target)) > 1 or check or alone:
            raise click.UsageError(
                "the target 'user' cannot be combined with other targets, --check or the options "
                "for git hooks"
            )
        _sync_user(remote, sessions, remove=remove, dry_run=dry_run, as_json=as_json)
        return
    if remote is not None or sessions is not None:
        raise click.UsageError(
            "--remote and --sessions work only with the target 'user': run memfs sync user"
        )
    if alone > 1 or (alone and (target or remove or dry_run or check or as_json)):
        raise click.UsageError(
            "use only one of --git-hook, --no-git-hook, --stage and --merged, and no other option"
        )
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


def _sync_user(
    remote: str | None, sessions: bool | None, *, remove: bool, dry_run: bool, as_json: bool
) -> None:
    place = options.place(untrusted=True)
    if remove:
        done = sync_user.stop(place)
        console.print_done(
            "your store is no longer synced"
            if done
            else "your store is not synced: it has no remote"
        )
        return
    address = "" if remote is None else remote_store.parse_address(remote)
    if address and not dry_run and (name := caller.find_assistant()):
        raise RejectedError(
            f"only a person can set the repository to sync with, but this is a shell of {name}",
            "run memfs sync user --remote URL in your own terminal",
        )
    found = sync_user.run(place, address, sessions=sessions, write=not dry_run)
    if as_json:
        console.as_json(vars(found))
        return
    left_out = sorted(found.left_out.items())
    for name, why in left_out[:_NAMED]:
        console.talk(f"! left out {name}: {why}")
    if len(left_out) > _NAMED:
        console.talk(f"! and {len(left_out) - _NAMED} more; to list all, add --json")
    sent = [name for name in found.sent if name not in found.deleted_there]
    received = [name for name in found.received if name not in found.deleted_here]
    parts = [
        f"{'would be ' if dry_run else ''}{verb}: {_count_files(names)}"
        for verb, names in (
            ("sent", sent), ("received", received), ("merged", found.merged),
            ("deleted on the remote", found.deleted_there), ("deleted here", found.deleted_here),
        )
        if names
    ]  # fmt: skip
    console.print_done("; ".join(parts) or f"up to date with {found.remote}")


def _count_files(names: list[str]) -> str:
    """Count files of memory by kind: 3 blocks (human, tools, work), 1 passage."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kind, _, rest = name.partition("/")
        kinds.setdefault(kind, []).append(rest.partition(".")[0])
    parts = []
    for kind, some in kinds.items():
        each = list(dict.fromkeys(some))  # a session has several files
        named = kind == "blocks" and len(each) <= _NAMED
        counted = format_count(len(each), _NOUNS[kind])
        parts.append(counted + (f" ({', '.join(each)})" if named else ""))
    return ", ".join(parts)


def _stage_files() -> None:
    index = os.environ.get("GIT_INDEX_FILE", "")
    staged = instruction_sections.stage_files(
        options.place(untrusted=True), os.path.abspath(index) if index else ""
    )
    for path in staged.added:
        console.print_done(f"memfs: {path} updated and added to the commit")
    for why in staged.left:
        console.talk(f"! memfs did not stage {why}")


def _renew_merged() -> None:
    place = options.place(untrusted=True)
    if place.project is None or all(
        plan.outcome == "unchanged" for plan in op.run(place, write=False)
    ):
        return
    for plan in op.run(place):
        if plan.outcome != "unchanged":
            console.print_done(
                f"memfs: {plan.target.path} was updated after the merge; commit the file"
            )


def _print_plans(
    found: list[op.Plan], names: tuple[str, ...], *, dry_run: bool, check: bool, as_json: bool
) -> None:
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
            "no file has a memfs section; to add one to AGENTS.md, run memfs sync agents"
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
            console.talk(f"! {path} is out of date" if check else f"{path} would be {plan.outcome}")
    if check and any(plan.outcome != "unchanged" for plan in found):
        console.talk("to update: " + " ".join(["memfs sync", *names]))
