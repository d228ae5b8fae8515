"""What memfs puts into a request: its parts, what is cut of them, and where that is said."""

import json
import re
from pathlib import Path

from memfs.core.body_edits import Append, Create
from memfs.core.records import Origin
from memfs.ops import edit
from memfs.store import handoff, prompt_log
from memfs.store.blocks import Place
from memfs.store.handoff import Handoff
from memfs.store.prompt_log import PromptRecord
from memfs.tools.request_cost import RequestCost, measure_request
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - a fixture

USER = Origin("user")
BRIEF = ["instructions", "persona", "human", "system_rules", "working"]
NAMES, SERVER = "names of other blocks and tools", "the MCP server's instructions"


def names(found: RequestCost) -> list[str]:
    return [each.name for each in found.parts]


def test_all_that_is_put_into_a_request_is_listed(place: Place, home: Path, memfs: Run) -> None:
    edit.run(place, [Append("human", "Name: Alice")], USER)
    memfs("install", "claude")
    found = measure_request(place, str(home), "claude")
    assert names(found) == [*BRIEF, NAMES, "8 tools", SERVER]
    assert all(each.tokens and each.characters and not each.cut for each in found.parts)
    assert found.used + found.left == found.room == found.window == 200_000

    assert place.project
    last = Handoff(
        "s", "claude", place.project.top, "2026-05-03T12:00:00Z", 2**36, "Open: the tests."
    )
    handoff.write(place.project, [last])
    memfs("sync", "claude", "agents")
    found = measure_request(place, str(home), "claude")
    assert names(found)[6:] == [
        "where the last session stopped", "8 tools", SERVER, "memfs section in CLAUDE.md",
    ]  # fmt: skip
    record = PromptRecord(0, "claude", "s", 0, 0, "", "told " * 50)
    for each in (record, PromptRecord(0, "claude", "s", 0, 0, "", "")):
        prompt_log.note_prompt(place.home, each)
    found = measure_request(place, str(home), "claude")
    assert (found.prompts, found.given, found.added) == (2, 49, 24)
    assert f"cost           {found.used:,} of 200,000 tokens" in memfs("status").out


def test_what_is_not_wired_is_not_counted(place: Place, home: Path, memfs: Run) -> None:
    memfs("install", "claude", "--no-mcp")
    assert names(measure_request(place, str(home), "claude")) == [*BRIEF, NAMES]
    assert names(measure_request(place, str(home), "grok")) == [
        SERVER,
        "text that Grok Build adds for MCP",
    ]


def test_a_plugin_is_wired_and_tells_its_skill(place: Place, home: Path, memfs: Run) -> None:
    settings = home / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"enabledPlugins": {"memfs@memfs": True}}))
    assert "Claude Code    wired in" in memfs("status").out
    assert "names of the plugin's skill and command" in names(
        measure_request(place, str(home), "claude")
    )


def test_the_readme_has_the_number(place: Place, home: Path) -> None:
    said = re.search(
        r"about ([\d,]+) tokens", Path(__file__).parents[2].joinpath("README.md").read_text()
    )
    assert said
    assert said[1] == f"{round(measure_request(place, str(home), 'claude').used, -2):,}"


def test_what_has_no_room_is_cut(place: Place, home: Path, memfs: Run) -> None:
    edit.run(place, [Create("big", "Much.", "a line of a long block\n" * 200)], USER)
    found = measure_request(place, str(home), "", 4096)
    [big] = [part for part in found.parts if part.name == "big"]
    assert 0 < big.tokens < big.cut
    for name in ("one", "two"):
        edit.run(place, [Create(name, "Much.", "a line of a long block\n" * 200)], USER)
    memfs("install", "claude")
    shown = memfs("status", "--window")
    assert shown.code == 0
    assert "! the brief has no room for all of 'two': shorten a block" in shown.err


def test_the_command_shows_a_bar_for_each(place: Place, memfs: Run) -> None:
    shown = memfs("status", "--window", "--tokens", "8192")
    lines = shown.out.splitlines()
    assert lines[0].split() == ["PART", "TOKENS", "OF", "THE", "WINDOW", "CUT"]
    assert lines[-1].startswith("left for the conversation")
    found = json.loads(memfs("status", "--window", "--tokens", "8192", "--json").out)
    assert found["used"] + found["left"] == found["room"] == 8192 - 2730 - 512
    assert shown.err == (
        f"{found['used']:,} of 8,192 tokens ({found['used'] / 8192:.1%}) in each request from memfs agent; "
        "3,242 tokens are reserved for the answer and tool calls; counted by an estimate\n"
    )


def test_a_window_that_is_too_small_is_refused(place: Place, memfs: Run) -> None:
    assert memfs("status", "--window", "--tokens", "10").code == 2
