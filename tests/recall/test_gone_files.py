"""What a recalled text names that is gone from the project, or moved, and nothing else."""

import json
import subprocess
from pathlib import Path

import pytest

from memfs.ops import brief
from memfs.recall import gone_files, index_sources
from memfs.recall.gone_files import GoneFiles
from memfs.search.prompt_relevance import PromptHit
from memfs.store import blocks, data_sources, standing_rules
from memfs.store.blocks import Place
from memfs.store.data_sources import DataSource
from memfs.store.sessions import ShownState
from memfs.store.standing_rules import StandingRule

BEFORE, AFTER = "2026-05-02T10:00:00Z", "2026-09-20T10:00:00Z"
GONE, MOVED = ("file was removed in 2026-09",), ("file is now lib/tax.py",)


@pytest.fixture
def shop(repo: Path, place: Place) -> DataSource:
    """The commits of a project from which files were removed and moved, in two steps."""
    for name in ("src/old.py", "src/tax.py", "a/conf.py", "b/conf.py", "a/index.ts", "b/index.ts"):
        write(repo, name)
    write(repo, "secret.env")
    commit("first", "2026-05-01")
    git("mv", "src/tax.py", "src/vat.py")
    commit("vat", "2026-08-01")
    (repo / "lib").mkdir()
    git("mv", "src/vat.py", "lib/tax.py")
    git("rm", "-q", "src/old.py", "a/conf.py", "b/conf.py", "a/index.ts")
    git("rm", "-q", "--cached", "secret.env")
    write(repo, ".gitignore", "secret.env\n")
    commit("second", "2026-09-03")
    source = data_sources.find_history(place)
    assert source
    assert gone_files.update(source)
    return source


def write(repo: Path, name: str, text: str = "") -> None:
    (repo / name).parent.mkdir(parents=True, exist_ok=True)
    (repo / name).write_text(text or f"{name} {'x' * 90}\n")


def git(*words: str) -> None:
    subprocess.run(["git", *words], check=True)


def commit(message: str, day: str) -> None:
    git("add", "-A")
    git("commit", "-q", "-m", message, f"--date={day}T12:00:00Z")


def describe(source: DataSource, text: str, at: str = BEFORE) -> tuple[str, ...]:
    found = gone_files.load(source)
    assert found
    return found.describe(text, at)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("user: is it in src/old.py?", GONE),
        ("assistant: `old.py:12` reads it", ("src/old.py was removed in 2026-09",)),
        ("`tax.py` rounds", ()),  # one of that name is there
        ("`src/tax.py` rounds", MOVED),
        ("`src/vat.py` rounds", MOVED),
        (
            "`src/old.py`, `src/vat.py`, `b/index.ts`",
            ("src/old.py was removed in 2026-09", "src/vat.py is now lib/tax.py"),
        ),
        ("`conf.py` says", ()),  # which of the two?
        ("`b/conf.py` says", GONE),
        ("`index.ts` exports it", ()),
        ("`a/index.ts` exports it", GONE),
        ("`secret.env` has the key", ()),
        ("`src/never.py` is elsewhere", ()),
        ("`src/old.py` was removed", ()),
    ],
)
def test_a_text_is_said_to_name_what_is_gone(
    shop: DataSource, text: str, told: tuple[str, ...]
) -> None:
    assert describe(shop, text) == told
    assert describe(shop, text, AFTER) == ()  # it knew


def test_what_is_there_again_is_not_gone(shop: DataSource, repo: Path) -> None:
    write(repo, "src/old.py")
    assert describe(shop, "`src/old.py`") == ()
    (repo / "lib/tax.py").rename(repo / "lib/rate.py")
    assert describe(shop, "`src/tax.py`") == ()


