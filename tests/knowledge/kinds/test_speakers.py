"""Speakers of several agents, from what a program stores to what a search finds."""

import json

import pytest

import memfs as api
from memfs.core.records import Origin
from memfs.knowledge.kinds import content
from memfs.knowledge.kinds.facts import Facts
from memfs.knowledge.kinds.graph import Graph
from memfs.knowledge.kinds.protocol import Query
from memfs.knowledge.kinds.vector import Vector
from memfs.ops import sessions
from memfs.recall import index_sources, prompts
from memfs.store import message_records
from memfs.store.blocks import Place
from memfs.tools import calls, registry
from memfs.tools.calls import ToolCall
from memfs.tools.tool_context import ToolContext
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - a fixture

TALK = [
    {"speaker": "planner-agent", "content": "The harbour crane needs a new winch.", "id": "1"},
    {"role": "coder-agent", "content": "The harbour crane has two winches.", "id": "2"},
    {"role": "user", "content": "Paint the harbour crane.", "id": "3"},
    {"role": "user", "speaker": "Ana", "content": "The harbour crane is red.", "id": "4"},
]


@pytest.mark.parametrize(
    ("given", "role", "speaker"),
    [
        ({"speaker": "planner-agent"}, "assistant", "planner-agent"),
        ({"role": "planner-agent"}, "assistant", "planner-agent"),
        ({"role": "assistant", "speaker": "planner-agent"}, "assistant", "planner-agent"),
        ({"role": "user", "speaker": "Ana"}, "user", "Ana"),
        ({"role": "tool", "speaker": "deploy  agent"}, "tool", "deploy agent"),
        ({"role": "human"}, "user", ""),
        ({"speaker": "AI"}, "assistant", ""),
        ({}, "user", ""),
    ],
)
def test_a_speaker_is_no_user(given: dict[str, str], role: str, speaker: str) -> None:
    [message] = content.messages([{"content": "The text.", **given}])
    assert (message.role, message.speaker) == (role, speaker)
    assert message_records.read_message(message_records.encode_message(message)) == message


def test_a_search_finds_what_a_speaker_said(place: Place, memfs: Run) -> None:
    Graph(place).store(TALK, session="s1")
    with api.open(".") as memory:
        only = api.Filter(kinds=["message"], speakers=["planner-agent"])  # type: ignore[arg-type]
        [hit] = memory.search("harbour crane", only=only)
    assert (hit.speaker, hit.role, hit.who) == ("planner-agent", "assistant", "planner-agent")
    shown = memfs("search", "harbour crane", "--speaker", "planner-agent", "--nearest", "--json")
    assert [each["speaker"] for each in json.loads(shown.out)["hits"]] == ["planner-agent"]
    shown = memfs("search", "harbour crane", "--speaker", "coder-agent", "--nearest")
    assert "python coder-agent" in shown.out
    assert "planner-agent: The harbour crane needs a new winch." in shown.out, "the turn before"
    both = memfs("search", "crane", "--speaker", "user", "--nearest", "--json")  # a role
    assert {each["who"] for each in _hits(both.out)} == {"user", "Ana"}
    assert "coder-agent" in memfs("session", "show", "s1").out


def _hits(out: str) -> list[dict[str, str]]:
    found = json.loads(out)["hits"]
    return [{**each, "who": each["speaker"] or each["role"]} for each in found]


def test_the_tools_find_what_a_speaker_said(place: Place) -> None:
    Graph(place).store(TALK, session="s1")
    context, tools = ToolContext(str(place.home.top), Origin("agent")), registry.built_in()
    call = ToolCall("conversation_search", {"query": "harbour crane", "speaker": "planner-agent"})
    done = calls.run(context, tools, call)
    assert "planner-agent, session s1 (python)" in done.text
    assert "showing 1-1 of 1 hit" in done.text
    day = {"start_date": "2000-01-01", "speaker": "Ana"}
    done = calls.run(context, tools, ToolCall("conversation_search_date", day))
    assert "The harbour crane is red." in done.text
    assert "Paint the harbour crane." not in done.text


def test_windows_know_who_took_part(place: Place) -> None:
    kind = Vector(place)
    [ident] = kind.store(TALK, session="s1", ticket="K-7")
    kind.store("Nobody saw the harbour crane.")
    [found] = kind.retrieve(Query("harbour crane", speakers=("planner-agent",)))
    assert found.id == ident
    assert found.text.startswith(
        "planner-agent: The harbour crane needs a new winch.\ncoder-agent: "
    )
    assert found.metadata["participants"] == ["planner-agent", "coder-agent", "user", "Ana"]
    assert kind.retrieve(Query("harbour crane", speakers=("nobody-agent",))) == []


def test_a_hit_has_the_metadata_of_its_window(place: Place, memfs: Run) -> None:
    kind = Vector(place)
    [ident] = kind.store(TALK, session="s1", ticket="K-7", tags=["port"], topics=["cranes"])
    [found, *_] = kind.retrieve(Query("harbour crane"))
    [whole] = kind.retrieve(Query(id=ident))
    assert {"ticket", "tokens", "participants", "topics", "messages", "from", "to"} < {
        *found.metadata
    }
    assert whole.metadata.items() <= found.metadata.items()
    assert (found.metadata["ticket"], found.metadata["session"]) == ("K-7", "s1")
    shown = json.loads(memfs("search", "harbour crane", "--nearest", "--json").out)
    assert shown["hits"][0]["metadata"]["ticket"] == "K-7"
    assert shown["hits"][0]["session"] == "s1"


def test_what_an_agent_states_is_no_fact_about_the_user(place: Place) -> None:
    said = "I prefer tabs over spaces."
    assert Facts(place).store([{"speaker": "planner-agent", "content": said}]) == []
    assert len(Facts(place).store([{"role": "user", "speaker": "Ana", "content": said}])) == 1


def test_a_prompt_is_answered_with_who_said_it(place: Place) -> None:
    Graph(place).store(
        [
            {"role": "user", "content": "Which rate limit should the public search API have?"},
            {"speaker": "planner-agent", "content": "The public search API has 60 per minute."},
        ],
        session="s1",
    )
    prompt = "what rate limit does the public search API have per minute?"
    index_sources.sync(place, embed=False)
    found = prompts.recall_by_words(place.home.index, prompt, "now", [], 3).found
    assert [line for each in found for line in each.snippet.splitlines()] == [
        "user: Which rate limit should the public search API have?",
        "planner-agent: The public search API has 60 per minute.",
    ]


def test_a_recorded_session_names_its_speakers(place: Place) -> None:
    Graph(place).store(TALK, session="s1")
    said = sessions.read_session(place, "s1")
    assert [each.who for each in said] == ["planner-agent", "coder-agent", "user", "Ana"]
