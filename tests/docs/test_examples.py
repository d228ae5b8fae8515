"""The examples of the documentation in Python, YAML and Markdown, run or read as they are printed."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.agent import conversations
from memfs.hosts import claude_transcript
from memfs.ops import doctor, show
from memfs.store.blocks import Place
from tests.docs.pages import PAGES
from tests.hosts.transcript_lines import assistant, user

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HIT = "HTTP timeouts are 5 seconds: the gateway gives up after 6."


def list_examples(page: str, language: str) -> list[str]:
    """List the examples of a page in a language."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [example for found, example in EXAMPLE.findall(text) if found == language]


def run(example: str) -> str:
    """Run an example in a process of its own, and return what it prints."""
    command = [sys.executable, "-W", "error", "-c", example]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.usefixtures("place")
def test_the_examples(repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMFS_NOW")  # "30d" is counted from today
    path = Path(claude_transcript.READER.list_folders(str(home), str(repo))[0], "a.jsonl")
    path.parent.mkdir(parents=True)
    rule = "We decided to use `httpx` for the gateway."
    said = (user(rule, "u1", cwd=str(repo)), assistant("It is done.", "u2", cwd=str(repo)))
    path.write_bytes(b"".join(said))
    [operations] = list_examples("python.md", "python")
    [orchestrator] = list_examples("kinds.md", "python")

    printed = run(operations).splitlines()
    assert printed[0].startswith("passage ")
    assert printed[0].endswith(HIT)
    assert f"claude {rule} 2" in printed
    assert printed[-2:] == [
        "cannot replace text in 'human': 'Alice' is not in the block",
        "match the text exactly; read the block with memfs show",
    ]
    assert (repo / "memory.zip").exists()

    answer = run(orchestrator)
    assert HIT in answer
    assert "How long is the HTTP timeout?" not in answer


def test_the_configurations(place: Place, home: Path) -> None:
    assert place.user
    path = Path(place.user.root, "config.yaml")
    before = doctor.run(place, str(home))
    for page in ("agent.md", "kinds.md", "privacy.md"):
        path.write_text(f"memfs: 1\n{list_examples(page, 'yaml')[0]}")
        assert doctor.run(place, str(home)) == before, page


def test_the_conversation(tmp_path: Path) -> None:
    [_, conversation] = list_examples("agent.md", "yaml")
    (tmp_path / "ours.yaml").write_text(conversation)
    [found] = conversations.load(str(tmp_path))
    assert found.turns == ("We moved the API to 8080.",)


def test_the_block(place: Place, block_file: Callable[[str, str], Path]) -> None:
    [block] = list_examples("concepts.md", "markdown")
    block_file("api", block)
    shown = show.run(place, "api").block
    assert (shown.description, shown.limit) == ("what the API promises", 5000)
    assert shown.value == "GET /v2/items is paged, 50 a page."


def test_the_block_about_files(place: Place, block_file: Callable[[str, str], Path]) -> None:
    [block] = list_examples("files.md", "markdown")
    block_file("deploy", block)
    scope = show.run(place, "deploy").block.scope
    assert (scope.paths, scope.enforce) == (["deploy/**", "*.tf"], "deny")
    assert scope.find_command("git push origin --force")
    assert scope.problems == []


def test_no_page_has_an_example_that_is_not_looked_at() -> None:
    others = {"sh", "text"}  # see test_walkthroughs.py; pictures
    found = Counter(
        (path.name, language)
        for path in PAGES
        for language, _ in EXAMPLE.findall(path.read_text(encoding="utf-8"))
        if language not in others
    )
    assert found == {
        ("agent.md", "yaml"): 2,
        ("check.md", "yaml"): 2,  # see test_release.py
        ("concepts.md", "markdown"): 1,
        ("files.md", "markdown"): 1,
        ("kinds.md", "python"): 1,
        ("kinds.md", "yaml"): 1,
        ("privacy.md", "yaml"): 1,
        ("python.md", "python"): 1,
        ("testing.md", "python"): 1,  # for those who work on memfs: it needs an assistant
    }
