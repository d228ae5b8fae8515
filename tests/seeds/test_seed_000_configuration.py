"""The configuration section of the first founding document, key by key, and what each does."""

import json
from pathlib import Path

import pytest

from memfs.context import window_budget as budgets
from memfs.core.records import Origin
from memfs.ops import archive, init
from memfs.store import blocks, config, config_file
from memfs.store.blocks import Place
from memfs.tools import calls, registry
from memfs.tools.calls import ToolCall
from memfs.tools.tool_context import ToolContext
from tests.cli.conftest import Run
from tests.hook.calls import call, start
from tests.store.conftest import configure

SECTION = """\
memfs: 1
enabled: true
blocks:
  persona:
    max_tokens: 500
    default_content: "I am a helpful AI assistant with access to a persistent memory system."
  human:
    max_tokens: 500
  working:
    max_tokens: 1000
    clear_on_session_end: true
context:
  max_tokens: 8192
  reserve_for_response: 2000
  message_history_limit: 20
paging:
  page_out_threshold: 0.9
  min_relevance_to_keep: 0.3
  summarize_threshold: 500
archival:
  auto_archive_importance: 7
  search_top_k: 5
"""
PERSONA = "I am a helpful AI assistant with access to a persistent memory system."


@pytest.fixture
def configured(repo: Path, home: Path) -> Place:
    """Stores whose user had the section in their own file before `memfs init`."""
    path = home / ".agent-memory/config.yaml"
    path.parent.mkdir(mode=0o700)
    path.write_text(SECTION)
    init.run(str(repo), str(home))
    return blocks.find_place(str(repo), "s1")


def test_every_key_is_known(configured: Place) -> None:
    assert configured.user
    assert config_file.find_problems(configured.user) == []


def test_blocks_begin_with_their_content_and_limits(configured: Place, repo: Path) -> None:
    assert b"additionalContext" in call(start(repo))[0]
    found = {block.label: block for block in blocks.load(configured)}
    assert found["persona"].value == PERSONA
    limits = {label: block.tokens for label, block in found.items()}
    assert limits == {"persona": 500, "human": 500, "working": 1000, "system_rules": None}


def test_limits_in_characters_hold_for_the_scratch_block(place: Place, repo: Path) -> None:
    configure(place, "blocks: {working: {limit: 1000}}\n")
    assert b"0/1000" in call(start(repo))[0].replace(b",", b"")


def test_a_created_block_begins_with_its_content(place: Place, memfs: Run) -> None:
    configure(place, "blocks: {decisions: {default_content: None yet., max_tokens: 50}}\n")
    assert memfs("create", "decisions", "--description", "What was decided.").code == 0
    block = blocks.get(place, "decisions")
    assert (block.value, block.tokens) == ("None yet.", 50)


def test_content_that_does_not_fit_or_is_secret_is_refused(
    repo: Path, home: Path, memfs: Run
) -> None:
    path = home / ".agent-memory/config.yaml"
    path.parent.mkdir(mode=0o700)
    path.write_text("memfs: 1\nblocks: {persona: {limit: 5, default_content: too long}}\n")
    screen = memfs("init")
    assert screen.code == 2
    assert "blocks.persona.default_content" in screen.err


def test_the_window_is_that_of_the_section(configured: Place) -> None:
    budget = budgets.load_budget(config.load(configured), 0)
    assert (budget.window, budget.response) == (8192, 2000)


def test_the_archive_gives_as_many_hits_as_it_says(place: Place, repo: Path, memfs: Run) -> None:
    for number in range(4):
        text = f"The gopher number {number} digs a tunnel."
        archive.run(place, text, importance=5, tags=(), origin=Origin())
    configure(place, "archival: {search_top_k: 2}\n")
    asked = ToolCall("archival_memory_search", {"query": "gopher tunnel"})
    text = calls.run(ToolContext(str(repo)), registry.built_in(), asked).text
    assert text.startswith("showing 1-2 of 4 hits")
    assert len(json.loads(memfs("search", "gopher tunnel", "--json").out)["hits"]) == 2
