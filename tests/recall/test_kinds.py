"""What a prompt brings to mind of all kinds of memory, where the index stays open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.core.records import Message
from memfs.knowledge.facts import fact_store, prose
from memfs.knowledge.kinds.static import put
from memfs.recall import prompts
from memfs.recall.open_store import OpenStore
from tests.knowledge.session_graph.conftest import FIXED, say

if TYPE_CHECKING:
    from memfs.recall.answers import PromptRecall
    from memfs.store.blocks import Place

AGAIN = "The retry test of the payment client fails with a timeout again"


def brought(place: Place, prompt: str, session: str = "two", limit: int = 3) -> PromptRecall:
    return prompts.recall_warm(OpenStore(place).update_engine("hybrid"), prompt, session, [], limit)


def test_a_problem_that_comes_back_brings_what_worked(place: Place) -> None:
    say(place, "one", *FIXED)
    [session] = brought(place, AGAIN).found
    assert session.role == "session one"
    assert "Fixed: the test uses a fake clock now, so it does not wait." in session.snippet


def test_a_session_is_not_told_of_itself(place: Place) -> None:
    say(place, "one", *FIXED)
    assert brought(place, AGAIN, session="one").found == []
    assert brought(place, AGAIN, limit=0).found == []


def test_facts_and_static_entries_come_to_mind(place: Place) -> None:
    said = Message(
        "m",
        "one",
        "claude",
        "",
        "",
        "2026-05-01T09:00:00Z",
        "user",
        "We decided to keep the harbour ledger in Postgres.",
    )
    fact_store.store_facts(place, prose.extract_facts([said]))
    put(place, "limits", "The gateway allows 50 requests a second.")
    [fact] = brought(place, "where do we keep the harbour ledger?").found
    assert fact.kind == "fact"
    [entry] = brought(place, "how many requests does the gateway allow?").found
    assert (entry.kind, entry.snippet) == ("static", "The gateway allows 50 requests a second.")
