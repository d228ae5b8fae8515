"""Models that err, led through whole conversations: each row is a way to err that was seen."""

import json
import re
from pathlib import Path
from typing import NamedTuple, TypedDict

import pytest

from memfs.agent.written_calls import StreamedText, drop_thoughts, extract_calls
from memfs.store import blocks
from memfs.store.blocks import Place
from memfs.tools import catalog
from tests.agent.conftest import Serve, Talk, configure
from tests.agent.scripted_endpoint import Asked, Say, Tool, content, messages
from tests.cli.conftest import Run


def append(content: str, label: str = "human", **more: object) -> Tool:
    return Tool("core_memory_append", {"label": label, "content": content, **more})


def find(query: str) -> Say:
    return Say("", (Tool("conversation_search", {"query": query}),))


def call(tool: str, **given: object) -> Say:
    return Say("", (Tool(tool, given),))


class Erring(NamedTuple):
    """A model's answers, the last one again and again, and what comes of them.

    `out` is what the user reads, `err` words of what they are told beside, `told` words of what the
    model was sent at last, `human` the block after it. `asked`: how often the model was asked.
    """

    answers: tuple[Say, ...]
    out: str
    asked: int
    told: str = ""
    human: str = ""
    err: str = ""
    code: int = 0
    before: str = ""


class Written(TypedDict):
    """What comes of a call that was read as it was meant."""

    out: str
    asked: int
    told: str
    human: str


ALICE = append("Name: Alice")
SEES = call("core_memory_read", label="human")
NOTED = Say("Noted.")
TEXT = json.dumps({"name": ALICE.name, "arguments": ALICE.arguments})
WRITTEN: Written = {"out": "Noted.\n", "asked": 2, "told": "done: 'human'", "human": "Name: Alice"}
SAME = "The same call gave the same result before"
CLOSING = "No tool can be called any more in this turn."

ELEMENTS = """\
<function_calls>
<invoke name="core_memory_append">
<parameter name="label">human</parameter>
<parameter name="content">Name: Alice</parameter>
</invoke>
</function_calls>"""
QWEN = """\
<function=core_memory_append>
<parameter=label>
human
</parameter>
<parameter=content>
Name: Alice
</parameter>
</function>"""
GIVEN = json.dumps(ALICE.arguments)
FORMS = (
    f"<function=core_memory_append>{GIVEN}</function>",
    f"Noted.\n<function=core_memory_append>\n{GIVEN}\n</function>",
    f"<tool_call>{QWEN}</tool_call>",
    f'[TOOL_CALLS] [{{"name": "core_memory_append", "arguments": {GIVEN}}}]',
    f'<|python_tag|>{{"name": "core_memory_append", "parameters": {GIVEN}}}',
    f'[{{"tool": "core_memory_append", "input": {GIVEN}}}]',
    f'functools[{{"name": "core_memory_append", "arguments": {GIVEN}}}]',
    f'<tool_call>{{"name": "core_memory_append", "arguments": {GIVEN}}}',
    '```tool_code\ncore_memory_append(label="human", content="Name: Alice")\n```',
    '[core_memory_append(label="human", content="Name: Alice")]',
    f"Noted.\n<tool_call>{TEXT}</tool_call>",
    f"```json\n{TEXT}\n```",
    f"Noted.\n```json\n{TEXT}\n```\n",
    TEXT,
    TEXT.replace("arguments", "parameters"),
    ELEMENTS,
)
NO_CALLS = (
    'Use core_memory_append(label="human") for that.',
    'core_memory_append(open("notes"))',
    'core_memory_append(label=open("notes"))',
    '{"tool": "nail", "arguments": {"label": "hum',
    "core_memory_append(label={[1]: 2})",
    '[core_memory_append(label="human"), os.remove(path="notes")]',
    "<b>bold</b>",
    "[1, 2]",
    'In XSLT:\n<function name="twice">2 * x</function>',
    f"A call of an element:\n```xml\n{ELEMENTS}\n```",
    f"Models write\n```json\n{TEXT}\n```\nfor that.",
    f"Models write\n<tool_call>{TEXT}</tool_call>\nfor that.",
    f"Models write\n```\n<tool_call>{TEXT}</tool_call>\n```",
    '{"name": "x", "age": 1}',
)
THOUGHTS = {
    "<think>\nA name.\n</think>\n\nNoted.": "Noted.",
    "<think> A name. </think>\nNoted.": "Noted.",
    "<thinking>They ask": "",
    "<think> is a tag of models, no HTML.": "<think> is a tag of models, no HTML.",
    "<think> and </think> are tags.": "<think> and </think> are tags.",
    "`<think>` is a tag.": "`<think>` is a tag.",
}

