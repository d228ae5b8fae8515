"""What a model is offered: ours, what the configuration changes, and what other packages bring."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from memfs.context import brief_contents
from memfs.core import settings
from memfs.mcp import messages
from memfs.store import blocks
from memfs.store.blocks import Place
from memfs.tools import calls, registry
from memfs.tools.calls import ToolCall
from memfs.tools.tool_context import ToolContext


def configure(place: Place, text: str) -> None:
    assert place.project
    path = Path(place.project.root) / "config.yaml"
    path.write_text(path.read_text() + text)


def test_without_a_store_there_are_the_tools_of_memfs(tmp_path: Path) -> None:
    offer = registry.offer_tools(ToolContext(str(tmp_path)))
    assert list(offer.tools) == list(registry.built_in())
    assert {tool.name for tool in offer.listed} == set(settings.SMALL)
    assert offer.problems == ()


@pytest.mark.parametrize("text", ["tools: full", "tools: {profile: full}"])
def test_the_full_profile_lists_every_tool(place: Place, repo: Path, text: str) -> None:
    configure(place, f"\n{text}\n")
    offer = registry.offer_tools(ToolContext(str(repo)))
    assert [tool.name for tool in offer.listed] == list(registry.built_in())


def test_what_sessions_begin_with_is_eight_tools_of_8_kb(place: Place, repo: Path) -> None:
    listed = registry.offer_tools(ToolContext(str(repo))).listed
    assert len(listed) == len(settings.SMALL) == 8
    text = messages.encode({"tools": [tool.define() for tool in listed]})
    assert len(text) <= 8000


def test_a_hint_names_listed_tools_alone(place: Place, repo: Path) -> None:
    context = ToolContext(str(repo))
    offer = registry.offer_tools(context)
    names = {tool.name for tool in offer.listed}
    for name in (*(f"{each}s" for each in offer.tools), "read_memory", "zzz"):
        told = calls.run(context, offer.tools, ToolCall(name), names).text
        assert not (set(offer.tools) - names) & set(re.findall(r"\w+", told.partition(";")[2]))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("{}", "memory_read"),
        ("{profile: full}", "memory_read"),
        ("{profile: full, remove: [memory_read]}", "core_memory_read"),
        ("{remove: [memory_read]}", ""),
    ],
)
def test_a_brief_and_its_updates_name_a_tool_that_is_listed(
    place: Place, repo: Path, text: str, read: str
) -> None:
    configure(place, f"\ntools: {text}\n")
    listed = {tool.name for tool in registry.offer_tools(ToolContext(str(repo))).listed}
    assert brief_contents.names(place, tools=True).read == read
    assert not read or read in listed
    now = {"project:new": "---\ndescription: d\npinned: false\n---\nx\n"}
    shown = brief_contents.format_updates(now, {}, [], 0, place=place, tools=True)
    assert not (set(registry.built_in()) - listed) & set(re.findall(r"\w+", shown))


def test_tools_are_removed_described_and_added_by_configuration(place: Place, repo: Path) -> None:
    configure(
        place,
        """
tools:
  remove: [memory_delete, memory]
  describe: {core_memory_append: "Only what the team decided.", memory_undo: "Take it back."}
  add:
    note_decision:
      tool: core_memory_append
      description: Write a decision down.
      with: {label: persona}
""",
    )
    context = ToolContext(str(repo))
    offer = registry.offer_tools(context)
    assert offer.problems == ()
    assert not {"memory_delete", "memory"} & set(offer.tools)
    assert offer.tools["core_memory_append"].description == "Only what the team decided."
    listed = {tool.name for tool in offer.listed}
    assert listed == {*settings.SMALL, "note_decision", "memory_undo"}
    note = offer.tools["note_decision"]
    assert note.description == "Write a decision down."
    assert "label" not in str(note.schema())
    done = calls.run(context, offer.tools, ToolCall("note_decision", {"content": "We use tabs."}))
    assert not done.is_error
    assert blocks.get(place, "persona").value.endswith("We use tabs.")
    told = calls.run(
        context, offer.tools, ToolCall("note_decision", {"content": "x", "label": "human"})
    )
    assert "has no argument 'label'" in told.text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tools: {remove: [nothing]}", "tools.remove: unknown tool 'nothing'"),
        ("tools: {describe: {nothing: x}}", "tools.describe.nothing: unknown tool"),
        ("tools: {add: {a: {tool: nothing}}}", "tools.add.a: needs an unused name"),
        ("tools: {add: {memory: {tool: memory}}}", "tools.add.memory: needs an unused name"),
        ("tools: {add: {a: {tool: memory, with: 5}}}", "tools.add.a: 'with' must be a mapping"),
        ("tools: {add: {a: {tool: memory_insert, with: {line: -5}}}}", "tools.add.a: 'line' of"),
        (
            "tools: {add: {a: {tool: memory, with: {zzz: 1}}}}",
            "tools.add.a: memory has no argument",
        ),
    ],
)
def test_what_is_wrong_is_named_and_leaves_the_rest(
    place: Place, repo: Path, text: str, problem: str
) -> None:
    configure(place, f"\n{text}\n")
    offer = registry.offer_tools(ToolContext(str(repo)))
    assert len(offer.problems) == 1
    assert offer.problems[0].startswith(problem)
    assert set(offer.tools) == set(registry.built_in())


def offered(site: Path, repo: Path, call: str) -> str:
    """Return what one call prints where packages of `site` are installed, then the problems."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from memfs.tools import calls, registry\n"
        "from memfs.tools.tool_context import ToolContext\n"
        "context = ToolContext(sys.argv[2]); offer = registry.offer_tools(context)\n"
        f"print(calls.run(context, offer.tools, calls.ToolCall({call})).text)\n"
        "print(*offer.problems, sep='\\n')\n"
    )
    command = [sys.executable, "-c", code, str(site), str(repo)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def install(site: Path, name: str, entries: str, code: str) -> None:
    """Put a package where an installer would."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[memfs.tools]\n{entries}")
    (site / f"{name}.py").write_text(f"from memfs.tools.definition import Parameter, Tool\n{code}")


def test_a_package_brings_a_tool_and_a_broken_one_breaks_nothing(
    place: Place, repo: Path, tmp_path: Path
) -> None:
    install(
        tmp_path,
        "greeter",
        "greet = greeter:TOOL\nbroken = nowhere:TOOL\nodd = greeter:ODD\n",
        "TOOL = Tool('greet', 'Greet', 'read', (Parameter('who', 'string', 'Who.', True),),\n"
        "            lambda context, given: f'hello {given[\"who\"]}', description='Greets.')\n"
        "ODD = 5\n",
    )
    lines = offered(tmp_path, repo, "'greet', {'who': 'Ann'}").splitlines()
    assert lines[0] == "hello Ann"
    assert any(line.startswith("plugin 'broken' cannot be loaded") for line in lines)
    assert "plugin 'odd' is not a memfs.tools.definition.Tool" in lines


def test_a_plugin_takes_the_name_of_a_removed_tool_alone(
    place: Place, repo: Path, tmp_path: Path
) -> None:
    code = "TOOL = Tool('memory_undo', 'Undo', 'read', (), lambda context, given: 'mine')\n"
    install(tmp_path, "diary", "undo = diary:TOOL\n", code)
    kept = offered(tmp_path, repo, "'memory_undo', {}")
    assert "memory_undo needs 'label'" in kept
    assert "a plugin's tool 'memory_undo' is not used: another tool has its name" in kept
    configure(place, "\ntools: {remove: [memory_undo]}\n")
    assert offered(tmp_path, repo, "'memory_undo', {}") == "mine\n\n"
