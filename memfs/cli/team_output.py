"""What `memfs team` prints: what is to go, what was sent, how a joined project stands."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from memfs.cli import console, layout
from memfs.cli.wording import format_age, format_size
from memfs.core.counts import format_count
from memfs.core.local_time import format_day
from memfs.ops.team_status import TeamStatus, describe_sharing, describe_waiting

if TYPE_CHECKING:
    from memfs.ops.team import SendOutcome, SharingPlan
    from memfs.ops.team_upload import UploadReport

_ID = 8  # characters of an id that are shown
_MOST = 20  # sessions that are listed
_LATER = {
    "all": "later sessions of this project are shared, too, as they are recorded",
    "solved": "what you say worked from now on is shared, too",
}


def print_plan(plan: SharingPlan, *, whole: bool) -> None:
    """Print what is to go, session by session (all if `whole`), and what is left out."""
    shown = plan.sessions if whole else plan.sessions[:_MOST]
    rows = [("ID", "DATE", "HOST", "MESSAGES", "SIZE", "FIRST PROMPT")]
    for each in shown:
        rows.append(
            (
                each.session[:_ID],
                format_day(each.at) or "-",
                each.host,
                f"{each.messages:,}",
                format_size(each.bytes),
                " ".join(each.prompt.split()) or "-",
            )
        )
    if shown:
        console.echo(layout.table(rows, right=(3, 4), cut=5))
    if len(shown) < len(plan.sessions):
        console.talk(f"and {len(plan.sessions) - len(shown):,} more; --dry-run lists them all")
    for reason, count in sorted(plan.left_out.items()):
        more = "; --tools shares them" if reason == "of tools" else ""
        console.talk(f"left out: {format_count(count, 'message')} {reason}{more}")
    messages = format_count(plan.messages, "message")
    sessions = format_count(len(plan.sessions), "session")
    where = f"{plan.project.name} at {plan.project.address}"
    console.talk(f"{messages} of {sessions}, {format_size(plan.bytes)}, for {where}")
    if later := _LATER.get(plan.rules.base):
        console.talk(later)


def print_sent(done: SendOutcome) -> None:
    """Print what a change of the rules came to."""
    if done.waits:
        console.talk(f"! {done.waits}")
        console.talk("  it is noted; the service sends it, and takes back, once that is possible")
        return
    print_upload(done.report)


def print_upload(report: UploadReport) -> None:
    """Print what was sent and taken back."""
    parts = []
    if report.stored or report.known:
        known = f" ({report.known:,} were there)" if report.known else ""
        parts.append(f"sent {format_count(report.stored + report.known, 'message')}{known}")
    if report.removed:
        parts.append(f"took back {format_count(report.removed, 'message')}")
    console.print_done("; ".join(parts) or "nothing was to be sent or taken back")
    if report.refused:
        refused = format_count(report.refused, "message")
        console.talk(f"! the server refused {refused}: memfs team status says why")


def list_status_facts(found: TeamStatus) -> list[tuple[str, str]]:
    """Return what there is to say of a joined project, each with its name."""
    project, account, contact = found.project, found.account, found.contact
    if project is None:
        return []
    facts = [("project", f"{project.name} at {project.address}, as {project.role}")]
    if account:
        until = f", until {format_day(account.expires)}" if account.expires else ""
        facts.append(("member", f"{account.member} of {account.team}{until}"))
    else:
        facts.append(("member", f"the token is gone: memfs team join {project.address}"))
    facts.append(("shared", describe_sharing(project.rules)))
    facts.append(("waits", describe_waiting(found)))
    asks = (
        "sent to the server as questions" if found.asks else "not sent (hooks.team, hooks.recall)"
    )
    facts.append(("prompts", asks))
    if contact.at:
        reached = f"answered {format_age(contact.reached_at)}" if contact.reached_at else ""
        wrong = f"{contact.error} ({format_age(contact.at)})" if contact.error else ""
        facts.append(("server", "; ".join(filter(None, (wrong, reached))) or "not asked yet"))
    for why in sorted(set(found.refused)):
        count = format_count(found.refused.count(why), "message")
        facts.append(("refused", f"{count}: {why}"))
    return facts


def build_status_record(found: TeamStatus | None, hint: str) -> dict[str, object]:
    """Return a joined project as JSON has it, without the token."""
    if found is None or found.project is None:
        return {"joined": False, "team": hint, "problem": found.problem if found else ""}
    account = found.account
    return {
        "joined": True,
        "address": found.project.address,
        "project": found.project.name,
        "role": found.project.role,
        "team": account.team if account else "",
        "member": account.member if account else "",
        "expires": account.expires if account else "",
        "shared": asdict(found.project.rules),
        "asks_at_prompts": found.asks,
        "waits": found.waits,
        "sessions_waiting": found.waiting,
        "refused": list(found.refused),
        "contact": {
            "at": found.contact.at,
            "error": found.contact.error,
            "away": found.contact.away,
            "failures": found.contact.failures,
            "reached_at": found.contact.reached_at,
        },
    }
