"""Facts and the graph as the founding document on kinds of memory (seed 003) wants them."""

import json
from pathlib import Path

import pytest

from memfs.core.errors import UsageError
from memfs.core.records import Message
from memfs.knowledge.facts import fact_store, prose
from memfs.knowledge.kinds.facts import Facts
from memfs.knowledge.kinds.graph import Graph
from memfs.knowledge.kinds.protocol import Query
from memfs.ops import facts
from memfs.ops import graph as graph_op
from memfs.recall.open_store import OpenStore
from memfs.store import facts as stored
from memfs.store import message_records, recall
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - a fixture
from tests.knowledge.session_graph.conftest import FIXED, say


def message(number: int, text: str) -> Message:
    at = f"2026-05-{number + 1:02}T09:00:00Z"
    return Message(f"m{number}", "s1", "claude", "/p", "main", at, "user", text)


def record(place: Place, *texts: str) -> None:
    path = Path(place.home.local) / "recall/claude/s1.jsonl"
    recall.write_session(str(path), [message(n, text) for n, text in enumerate(texts)])


def add(place: Place, *texts: str) -> None:
    found = prose.extract_facts([message(n, text) for n, text in enumerate(texts)])
    fact_store.store_facts(place, found)


def configure(place: Place, text: str) -> None:
    Path(place.home.root, "config.yaml").write_text(f"memory_blocks:\n{text}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I prefer Python", "I prefer tabs"),
        ("I prefer Python for scripts", "Actually, I prefer Go now"),
        ("I prefer window seats", "I prefer aisle seats in trains"),
        ("I love Python", "I love Rust"),
        ("I prefer dark mode", "Actually, I prefer vim mode in the shell"),
        ("I prefer to go early", "I prefer Rust"),
        ("I prefer Python", "I'd rather go with Postgres"),
        ("I prefer Python", "I'd rather go now"),
        ("I prefer Python", "I prefer C-style comments"),
        ("I prefer React", "I prefer solid evidence"),
        ("I prefer vim", "I prefer cursor-based pagination"),
        ("I prefer zsh", "I prefer fish over meat"),
        ("I prefer zsh", "I prefer fish, not meat"),
        ("I prefer tabs", "I prefer open spaces"),
        ("I prefer SQLite in tests", "I prefer Postgres in production"),
        ("I prefer SQLite in tests", "I prefer Postgres over SQLite in production"),
        ("For scripts I prefer Python", "In the kernel, I prefer C"),
        ("I prefer error messages in English", "I prefer short commit messages now"),
        ("I prefer long error messages", "I prefer short commit messages now"),
        ("I prefer names in English", "Actually, I prefer answers in plain English now"),
        ("I prefer dark mode", "Actually, I prefer vim mode now"),
    ],
)
def test_preferences_of_different_things_all_hold(before: str, after: str, place: Place) -> None:
    add(place, before, after)
    assert {fact.status for fact in fact_store.list_facts(place)} == {"active"}


def test_a_decision_about_oneself_stays_with_the_user(place: Place) -> None:
    add(place, "I've decided to use my own laptop", "I decided to move to Berlin")
    assert place.project
    assert stored.load_facts(place.project) == {}
    assert len(fact_store.list_facts(place)) == 2


def test_offers_do_not_contradict_each_other(place: Place, memfs: Run) -> None:
    add(
        place,
        "Always deploy on Fridays.",
        "Never deploy on Fridays.",
        "Never keep more than 3 backups.",
        "Never keep more than 5 backups.",
        "I prefer tabs over spaces.",
        "Always run the tests.",
    )
    assert [offer.fact.statement for offer in facts.list_offers(place)] == [
        "Never deploy on Fridays",
        "Never keep more than 5 backups",
        "I prefer tabs over spaces",
        "Always run the tests",
    ]
    assert "Always deploy" not in memfs("facts", "offer").out


def test_relations_of_plain_sentences_are_walked(place: Place, memfs: Run) -> None:
    add(place, "The API uses Postgres.", "Postgres runs on eu1.", "Ana owns billing.", "It uses X.")
    assert [fact.relations for fact in fact_store.list_facts(place)] == [
        (("API", "uses", "Postgres"),),
        (("Postgres", "runs on", "eu1"),),
        (("Ana", "owns", "billing"),),
    ]
    near = json.loads(memfs("facts", "list", "--related", "api", "--json").out)
    assert [each["statement"] for each in near] == ["The API uses Postgres", "Postgres runs on eu1"]
    one = memfs("facts", "list", "--related", "api", "--depth", "1").out
    assert "The API uses Postgres" in one
    assert "eu1" not in one
    found = Facts(place, index=OpenStore(place)).retrieve(Query(path="billing", depth=2))
    assert [each.text for each in found] == ["Ana owns billing"]


@pytest.mark.parametrize(
    "text",
    ["Please check who owns billing", "It is 5", "There is 1 failure", "The code uses a lot"],
)
def test_other_short_sentences_are_no_relations_or_values(text: str) -> None:
    assert prose.extract_facts([message(1, text)]) == []


