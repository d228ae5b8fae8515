"""Models behind a command: what they are given, and how their calls are read."""

import json
import sys
from pathlib import Path

import pytest

from memfs.agent.configured_model import Command
from memfs.agent.model import Message, ModelAnswer, ModelError, ModelRequest, SystemNote, UserPrompt
from memfs.agent.written_calls import extract_calls
from memfs.core.errors import MemfsError
from memfs.store import blocks
from memfs.store.blocks import Place
from memfs.tools import registry
from memfs.tools.calls import Result, ToolCall
from tests.agent.conftest import configure
from tests.cli.conftest import Run

TOOLS = list(registry.built_in().values())


def script(folder: Path, body: str) -> str:
    path = folder / "model.py"
    path.write_text(f"import os, sys\nsaid = sys.stdin.read()\n{body}\n")
    return f"{sys.executable} {path}"


def test_it_is_given_the_whole_conversation(tmp_path: Path) -> None:
    line = script(tmp_path, f"open({str(tmp_path / 'said')!r}, 'w').write(said); print('Well.')")
    call = ToolCall("core_memory_read", {"label": "human"}, "c1")
    messages: list[Message] = [
        SystemNote("A summary."),
        UserPrompt("Hi"),
        ModelAnswer("Hm.", (call,)),
        Result(call, "Name: Alice"),
    ]
    assert Command(line, 20).ask(ModelRequest("Be brief.", messages, TOOLS[:1])) == ModelAnswer(
        "Well."
    )
    said = (tmp_path / "said").read_text()
    assert said.startswith("Be brief.\n\nTo call a tool, write a line of this form")
    assert '"name": "core_memory_read"' in said
    nonce = said.rpartition("[assistant ")[2].removesuffix("]")
    assert len(nonce) == 8
    assert said.replace(f" {nonce}", "").endswith(
        "[system]\nA summary.\n\n[user]\nHi\n\n[assistant]\nHm.\n"
        'TOOL_CALL {"name": "core_memory_read", "arguments": {"label": "human"}}\n\n'
        "[result of core_memory_read]\nName: Alice\n\n[assistant]"
    )


@pytest.mark.parametrize(
    ("text", "said", "found"),
    [
        ("Hello.", "Hello.", []),
        ('Noted.\nTOOL_CALL {"name": "f", "arguments": {"x": 1}}', "Noted.", [("f", {"x": 1})]),
        ('```\nTOOL_CALL: {"name": "f",\n "arguments": {}}\n```\nDone', "Done", [("f", {})]),
        (
            'TOOL_CALL {"name": "f", "arguments": {}}\nTOOL_CALL {"name": "g", "arguments": {}}',
            "",
            [("f", {}), ("g", {})],
        ),
        (
            'TOOL_CALL {"name": "f", "arguments": {"x": }\nNext',
            "Next",
            [("f", '{"name": "f", "arguments": {"x": }')],
        ),
        ('Write TOOL_CALL {"name": …} for that.', 'Write TOOL_CALL {"name": …} for that.', []),
        (
            'It says:\n> TOOL_CALL {"name": "f", "arguments": {}}',
            'It says:\n> TOOL_CALL {"name": "f", "arguments": {}}',
            [],
        ),
        (
            'So:\n```\nsome text\nTOOL_CALL {"name": "f", "arguments": {}}\n```',
            'So:\n```\nsome text\nTOOL_CALL {"name": "f", "arguments": {}}\n```',
            [],
        ),
        ('TOOL_CALL {"nothing": 1}', "", [("", '{"nothing": 1}')]),
    ],
)
def test_calls_are_lines_of_the_answer(
    text: str, said: str, found: list[tuple[str, object]]
) -> None:
    rest, calls = extract_calls(text, ["f", "g"])
    assert (rest, [(call.name, call.arguments) for call in calls]) == (said, found)


def test_each_call_has_an_id_of_its_own(tmp_path: Path) -> None:
    line = script(tmp_path, """print('TOOL_CALL {"name": "f", "arguments": {}}\\n' * 2)""")
    answer = Command(line, 20).ask(ModelRequest("", [UserPrompt("Hi")], TOOLS))
    assert [call.id for call in answer.calls] == ["call_1", "call_2"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sys.exit('no credit left')", "failed with exit code 1: no credit left"),
        ("import time; time.sleep(9)", "no answer from"),
    ],
)
def test_what_goes_wrong_is_said(body: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as raised:
        Command(script(tmp_path, body), 1).ask(ModelRequest("", [UserPrompt("Hi")]))
    assert told in raised.value.message


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(ModelError) as raised:
        Command("no-such-program -p", 1).ask(ModelRequest("", [UserPrompt("Hi")]))
    assert raised.value.message == "program 'no-such-program' was not found"
    with pytest.raises(MemfsError):
        Command("'", 1)


def test_it_runs_elsewhere_and_our_hooks_keep_still(tmp_path: Path, place: Place) -> None:
    line = script(tmp_path, "print(os.listdir('.'), os.environ['MEMFS_INSIDE'])")
    assert Command(line, 20).ask(ModelRequest("", [UserPrompt("Hi")])).text == "[] 1"


def test_an_agent_runs_with_a_command(memfs: Run, place: Place, home: Path, tmp_path: Path) -> None:
    call = {"name": "core_memory_append", "arguments": {"label": "human", "content": "Name: Alice"}}
    line = script(
        tmp_path, f"print('Hello Alice.')\nprint('TOOL_CALL', {json.dumps(json.dumps(call))})"
    )
    configure(home, f"llm: {{command: {line}}}\n")
    shown = memfs("agent", "I am Alice.", "--json")
    assert shown.code == 0
    found = json.loads(shown.out)
    assert found["text"] == "Hello Alice."
    assert found["spent"]["calls"] == 1
    assert found["spent"]["tokens"] > 1000
    assert blocks.get(place, "human").value == "Name: Alice"
