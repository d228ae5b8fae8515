"""`memfs team`: a member's commands."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
import msgspec

from memfs.cli import console, layout, options
from memfs.cli.console import paged
from memfs.cli.group import CommandGroup
from memfs.cli.layout import format_age, format_size
from memfs.cli.options import CompletedType
from memfs.core.errors import RejectedError, StoreError, UsageError
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count, format_day
from memfs.ops import sessions
from memfs.team import membership, server_commands, sharing
from memfs.team import verbs as op
from memfs.team.client import parse_address
from memfs.team.membership import Base
from memfs.team.status import (
    TeamStatus,
    describe_sharing,
    describe_waiting,
    is_asked_at_prompts,
    load_status,
)

if TYPE_CHECKING:
    from memfs.store.blocks import Place
    from memfs.team.upload import UploadReport
    from memfs.team.verbs import SendOutcome, SharingPlan

_ID = 8  # characters of an id that are shown
_MOST = 20  # sessions that are listed
_LATER = {
    "all": "later sessions of this project will be shared too, once memfs records them",
    "solved": "turns that you later mark as worked will be shared too",
}

_TOKEN = "MEMFS_TEAM_TOKEN"  # noqa: S105 - the name of a variable
_CONTACT = ("at", "error", "away", "failures", "reached_at")  # what of it JSON has
_LONGEST_TOKEN = 4096  # characters that are read
_SESSION = CompletedType("session", lambda place, _: [s.id for s in sessions.list_sessions(place)])


@click.group("team", cls=CommandGroup)
def command() -> None:
    """Share sessions with your team, and take them back.

    memfs sends a session only after you have joined, seen a preview, and agreed.
    """


@command.command("join")
@click.argument("url")
@click.option("--project", default="", metavar="NAME", help="Name of this project in the team.")
@click.option(
    "--ca",
    default="",
    metavar="FILE",
    type=click.Path(),
    help="Trust the certificates in this file instead of the system's.",
)
@click.option("--token-stdin", is_flag=True, help="Read the token from standard input.")
def join(url: str, project: str, ca: str, token_stdin: bool) -> None:
    """Join this project to the team server at URL. Joining shares no sessions.

    memfs then searches the server for teammates' solutions to each of your prompts. The server
    does not store prompts. To turn off these searches, set `hooks.team: off` in your configuration.

    memfs finds the team's project by its repository, unless you give --project. It asks for your
    token, or reads $MEMFS_TEAM_TOKEN. Address and token are saved only in your own store.
    """
    op.require_person(options.get_origin(), "join a team")
    place = options.place()
    place.store("project")  # raises its error before it asks for a token
    known = membership.load_account(place.store("user"), str(parse_address(url)))
    token = _read_token(token_stdin, is_known=known is not None)
    done = op.join_project(place, url, token, options.get_origin(), project=project, ca=ca)
    account, found = done.account, done.project
    console.print_done(
        f"joined the project '{found.name}' of the team '{account.team}' as '{account.member}'"
    )
    if done.note:
        console.talk(f"! {done.note}")
    console.talk(
        "  no session is shared yet; to preview, run memfs team share --dry-run --project"
        if found.role == "writer"
        else "  you can search what others share, but not share sessions yourself"
    )
    if is_asked_at_prompts(place):
        console.talk(
            "  memfs now sends your prompts to the server, which does not store them; "
            "to turn off sending, set hooks.team to off"
        )


@command.command("status")
@options.json_option
@paged
def status(as_json: bool) -> None:
    """Show shared and waiting sessions of this project, and the state of the server."""
    place = options.place()
    found = load_status(place)
    if as_json:
        console.as_json(_build_status_record(place, found))
        return
    if found is None:
        console.talk("this project has not joined a team: run memfs team join URL")
        if hint := op.find_hint(place):
            console.talk(f"the project's configuration names the team '{hint}'")
        return
    if found.problem:
        raise StoreError(found.problem, membership.REPAIR)
    for name, value in _list_status_facts(place, found):
        console.echo(f"{console.style(f'{name:<8}', 'bright_black')} {flatten_text(value)}")


@command.command("share")
@click.argument("session", required=False, default="", type=_SESSION, metavar="[SESSION]")
@options.number_option("--from", "first", help="First turn to share.")
@options.number_option("--to", "last", help="Last turn to share.")
@click.option(
    "--project", is_flag=True, help="Share all sessions of the project, including later ones."
)
@click.option(
    "--solved",
    is_flag=True,
    help="Share the question and the outcome of turns that you marked as 'worked'.",
)
@click.option("--tools", is_flag=True, help="Also share tool calls and their outputs.")
@click.option("--dry-run", is_flag=True, help="Show what would be shared; send nothing.")
@options.yes_option("Do not ask for confirmation.")
def share(
    session: str,
    first: int | None,
    last: int | None,
    project: bool,
    solved: bool,
    tools: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Share a session, some of its turns, or the project's sessions. You see a preview first.

    Private parts and secrets are removed first. Later turns of a shared session are shared, too.
    To mark turns and sessions for --solved, run `memfs session outcome ID worked`.
    """
    if not dry_run:
        op.require_person(options.get_origin(), "share sessions")
    if (bool(session), project, solved).count(True) != 1:
        raise UsageError(
            "give exactly one of SESSION, --project and --solved",
            "list the sessions: memfs session list",
        )
    if tools and solved:
        raise UsageError(
            "--solved shares questions and outcomes, but no tool calls",
            "remove --tools or --solved",
        )
    place = options.place()
    base: Base = "all" if project else "solved" if solved else "nothing"
    plan = op.plan_sharing(place, session, first or 0, last or 0, base=base, tools=tools)
    _print_plan(plan, whole=dry_run)
    if dry_run:
        return
    if not plan.messages and base == "nothing":
        raise RejectedError(
            "no message of this session can be shared", "see above which messages are left out"
        )
    if not yes:
        if not console.can_ask():
            raise UsageError(
                "sharing needs your confirmation", "preview with --dry-run, then add --yes"
            )
        click.confirm("Share these messages with your team?", abort=True, err=True)
    _print_sent(op.share(place, plan, options.get_origin()))


