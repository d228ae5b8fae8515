"""The kinds of facts, static entries and flows, behind the protocol they share with all."""

import pytest

from memfs.core.errors import MemfsError, NotFoundError, RejectedError
from memfs.core.records import ARCHIVED, SUPERSEDED, Message
from memfs.knowledge.facts import fact_store
from memfs.knowledge.kinds.facts import Facts
from memfs.knowledge.kinds.graph import SIMILAR, Graph
from memfs.knowledge.kinds.protocol import Capacity, Kind, Query, State, seconds
from memfs.knowledge.kinds.static import Static
from memfs.knowledge.kinds.vector import Vector
from memfs.store.blocks import Place
from tests.knowledge.kinds.test_vector import archived
from tests.knowledge.session_graph.conftest import FIXED, say


def said(*texts: str) -> list[dict[str, object]]:
    return [
        {"role": "user", "content": text, "id": f"m{n}", "at": f"2026-05-{n + 1:02}T09:00:00Z"}
        for n, text in enumerate(texts)
    ]


def texts(kind: Kind, query: Query) -> list[str]:
    return [found.text for found in kind.retrieve(query)]


def test_every_kind_has_the_protocol(place: Place) -> None:
    kinds: list[Kind] = [Vector(place), Facts(place), Static(place), Graph(place)]
    assert [kind.type for kind in kinds] == ["vector", "facts", "static", "graph"]
    for kind in kinds:
        assert kind.id == kind.type
        assert kind.metrics().items == 0
        assert kind.retrieve(Query("anything at all")) == []
        assert kind.relevant(State("anything at all"), Query()).found == ()
        assert kind.archive("2020-01-01") == kind.compress() == 0
        assert isinstance(kind.summarize(), str)
        kind.learn([])
        with pytest.raises(MemfsError):
            kind.delete("nothing")


def test_facts_are_found_by_what_is_known_of_them(place: Place) -> None:
    kind = Facts(place)
    ids = kind.store(
        said(
            "We decided to use `httpx` for the gateway.",
            "Never deploy the shop on Fridays.",
            "I prefer tabs over spaces.",
            "Is that so?",
        )
    )
    assert len(ids) == 3
    assert kind.store(said("Never deploy the shop on Fridays.")) == []
    assert texts(kind, Query(entities=("httpx",))) == ["We decided to use `httpx` for the gateway"]
    assert texts(kind, Query(pattern="^never")) == ["Never deploy the shop on Fridays"]
    assert texts(kind, Query(categories=("preference",))) == ["I prefer tabs over spaces"]
    assert texts(kind, Query(since="2026-05-02", until="2026-05-02")) == [
        "Never deploy the shop on Fridays"
    ]
    assert len(texts(kind, Query(confidence=0.9))) == 2
    assert texts(kind, Query("when may I deploy the shop?", limit=1)) == [
        "Never deploy the shop on Fridays"
    ]
    told = kind.relevant(State("deploy the shop", entities=("httpx",)), Query(limit=5))
    assert {f.text for f in told.found} == {
        "Never deploy the shop on Fridays",
        "We decided to use `httpx` for the gateway",
    }
    assert told.summary.startswith("## rule")
    assert 0.8 <= told.confidence <= 1


def test_facts_are_corrected_and_rejected(place: Place) -> None:
    kind = Facts(place)
    [first] = kind.store(said("We use port 8080 for the tests."))
    kind.update(first, "The tests run on port 9090")
    assert texts(kind, Query(pattern="port")) == ["The tests run on port 9090"]
    [old] = [f for f in fact_store.list_facts(place) if f.id == first]
    assert old.status == SUPERSEDED
    [new] = kind.retrieve(Query(pattern="port"))
    assert old.by == new.id
    kind.delete(new.id)
    assert texts(kind, Query(pattern="port")) == []
    with pytest.raises(NotFoundError):
        kind.update("nothing", "x")


def test_facts_that_have_to_leave_are_in_the_archive(place: Place) -> None:
    kind = Facts(place, capacity=Capacity(max_items=2))
    kind.store(said(*(f"Never deploy service{n} on day {n}." for n in range(5))))
    assert texts(kind, Query()) == [
        "Never deploy service4 on day 4",
        "Never deploy service3 on day 3",
    ]
    assert kind.metrics().items == 2
    for number in range(3):
        statement = f"Never deploy service{number} on day {number}"
        assert statement in archived(place, statement)
    assert {f.status for f in fact_store.list_facts(place)} == {"active", ARCHIVED}
    assert kind.store(said("Never deploy service0 on day 0.")) == []
    assert kind.compress() == 3
    assert kind.metrics().items == 2
    assert kind.archive("2099") == 2


