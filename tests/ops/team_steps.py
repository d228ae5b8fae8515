"""A member's steps in a project that joined a team."""

from __future__ import annotations

from memfs.core.records import Origin
from memfs.ops import team
from memfs.ops.team import ShareRequest
from memfs.ops.team_upload import UploadReport, upload
from memfs.store import team_membership
from memfs.store.blocks import Place
from memfs.store.team_outbox import TeamOutbox

ME = Origin()


def share(place: Place, **request: object) -> team.SendOutcome:
    plan = team.plan_sharing(place, ShareRequest(**request))  # type: ignore[arg-type]
    return team.share(place, plan, ME)


def send(place: Place) -> UploadReport:
    assert place.user
    return upload(place.user, place.home)


def outbox(place: Place) -> TeamOutbox:
    assert place.user
    return TeamOutbox(place.user, team_membership.make_key(place.home.local))