@command.command("unshare")
@click.argument("session", required=False, default="", type=_SESSION, metavar="[SESSION]")
@click.option(
    "--project", is_flag=True, help="Take back everything that you shared from this project."
)
def unshare(session: str, project: bool) -> None:
    """Stop sharing a session, and take back its messages."""
    if bool(session) == project:
        raise UsageError(
            "give either SESSION or --project", "run memfs team status to see what is shared"
        )
    _print_sent(op.unshare(options.place(), session, options.get_origin()))


@command.command("never")
@click.argument("pattern", required=False, default="")
@click.option("--remove", is_flag=True, help="Remove PATTERN from the list.")
def never(pattern: str, remove: bool) -> None:
    """Never share messages that match PATTERN. Without PATTERN, list all patterns.

    PATTERN is plain text: `*` matches any text, and case is ignored. Patterns apply to all teams.
    memfs takes back matching messages that were already sent.
    """
    place = options.place()
    if not pattern:
        if remove:
            raise UsageError("--remove needs a pattern", "list the patterns: memfs team never")
        found = membership.load_patterns(place.store("user"))
        for each in found:
            console.echo(flatten_text(each))
        if not found:
            console.talk("no patterns yet; to add a pattern, run memfs team never PATTERN")
        return
    done = op.set_pattern(place, pattern, options.get_origin(), remove=remove)
    console.print_done(
        f"messages that match {pattern!r} can be shared again"
        if remove
        else f"messages that match {pattern!r} are never shared"
    )
    if done.report.removed or done.report.stored or done.waits:
        _print_sent(done)


@command.command("leave")
@click.option("--purge", is_flag=True, help="Also delete your shared sessions from the server.")
def leave_team(purge: bool) -> None:
    """Leave the team for this project. Without --purge, your shared sessions stay on the server."""
    gone = op.leave_project(options.place(), options.get_origin(), purge=purge)
    if gone is not None:
        messages = format_count(gone.messages, "message")
        told = f"{messages} in {format_count(gone.sessions, 'session')}"
        console.print_done(
            f"deleted {told} from the server; its backups keep copies until they expire"
        )
    console.print_done("this project has left the team")


@command.command("push")
@options.json_option
def push(as_json: bool) -> None:
    """Send waiting sessions and retractions now. The service does this by itself."""
    report = op.push(options.place())
    if as_json:
        console.as_json(asdict(report))
        return
    _print_upload(report)


def _read_token(from_stdin: bool, *, is_known: bool) -> str:
    """Return the token that was given; "" where the stored one is to be used."""
    if from_stdin:
        found = sys.stdin.read(_LONGEST_TOKEN).strip()
        if not found:
            raise UsageError(
                "standard input contains no token", f"pipe the token, or set ${_TOKEN}"
            )
        return found
    if os.environ.get(_TOKEN):
        return os.environ[_TOKEN]
    if is_known:
        return ""
    if not console.can_ask():
        raise UsageError("no token was given", f"use --token-stdin or set ${_TOKEN}")
    return str(click.prompt("Token", hide_input=True, err=True))


