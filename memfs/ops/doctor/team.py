"""Check a joined team: our files, what waits, and how the server was. Asks no server."""

from __future__ import annotations

from collections.abc import Iterator

from memfs.ops.doctor.finding import Finding
from memfs.ops.team_status import describe_status, load_status
from memfs.store import clock, team_membership
from memfs.store.blocks import Place


def check_team(place: Place) -> Iterator[Finding]:
    """Check the project's team, where it has joined one."""
    found = load_status(place)
    if found is not None:
        account, contact = found.account, found.contact
        expired = account is not None and "" < account.expires < clock.now()
        is_well = not (found.problem or contact.error or found.refused or expired)
        text = f"team: {describe_status(found)}" + "; the token is expired" * expired
        hint = "memfs team join with a new token" if expired or not account else "memfs team push"
        yield Finding("ok" if is_well and account else "warning", text, "" if is_well else hint)
    if place.user is not None:
        for problem in team_membership.list_joined_projects(place.user)[1]:
            if found is None or problem != found.problem:
                yield Finding("warning", problem, "mend it, or join that project again")
