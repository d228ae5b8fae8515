"""The tool tables of seed 001 and seed 000: every tool they name, with what it needs."""

import pytest

from memfs.core.records import Origin
from memfs.store import blocks
from memfs.store.blocks import Place
from memfs.tools import calls, registry
from memfs.tools.calls import ToolCall
from memfs.tools.tool_context import ToolContext

NEEDS = {  # the six of seed 001's summary, and the arguments that they require
    "core_memory_replace": ["label", "old_content", "new_content"],
    "core_memory_append": ["label", "content"],
    "archival_memory_insert": ["content"],
    "archival_memory_search": ["query"],
    "memory_create": ["label", "description"],
    "memory_rethink": ["label", "new_value"],
}


@pytest.mark.parametrize("name", NEEDS)
def test_seed_001_names_a_tool_that_says_when_to_use_it(name: str) -> None:
    tool = registry.built_in()[name]
    assert tool.schema()["required"] == NEEDS[name]
    assert "IMPORTANT" in tool.description or "use" in tool.description.lower()
    assert "xample" in tool.description


def test_seed_000_example_session(place: Place) -> None:
    """The user changes jobs: read, replace, archive, and the answer in a later session."""

    def do(session: str, name: str, **given: object) -> str:
        context = ToolContext(place.home.top, Origin("agent", "claude", session))
        done = calls.run(context, registry.built_in(), ToolCall(name, given))
        assert not done.is_error, done.text
        return done.text

    do("s0", "core_memory_append", label="human", content="User works at Google as engineer")
    assert "works at Google" in do("s1", "core_memory_read", label="human")
    do(
        "s1",
        "core_memory_replace",
        label="human",
        old_content="works at Google",
        new_content="works at Anthropic",
    )
    fact = "User changed jobs from Google to Anthropic in Jan 2025"
    do("s1", "archival_memory_insert", content=fact)
    assert "User works at Anthropic as engineer" in do("s2", "core_memory_read", label="human")
    assert fact in do("s2", "archival_memory_search", query="changed jobs")
    assert blocks.get(place, "human").value == "User works at Anthropic as engineer"


def test_seed_001_labels_are_made_plain_and_taken_once(place: Place) -> None:
    context = ToolContext(place.home.top)
    given = {"label": "Project Alpha", "description": "Details of Project Alpha"}
    made, again = (
        calls.run(context, registry.built_in(), ToolCall("memory_create", given)) for _ in range(2)
    )
    assert not made.is_error
    assert "cannot create 'project_alpha': the block already exists" in again.text
    given = {"label": "human", "description": "Who the user is"}  # it is in the user's tier
    made = calls.run(context, registry.built_in(), ToolCall("memory_create", given))
    assert "cannot create 'human': the block already exists" in made.text