TURNS: dict[str, Erring] = {
    "an edit without a word": Erring(
        (Say("", (ALICE,)), NOTED), "Noted.\n", 2, "done: 'human'", "Name: Alice"
    ),
    "a read beside a text that promises": Erring(
        (Say("Let me look.", SEES.calls), Say("I do not know you.")),
        "I do not know you.\n",
        2,
        "Everything known about the user",
    ),
    "an edit with a text ends the turn": Erring(
        (Say("Noted.", (ALICE,)),), "Noted.\n", 1, human="Name: Alice"
    ),
    "nothing at all": Erring((Say(""), Say("Hello.")), "Hello.\n", 2, CLOSING),
    "nothing at all, twice": Erring(
        (Say(""),), "", 2, CLOSING, err="error: the model did not answer with text", code=1
    ),
    "what stands there already is added again": Erring(
        (Say("", (ALICE,)), Say("", (ALICE,)), NOTED),
        "Noted.\n",
        3,
        "nothing changed: 'human' already has this text",
        "Name: Alice",
    ),
    "what contradicts is added": Erring(
        (Say("", (append("Name: Bob"),)), NOTED),
        "Noted.\n",
        2,
        "line 1 contradicts the new text: 'Name: Alice'. If line 1 is outdated, call core_memory_replace "
        'with {"label": "user:human", "old_content": "Name: Alice", "new_content": ""}',
        "Name: Alice\nName: Bob",
        before="Name: Alice",
    ),
    "a call in tags": Erring((Say(f"<tool_call>\n{TEXT}\n</tool_call>"), NOTED), **WRITTEN),
    "calls behind each other": Erring(
        (Say(f"{TEXT}\n<tool_call>{TEXT.replace('Name: Alice', 'City: Rome')}</tool_call>"), NOTED),
        "Noted.\n",
        2,
        human="Name: Alice\nCity: Rome",
    ),
    "a preface, a look, and an edit without a word": Erring(
        (
            Say("Let me look. ", find("where I work").calls),
            Say("", (append("Name: Alice"),)),
            Say("At Acme."),
        ),
        "At Acme.\n",
        3,
        human="Name: Alice",
    ),
    "thoughts before a call and an answer": Erring(
        (Say("<think>A name.</think>", (ALICE,)), Say("<think>\nDone?\n</think>\n\nNoted.")),
        **WRITTEN,
    ),
    "thoughts that were cut off": Erring(
        (Say("<think>They ask where"), Say("At Acme.")), "At Acme.\n", 2, CLOSING
    ),
    "a call that is cut off": Erring(
        (Say('{"tool": "core_memory_append", "arguments": {"label": "hu'), NOTED),
        "Noted.\n",
        2,
        "error: the arguments of core_memory_append must be an object",
    ),
    "a call in tags of a tool that is not there": Erring(
        (Say('<tool_call>{"name": "memory_save", "arguments": {}}</tool_call>'), NOTED),
        "Noted.\n",
        2,
        "error: unknown tool 'memory_save'; did you mean memory_",
    ),
    "a name with the prefix of a provider": Erring(
        (Say("", (Tool("functions.core_memory_append", ALICE.arguments),)), NOTED), **WRITTEN
    ),
    "a name with another prefix": Erring(
        (Say("", (Tool("default_api:Core_Memory_Append", ALICE.arguments),)), NOTED), **WRITTEN
    ),
    "no call where there are calls": Erring(
        (Say("", (Tool("", "{}"),)), NOTED), "Noted.\n", 2, "error: unknown tool ''"
    ),
    "arguments that are encoded twice": Erring(
        (Say("", (Tool("core_memory_append", json.dumps(json.dumps(ALICE.arguments))),)), NOTED),
        **WRITTEN,
    ),
    "a label as its heading shows it": Erring(
        (Say("", (append("Name: Alice", "[HUMAN]"),)), NOTED), **WRITTEN
    ),
    "a label that is not there": Erring(
        (Say("", (append("Name: Alice", "facts"),)), NOTED),
        "Noted.\n",
        2,
        "hint: use one of human, persona, system_rules, working, or create the block with memory_create",
    ),
    "the same search again and again": Erring(
        (find("where I work"),) * 3 + (Say("I do not know."),), "I do not know.\n", 4, SAME
    ),
    "the same search until it is asked without tools": Erring(
        (find("where I work"),),
        "",
        4,
        CLOSING,
        err="error: the model did not answer with text",
        code=1,
    ),
}


