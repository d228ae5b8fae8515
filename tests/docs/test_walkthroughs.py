"""The commands that the documentation prints, run page by page in a project like a reader's.

Those of docs/team.md are run by tests/team/test_page.py, which has a PostgreSQL.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfs.store.blocks import Place
from tests.agent.scripted_endpoint import Asked, Say, ScriptedEndpoint, Tool
from tests.docs.pages import PAGES, TOP
from tests.docs.walkthroughs import ELSEWHERE, Walk, is_used, list_lines, walk
from tests.hosts import fake_codex
from tests.importers import samples

DEMO = TOP / "templates/demo/session.jsonl"
ASSISTANTS = "mkdir -p ~/.claude ~/.gemini ~/.copilot ~/.config/opencode ~/.cursor\n"
TOLD = f"memfs -q ingest {DEMO}\n"
ASKED = f"""{TOLD}memfs -q search retry > /dev/null
for kind in SessionStart UserPromptSubmit; do
  printf '{{"session_id":"n","cwd":"%s","hook_event_name":"%s","prompt":"%s","source":"startup"}}' \
    "$PWD" $kind 'do we retry a 429 rate limit of the payments API?' | memfs hook claude > /dev/null
done
"""
BROUGHT = "$(memfs last | grep -oE '^[0-9a-f]{8}')"
DATED = "printf -- '---\\nreview_after: 2026-01-02\\n---\\nx\\n' > .agent-memory/blocks/dated.md\n"
PROPOSED = "$(memfs review list --json | grep -oE '[0-9a-f]{20}')"
WAITING = "$(memfs review list --json | grep -oE '\"[0-9a-f]{8}\"' | tr -d '\"')"
IMPORTED = "$(memfs import --list | awk 'NR == 2 { print $1 }')"

# Pages that begin with nothing but a project in git.
NEW = {
    "README.md": Walk(ASSISTANTS),
    "start.md": Walk(ASSISTANTS, {"memfs log": "memfs -q edit human --append Ana; memfs log"}),
}
# Those that begin after `memfs init`.
WALKS = {
    "agent.md": Walk(
        TOLD + "printf 'review:\n  min_messages: 1\n' >> ~/.agent-memory/config.yaml",
        {"dismiss": "reflect --again; memfs review dismiss", "4d2e": PROPOSED},
    ),
    "check.md": Walk(
        "touch AGENTS.md CLAUDE.md; git add .; git -c user.name=A -c user.email=a@b commit -qm 1\n"
        "git branch origin/main"
    ),
    "concepts.md": Walk(),
    "importers.md": Walk(
        "mkdir -p docs/notes; echo 'Use tabs.' > CLAUDE.md\n"
        "echo 'The gateway is slow.' | tee notes.md > docs/notes/gateway.md\n",
        {"NAME": "w", "ID": IMPORTED},
    ),
    "kinds.md": Walk(
        TOLD + "memfs -q create plan --description Steps --limit 400\n"
        "memfs -q edit plan --set '- The garden opens at nine.\n- The retry test waits.'",
        {"SESSION": "4b8e", "graph retry": "graph httpx"},
    ),
    "own-memory.md": Walk(
        "mkdir -p ~/.codex/memories; echo 'Small commits.' > ~/.codex/memories/MEMORY.md",
        {"--from assistants": "--from assistants --yes"},
    ),
    "pipelines.md": Walk("", {"$MEMORY_DIGEST": "$(memfs trust --digest)"}),
    "page.md": Walk("for each in api shop; do mkdir ../$each; (cd ../$each; memfs -q init); done"),
    "privacy.md": Walk(TOLD),
    "recall.md": Walk(ASKED + DATED, {"3f2a91bc": BROUGHT, "4d2e 77c1": WAITING}),
    "second-machine.md": Walk("", {"git@example.com:ann/memory.git": "~/memory.git"}),
    "sources.md": Walk("mkdir -p docs handbook ~/notes"),
    "troubleshooting.md": Walk(TOLD),
    "undo.md": Walk(
        "for each in Ana Bob Eve; do memfs -q edit human --append $each; done",
        {"--everything   ": "--everything --yes"},
    ),
}


def answer_as_agent(asked: Asked) -> Say:
    append = Tool("core_memory_append", {"label": "human", "content": f"Works at {asked.number}."})
    return Say("Noted.") if asked.step else Say("", (append,))


@pytest.fixture
def model() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(answer_as_agent) as server:
        yield server


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMFS_NOW", "2026-12-01T10:00:00Z")


@pytest.mark.parametrize("page", NEW)
def test_the_commands_of_a_page_for_who_begins(
    page: str, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shutil.which("memfs")
    assert path
    fake_codex.put(tmp_path, monkeypatch)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin:{Path(path).parent}")
    walk(TOP / page if page == "README.md" else TOP / "docs" / page, repo, NEW[page])


@pytest.mark.parametrize("page", WALKS)
def test_the_commands_of_a_page(
    page: str, place: Place, repo: Path, home: Path, model: ScriptedEndpoint
) -> None:
    shutil.move(samples.make_cline(home), home / ".cline/data")
    steps = WALKS[page]
    instead = {"http://localhost:11434/v1": model.url, **steps.instead}
    walk(TOP / "docs" / page, repo, steps._replace(instead=instead))


def test_each_page_with_commands_has_a_walk() -> None:
    with_commands = {page.name for page in PAGES if list(list_lines(page))}
    assert with_commands == {*NEW, *WALKS, "team.md"}


def test_what_is_run_elsewhere_is_printed_somewhere() -> None:
    assert [each for each in ELSEWHERE if not is_used(each, PAGES)] == []
