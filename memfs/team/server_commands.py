"""`memfs team serve` and what an administrator does: the commands of the server's side."""

import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from memfs.cli import console, options
from memfs.cli.group import CommandGroup
from memfs.core.errors import MemfsError, UsageError
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count, format_day
from memfs.core.parts import name_extra

_DATABASE = "MEMFS_TEAM_DATABASE"
_DAYS = 90


def _load(name: str) -> Any:
    """Import a module of the server. Raises `MemfsError` where the packages of its extra lack."""
    try:
        return import_module(f"memfs.team.server.{name}")
    except ModuleNotFoundError as error:
        raise MemfsError(
            f"the team server needs the package '{error.name}', which is not installed",
            name_extra("team"),
        ) from error


def _database_option(function: Callable[..., object]) -> Callable[..., object]:
    return click.option(
        "--database",
        default="",
        metavar="URL",
        help=f"Database address, postgresql://… (default: ${_DATABASE}).",
    )(function)


def _find_database(given: str) -> str:
    address = given or os.environ.get(_DATABASE, "")
    if not address:
        raise UsageError(
            "no database was given", f"use --database postgresql://… or set ${_DATABASE}"
        )
    return address


def _administer(database: str, function: str, *given: object, **more: object) -> Any:
    """Call a function of an administrator in one transaction, and return what it returns."""
    part = _load("administration")
    with part.open_administration(_find_database(database)) as admin:
        return getattr(part, function)(admin, *given, **more)


@click.command("init")
@_database_option
@click.option("--team", default="", metavar="NAME", help="Name of the team, for a new database.")
@click.option("--renew", is_flag=True, help="Give the server a new database password.")
def init(database: str, team: str, renew: bool) -> None:
    """Create or update a team's tables in a PostgreSQL database.

    The command prints the server's database login once. The server's login can only call functions,
    not read tables. Run the command with a login that can create roles, such as the superuser.
    """
    state = _load("administration").set_up(_find_database(database), team, renew=renew)
    done = f"already has schema version {state.version}"
    if state.before != state.version:
        done = (
            f"was updated from schema version {state.before} to {state.version}"
            if state.before
            else "was created"
        )
    console.talk(f"the team '{state.team}' {done}")
    if not state.vectors:
        console.talk("pgvector is not available, so searches find messages by words only")
    if state.service:
        console.talk("save this line, which memfs shows only once:")
        console.data(f"{_DATABASE}='{state.service}'")


@click.command("serve")
@_database_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@options.number_option("--port", help="Port to listen on.", default=8477, least=0, most=65535)
@click.option(
    "--rate",
    default=50.0,
    show_default=True,
    help="Maximum number of requests per second for each token (messages: ten times as many).",
)
@click.option(
    "--header-time",
    default=10.0,
    show_default=True,
    help="Timeout for receiving a request's headers, in seconds.",
)
@click.option(
    "--body-time",
    default=30.0,
    show_default=True,
    help="Timeout for receiving a request's body, in seconds.",
)
@options.number_option(
    "--connections", help="Maximum number of connections from one address.", default=256, least=1
)
@click.option("--certificate", default="", metavar="FILE", help="Use TLS with this certificate.")
@click.option("--key", default="", metavar="FILE", help="Private key of the certificate.")
def serve(database: str, **given: Any) -> None:
    """Run the team server until you press Ctrl-C.

    The log has a line of JSON for each request, without members' texts. To serve other
    machines, use TLS: put a proxy in front, or give --certificate and --key.
    """
    part = _load("program")
    settings = part.ServerSettings(_find_database(database), **given)
    where = f"{settings.host}, port {settings.port}"
    try:
        server = part.TeamServer(settings)
    except OSError as error:
        why = str(error.strerror).partition(" (while ")[0]  # Python names the address once more
        raise MemfsError(
            f"cannot listen on {where}: {why}", "choose another --host or --port"
        ) from error
    scheme = "https" if settings.certificate else "http"
    # The server itself waits for its requests, and then raises the signal again.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    console.talk(f"serving on {scheme}://{settings.host}:{server.port}; press Ctrl-C to stop")
    server.run()


@click.group("member", cls=CommandGroup)
def member() -> None:
    """Add, list and revoke a team's members."""


@member.command("add")
@click.argument("login")
@options.number_option(
    "--days", help="Number of days that the token is valid.", default=_DAYS, most=3650
)
@_database_option
def add_member(login: str, days: int, database: str) -> None:
    """Add a member, and print the token once. The server stores only the token's hash."""
    token = _administer(database, "add_member", login, days)
    console.talk(f"added the member '{login}'; the token, valid for {format_count(days, 'day')}:")
    console.data(token)