def test_static_entries_do_not_change(place: Place) -> None:
    kind = Static(place)
    assert kind.store(
        "Lines have 100 characters.", key="style", category="rules", tags=["code"]
    ) == ["style"]
    with pytest.raises(RejectedError, match="already"):
        kind.store("Lines have 80 characters.", key="style")
    with pytest.raises(RejectedError, match="do not change"):
        kind.update("style", "Lines have 80 characters.")
    kind.store("The gateway allows 50 requests a second.", key="limits")
    assert texts(kind, Query(id="style")) == ["Lines have 100 characters."]
    assert texts(kind, Query(categories=("rules",))) == ["Lines have 100 characters."]
    assert texts(kind, Query(tags=("code",))) == ["Lines have 100 characters."]
    assert texts(kind, Query("how many requests may I send to the gateway?", limit=1)) == [
        "The gateway allows 50 requests a second."
    ]
    told = kind.relevant(State("call the gateway", categories=("rules",)), Query(limit=5))
    assert {f.id for f in told.found} == {"style", "limits"}
    blind = Static(place, indexes=("key",), searchable=False)
    assert texts(blind, Query("requests of the gateway")) == []
    assert texts(blind, Query(categories=("rules",))) == []
    assert "style: Lines have 100" in kind.summarize()


def test_static_entries_that_have_to_leave_are_in_the_archive(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = Static(place, capacity=Capacity(max_items=2))
    for number in range(4):
        monkeypatch.setenv("MEMFS_NOW", f"2026-05-0{number + 1}T10:00:00Z")
        kind.store(f"The limit of service{number} is {number}.", key=f"limit{number}")
    assert kind.metrics().items == 2
    assert "The limit of service0 is 0." in archived(place, "limit of service0")
    with pytest.raises(NotFoundError):
        kind.retrieve(Query(id="limit0"))


def test_flows_are_found_by_intent_pattern_and_path(place: Place) -> None:
    say(place, "one", *FIXED)
    kind = Graph(place)
    ask = "The retry test of the payment client fails again"
    [flow, *_] = kind.retrieve(Query(ask, pattern=SIMILAR))
    assert flow.id == "flow/one/1"
    assert "what worked (the user said thanks): Fixed: the test uses a fake clock" in flow.text
    assert [f.id for f in kind.retrieve(Query(pattern="edit test"))] == ["flow/one/1"]
    assert [f.id for f in kind.retrieve(Query("retry", pattern="edit commit"))] == []
    edges = kind.retrieve(Query(path="message:1", depth=3, limit=50))
    assert [e.metadata["target"] for e in edges] == ["message:2", "message:3", "message:4"]
    told = kind.relevant(State(ask, session="two", path=("test!",)), Query(limit=3))
    assert [f.id for f in told.found] == ["flow/one/1"]
    assert told.steps == ("edit",)
    assert kind.relevant(State(ask, session="one"), Query()).found == ()
    with pytest.raises(RejectedError, match="do not change"):
        kind.update("flow/one/1", "x")


def test_messages_that_are_stored_are_in_recall_and_in_the_graph(place: Place) -> None:
    kind = Graph(place)
    talk = said("Fix the timeout of the harbour page", "thanks, that works")
    talk.insert(1, {"role": "assistant", "content": "Fixed.", "id": "m9"})
    assert kind.store(talk, session="mine") == ["m0", "m9", "m1"]
    assert kind.store(talk, session="mine") == []
    assert kind.metrics().items == 2
    assert [f.outcome for f in kind.flows().session("mine")] == [1, 0]
    found = Vector(place).retrieve(Query("timeout of the harbour page"))
    assert found[0].id == "python/mine/m0"
    kind.delete("flow/mine/2")
    assert kind.metrics().items == 1


def test_flows_that_have_to_leave_are_in_the_archive(place: Place) -> None:
    kind = Graph(place, capacity=Capacity(max_items=2))
    for number in range(4):
        kind.store(
            [
                {
                    "role": "user",
                    "content": f"Fix the page of harbour{number}",
                    "id": "u",
                    "at": f"2026-05-0{number + 1}T09:00:00Z",
                },
                {"role": "assistant", "content": "Done.", "id": "a"},
            ],
            session=f"s{number}",
        )
        assert kind.metrics().items <= 2
    assert [f.session for f in kind.flows().latest()] == ["s3", "s2"]
    assert "Fix the page of harbour0\nDone." in archived(place, "harbour0")
    import os

    from memfs.knowledge.session_graph import database

    os.remove(f"{place.home.index}/{database.FILE}")
    assert Graph(place, capacity=kind.capacity).metrics().items == 2
    assert kind.archive("2099-01-01") == 2
    assert kind.metrics().items == 0


def test_outcomes(place: Place) -> None:
    say(place, "one", *FIXED)
    kind = Graph(place)
    kind.outcome("on", worked=False, why="it came back")
    assert kind.flows().session("one")[0].why == "it came back"
    with pytest.raises(NotFoundError):
        kind.outcome("zwei", worked=True)
    with pytest.raises(NotFoundError):
        kind.outcome("one", worked=True, turn=9)
    blind = Graph(place, outcomes=False)
    assert blind.relevant(State("the retry test fails"), Query()).found == ()


def test_nothing_is_told_of_a_conversation_to_itself(place: Place) -> None:
    kind = Vector(place)
    recent = Message("m", "mine", "python", "", "", "", "user", "the harbour page")
    Graph(place).store([recent], session="mine")
    told = kind.relevant(State("the harbour page", (recent,), session="mine"), Query())
    assert told.found == ()


@pytest.mark.parametrize(("text", "found"), [("90d", 7776000), ("12h", 43200), (30, 30), ("", 0)])
def test_durations(text: object, found: float) -> None:
    assert seconds(text) == found


@pytest.mark.parametrize("text", ["soon", "-1d", "1e20", "d"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(MemfsError, match="is not a duration"):
        seconds(text)
