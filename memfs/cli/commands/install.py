"""`memfs install`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from memfs import hosts
from memfs.cli import console, options
from memfs.cli.wording import format_count
from memfs.core.errors import RejectedError, StoreError
from memfs.ops import init, install
from memfs.store import git

if TYPE_CHECKING:
    from memfs.store.blocks import Place


@click.command("install")
@click.argument("host", nargs=-1, type=click.Choice(hosts.NAMES))
@click.option("--user", is_flag=True, help="For all your projects: in your home folder's settings.")
@click.option("--local", is_flag=True, help="In the project's settings that are not committed.")
@click.option("--no-mcp", is_flag=True, help="The hooks alone, without the tools (MCP server).")
@click.option("--plugin", is_flag=True, help="By our plugin in place of settings.")
@click.option("--trust", is_flag=True, help="Have the assistant run our hooks unasked (Codex).")
@click.option("--status-line", is_flag=True, help="A line on the screen, too (Claude Code).")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
def command(
    host: tuple[str, ...],
    user: bool,
    local: bool,
    no_mcp: bool,
    plugin: bool,
    trust: bool,
    status_line: bool,
    dry_run: bool,
) -> None:
    """Wire assistants to the memory: put our hooks and tools into their settings.

    Without HOST, every assistant that is found. Entries of others are never touched; `memfs
    uninstall` takes ours out again.
    """
    if user and local:
        raise click.UsageError("--user and --local exclude each other")
    if plugin and (user or local or no_mcp or status_line or dry_run):
        raise click.UsageError("--plugin writes no settings: it takes no other option")
    found = host or tuple(init.list_assistants(options.home()))
    if not found:
        raise StoreError("no assistant was found on this machine", "name one: memfs install claude")
    place = options.place(untrusted=True)
    scope = "user" if user else "local" if local else "project"
    for name in found:
        if plugin:
            for line in install.plugin(place, name, options.home()):
                console.print_done(f"{hosts.get(name).TITLE}: {line}")
            obtain_trust(place, name, unasked=trust)
            continue
        wired = install.run(
            place, name, scope, options.home(), dry_run=dry_run, tools=not no_mcp, line=status_line
        )
        print_wiring(wired, scope, dry_run=dry_run)
        if not dry_run:
            obtain_trust(place, name, unasked=trust)


def obtain_trust(place: Place, host: str, *, unasked: bool = False) -> None:
    """Have a host trust our hooks, if it needs that: with `unasked`, or if a person confirms."""
    if not install.needs_trust(host):
        return
    title = hosts.get(host).TITLE
    agent = options.get_origin().actor == "agent"
    if unasked and agent:
        raise RejectedError(
            f"an assistant cannot trust hooks for {title}", "run it in a terminal of your own"
        )
    asked = sys.stdin.isatty() and not unasked and not agent
    if unasked or (asked and click.confirm(f"{title} runs only hooks you trust. Trust ours?")):
        number = install.trust(place, host)
        console.print_done(f"{title}: {format_count(number, 'hook')} trusted")
    else:
        where = f"memfs install {host} --trust, or /hooks in it"
        console.talk(f"  {title} runs them once you trust them: {where}.")


def print_wiring(wired: list[install.WiredHost], scope: str, *, dry_run: bool = False) -> None:
    """Print the outcome for each settings file, done or with `dry_run` planned."""
    for each in wired:
        _print_outcome(each, dry_run=dry_run)
    written = [each.path for each in wired if each.outcome in ("created", "updated")]
    if dry_run or not written:
        return
    if scope == "project":
        console.talk(
            "  It names this machine's Python: in a repository that is shared, take --local or "
            "--user."
        )
    for path in written if scope == "local" else ():
        if path.startswith(options.place(untrusted=True).home.top) and not git.is_ignored(path):
            console.talk(f"  git does not ignore {path} yet: name it in .gitignore.")


def _print_outcome(wired: install.WiredHost, *, dry_run: bool) -> None:
    title = hosts.get(wired.host).TITLE
    if dry_run:
        if wired.diff:
            console.data(wired.diff.rstrip("\n"))
        console.talk(f"{title}: {wired.path} would be {wired.outcome}")
        return
    console.print_done(f"{title}: {wired.path} {wired.outcome}")
