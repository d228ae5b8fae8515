"""`memfs init`, `install` and `uninstall`."""

import os
import sys

import click

from memfs import hosts
from memfs.cli import console, layout, options
from memfs.cli.edit_output import report
from memfs.core.errors import RejectedError, StoreError, UsageError
from memfs.core.formats import format_count
from memfs.core.parts import DISTRIBUTION
from memfs.files import outside
from memfs.hosts import caller, own_memory
from memfs.ops import draft, edit, init, install
from memfs.ops.install import removal_plan
from memfs.store import git
from memfs.store.blocks import Place


@click.command("init")
@click.option(
    "-y",
    "--yes",
    is_flag=True,
    help="Wire all assistants found on this machine, as memfs install does.",
)
@click.option(
    "--from-project",
    is_flag=True,
    help="Show a block made from the project's own files; with -y, write it.",
)
def init_command(yes: bool, from_project: bool) -> None:
    """Create a store for this project, and one of your own.

    The project's store is `.agent-memory/` at the top of the repository; yours is in your home
    folder, for memory about you. Existing files are not changed.

    If the project has commits but no sessions yet, the command offers a block with the content of
    its manifests, version files and CODEOWNERS. It shows the block, then asks. The block
    leaves out what AGENTS.md and similar files already contain.
    """
    made = init.run(os.getcwd(), options.home())
    for path in made.created:
        console.talk(f"  + {_shorten_path(path)}")
    if made.foreign:
        console.talk(
            f"  left {format_count(len(made.foreign), 'other file')} in "
            f"{_shorten_path(made.store)} unchanged"
        )
    console.print_done(
        f"the store is {_shorten_path(made.store)}" + ("" if made.created else " (already exists)")
    )
    if (refused := git.find_refusal(made.store))[0]:
        console.talk(f"! {refused[0]}; {refused[1]}")
    if not made.trusted:
        console.talk("This store already existed: hooks do not use it until you run memfs trust.")
    place = options.place(untrusted=True)
    if place.project is None:
        console.talk(
            "This is your own store; all your projects use it. To create a store for one project, "
            "run memfs init in that project's folder."
        )
        return
    _offer_block(place, yes=yes, asked=from_project)
    for name in made.hosts:
        title = hosts.get(name).TITLE
        wired = install.list_wired(place, name, options.home())
        if wired:
            console.talk(f"{title} is already wired in {_shorten_path(wired[0].path)}")
        elif yes or (sys.stdin.isatty() and click.confirm(_ask_wiring(place, name), default=True)):
            _wire_host(place, name, None)
        else:
            console.talk(f"{title} is installed; to wire it, run: memfs install {name}")
    if not made.hosts:
        console.talk(
            "No assistant was found on this machine. Once you have one, run: memfs install"
        )


def _offer_block(place: Place, *, yes: bool, asked: bool) -> None:
    can_ask = console.can_ask() and not yes
    if not asked and not (can_ask and draft.is_due(place)):
        return
    if place.project and not place.project.trusted:
        console.talk(
            "To create a block from the project's files, run memfs trust, then this command again."
        )
        return
    if draft.is_written(place):
        console.talk(
            f"The block '{draft.LABEL}' already exists; to print it: memfs show {draft.LABEL}"
        )
        return
    lines = draft.run(place)
    if not lines:
        if asked:
            console.talk(
                "The project's instruction files already say what its other files contain."
            )
        return
    console.talk("Found in the project's files, but not yet in its memory:")
    for line in lines:
        console.talk(f"  {line.render()}")
    question = f"Write these lines to the block '{draft.LABEL}'?"
    if yes or (can_ask and click.confirm(question, default=True)):
        origin = options.get_origin("memfs init: from the project's own files")
        report(edit.run(place, [draft.make_edit(lines)], origin))
    else:
        console.talk("The block was not written. To write it: memfs init --from-project -y")


def _ask_wiring(place: Place, host: str) -> str:
    """Return the question whether to wire a host, which says where if that is not here alone."""
    own = install.select_scope(place, host, options.home()) == "local"
    return f"Wire {hosts.get(host).TITLE} to memfs" + ("?" if own else " for all your projects?")


