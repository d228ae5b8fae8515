"""Links in what memfs keeps to itself: where they are, what they lead to, and what is looked at.

A case is a clone, a home and what is outside of both. All of it is put back before each run.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from unittest import mock

from tests.e2e import ways

MARK = "zyxsecret"  # is in everything outside, and in nothing that a command was given
SESSION = "f6c7db81-ed67-4c4c-a5fe-df792d2079d7"  # of the fixture
SAID = Path(__file__).parents[1] / "hosts/fixtures/claude/basic.jsonl"
NESTED = ("index/catalog.sqlite", f"recall/claude/{SESSION}.jsonl", "sessions/s1/shown.json")
SIGNS = ("token", ".gitignore")  # that the folder was made here
FILES = (
    "journal.jsonl",
    "lock",
    "index.lock",
    "ingest.lock",
    "flow.lock",
    "facts.lock",
    "windows.lock",
    "model.lock",
    "hook.log",
    "heads.json",
    "facts.json",
    "outcomes.jsonl",
    "hooks/claude",
    *NESTED,
)
INNER = ("recall/claude", "sessions/s1")
FOLDERS = ("index", "recall", "sessions", "inbox", "read", "reviews", "windows", "drafts", "backup")
PLACES = (*SIGNS, *FILES, *INNER, *FOLDERS, "")  # the last one is `local` itself
STATES = ("untrusted", "claimed", "trusted")


def fill(repo: Path, home: Path, word: str) -> None:
    """Make a project with something in all that it keeps; its texts hold a word."""
    repo.mkdir(parents=True)
    home.mkdir(exist_ok=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(repo)], check=True)
    os.chdir(repo)
    (repo / "said.jsonl").write_text(SAID.read_text().replace("tabs or", f"tabs {word} or"))
    rules = f"Gophers_dig_tunnels_{word}."
    with mock.patch.dict(os.environ, HOME=str(home)):
        for line in (
            "init",
            f"create rules {rules} --description The_rules.",
            f"edit rules --append {word}",
            f"archive add On_gophers_{word}.",
            f"static add gophers Rodents_{word}.",
            "ingest said.jsonl",
            "facts extract --no-model",
            f"session outcome {SESSION} worked --why {word}",
            "graph",
            "recall tunnels",
            "export --all --with-secrets kept.zip",
        ):
            code, said = ways.go_through(ways.cli(line), repo)
            assert code == 0, (line, said)
        for door in ways.EVENTS:
            ways.go_through(door, repo)
    local = repo / ".agent-memory" / "local"
    for name in FOLDERS:
        (local / name).mkdir(exist_ok=True)
    (local / NESTED[2]).unlink(missing_ok=True)  # the session is told all again
    for name in FILES:
        (local / name).parent.mkdir(parents=True, exist_ok=True)
        if not (local / name).exists():
            (local / name).write_text(f"{word}\n")


class Scene:
    """One clone, one home and what is outside, in a folder of a test."""

    def __init__(self, top: Path, home: Path) -> None:
        self.top, self.home = top, home
        self.clone, self.outside = top / "case" / "clone", top / "case" / "outside"
        self._kept = top / "kept"
        other, theirs = top / "other", top / "theirs"
        fill(other, theirs, MARK)
        fill(self.clone, home, "plain")
        self._make_outside(other / ".agent-memory" / "local")
        self.before = look_at(self.outside)
        for state in reversed(STATES):
            self._bring_about(state)
            for folder in (self.clone, home):
                shutil.copytree(folder, self._kept / state / folder.name, symlinks=True)

    def put_back(self, state: str, places: Iterable[str], *, dangling: bool) -> None:
        """Make the clone and the home new, with links at some places of `local`."""
        for folder in (self.clone, self.home):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self._kept / state / folder.name, folder, symlinks=True)
        for place in places:
            target = self.outside / ("none" if dangling else "") / (place or "local")
            self.link(place, target)
        os.chdir(self.clone)

    def link(self, place: str, target: Path) -> None:
        path = self.clone / ".agent-memory" / "local"
        path = path / place if place else path
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        path.symlink_to(target)

    def harm(self) -> list[str]:
        """Return what is another outside than it was, and make it as it was."""
        now = look_at(self.outside)
        if now == self.before:
            return []
        names = sorted(
            {
                name
                for name in now.keys() | self.before.keys()
                if now.get(name) != self.before.get(name)
            }
        )
        shutil.rmtree(self.outside)
        shutil.copytree(self._kept / "outside", self.outside, symlinks=True)
        self.before = look_at(self.outside)
        return names

    def _make_outside(self, local: Path) -> None:
        """Put what each link leads to outside: it is what memfs would find there, and more."""
        for place in PLACES:
            target = self.outside / (place or "local")
            target.parent.mkdir(parents=True, exist_ok=True)
            source = local / place if place else local
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
                for name in ("v1", "v2"):
                    (target / name).mkdir(exist_ok=True)
                    (target / name / "kept.txt").write_text(MARK)
                (target / ".bashrc").write_text(f"alias ls='ls {MARK}'\n")
            else:
                shutil.copy2(source, target)
        (self.outside / "none").mkdir()
        shutil.copytree(self.outside, self._kept / "outside", symlinks=True)

    def _bring_about(self, state: str) -> None:
        """Take trust away, then also what says that the local folder was made here."""
        os.chdir(self.clone)
        if state == "claimed":
            assert ways.go_through(ways.cli("trust --revoke"), self.clone)[0] == 0
        elif state == "untrusted":
            shutil.rmtree(self.home / ".agent-memory/local/made", ignore_errors=True)


def look_at(top: Path) -> dict[str, tuple[object, ...]]:
    """Return how everything below a folder is: what it is, its size and times, what is in it."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, names, files in os.walk(top):
        for name in (*names, *files, "."):
            path = Path(folder, name)
            status = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            found[os.path.relpath(path, top)] = (
                status.st_ino,
                status.st_mode,
                status.st_size,
                status.st_mtime_ns,
                content,
            )
    return found
