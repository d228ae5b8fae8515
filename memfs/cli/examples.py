"""Examples that stand below the help of commands: each line is one to type as it is."""

from __future__ import annotations

from memfs.store import resources

_MOST = 3  # of one command


def list_examples(path: str) -> list[str]:
    """Return the examples of a command, `memfs archive` or `memfs archive add`; at most three."""
    words = path.split()
    lines = resources.read_text("templates", "help", "examples.txt").splitlines()
    return [line for line in lines if line.split()[: len(words)] == words][:_MOST]