def _shorten_path(path: str) -> str:
    """Write a path relative to here where that is shorter, or with `~`."""
    relative = os.path.relpath(path)
    home = path.replace(options.home() + os.sep, "~/", 1)
    return relative if not relative.startswith("..") else home


@click.command("install")
@click.argument("host", nargs=-1, type=click.Choice(hosts.NAMES), metavar="[HOST]...")
@click.option(
    "--local",
    is_flag=True,
    help="Write to the project's uncommitted settings, which apply only to you.",
)
@click.option(
    "--user", is_flag=True, help="Use your home folder's settings, for all your projects."
)
@click.option(
    "--project",
    is_flag=True,
    help="Write to the project's committed settings, which apply to the whole team.",
)
@click.option(
    "--no-mcp", "tools", flag_value=False, default=True,
    help="Add only the hooks, without the tools (MCP server).",
)  # fmt: skip
@click.option(
    "--plugin", is_flag=True, help="Install the memfs plugin instead of writing settings."
)
@click.option(
    "--trust", is_flag=True, help="Trust the memfs hooks, so that Codex runs them without asking."
)
@click.option(
    "--status-line", "line", is_flag=True, help="Also show memfs in Claude Code's status line."
)
@click.option(
    "--own-memory",
    "memory",
    metavar="WHAT",
    type=click.Choice(["keep", "off", "store"]),
    help="Keep Claude Code's own memory, turn it off, or put it into the store.",
)
@click.option("--dry-run", is_flag=True, help="Show the changes without writing anything.")
def install_command(
    host: tuple[str, ...],
    tools: bool,
    plugin: bool,
    trust: bool,
    line: bool,
    memory: str | None,
    dry_run: bool,
    **flags: bool,
) -> None:
    """Wire assistants to memfs: add its hooks and tools to their settings.

    Without HOST, memfs wires every assistant found on this machine. An assistant that is already
    wired stays in the same settings file. For others memfs uses your own, uncommitted settings: for
    this project (Claude Code), or for all your projects. Other entries do not change. `memfs
    uninstall` removes the entries that memfs added.

    Claude Code also has its own memory. At a terminal memfs asks what to do with it; --own-memory
    answers the question.
    """
    scope = _parse_scope(flags)
    if plugin and (scope or not tools or line or memory or dry_run):
        raise click.UsageError("--plugin can only be combined with --trust")
    found = host or tuple(init.list_assistants(options.home()))
    if not found and dry_run:
        console.print_done("nothing would change: no assistant was found on this machine")
        return
    if not found:
        raise StoreError(
            "no assistant was found on this machine",
            "name an assistant, for example: memfs install claude",
        )
    place = options.place(untrusted=True)
    for name in found:
        if plugin:
            for step in install.plugin(place, name, options.home()):
                console.print_done(f"{hosts.get(name).TITLE}: {step}")
            _obtain_trust(place, name, unasked=trust)
        elif dry_run:
            target = scope or install.select_scope(place, name, options.home())
            planned = install.run(
                place, name, target, options.home(), dry_run=True, tools=tools, line=line,
                memory=memory or "", move=bool(scope),
            )  # fmt: skip
            _print_plan(planned)
        else:
            _wire_host(place, name, scope, tools=tools, line=line, memory=memory, unasked=trust)
    if not dry_run and not options.tell_untrusted(place):
        console.talk(
            "Now start a new session. Then memfs status shows the cost in tokens, and memfs last "
            "shows what was recalled for your prompts."
        )


def _parse_scope(flags: dict[str, bool]) -> str | None:
    chosen = [name for name, given in flags.items() if given]
    if len(chosen) > 1:
        raise click.UsageError(f"use --{chosen[0]} or --{chosen[1]}, not both")
    return chosen[0] if chosen else None


