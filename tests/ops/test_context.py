"""What the memory takes of a window, and what would be cut of it."""

from __future__ import annotations

import json
from types import ModuleType, SimpleNamespace

import pytest

from memfs.api import open_memory
from memfs.context import window_budget
from memfs.core.body_edits import Append, Create
from memfs.core.records import Origin
from memfs.core.tokens import estimate
from memfs.ops import edit
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - a fixture

USER = Origin("user")


def test_sections_and_what_is_left_make_up_the_room(place: Place) -> None:
    edit.run(place, [Append("human", "Name: Alice")], USER)
    found = window_budget.measure_window(place, 8192)
    names = [section.name for section in found.sections]
    assert names == [
        "instructions",
        "persona",
        "human",
        "system_rules",
        "names of other blocks and tools",
    ]
    assert found.used + found.left == found.budget.room
    assert all(section.cut == 0 for section in found.sections)


def test_what_has_no_room_would_be_cut(place: Place) -> None:
    edit.run(place, [Create("big", "Much.", "a line of a long block\n" * 200)], USER)
    found = window_budget.measure_window(place, 4096)
    [big] = [section for section in found.sections if section.name == "big"]
    assert big.tokens > 900
    assert 0 < big.shown < big.tokens / 2
    assert found.used <= found.budget.get_share("blocks") + 1
    assert found.host == ()


def test_what_the_limit_of_hooks_cuts_is_named(place: Place, memfs: Run) -> None:
    for name in ("one", "two", "three"):
        edit.run(place, [Create(name, "Much.", "a line of a long block\n" * 200)], USER)
    shown = memfs("status", "--window")
    assert shown.code == 0
    assert "! an assistant's hooks take less than this: 'two' is cut there" in shown.err


def test_the_command_shows_a_bar_for_each(place: Place, memfs: Run) -> None:
    shown = memfs("status", "--window", "--tokens", "8192")
    lines = shown.out.splitlines()
    assert lines[0].split() == ["SECTION", "TOKENS", "OF", "THE", "ROOM", "CUT"]
    assert lines[-1].startswith("left for the conversation")
    assert shown.err == (
        "8,192 tokens, 2,730 of them reserved for the answer, 512 for tool calls; counted by an estimate\n"
    )
    found = json.loads(memfs("status", "--window", "--tokens", "8192", "--json").out)
    assert found["used"] + found["left"] == 8192 - 2730 - 512


def test_a_window_that_is_too_small_is_refused(place: Place, memfs: Run) -> None:
    assert memfs("status", "--window", "--tokens", "10").code == 2


def test_tiktoken_counts_where_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    class Encoding:
        def encode_ordinary(self, text: str) -> list[str]:
            return text.split()

    load = ModuleType("tiktoken.load")
    module = ModuleType("tiktoken")
    module.__dict__.update(load=load, get_encoding=lambda _: Encoding())
    monkeypatch.setitem(__import__("sys").modules, "tiktoken", module)
    monkeypatch.setitem(__import__("sys").modules, "tiktoken.load", load)
    window_budget.load_counter.cache_clear()
    try:
        found = window_budget.load_counter()
        assert (found.name, found.measure("one two")) == ("tiktoken (o200k_base)", 2)
        with pytest.raises(OSError, match="is not in the cache"):
            load.__dict__["read_file"]("https://example.invalid/o200k")
        module.__dict__.update(get_encoding=SimpleNamespace())
        window_budget.load_counter.cache_clear()
        assert window_budget.load_counter().measure is estimate
    finally:
        window_budget.load_counter.cache_clear()


def test_a_context_is_composed_for_a_task(place: Place, memfs: Run) -> None:
    memfs("archive", "add", "The zephyr gateway listens on port 7741 because of the firewall.")
    memfs(
        "create",
        "gateways",
        "The zephyr gateway has two nodes.",
        "--description",
        "All gateways.",
        "--no-pin",
    )
    memfs("edit", "human", "--append", "Knows the zephyr gateway.")
    shown = memfs("recall", "restart the zephyr gateway", "--budget", "300")
    assert shown.code == 0
    assert "> The zephyr gateway listens on port 7741 because of the firewall.\n" in shown.out
    assert "- block gateways\n> All gateways.\n> The zephyr gateway has two nodes.\n" in shown.out
    assert "Knows the zephyr gateway" not in shown.out, "it is in context anyway"
    assert "tokens: 2 pieces; " in shown.err
    assert estimate(shown.out) <= 300
    memory = open_memory(".")
    assert memory.context("restart the zephyr gateway", 300) == shown.out


def test_a_context_says_where_nothing_is_clearly_relevant(place: Place, memfs: Run) -> None:
    memfs("archive", "add", "The zephyr gateway listens on port 7741 because of the firewall.")
    task = ("recall", "write an essay about doors and the wind")
    shown = memfs(*task)
    assert (shown.code, shown.out) == (0, "")
    assert shown.err == "no hit is clearly relevant; --nearest shows the 1 piece\n"
    assert "listens on port 7741" in memfs(*task, "--nearest").out
    assert json.loads(memfs(*task, "--json").out)["sure"] is False
    assert json.loads(memfs("recall", "zephyr gateway", "--json").out)["sure"] is True


def test_odd_wishes_for_a_context_are_refused(place: Place, memfs: Run) -> None:
    assert memfs("recall", "x", "--budget", "10").code == 2
    assert memfs("recall", "  ").code == 2
    assert memfs("status", "--window", "--compression", "smart").code == 2
    assert memfs("recall", "anything at all").err == "the memory has nothing about that\n"