@pytest.mark.parametrize("name", TURNS)
def test_a_turn_ends_well(name: str, talk: Talk, place: Place) -> None:
    err = TURNS[name]
    if err.before:
        talk([Say("Noted.", (append(err.before),))], err.before)
    shown = talk(err.answers, "Where do I work?")
    assert (shown.out, shown.code) == (err.out, err.code)
    assert err.err in shown.err
    assert len(talk.asked) == err.asked
    last = messages(talk.asked[-1].body)
    assert err.told in "\n".join(map(content, last))
    assert blocks.get(place, "human").value == err.human
    assert ("tools" in talk.asked[-1].body) == (CLOSING not in content(last[-1]))


def test_a_turn_that_takes_too_many_steps_still_gives_an_answer(talk: Talk) -> None:
    def rule(asked: Asked) -> Say:
        return find(f"try {asked.number}") if "tools" in asked.body else Say("I found nothing.")

    shown = talk(rule, "Where do I work?", "--steps", "3")
    assert (shown.out, shown.code) == ("I found nothing.\n", 1)
    assert "error: the model did not finish after 3 answers" in shown.err


def test_another_task_archives_what_the_former_one_left(
    talk: Talk, memfs: Run, place: Place
) -> None:
    notes = "The retry budget of the payment client is 30 seconds.\nCurrently reading retry.py."
    answer = Say("Noted.", (append(notes, "working"),))
    talk([answer], "Fix the retry test.", "--session", "one")
    prompt = "New task: write the invoice numbering of the billing service"
    talk([Say("Sure.")], prompt, "--session", "one")
    assert "30 seconds" not in talk.asked[0].system
    found = blocks.get(Place(place.project, place.user, "one"), "working")
    assert (found.value, found.paged_out) == ("", True)
    entry = json.loads(memfs("log", "working", "--session", "one", "--json").out)[0]
    assert entry["op"] == "page-out"
    assert "30 seconds" in memfs("archive", "list").out
    assert "retry.py" not in memfs("archive", "list").out


def test_a_page_in_brings_what_is_asked_for_and_nothing_of_this_turn(
    talk: Talk, memfs: Run, place: Place
) -> None:
    others = " ".join(f"The {each} of the harbour is painted green in summer." for each in THINGS)
    asked_for = "The retry budget of the payment client is 30 seconds."
    memfs("archive", "add", f"{others} {asked_for} {others}")
    query = "retry budget of the payment client"
    answers = (call("memory_page_in", query=query), Say("30 seconds."))
    words = (f"What is the {query}?", "--session", "one")
    talk(answers, *words, context="blocks: {working: {limit: 600}}\n")
    found = blocks.get(Place(place.project, place.user, "one"), "working").value
    assert asked_for in found
    assert "What is" not in found
    assert "memory_page_in" not in found
    assert len(found) > 150


THINGS = ("banner", "crane", "ferry", "lantern", "quay", "rope", "sail", "tower")


def test_a_cap_in_tokens_is_shown_and_room_is_offered(talk: Talk, place: Place) -> None:
    block = Path(blocks.get(place, "persona").path)
    lines = "\n".join(f"Rule {n} of the {each} holds in summer." for n, each in enumerate(THINGS))
    text = block.read_text().replace("limit:", "tokens: 100\nlimit:", 1)
    block.write_text(f"{text.rstrip()}\n{lines}\n")
    more = append("Another rule of the harbour holds in winter, too.", "persona")
    room = append("Another rule of the harbour holds in winter, too.", "persona", make_room=True)
    talk([Say("", (more,)), Say("", (room,)), Say("Noted.")], "Add a rule.")
    first, second, third = talk.asked
    heading = next(line for line in first.system.splitlines() if "[PERSONA]" in line)
    assert heading.startswith("## [PERSONA] ⚠️ ")
    assert "/100 tokens (" in heading
    assert "make_room: true to page out these parts: " in second.results[-1]
    assert "paged out: " in third.results[-1]


