"""Every test starts from nothing: an empty home, a git without configuration, a fixed clock."""

import ctypes
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from memfs.ops import init
from memfs.store import blocks, incoming_changes, local_folder, store_paths, trust
from memfs.store.blocks import Place
from tests.examples import examples
from tests.team.small_server import SmallServer, serve
from tests.team.team_table import TeamTable

NOW = "2026-05-03T10:00:00Z"
_KEPT = ("PATH", "TMPDIR", "LANG", "SYSTEMROOT", "MEMFS_HOSTS_DIR")
_ALSO_KEPT = re.compile("MEMFS_[A-Z]+_BIN")  # an assistant's program
MEMORY = "/dev/shm"  # noqa: S108 - pytest makes a folder of its own in it
_ROOM = 2 << 30  # bytes; what the tests of one process leave is far less


settings.register_profile("memfs", examples(100))
settings.load_profile("memfs")


def pytest_configure() -> None:
    """Put the folders of tests in memory where the system has one: no test waits for a disk.

    A shell that runs the tests in the background makes them, and what they start, deaf to Ctrl-C.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not os.access(MEMORY, os.W_OK) or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        return
    if shutil.disk_usage(MEMORY).free > _ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run first what forks thousands of times: a fork costs what the process has in memory."""
    items.sort(key=lambda item: "/faults/" not in item.nodeid)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty HOME and an environment in which nothing of this machine's user is left."""
    for name in list(os.environ):
        if name not in _KEPT and not _ALSO_KEPT.fullmatch(name):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{Path(sys.executable).parent}")  # memfs
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    account = pwd.struct_passwd(("me", "x", os.getuid(), 0, "", str(home), ""))
    monkeypatch.setattr("pwd.getpwuid", lambda _: account)  # what the system has for its home
    monkeypatch.setenv("MEMFS_NOW", NOW)
    monkeypatch.setenv("MEMFS_SERVICE_MODE", "off")  # no process is left behind
    monkeypatch.setenv("MEMFS_SERVICE_PAUSE", "off")  # however busy the machine is
    monkeypatch.setenv("PAGER", "cat")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Tester")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "tester@example.invalid")
        monkeypatch.setenv(f"GIT_{role}_DATE", NOW)
    return home


@pytest.fixture(scope="session")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What most tests begin with, made once for each process, and copied by those below."""
    return tmp_path_factory.mktemp("originals")


@pytest.fixture
def repo(tmp_path: Path, originals: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty git repository, which is also the current folder."""
    original = originals / "repo"
    if not original.exists():
        subprocess.run(["git", "init", "-q", "-b", "main", str(original)], check=True)
        for sample in original.glob(".git/hooks/*.sample"):
            sample.unlink()
    repo = tmp_path / "repo"
    shutil.copytree(original, repo)
    monkeypatch.chdir(repo)
    return repo


@pytest.fixture
def place(repo: Path, home: Path, originals: Path) -> Place:
    """A repository with a project store and a user store, as `memfs init` makes them."""
    original = originals / "place"
    if not original.exists():
        init.run(str(repo), str(home))
        known = shutil.ignore_patterns("token", "trusted")  # by its path: each its own
        for folder in (repo, home):
            shutil.copytree(folder, original / folder.name, ignore=known)
        return blocks.find_place(str(repo))
    for folder in (repo, home):
        shutil.copytree(original / folder.name, folder, dirs_exist_ok=True)
    local_folder.adopt_folder(store_paths.require(str(repo)), "local")
    store = store_paths.require(str(repo))
    incoming_changes.accept(store)
    trust.grant_trust(store)
    return blocks.find_place(str(repo))


@pytest.fixture
def block_file(place: Place) -> Callable[[str, str], Path]:
    """Write a block file of the project by hand, as a person with an editor does."""

    def write(label: str, text: str) -> Path:
        assert place.project
        path = Path(place.project.root) / "blocks" / f"{label}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return path

    return write


@pytest.fixture
def linked(place: Place, repo: Path, tmp_path: Path) -> Place:
    """The same project in a linked git worktree, from a commit of the store as it is."""
    folder = tmp_path / "linked"
    for command in (
        ["add", "-A"],
        ["commit", "-qm", "store"],
        ["worktree", "add", "-q", str(folder)],
    ):
        subprocess.run(["git", "-C", str(repo), *command], check=True, capture_output=True)
    return blocks.find_place(str(folder))


@pytest.fixture
def bound() -> Iterator[None]:
    """Let modes hold for this process, also where it is root's: what goes past them is put down."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)  # the third version of the call, for this thread
    before = (ctypes.c_uint32 * 6)()
    assert libc.capget(head, before) == 0, "root of this system has no capabilities to put down"
    less = type(before).from_buffer_copy(before)
    less[0] &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, of what is in force
    assert libc.capset(head, less) == 0
    yield
    assert libc.capset(head, before) == 0


@pytest.fixture
def table() -> TeamTable:
    return TeamTable()


@pytest.fixture
def server(table: TeamTable) -> Iterator[SmallServer]:
    """The server of a team, on loopback."""
    with serve(table.answer) as found:
        yield found
