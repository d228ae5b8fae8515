"""A repository, a linked worktree and a home in a temporary folder, with three large blocks."""

import os
import subprocess
import sys
from pathlib import Path

import memfs

MAIN, LINKED = "", "linked"  # the trees, named as the journal names them
PROJECT_BLOCKS = ("project:decisions", "project:conventions")
USER_BLOCK = "user:habits"
BLOCKS = (*PROJECT_BLOCKS, USER_BLOCK)
_BLOCK = """\
---
description: Lines that somebody checks afterwards
limit: 100000000
version: 1
---
"""


class World:
    """Where everything of one round is."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.trees = {MAIN: root / "repo", LINKED: root / LINKED}
        self.ledgers = root / "ledgers"
        self.stores = {
            "project": self.trees[MAIN] / ".agent-memory",
            "user": self.home / ".agent-memory",
        }

    def make(self) -> None:
        """Make the stores with the program itself, in both trees."""
        self.home.mkdir()
        self.ledgers.mkdir()
        repo = self.trees[MAIN]
        self.git("init", "-q", "--template=", str(repo))
        self.memfs("init")
        for label in BLOCKS:
            self.file(MAIN, label).write_text(_BLOCK)
        self.file(MAIN, USER_BLOCK).chmod(0o600)  # as all of the user tier
        self.git("-C", str(repo), "add", "-A")
        self.git("-C", str(repo), "commit", "-qm", "memory")
        self.git("-C", str(repo), "worktree", "add", "-q", str(self.trees[LINKED]))

    def file(self, tree: str, label: str) -> Path:
        """Return the file of a block in a tree."""
        tier, _, name = label.partition(":")
        root = self.stores["user"] if tier == "user" else self.trees[tree] / ".agent-memory"
        return root / "blocks" / f"{name}.md"

    def files(self) -> dict[str, Path]:
        """Map the key of every block file (see `steps.key_of`) to its path."""
        found = {f"|{USER_BLOCK}": self.file(MAIN, USER_BLOCK)}
        for tree in self.trees:
            found |= {f"{tree}|{label}": self.file(tree, label) for label in PROJECT_BLOCKS}
        return found

    def lock(self, tier: str) -> Path:
        return self.stores[tier] / "local" / "lock"

    def memfs(self, *words: str, tree: str = MAIN) -> subprocess.CompletedProcess[str]:
        """Run the command line to its end; raises where it fails."""
        process = self.start(*words, tree=tree)
        out, err = process.communicate()
        done = subprocess.CompletedProcess(words, process.returncode, out.decode(), err.decode())
        done.check_returncode()
        return done

    def start(
        self, *words: str, tree: str, life: int = 2, stderr: int | None = subprocess.PIPE
    ) -> subprocess.Popen[bytes]:
        """Start the command line in a tree, with pipes; it inherits the open file `life`."""
        return subprocess.Popen(
            [sys.executable, "-m", "memfs", *words],
            cwd=self.trees[tree],
            env=self.environment(),
            pass_fds=(life,),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], env=self.environment(), check=True, capture_output=True)

    def environment(self) -> dict[str, str]:
        """Return the whole environment of every process of the round."""
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        who = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Tester"), ("EMAIL", "tester@example.invalid"))
        }
        return {
            **kept,
            **who,
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "MEMFS_DEBUG": "1",
            "MEMFS_SERVICE_MODE": "off",  # whoever is killed does its own work
            "PYTHONPATH": str(Path(memfs.__file__).parent.parent),  # the very code that is checked
        }
