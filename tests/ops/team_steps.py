"""A member's steps in a project that joined a team."""

from memfs.core.records import Origin
from memfs.store.blocks import Place
from memfs.team import membership, verbs
from memfs.team.outbox import TeamOutbox
from memfs.team.upload import UploadReport, upload

ME = Origin()


def share(place: Place, **request: object) -> verbs.SendOutcome:
    plan = verbs.plan_sharing(place, **request)  # type: ignore[arg-type]
    return verbs.share(place, plan, ME)


def send(place: Place) -> UploadReport:
    return upload(place.store("user"), place.home)


def outbox(place: Place) -> TeamOutbox:
    return TeamOutbox(place.store("user"), membership.make_key(place.home.local))