def test_a_list_counts_for_its_own_commit(shop: DataSource, repo: Path) -> None:
    assert not gone_files.update(shop)
    git("checkout", "-q", "HEAD~1")
    assert describe(shop, "`src/tax.py`") == ()
    assert gone_files.update(shop)
    assert describe(shop, "`src/tax.py`") == ("file is now src/vat.py",)
    git("checkout", "-q", "main")
    gone_files.update(shop)
    git("mv", "lib/tax.py", "lib/rate.py")
    write(repo, "new/old.py")
    commit("third", "2026-10-01")
    assert gone_files.update(shop)
    assert describe(shop, "`src/tax.py`") == ("file is now lib/rate.py",)
    assert describe(shop, "`old.py`") == ()
    assert describe(shop, "`b/conf.py`") == GONE


def test_what_is_no_project_memory_is_not_annotated(shop: DataSource, place: Place) -> None:
    found = gone_files.load(shop)
    assert found
    assert place.project
    hits = []
    for kind, source in (
        ("passage", f"{place.project.root}/archive/x.md"),
        ("message", ""),
        ("passage", "/home/other/archive/x.md"),
        ("commit", ""),
        ("team", ""),
    ):
        hit = PromptHit(kind, "", "2026-05-02", ["id"], "by meaning")
        hit.source, hit.snippet = source, "see `src/old.py`"
        hits.append(hit)
    found.annotate(place, hits)
    assert [hit.why for hit in hits] == [GONE, GONE, (), (), ()]


def test_a_damaged_list_says_nothing(shop: DataSource) -> None:
    path = Path(shop.index, "gone-files.json")
    path.write_text(json.dumps({"head": "x", "gone": [["a"]]}))
    assert gone_files.load(shop) is None
    assert gone_files.update(shop)
    assert describe(shop, "`src/old.py`") == GONE


def test_a_session_is_told_once_of_its_blocks_and_rules(
    shop: DataSource, repo: Path, place: Place
) -> None:
    block = repo / ".agent-memory/blocks/system_rules.md"
    block.write_text(f"{block.read_text()}The entry is `src/old.py`; `src/vat.py` rounds.\n")
    assert place.project
    rule = StandingRule(BEFORE, "claude", "s0", "m0", "Always run `b/conf.py` before a commit.")
    index_sources.sync(place, embed=False)
    standing_rules.write(place.project, [rule])
    gone = gone_files.load(shop)
    asked = blocks.find_place(str(repo), "s1")
    texts = {key: raw or "" for key, raw in blocks.read_texts(asked).items()}

    def ask(gone: GoneFiles | None, *hits: str) -> str:
        shown = ShownState(texts, [*hits])
        reply, update = brief.updates_since(
            asked, "which couriers round invoices?", shown, tools=False, gone=gone
        )
        assert update.now is None or update.now.hits == lines
        return reply.context

    lines = [
        "system_rules: src/old.py was removed in 2026-09",
        "system_rules: src/vat.py is now lib/tax.py",
        "rule of 2026-05-02: b/conf.py was removed in 2026-09",
    ]
    title = "# Files that memory above names, and that are gone or moved since"
    assert ask(gone).splitlines() == [title, *(f"- {line}" for line in lines)]
    assert ask(gone) == ""
    assert ask(gone_files.load(shop), *lines) == ""  # of a later commit, say
    assert ask(None) == ""
    asked_by = [f"s{number}" for number in range(1500)]
    told = gone_files.load(shop)
    assert told
    assert [bool(told.list_outdated(each, texts, list)) for each in asked_by] == [True] * 1500
    assert len(told._sessions) == 1000


@pytest.mark.parametrize("name", ["a b.py", "x\n# Obey.py", "<system-reminder>.py"])
def test_a_name_that_could_be_read_as_words_is_not_said(
    shop: DataSource, repo: Path, name: str
) -> None:
    git("mv", "lib/tax.py", f"lib/{name}")
    commit("fourth", "2026-10-02")
    assert gone_files.update(shop)
    assert describe(shop, "`src/tax.py`") == ()
