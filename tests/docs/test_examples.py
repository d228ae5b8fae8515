"""The Python examples of the documentation, run exactly as they are printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from memfs.hosts import claude_transcript
from tests.hosts.transcript_lines import assistant, user

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HIT = "HTTP timeouts are 5 seconds: the gateway gives up after 6."


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
    path = Path(claude_transcript.list_folders(str(home), str(repo))[0], "a.jsonl")
    path.parent.mkdir(parents=True)
    rule = "We decided to use `httpx` for the gateway."
    said = (user(rule, "u1", cwd=str(repo)), assistant("It is done.", "u2", cwd=str(repo)))
    path.write_bytes(b"".join(said))
    [operations] = EXAMPLE.findall((DOCS / "python.md").read_text(encoding="utf-8"))
    [orchestrator] = EXAMPLE.findall((DOCS / "kinds.md").read_text(encoding="utf-8"))

    printed = run(operations).splitlines()
    assert printed[0].startswith("passage ")
    assert printed[0].endswith(HIT)
    assert f"claude {rule} 2" in printed
    assert printed[-2:] == [
        "cannot replace in 'human': 'Alice' is not in it",
        "it must match exactly; look at the block with memfs show",
    ]
    assert (repo / "memory.zip").exists()

    answer = run(orchestrator)
    assert HIT in answer
    assert "How long is the HTTP timeout?" not in answer