@pytest.mark.parametrize(
    ("removed", "tools"),
    [
        (["conversation_search", "conversation_search_date"], "core_memory_read"),
        (["archival_memory_insert", "archival_memory_search"], "memory_page_in"),
        ([], "memory_page_out, memory_page_in"),
        ([tool.name for tool in catalog.BUILT_IN], ""),
    ],
)
def test_no_tool_is_named_that_is_not_there(removed: list[str], tools: str, talk: Talk) -> None:
    talk([Say("Hello.")], "Hi", context=f"tools: {{remove: [{', '.join(removed)}]}}\n")
    [system] = [each.system for each in talk.asked]
    named = [name for name in removed if "_" in name]
    assert [name for name in named if re.search(rf"\b{name}\b", system)] == []
    lines = [line for line in system.splitlines() if line.startswith("Memory tools:")]
    assert len(lines) == bool(tools)
    assert tools in "".join(lines)


def test_a_block_with_parts_out_names_the_tool_that_brings_them_back(talk: Talk) -> None:
    answers = (
        Say("", (append("The port is 8080.\nThe host is db1.", "working"),)),
        call("memory_page_out", label="working", task="paint the banner green"),
        Say("Done."),
    )
    talk(answers, "Note the port.")
    assert (
        "(parts of it are paged out; restore them with memory_page_in working)"
        in talk.asked[-1].system
    )


def test_hints_name_what_a_model_can_do(talk: Talk) -> None:
    about = "What it is about."
    makes = [
        call("memory_create", label=f"topic_{number}", description=about) for number in range(7)
    ]
    talk([*makes, call("memory_page_in", query="persona"), Say("Done.")], "Make many blocks.")
    hint = "hint: pass 'pinned: false', add to an existing block, or use archival_memory_insert"
    assert talk.asked[7].results[-1].endswith(hint)
    assert "hint: use memory_search to search the archive" in talk.asked[8].results[-1]


def test_what_comes_after_a_review_is_reviewed_at_the_end(
    serve: Serve, memfs: Run, place: Place, home: Path
) -> None:
    reviewed: list[int] = []

    def rule(asked: Asked) -> Say:
        if asked.said[-1].startswith("[memfs review]") and not asked.step:
            reviewed.append(len(asked.said))
            return Say("", (append(f"Review {len(reviewed)}"),))
        return Say("Well.")

    review = "review: {mode: inline, min_messages: 2}"
    configure(home, f"llm: {{endpoint: {serve(rule).url}, model: m}}\n{review}\n")
    prompts = "".join(f"Prompt {number}.\n" for number in range(7))
    assert memfs("agent", "--interactive", "--session", "one", stdin=f"{prompts}/quit\n").code == 0
    assert reviewed == [3, 6, 10], "after 2 and 4 prompts, and at the end"
    assert blocks.get(place, "human").value == "Review 1\nReview 2\nReview 3"
    assert "human (append, version 4)" in memfs("review").out


def test_the_scratch_block_is_not_made_a_second_time(talk: Talk, place: Place, memfs: Run) -> None:
    makes = call("memory_create", label="working", description="Notes on the task.")
    talk([makes, Say("Done.")], "Note this.", "--session", "agent-0101")
    assert [each.tier for each in blocks.load(place) if each.label == "working"] == []
    talk([Say("Hello.")], "Hi", "--session", "agent-0102")
    memfs("ingest")
    listed = memfs("session", "list").out
    assert "agent-0101 " in listed
    assert "agent-0102 " in listed
    assert memfs("session", "show", "agent-0102").code == 0


@pytest.mark.parametrize("form", FORMS)
def test_what_models_write_for_a_call_is_read(form: str) -> None:
    text, [call] = extract_calls(form, [ALICE.name])
    assert text in ("", "Noted.")
    assert (call.name, call.arguments) == ALICE


@pytest.mark.parametrize(("said", "answer"), THOUGHTS.items())
def test_thoughts_are_dropped_and_their_tag_may_be_spoken_of(said: str, answer: str) -> None:
    assert drop_thoughts(said) == answer


def test_what_stands_around_a_call_is_told_whole() -> None:
    told: list[str] = []
    answer = f"\n\nHello.\nTOOL_CALL {TEXT}\nBye."
    streamed = StreamedText(told.append)
    for letter in answer:
        streamed.add(letter)
    streamed.finish(extract_calls(answer, [ALICE.name])[0])
    assert "".join(told) == "Hello.\n\nBye."


@pytest.mark.parametrize("text", NO_CALLS)
def test_what_is_no_call_stays_text(text: str) -> None:
    assert extract_calls(text, [ALICE.name]) == (text, [])