def _wire_host(
    place: Place,
    host: str,
    scope: str | None,
    *,
    tools: bool = True,
    line: bool = False,
    memory: str | None = "",
    unasked: bool = False,
) -> None:
    """Wire a host in a scope (None: see `install.select_scope`), and print what was done.

    It is said before what a commit would take in, and a person is asked. `unasked`: have the host
    trust our hooks without a question. `memory`: what becomes of the host's own, None: as a person
    at a terminal says, "": as it is.
    """
    target = scope or install.select_scope(place, host, options.home())
    own = _find_memory(place, host)
    asked = memory or (own and own.state == own_memory.ON)
    if memory is None:
        memory = _ask_memory(own, target) if own and asked else ""
    wired = install.run(
        place, host, target, options.home(), tools=tools, line=line, move=bool(scope),
        memory=memory, agree=_confirm_tracking,
    )  # fmt: skip
    if not wired:
        console.talk("no settings were written")
        return
    _print_wiring(wired)
    if target == "user" and not scope:
        console.talk(
            f"  These settings apply to all your projects. To undo: memfs uninstall {host} --user"
        )
    if asked and (own := _find_memory(place, host)):
        console.talk(f"  {_describe_memory(own)}")
    _obtain_trust(place, host, unasked=unasked)


def _find_memory(place: Place, host: str) -> own_memory.OwnMemory | None:
    if host != "claude":
        return None
    return own_memory.find_claude(options.home(), place.home.top, outside.read)


def _ask_memory(own: own_memory.OwnMemory, scope: str) -> str:
    """Ask a person at a terminal what becomes of Claude Code's own memory; keep without one."""
    if not console.can_ask() or options.get_origin().actor == "agent" or scope == "project":
        return "keep"
    console.talk(f"Claude Code also has its own memory in {own.path}")
    question, choices = "Keep Claude Code's own memory, or turn it off?", ["keep", "off"]
    if scope == "local":
        question = "Keep Claude Code's own memory, turn it off, or put it into the store?"
        choices.append("store")
    return str(click.prompt(question, type=click.Choice(choices), default="keep", err=True))


def _describe_memory(own: own_memory.OwnMemory) -> str:
    if own.state == own_memory.ON:
        return (
            f"Claude Code also has its own memory in {own.path}; to turn it off, use --own-memory."
        )
    earlier = "Its old notes stay. To import them: memfs import --from assistants."
    if own.state == own_memory.OFF:
        return f"Claude Code's own memory is turned off. {earlier}"
    return f"Claude Code now keeps its own memory as blocks in {own.path}. {earlier}"


def _confirm_tracking(planned: list[install.SettingsEdit]) -> bool:
    """Say what a commit would take in; return whether a person at a terminal agrees, if any."""
    found = [each for each in planned if each.tracking]
    for each in found:
        console.talk(
            f"{each.path} is {each.tracking}: a commit shares it with everyone on the project"
        )
    if not found or options.get_origin().actor == "agent" or not sys.stdin.isatty():
        return True
    return click.confirm("Write these settings?", default=True)


def _obtain_trust(place: Place, host: str, *, unasked: bool) -> None:
    """Have a host trust our hooks, if it needs that: with `unasked`, or if a person confirms."""
    if not install.needs_trust(host):
        return
    title = hosts.get(host).TITLE
    agent = options.get_origin().host
    if unasked and agent:
        raise RejectedError(
            f"only a person can trust hooks for {title}, but this is a shell of {agent}",
            f"run memfs install {host} --trust in your own terminal",
        )
    asked = sys.stdin.isatty() and not unasked and not agent
    if unasked or (
        asked and click.confirm(f"{title} runs only hooks that you trust. Trust the memfs hooks?")
    ):
        number = install.trust(place, host)
        console.print_done(f"{title}: {format_count(number, 'hook')} trusted")
    else:
        where = f"run memfs install {host} --trust, or use /hooks in {title}"
        console.talk(f"  {title} does not run the memfs hooks until you trust them: {where}.")


def _print_wiring(wired: list[install.SettingsEdit]) -> None:
    for each in wired:
        console.print_done(f"{hosts.get(each.host).TITLE}: {each.path} {each.outcome}")


def _print_plan(planned: list[install.SettingsEdit]) -> None:
    for each in planned:
        layout.print_diff(each.diff)
        why = f"; the file is {each.tracking}" if each.tracking else ""
        console.talk(f"{hosts.get(each.host).TITLE}: {each.path} would be {each.outcome}{why}")


