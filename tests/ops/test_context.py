"""A context for a task, and what counts its tokens."""

import json
from types import ModuleType, SimpleNamespace

import pytest

from memfs.api import open_memory
from memfs.context import window_budget
from memfs.core.tokens import estimate
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - a fixture


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
    text = "The zephyr gateway has two nodes."
    memfs("create", "gateways", text, "--description", "All gateways.", "--no-pin")
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
    assert shown.err == "no hit is clearly relevant; to show the 1 piece, add --nearest\n"
    assert "listens on port 7741" in memfs(*task, "--nearest").out
    assert json.loads(memfs(*task, "--json").out)["sure"] is False
    assert json.loads(memfs("recall", "zephyr gateway", "--json").out)["sure"] is True


def test_odd_wishes_for_a_context_are_refused(place: Place, memfs: Run) -> None:
    assert memfs("recall", "x", "--budget", "10").code == 2
    assert memfs("recall", "  ").code == 2
    assert memfs("status", "--window", "--compression", "smart").code == 2
    assert memfs("recall", "anything at all").err == "the memory contains nothing about this task\n"