@member.command("token")
@click.argument("login")
@options.number_option(
    "--days", help="Number of days that the token is valid.", default=_DAYS, most=3650
)
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(["search", "push", "metrics"]),
    help="What the token allows (default: search and push).",
)
@_database_option
def add_token(login: str, days: int, scopes: tuple[str, ...], database: str) -> None:
    """Print another token for a member, for a second machine or before a token expires."""
    token = _administer(database, "add_token", login, days, scopes or ("search", "push"))
    console.data(token)


@member.command("list")
@_database_option
def list_members(database: str) -> None:
    """List the members, with their projects and when their tokens expire."""
    for each in _administer(database, "list_members"):
        projects = ", ".join(f"{name} ({role})" for name, role in sorted(each.projects.items()))
        valid = f"{format_count(each.tokens, 'token')} until {format_day(each.expires)}"
        state = "revoked" if each.revoked else valid if each.tokens else "no valid token"
        console.data(flatten_text(f"{each.login}  {state}  {projects or 'no project'}"))


@member.command("revoke")
@click.argument("login")
@click.option("--purge", is_flag=True, help="Also remove all sessions that the member shared.")
@_database_option
def revoke_member(login: str, purge: bool, database: str) -> None:
    """Revoke a member and all their tokens at once. Without --purge, shared sessions stay."""
    removed = _administer(database, "revoke_member", login, purge=purge)
    gone = f", and removed {format_count(removed, 'message')}" if purge else ""
    console.talk(f"revoked the member '{login}'{gone}")


@click.group("project", cls=CommandGroup)
def project() -> None:
    """Add, list and remove a team's projects, and grant access."""


@project.command("add")
@click.argument("name")
@click.option(
    "--origin", "origins", multiple=True, metavar="URL", help="Address of the project's repository."
)
@options.number_option(
    "--keep", "retention", help="Number of days after which memfs team prune removes messages."
)
@_database_option
def add_project(name: str, origins: tuple[str, ...], retention: int | None, database: str) -> None:
    """Add a project. With --origin, memfs team join finds the project by its repository."""
    _administer(database, "add_project", name, origins, retention)
    console.talk(
        f"added the project '{name}'; to add members, run memfs team project grant {name} LOGIN"
    )


@project.command("grant")
@click.argument("name")
@click.argument("login")
@click.option(
    "--role",
    type=click.Choice(["writer", "reader", "none"]),
    default="writer",
    show_default=True,
    help="writer (share and search), reader (only search) or none (no access).",
)
@_database_option
def grant(name: str, login: str, role: str, database: str) -> None:
    """Set the role of a member in a project."""
    _administer(database, "grant_access", name, login, role)
    console.talk(f"the role of '{login}' in the project '{name}' is now '{role}'")


@project.command("list")
@_database_option
def list_projects(database: str) -> None:
    """List the projects, with their members and messages."""
    for each in _administer(database, "list_projects"):
        kept = f"  kept for {format_count(each.retention, 'day')}" if each.retention else ""
        counts = f"{format_count(each.members, 'member')}  {format_count(each.messages, 'message')}"
        console.data(flatten_text(f"{each.name}  {counts}{kept}"))


@project.command("remove")
@click.argument("name")
@options.yes_option("Do not ask for confirmation.")
@_database_option
def remove_project(name: str, yes: bool, database: str) -> None:
    """Remove a project with all its shared sessions."""
    if not yes and not console.can_ask():
        raise UsageError(
            f"removing the project '{name}' deletes what others shared", "add --yes to confirm"
        )
    if not yes:
        click.confirm(f"Remove the project '{name}' with everything in it?", abort=True, err=True)
    removed = _administer(database, "remove_project", name)
    console.talk(f"removed the project '{name}' with {format_count(removed, 'message')}")


@click.command("prune")
@_database_option
def prune(database: str) -> None:
    """Remove messages older than their project's --keep. Run this command every night."""
    removed = _administer(database, "prune")
    console.talk(f"removed {format_count(removed, 'message')}")


@click.command("audit")
@options.count_option(50, "Maximum number of lines.", most=100_000)
@_database_option
def audit(count: int, database: str) -> None:
    """Print recent pushes, retractions, and administrators' actions."""
    for at, who, what, name, many in _administer(database, "list_audit", count):
        console.data(flatten_text("  ".join(filter(None, (at, who, what, name, str(many))))))


COMMANDS = (serve, init, member, project, prune, audit)