@click.command("uninstall")
@click.argument("host", nargs=-1, type=click.Choice(hosts.NAMES), metavar="[HOST]...")
@click.option("--local", is_flag=True, help="Change only the project's uncommitted settings.")
@click.option(
    "--user", is_flag=True, help="Change only your home folder's settings, for all your projects."
)
@click.option("--project", is_flag=True, help="Change only the project's committed settings.")
@click.option(
    "--everything",
    is_flag=True,
    help="Remove everything that memfs set up for you and this project.",
)
@click.option("--memory", is_flag=True, help="With --everything: also remove the memory.")
@options.yes_option("With --everything: do not ask for confirmation.")
@click.option("--dry-run", is_flag=True, help="Show the changes without writing anything.")
def uninstall_command(
    host: tuple[str, ...], everything: bool, memory: bool, yes: bool, dry_run: bool, **flags: bool
) -> None:
    """Remove the memfs hooks and tools from this project's settings. The memory itself stays.

    A settings file that has not changed since `memfs install` is restored byte for byte.

    --everything also cleans your home folder's settings, and removes the memfs sections, git hooks,
    merge driver, service and search indexes. It lists them first. The memory (your own store and
    the project's) is removed only with --memory, or if you confirm. Committed files stay.
    """
    scope = _parse_scope(flags)
    if everything and (host or scope):
        raise click.UsageError(
            "--everything cannot be combined with an assistant, --local, --user or --project"
        )
    if (memory or yes) and not everything:
        raise click.UsageError("--memory and --yes work only with --everything")
    if everything:
        _remove_everything(memory=memory, yes=yes, dry_run=dry_run)
        return
    place = options.place(untrusted=True)
    scopes = (scope,) if scope else ("project", "local")
    changed = 0
    names = host or hosts.NAMES
    for number, name in enumerate(names):
        for each in scopes:
            wired = install.run(
                place, name, each, options.home(), remove=True, dry_run=dry_run, gone=names[:number]
            )
            out = [found for found in wired if found.outcome != "unchanged"]
            changed += len(out)
            (_print_plan if dry_run else _print_wiring)(out)
    if not changed:
        console.print_done("nothing to remove: memfs is not installed in these settings")
    for name in names:
        _print_others(place, name, scopes)


def _remove_everything(*, memory: bool, yes: bool, dry_run: bool) -> None:
    """List all that memfs set up, and remove what a person, or the options, agree to."""
    assistant = caller.find_assistant()
    if memory and assistant and not dry_run:
        raise RejectedError(
            f"only a person can remove memory, but this is a shell of {assistant}",
            "run memfs uninstall --everything --memory in your own terminal",
        )
    planned = removal_plan.plan(options.place(untrusted=True), options.home())
    _list_names("To be removed:", [each.name for each in planned.wiring])
    remembered = [each.name for each in planned.memory]
    _list_names("Memory (removed only with --memory):", remembered)
    _list_names("Not removed:", planned.left)
    if not dry_run and planned.wiring + planned.memory:
        if not yes:
            if not console.can_ask():
                raise UsageError(
                    "removing everything needs your confirmation", "add --yes to confirm"
                )
            if planned.wiring:
                click.confirm(
                    "Remove everything listed under 'To be removed'?", abort=True, err=True
                )
            memory = bool(planned.memory and not assistant) and click.confirm(
                "Also remove the memory? It cannot be restored.", err=True
            )
        for step in planned.wiring + (planned.memory if memory else []):
            step.run()
            console.print_done(f"removed {step.name}")
    console.talk(
        f"To uninstall memfs itself: uv tool uninstall {DISTRIBUTION} (or use pipx or pip)"
    )


def _list_names(title: str, names: list[str]) -> None:
    for line in [title, *(f"  {name}" for name in names)] if names else []:
        console.talk(line)


def _print_others(place: Place, host: str, scopes: tuple[str, ...]) -> None:
    title = hosts.get(host).TITLE
    for found in install.list_wired(place, host, options.home()):
        if found.scope not in scopes:
            how = f"memfs uninstall {host} --{found.scope}"
            console.talk(
                f"{title} is still wired in {found.path}; to remove these settings, run {how}"
            )
    for path in install.list_plugged(place, host, options.home()):
        console.talk(
            f"{title} still has the memfs plugin, enabled in {path}: uninstall it in {title}"
        )
