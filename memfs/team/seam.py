"""What the rest of memfs knows of the team. Loads nothing before it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from memfs import files
from memfs.store import clock
from memfs.store.blocks import Place
from memfs.team import FOLDER

if TYPE_CHECKING:
    from memfs.ops.doctor.finding import Finding
    from memfs.team.background import TeamBackground


def Background() -> TeamBackground:  # noqa: N802 - the service makes one
    """Return what the service does for joined projects."""
    from memfs.team.background import TeamBackground  # for the service alone

    return TeamBackground()


def search(*given: Any, **more: Any) -> Any:
    """Search a project and its team: see `team.search.run`."""
    from memfs.team import search as team_search  # with HTTP

    return team_search.run(*given, **more)


def has_joined(place: Place) -> bool:
    """Tell whether the project of a place has joined a team."""
    from memfs.team import status  # only where it is asked for

    return status.load_status(place) is not None


def describe_status(place: Place) -> str:
    """Return a line on the team of a project, "" where it has joined none. Asks no server."""
    if place.user is None or not files.is_folder(f"{place.user.local}/{FOLDER}"):
        return ""
    from memfs.team import status  # only where it is asked for

    found = status.load_status(place)
    return status.describe_status(found) if found else ""


def check(place: Place) -> Iterator[Finding]:
    """Check a joined team: our files, what waits, and how the server was. Asks no server."""
    from memfs.ops.doctor.finding import Finding  # only where it is asked for
    from memfs.team import membership, status  # likewise

    found = status.load_status(place)
    if found is not None:
        account, contact = found.account, found.contact
        expired = account is not None and "" < account.expires < clock.now()
        is_well = not (found.problem or contact.error or found.refused or expired)
        text = f"team: {status.describe_status(found)}" + "; the token has expired" * expired
        hint = (
            membership.REPAIR
            if found.problem
            else "run memfs team join with a new token"
            if expired or not account
            else "run memfs team push"
            if contact.error
            else "run memfs team status to see why the server refused messages"
        )
        yield Finding("ok" if is_well and account else "warning", text, "" if is_well else hint)
    if place.user is not None:
        for problem in membership.list_joined_projects(place.user)[1]:
            if found is None or problem != found.problem:
                yield Finding("warning", problem, membership.REPAIR)
