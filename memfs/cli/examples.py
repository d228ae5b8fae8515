"""Examples that stand below the help of commands: each line is one to type as it is."""

from __future__ import annotations

from memfs.store import resources

_MOST = 3  # of one command


def list_examples(path: str, *, group: bool = False) -> list[str]:
    """Return the examples of a command, `memfs archive` or `memfs archive add`; at most three.

    Those of a group are of different commands in it.
    """
    words = path.split()
    lines = resources.read_text("templates", "help", "examples.txt").splitlines()
    found = [line for line in lines if line.split()[: len(words)] == words]
    if group:
        found = list({tuple(line.split()[: len(words) + 1]): line for line in found[::-1]}.values())
        found.reverse()
    return found[:_MOST]
