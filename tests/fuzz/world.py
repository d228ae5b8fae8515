"""A home, a project with something in all that memfs keeps, and a folder that nobody may touch."""

import os
import shutil
from pathlib import Path

from memfs.store import blocks
from memfs.store.blocks import Place
from tests.e2e import linking, ways

ENVIRONMENT = {
    "MEMFS_NOW": "2026-05-03T10:00:00Z",
    "MEMFS_SERVICE_MODE": "off",
    "MEMFS_SERVICE_PAUSE": "off",
    "MEMFS_DEBUG": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


class World:
    """What a target works in. Its project is trusted, and can be made as it was."""

    def __init__(self, top: Path) -> None:
        self.top, self.home, self.repo = top, top / "home", top / "repo"
        self._kept = top / "kept"
        self.others = top / "others"
        self.others.mkdir(parents=True)
        (self.others / "file").write_text("nobody writes here")
        os.environ.update(ENVIRONMENT, HOME=str(self.home))
        linking.fill(self.repo, self.home, "plain")
        for folder in (self.repo, self.home):
            shutil.copytree(folder, self._kept / folder.name, symlinks=True)
        self.store = self.repo / ".agent-memory"
        self._before = self._look()

    def place(self) -> Place:
        return blocks.find_place(str(self.repo))

    def put_back(self, name: str = "") -> None:
        """Make the project and the home as they were, or one file or folder of the store alone."""
        inner = (f"repo/.agent-memory/{name}",) if name else ("repo", "home")
        for each in inner:
            path, kept = self.top / each, self._kept / each
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            if kept.is_dir():
                shutil.copytree(kept, path, symlinks=True)
            elif kept.exists():
                shutil.copy2(kept, path)
        os.chdir(self.repo)

    def go(self, line: str, stdin: str = "") -> None:
        """Run a command; what it refuses is fine, what it cannot do is not."""
        self.through(ways.cli(line, stdin))

    def through(self, door: ways.Door) -> None:
        """Go through a door; raises `AssertionError` for what is a bug of ours."""
        code, said = ways.go_through(door, self.repo)
        assert code in (0, 1, 2), f"exit code {code}: {said[-2500:]}"

    def settle(self) -> None:
        """Let what a target made for itself beside the project count as being there."""
        self._before = self._look()

    def harm(self) -> str:
        """Say what is another beside the project and the home, "" for nothing."""
        now = self._look()
        return "" if now == self._before else f"{now} is not {self._before}"

    def _look(self) -> object:
        return linking.look_at(self.others), sorted(os.listdir(self.top))
