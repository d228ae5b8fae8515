"""The graph of past sessions: built from recall, asked, and kept in step with it."""

import os
import sqlite3
from contextlib import closing

import pytest

from memfs.core.errors import StoppedError, StoreError
from memfs.knowledge.session_graph import builder, database
from memfs.knowledge.session_graph.queries import SessionGraph, find_steps
from memfs.knowledge.session_graph.turns import FAILED, UNKNOWN, WORKED
from memfs.search import encoder
from memfs.store import recall, session_outcomes
from memfs.store.blocks import Place
from memfs.store.session_outcomes import SessionOutcome
from tests.knowledge.session_graph.conftest import FIXED, say


def built(place: Place) -> SessionGraph:
    builder.update(place.home, encoder.load_bundled())
    return SessionGraph(place.home.index, encoder.load_bundled())


def test_a_turn_says_what_was_wanted_done_and_how_it_came_out(place: Place) -> None:
    say(place, "one", *FIXED)
    with built(place) as graph:
        first, second = graph.session("one")
        assert graph.count_rows() == {
            "session": 1,
            "message": 11,
            "turn": 2,
            "topic": graph.count_rows()["topic"],
        }
    assert (first.intent, first.outcome, first.why) == ("problem", WORKED, "the user said thanks")
    assert first.steps == ("test!", "edit", "test")
    assert first.reply.startswith("Fixed: the test uses a fake clock")
    assert (second.intent, second.outcome) == ("thanks", UNKNOWN)


def test_edges(place: Place) -> None:
    say(place, "one", *FIXED)
    builder.update(place.home, encoder.load_bundled())
    with closing(database.open_database(place.home.index)) as db:
        [(discussed,)] = db.execute("SELECT count(*) FROM discusses")
        solved = db.execute("SELECT message, resolved FROM resolves").fetchall()
    assert discussed >= 3
    assert solved == [(9, 1)]
    with built(place) as graph:
        assert [e.type for e in graph.paths("message:1", 20)].count("follows") == 10
        assert [e.target for e in graph.paths("message:1", 2)] == ["message:2", "message:3"]
        beyond = {(e.type, e.target) for e in graph.paths("message:8", 2)}
        assert beyond == {
            ("follows", "message:9"),
            ("follows", "message:10"),
            ("resolves", "message:1"),
        }
        assert graph.paths("topic:retry", 1)[0].target == "message:1"
        assert graph.paths("topic:nothing", 5) == graph.paths("rubbish", 5) == []


def test_a_correction_belongs_to_what_it_corrects(place: Place) -> None:
    say(
        place,
        "one",
        ("user", "Make the banner of the shop green"),
        ("assistant", "Done. It is blue now."),
        ("user", "No, that's wrong: it is blue"),
        ("assistant", "Sorry. The banner is green now, in theme.css."),
        ("user", "perfect, thanks"),
    )
    with built(place) as graph:
        first, second, _ = graph.session("one")
        assert (first.outcome, second.outcome) == (FAILED, WORKED)
        fixed = graph.find_solution(first)
        assert fixed is not None
        assert fixed.reply == "Sorry. The banner is green now, in theme.css."


def test_a_turn_whose_fix_the_user_confirms_worked(place: Place) -> None:
    say(
        place,
        "one",
        ("user", "The banner of the shop is blue"),
        ("assistant", "Try to clear the cache."),
        ("user", "that fixed it. Now make the logo of the shop larger"),
        ("assistant", "It is 64 pixels wide now."),
        ("user", "it works, but the logo is cut off"),
    )
    with built(place) as graph:
        first, second, _ = graph.session("one")
        assert (first.outcome, first.why) == (WORKED, "the user said that it works")
        assert (second.intent, second.outcome) == ("request", UNKNOWN)


def test_what_was_like_this_before(place: Place) -> None:
    say(place, "one", *FIXED)
    say(place, "two", ("user", "Paint the harbour in summer"), ("assistant", "Here it is."), day=2)
    with built(place) as graph:
        [best, *_] = graph.find_similar("the retry test of the payment client times out", 3)
        assert best.session == "one"
        assert best.relevance > 0.7
        assert (
            graph.find_similar("the retry test of the payment client", but="one")[0].session
            == "two"
        )
        assert [s.name for s in find_steps([best], ["test!"])] == ["edit"]
        assert [s.name for s in find_steps([best], [])] == ["test!"]


def test_patterns_recur(place: Place) -> None:
    for session in ("one", "two", "three"):
        say(place, session, *FIXED)
    with built(place) as graph:
        [pattern, *_] = graph.patterns()
    assert (pattern.steps, pattern.turns, pattern.worked) == (("test!", "edit", "test"), 3, 3)


