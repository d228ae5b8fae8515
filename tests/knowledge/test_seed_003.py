"""The founding document on kinds of memory (seed 003), as a program follows it."""

import memfs
from memfs.store.blocks import Place
from tests.knowledge.session_graph.conftest import FIXED, say


def test_seed_003_usage_example(place: Place) -> None:
    """Line by line what the document shows, and the README."""
    say(place, "before", *FIXED)
    home = memfs.open(".")
    memory = memfs.Orchestrator(home.place)
    memory.register(
        memfs.Vector(home.place, "conversation-vectors", memfs.Capacity(max_items=10_000))
    )
    memory.register(memfs.Facts(home.place, "extracted-facts"))
    memory.register(memfs.Static(home.place, "user-preferences"))
    memory.register(memfs.Graph(home.place, "conversation-flow"))
    memory.kinds["user-preferences"].store("Answers are short.", key="tone", category="preferences")

    def process_message(message: dict[str, str], state: memfs.State) -> memfs.Context:
        memory.store([message], session="now", vector=True, facts=True, graph=True)
        return memory.context(
            state,
            {
                "vector": {"limit": 5, "threshold": 0.7},
                "facts": {"confidence": 0.8, "recency": "week"},
                "static": {"categories": ["preferences", "rules"]},
                "graph": {"pattern": "similar_intent"},
                "priority": [0.3, 0.3, 0.2, 0.2],
            },
        )

    text = "Never deploy while the retry test of the payment client fails."
    found = process_message(
        {"role": "user", "content": text, "id": "m1"},
        memfs.State(task="the retry test of the payment client fails", session="now"),
    )
    assert found.problems == ()
    assert {f.type for f in found.found["conversation-vectors"]} == {"message"}
    assert [f.text for f in found.found["extracted-facts"]] == [text.rstrip(".")]
    assert [f.text for f in found.found["user-preferences"]] == ["Answers are short."]
    [flow] = found.found["conversation-flow"]
    assert flow.metadata["session"] == "before"
    assert "what worked (the user said thanks): Fixed: the test uses a fake clock" in flow.text
    assert found.steps
    for part in ("Answers are short.", "Never deploy while", "fake clock"):
        assert part in found.text
    assert found.summaries
    assert found.summaries["extracted-facts"].startswith("## rule")