def test_extraction_obeys_threshold_and_categories(place: Place, memfs: Run) -> None:
    configure(
        place,
        "  facts:\n    type: facts\n    config:\n      confidence_threshold: 0.82\n"
        "      categories: [technical, preferences, rule, colours]\n",
    )
    record(place, "Never deploy on Fridays.", "timeout is 5", "We decided to use Postgres.")
    shown = memfs("facts", "extract")
    assert "! memory_blocks.facts.config.categories: unknown category 'colours' (use " in shown.err
    assert [fact.statement for fact in fact_store.list_facts(place)] == ["Never deploy on Fridays"]


@pytest.mark.parametrize(("setting", "count"), [("true", 1), ("false", 2)])
def test_extraction_obeys_deduplication(setting: str, count: int, place: Place, memfs: Run) -> None:
    configure(place, f"  facts:\n    type: facts\n    config:\n      deduplication: {setting}\n")
    record(place, "Never deploy on Fridays.", "Never, deploy on Fridays.")
    memfs("facts", "extract")
    assert len(fact_store.list_facts(place)) == count


def test_graph_settings_hold_for_the_command(place: Place, memfs: Run) -> None:
    for number in range(4):
        say(place, f"s{number}", *FIXED, day=number + 1)
    whole = json.loads(memfs("graph", "--json").out)
    assert whole["patterns"]
    assert {flow["outcome"] for flow in whole["latest"]} == {0, 1}
    deep = json.loads(memfs("graph", "--path", "message:1", "--depth", "5", "--json").out)
    configure(
        place,
        "  graph:\n    type: graph\n    config:\n      max_depth: 1\n"
        "      pattern_detection: false\n      outcome_tracking: false\n",
    )
    found = json.loads(memfs("graph", "--json").out)
    assert found["patterns"] == []
    assert {(flow["outcome"], flow["why"]) for flow in found["latest"]} == {(0, "")}
    near = json.loads(memfs("graph", "--path", "message:1", "--depth", "5", "--json").out)
    assert len(near) == 1 < len(deep)
    assert [fix for _, fix in graph_op.find_similar(place, "retry test fails", 3).flows] == [
        None,
        None,
        None,
    ]


def test_a_pattern_may_be_an_intent(place: Place) -> None:
    say(place, "one", *FIXED)
    graph = Graph(place)
    for texts in ("", "the retry test"):
        found = graph.retrieve(Query(texts, pattern="problem"))
        assert [each.metadata["intent"] for each in found] == ["problem"]
    graph.close()


@pytest.mark.parametrize(
    ("text", "sentiment", "outcome"),
    [
        ("so be it", "negative", -1),
        ("so be it", "positive", 1),
        ("so be it", "", 0),
        ("ugh, now two tests hang", "", -1),
        ("this is even worse than before", "", -1),
        ("I'm really happy about it", "", 1),
        ("fix the annoying bug in the parser", "", 0),
        ("I'm really happy about it", "neutral", 0),
    ],
)
def test_the_sentiment_of_the_next_message_gives_the_outcome(
    text: str, sentiment: str, outcome: int, place: Place
) -> None:
    graph = Graph(place)
    graph.store(
        [
            {"id": "1", "content": "rename the parser", "session": "one"},
            {"id": "2", "content": "It is renamed.", "role": "assistant", "session": "one"},
            {"id": "3", "content": text, "sentiment": sentiment, "session": "one"},
        ]
    )
    assert [flow.outcome for flow in graph.flows().session("one")] == [outcome, 0]
    graph.close()
    [path] = recall.sources(place.home)
    assert [each.sentiment for each in recall.messages(path)] == ["", "", sentiment]


def test_an_intent_is_that_which_was_given(place: Place) -> None:
    graph = Graph(place)
    prompt = {
        "content": "the invoice is wrong",
        "intent": "Billing \ud83d question",
        "session": "one",
    }
    graph.store([prompt, {"content": "Which one?", "role": "assistant", "session": "one"}])
    intent = "Billing ? question"
    assert [flow.intent for flow in graph.flows().session("one")] == [intent]
    for texts in ("", "a wrong invoice"):
        found = graph.retrieve(Query(texts, pattern=intent))
        assert [each.metadata["intent"] for each in found] == [intent]
    assert not graph.retrieve(Query(pattern="Shipping question"))
    graph.close()
    [path] = recall.sources(place.home)
    assert [each.intent for each in recall.messages(path)] == [prompt["intent"], ""]


def test_what_is_given_with_a_message_is_written_only_then() -> None:
    plain = message(1, "hello")
    line = message_records.encode_message(plain)
    assert not {"sentiment", "intent"}.intersection(json.loads(line))
    given = plain._replace(sentiment="negative", intent="complaint")
    line = message_records.encode_message(given)
    assert json.loads(line)["sentiment"] == "negative"
    assert message_records.read_message(line) == given


def test_an_unknown_sentiment_is_refused(place: Place) -> None:
    with pytest.raises(UsageError, match="expected one of positive, neutral, negative"):
        Graph(place).store([{"content": "hello", "sentiment": "blue"}])
