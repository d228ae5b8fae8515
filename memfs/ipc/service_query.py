"""Queries that need an engine: the user's service answers, if one of this version runs."""

import json
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from memfs.core import json_values
from memfs.ipc import client
from memfs.store.blocks import Place

KINDS = ("search", "context", "graph")
Answer = TypeVar("Answer")
_WAIT = 3.0  # seconds for the service, which may index first


class ServiceQuery(NamedTuple):
    """A query about the store at `root`, with the one of the user at `user`, if there is one."""

    root: str
    user: str
    session: str
    arguments: list[object]


def ask(kind: str, place: Place, arguments: Sequence[object], form: type[Answer]) -> Answer | None:
    """Return the answer of the service as a `form`; None if this process is to do the work."""
    if not client.is_listening():
        return None
    user = place.user.root if place.user else ""
    query = ServiceQuery(place.home.root, user, place.session, [*arguments])
    body = json.dumps(query, ensure_ascii=False).encode("utf-8", "replace")  # no lone surrogates
    data = client.ask("query", [kind], body, _WAIT, long_lived=True)
    try:
        return json_values.rebuild(form, json.loads(data)) if data else None
    except (ValueError, TypeError, KeyError):  # it is no answer
        return None