for each in server_commands.COMMANDS:
    command.add_command(each)


def _print_plan(plan: SharingPlan, *, whole: bool) -> None:
    shown = plan.sessions if whole else plan.sessions[:_MOST]
    rows = [("ID", "DATE", "HOST", "MESSAGES", "SIZE", "FIRST PROMPT")]
    for each in shown:
        day, prompt = format_day(each.at) or "-", " ".join(each.prompt.split()) or "-"
        size = format_size(each.bytes)
        rows.append((each.session[:_ID], day, each.host, f"{each.messages:,}", size, prompt))
    if shown:
        console.echo(layout.table(rows, right=(3, 4), cut=5))
    if len(shown) < len(plan.sessions):
        more = format_count(len(plan.sessions) - len(shown), "more session")
        console.talk(f"and {more}; to list all sessions, add --dry-run")
    for reason, count in sorted(plan.left_out.items()):
        more = "; add --tools to share them" if reason == sharing.TOOLS else ""
        console.talk(f"left out: {format_count(count, 'message')} {reason}{more}")
    messages = format_count(plan.messages, "message")
    sessions = format_count(len(plan.sessions), "session")
    where = f"{plan.project.name} at {plan.project.address}"
    console.talk(f"{messages} from {sessions}, {format_size(plan.bytes)}, for {where}")
    if later := _LATER.get(plan.rules.base):
        console.talk(later)


def _print_sent(done: SendOutcome) -> None:
    if done.waits:
        console.talk(f"! {done.waits}")
        console.talk(
            "  your change is saved; the service sends it as soon as the server can be reached"
        )
        return
    _print_upload(done.report)


def _print_upload(report: UploadReport) -> None:
    parts = []
    if report.stored or report.known:
        known = f" ({report.known:,} already on the server)" if report.known else ""
        parts.append(f"sent {format_count(report.stored + report.known, 'message')}{known}")
    if report.removed:
        parts.append(f"took back {format_count(report.removed, 'message')}")
    console.print_done("; ".join(parts) or "nothing to send or take back")
    if report.refused:
        refused = format_count(report.refused, "message")
        console.talk(f"! the server refused {refused}; to see why, run memfs team status")


def _list_status_facts(place: Place, found: TeamStatus) -> list[tuple[str, str]]:
    project, account, contact = found.project, found.account, found.contact
    if project is None:
        return []
    facts = [("project", f"{project.name} at {project.address}, as {project.role}")]
    if account:
        until = f", until {format_day(account.expires)}" if account.expires else ""
        facts.append(("member", f"{account.member} of {account.team}{until}"))
    else:
        facts.append(("member", f"the token is missing: run memfs team join {project.address}"))
    facts.append(("shared", describe_sharing(project.rules)))
    asks = is_asked_at_prompts(place)
    told = (
        "sent to the server as queries" if asks else "not sent: hooks.team or hooks.recall is off"
    )
    facts += [("waiting", describe_waiting(found)), ("prompts", told)]
    if contact.at:
        reached = f"answered {format_age(contact.reached_at)}" if contact.reached_at else ""
        wrong = f"{contact.error} ({format_age(contact.at)})" if contact.error else ""
        facts.append(("server", "; ".join(filter(None, (wrong, reached))) or "not contacted yet"))
    for why in sorted(set(found.refused)):
        count = format_count(found.refused.count(why), "message")
        facts.append(("refused", f"{count}: {why}"))
    return facts


def _build_status_record(place: Place, found: TeamStatus | None) -> dict[str, object]:
    if found is None or found.project is None:
        problem = found.problem if found else ""
        return {"joined": False, "team": op.find_hint(place), "problem": problem}
    account = found.account
    return {
        "joined": True,
        "address": found.project.address,
        "project": found.project.name,
        "role": found.project.role,
        **{name: getattr(account, name, "") for name in ("team", "member", "expires")},
        "shared": msgspec.to_builtins(found.project.rules),
        "asks_at_prompts": is_asked_at_prompts(place),
        "waits": found.waits,
        "sessions_waiting": found.waiting,
        "refused": list(found.refused),
        "contact": {name: getattr(found.contact, name) for name in _CONTACT},
    }
