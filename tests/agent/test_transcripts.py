"""What a model is sent at four windows, as texts to read.

They are kept in `transcripts/`. To record them anew after a wanted change, and look at the diff:
`MEMFS_TEST_RECORD=1 python -m pytest tests/agent/test_transcripts.py -n 0`.
"""

from __future__ import annotations

import json
import os
import textwrap
from pathlib import Path
from typing import cast

import pytest

from memfs.tools import registry
from tests.agent.conftest import Talk
from tests.agent.scripted_endpoint import Asked, Json, Say, Tool, messages
from tests.tools.test_seeds import NEEDS

RECORD = bool(os.environ.get("MEMFS_TEST_RECORD"))
FOLDER = Path(__file__).parent / "transcripts"
ANSWERS = (
    Say("", (Tool("core_memory_append", {"label": "human", "content": "Name: Alice"}),)),
    Say("Nice to meet you, Alice.", (Tool("archival_memory_search", {"query": "Alice"}),)),
    Say("I know nothing else of you yet."),
)


def render(body: Json) -> str:
    parts = []
    for message in messages(body):
        calls = cast("list[dict[str, Json]]", message.get("tool_calls") or [])
        lines = [str(message.get("content") or "").rstrip()]
        lines += [
            f"calls {each['function']['name']} {each['function']['arguments']}" for each in calls
        ]
        parts.append(f"=== {message['role']}\n" + "\n".join(filter(None, lines)))
    for tool in cast("list[dict[str, Json]]", body.get("tools") or []):
        function = tool["function"]
        schema = cast("dict[str, dict[str, Json]]", function["parameters"])
        required = cast("dict[str, list[str]]", function["parameters"]).get("required", [])
        lines = [
            f"{'*' if name in required else '-'} {name}: {each.get('description', '')}".rstrip(" :")
            for name, each in schema["properties"].items()
        ]
        parts.append(f"=== tool {function['name']}\n{function['description']}\n" + "\n".join(lines))
    wrapped = [
        textwrap.fill(line, 110, replace_whitespace=False)
        for line in "\n\n".join(parts).split("\n")
    ]
    return "\n".join(wrapped) + "\n"


@pytest.mark.parametrize("window", [8192, 16384, 32768, 200_000])
def test_what_a_model_is_sent(window: int, talk: Talk) -> None:
    asked: list[Asked] = []

    def rule(each: Asked) -> Say:
        asked.append(each)
        return ANSWERS[each.number]

    shown = talk(rule, "I am Alice.", context=f"context: {{max_tokens: {window}}}\n")
    assert shown.out == "I know nothing else of you yet.\n"
    path = FOLDER / f"{window}.txt"
    if RECORD:
        path.parent.mkdir(exist_ok=True)
        path.write_text(render(asked[-1].body), encoding="utf-8")
    assert render(asked[-1].body) == path.read_text(encoding="utf-8")
    sent = cast("list[dict[str, Json]]", asked[-1].body["tools"])
    about = {str(each["function"]["name"]): str(each["function"]["description"]) for each in sent}
    assert {"memory_page_in", "memory_page_out", "conversation_search"} <= set(about)
    for name in NEEDS:  # the six of seed 001
        assert "xample" in about[name]
        assert about[name] == registry.built_in()[name].description
    assert "request_heartbeat" in json.dumps(sent)