def test_only_what_is_new_is_read(place: Place) -> None:
    say(place, "one", *FIXED[:5])
    model = encoder.load_bundled()
    assert builder.update(place.home, model) == 5
    assert builder.update(place.home, model) == 0
    say(place, "one", *FIXED[5:], start=5)
    assert builder.update(place.home, model) == 6
    with SessionGraph(place.home.index, model) as graph:
        grown = graph.session("one")
    os.remove(f"{place.home.index}/{database.FILE}")
    with built(place) as graph:
        assert [f.__dict__ | {"id": 0} for f in graph.session("one")] == [
            f.__dict__ | {"id": 0} for f in grown
        ]


def dump(place: Place) -> list[list[object]]:
    tables = ("session", "message", "turn", "topic", "discusses", "resolves")
    with closing(database.open_database(place.home.index)) as db:
        return [db.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in tables]


def test_who_is_asked_to_stop_goes_on_where_it_was(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker of the service stops for what is to be read: nothing is read twice."""
    model, read = encoder.load_bundled(), []

    def stop(messages: int) -> None:
        read.append(messages)
        raise StoppedError

    for session in ("one", "two"):
        say(place, session, *FIXED)
    builder.update(place.home, model)
    whole = dump(place)
    database.remove(place.home.index)
    monkeypatch.setattr(builder, "_STEP", 4)
    for _ in range(6):
        with pytest.raises(StoppedError):
            builder.update(place.home, model, stop)
    assert read == [4, 4, 3] * 2
    assert builder.update(place.home, model, stop) == 0
    assert dump(place) == whole
    with built(place) as graph:
        assert len(graph.find_similar("the retry test of the payment client times out", 9)) >= 2


def test_a_session_that_is_gone_or_rewritten(place: Place) -> None:
    path = say(place, "one", *FIXED)
    other = say(place, "two", ("user", "Paint the harbour in summer"))
    with built(place) as graph:
        assert graph.count_rows()["session"] == 2
    os.remove(other)
    recall.rewrite(path, lambda text: text.replace("payment", "billing"))
    with built(place) as graph:
        assert graph.count_rows()["session"] == 1
        assert graph.session("one")[0].prompt.startswith("The retry test of the billing client")
        assert graph.list_topic_turns("billing")
        assert not graph.list_topic_turns("payment")


def test_a_name_that_was_blanked_out_by_hand_in_the_middle_is_gone(place: Place) -> None:
    """As large as before, and with the same first and last pages."""
    filler = [("user", f"Look at file number {n}: {'x ' * 400}") for n in range(12)]
    path = say(place, "one", *filler, ("user", "Ask Zacharias Quellmann about it"), *filler)
    assert built(place).list_topic_turns("quellmann")
    with open(path, "r+b") as handle:
        data = handle.read()
        handle.seek(0)
        handle.write(data.replace(b"Zacharias Quellmann", b"XXXXXXXXX XXXXXXXXX"))
    with built(place) as graph:
        assert not graph.list_topic_turns("quellmann")
        assert graph.count_rows()["turn"] == 25


def test_a_damaged_graph_is_made_anew(place: Place) -> None:
    say(place, "one", *FIXED)
    builder.update(place.home, encoder.load_bundled())
    with open(f"{place.home.index}/{database.FILE}", "r+b") as handle:
        handle.write(b"rubbish" * 100)
    with built(place) as graph:
        assert graph.count_rows()["turn"] == 2


def test_a_graph_that_was_closed_says_so(place: Place) -> None:
    say(place, "one", *FIXED)
    with built(place) as graph:
        pass
    with pytest.raises(StoreError, match="graph of past sessions"):
        graph.count_rows()


def test_what_people_say_counts_more(place: Place) -> None:
    say(place, "one", *FIXED)
    session_outcomes.write_outcome(
        place.home, SessionOutcome("one", worked=False, why="it broke the invoices", turn=1)
    )
    with built(place) as graph:
        first, second = graph.session("one")
        assert (first.outcome, first.why) == (FAILED, "it broke the invoices")
        assert second.outcome == UNKNOWN
    session_outcomes.write_outcome(place.home, SessionOutcome("one", worked=True))
    with built(place) as graph:
        assert {flow.outcome for flow in graph.session("one")} == {WORKED}


def test_without_vectors_topics_find_it(place: Place) -> None:
    say(place, "one", *FIXED)
    builder.update(place.home, None)
    with SessionGraph(place.home.index, None) as graph:
        assert graph.find_similar("retry of the payment client")[0].session == "one"
        assert graph.find_similar("the harbour in summer") == []


def test_another_process_that_builds_it_is_no_error(place: Place) -> None:
    say(place, "one", *FIXED)
    with (
        built(place) as graph,
        closing(sqlite3.connect(f"{place.home.index}/{database.FILE}")) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        assert graph.session("one")


@pytest.mark.parametrize("name", ["*", "[", "o?e", "", "' OR 1=1 --"])
def test_names_mean_nothing_else(place: Place, name: str) -> None:
    say(place, "one", *FIXED)
    with built(place) as graph:
        assert graph.list_topic_turns(name) == []
        assert graph.session(name) == [] or name == ""
