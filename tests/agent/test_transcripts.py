"""What a model is sent at four windows, and the conversations of `docs/agent.md`, to read.

The first are kept in `transcripts/`. To record both anew after a wanted change, and look at the diff:
`MEMFS_TEST_RECORD=1 python -m pytest tests/agent/test_transcripts.py -n 0`.
"""

import json
import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, cast

import pytest

from memfs.tools import registry
from tests.agent.conftest import Talk
from tests.agent.scripted_endpoint import Asked, Json, Say, Tool, messages
from tests.cli.conftest import Run
from tests.tools.test_seeds import NEEDS

RECORD = bool(os.environ.get("MEMFS_TEST_RECORD"))
FOLDER = Path(__file__).parent / "transcripts"
ANSWERS = (
    Say("", (Tool("core_memory_append", {"label": "human", "content": "Name: Alice"}),)),
    Say("Nice to meet you, Alice.", (Tool("archival_memory_search", {"query": "Alice"}),)),
    Say("I know nothing else of you yet."),
)


def render_messages(said: Sequence[Json]) -> Iterator[str]:
    for message in said:
        calls = cast("list[dict[str, Json]]", message.get("tool_calls") or [])
        lines = [str(message.get("content") or "").rstrip()]
        lines += [
            f"calls {each['function']['name']} {each['function']['arguments']}" for each in calls
        ]
        yield f"=== {message['role']}\n" + "\n".join(filter(None, lines))


def wrap(parts: Sequence[str]) -> str:
    wrapped = [
        textwrap.fill(line, 110, replace_whitespace=False)
        for line in "\n\n".join(parts).split("\n")
    ]
    return "\n".join(wrapped) + "\n"


def render(body: Json) -> str:
    parts = [*render_messages(messages(body))]
    for tool in cast("list[dict[str, Json]]", body.get("tools") or []):
        function = tool["function"]
        schema = cast("dict[str, dict[str, Json]]", function["parameters"])
        required = cast("dict[str, list[str]]", function["parameters"]).get("required", [])
        lines = [
            f"{'*' if name in required else '-'} {name}: {each.get('description', '')}".rstrip(" :")
            for name, each in schema["properties"].items()
        ]
        parts.append(f"=== tool {function['name']}\n{function['description']}\n" + "\n".join(lines))
    return wrap(parts)


@pytest.mark.parametrize("window", [8192, 16384, 32768, 200_000])
def test_what_a_model_is_sent(window: int, talk: Talk) -> None:
    shown = talk(ANSWERS, "I am Alice.", context=f"context: {{max_tokens: {window}}}\n")
    assert shown.out == "I know nothing else of you yet.\n"
    path = FOLDER / f"{window}.txt"
    asked = talk.asked
    if RECORD:
        path.write_text(render(asked[-1].body), encoding="utf-8")
    assert render(asked[-1].body) == path.read_text(encoding="utf-8")
    sent = cast("list[dict[str, Json]]", asked[-1].body["tools"])
    about = {str(each["function"]["name"]): str(each["function"]["description"]) for each in sent}
    assert {"memory_page_in", "memory_page_out", "conversation_search"} <= set(about)
    for name in NEEDS:  # the six of seed 001
        assert "xample" in about[name]
        assert about[name] == registry.built_in()[name].description
    assert "request_heartbeat" in json.dumps(sent)


PAGE: Final = Path(__file__).parents[2] / "docs" / "agent.md"
CONTEXT: Final = "blocks: {working: {limit: 150}}\n"
FLAGS: Final = re.MULTILINE | re.DOTALL
SESSION: Final = re.compile(r"^```text\n(=== user\n.*?)^```$", FLAGS)
PART: Final = re.compile(r"^=== (\w+)\n(.*?)(?=^===|\Z)", FLAGS)
BLOCK: Final = re.compile(r"^## \[(\w+)\]", FLAGS)
BEFORE: Final = "User works at Google as engineer"


def read_answer(part: str) -> Say:
    text, *calls = re.split(r"^calls ", part.strip(), flags=re.MULTILINE)
    given = [" ".join(call.split("\n")).split(" ", 1) for call in calls]
    return Say(text.strip(), tuple(Tool(name, json.loads(values)) for name, values in given))


def take_next(rest: Iterator[Say], _: Asked) -> Say:
    return next(rest)


def test_the_conversations_of_the_page(talk: Talk, memfs: Run) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert memfs("edit", "human", "--append", BEFORE).code == 0
    played = page
    for number, session in enumerate(SESSION.findall(page)):
        parts = PART.findall(session)
        answers = [read_answer(part) for role, part in parts if role == "assistant"]
        rest = iter(answers)
        for role, prompt in parts:
            if role == "user":
                words = (prompt.strip(), "--session", f"page-{number}")
                assert talk(partial(take_next, rest), *words, context=CONTEXT).code == 0
        system, *said = messages(talk.asked[-1].body)
        said.append({"role": "assistant", "content": answers[-1].text})
        [block] = BLOCK.findall(parts[-1][1])
        shown = re.search(
            rf"^## \[{block}\].*?(?=^## |^Memory tools|\Z)", str(system["content"]), FLAGS
        )
        assert shown
        said.append({"role": "system", "content": shown[0]})
        text = re.sub(r"\b[0-9a-f]{20}\b", "ID", "\n\n".join(render_messages(said)))
        played = played.replace(session, wrap([text]))
    if RECORD:
        PAGE.write_text(played, encoding="utf-8")
    assert played == page
    assert "Google to Anthropic" in memfs("search", "changed jobs", "--json").out
