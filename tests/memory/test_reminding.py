"""What a prompt brings to mind: all kinds, and what was solved before."""

from __future__ import annotations

import pytest

from memfs.core.records import Hit, Message
from memfs.memory import facts, reminding
from memfs.memory.flow.graph import Graph as Flows
from memfs.memory.kept import Kept
from memfs.memory.kinds.graph import Graph
from memfs.memory.kinds.static import put
from memfs.store.blocks import Place
from tests.memory.flow.conftest import FIXED, say

AGAIN = "The retry test of the payment client fails with a timeout again"


def told(
    place: Place, prompt: str, session: str = "two", shown: tuple[str, ...] = (), limit: int = 3
) -> list[Hit]:
    engine = Kept(place).engine("hybrid")
    Graph(place).update_all()
    assert engine.vectors
    with Flows(place.home.index, engine.vectors.encoder) as flows:
        found = reminding.find(engine, flows, prompt, session, shown, limit)
    return [hit for hit in found if isinstance(hit, Hit)]


def test_what_was_solved_comes_back_with_what_worked(place: Place) -> None:
    say(place, "one", *FIXED)
    [hit, *rest] = told(place, AGAIN)
    assert (hit.kind, hit.id, hit.session) == ("flow", "flow/one/1", "one")
    assert hit.snippet == (
        'this came up on 2026-05-01 (session one): "The retry test of the payment client fails '
        'with a timeout"; what worked (the user thanked): Fixed: the test uses a fake clock now, '
        "so it does not wait."
    )
    assert hit.why[1] == "the user thanked"
    assert all(each.session != "one" for each in rest)


def test_it_is_told_once_and_not_to_itself(place: Place) -> None:
    say(place, "one", *FIXED)
    assert "flow" not in {hit.kind for hit in told(place, AGAIN, shown=("flow/one/1",))}
    assert "flow" not in {hit.kind for hit in told(place, AGAIN, session="one")}
    assert told(place, AGAIN, limit=0) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks, the retry test of the payment client works",
        "ok",
        "Paint the harbour in summer please",
    ],
)
def test_what_asks_for_nothing_like_it_brings_nothing_back(place: Place, prompt: str) -> None:
    say(place, "one", *FIXED)
    assert "flow" not in {hit.kind for hit in told(place, prompt)}


def test_what_did_not_work_is_not_told(place: Place) -> None:
    say(place, "one", *FIXED[:4])
    assert "flow" not in {hit.kind for hit in told(place, AGAIN)}


def test_facts_and_static_entries_come_to_mind(place: Place) -> None:
    said = Message("m", "one", "claude", "", "", "2026-05-01T09:00:00Z", "user",
                   "We decided to keep the harbour ledger in Postgres.")  # fmt: skip
    facts.add(place, facts.extracted([said]))
    put(place, "limits", "The gateway allows 50 requests a second.")
    assert [hit.kind for hit in told(place, "where do we keep the harbour ledger?")] == ["fact"]
    [entry] = told(place, "how many requests does the gateway allow?")
    assert (entry.kind, entry.label) == ("static", "limits")
