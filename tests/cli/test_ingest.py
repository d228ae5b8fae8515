"""What `memfs ingest` says: everything of a machine, a project, or nothing at all."""

import json
from pathlib import Path

import pytest

from memfs.store import lock
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.hosts.transcript_lines import SESSION, conversation


def hold(home: Path, folder: object, name: str, turns: int) -> None:
    path = home / ".claude/projects" / str(folder).replace("/", "-") / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    data = conversation(turns).replace(b"/home/dev/shop", str(folder).encode())
    path.write_bytes(data.replace(SESSION.encode(), name.encode()))


@pytest.fixture
def full(
    repo: Path, home: Path, memfs: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A project below the home folder, and sessions that were held in it and elsewhere."""
    project = repo.rename(home / "shop")
    monkeypatch.chdir(project)
    assert memfs("init").code == 0
    hold(home, project, "a", 4)
    hold(home, project / "web", "b", 2)
    hold(home, tmp_path / "gone", "c", 3)
    path = home / f".claude/projects/{str(project).replace('/', '-')}"
    (path / "a.jsonl").write_bytes((path / "a.jsonl").read_bytes() + b"{broken\n{also\n")
    (path / "notes.jsonl").write_text("{}\n")
    return project


ALL = """\
! 9 new messages in 3 sessions, from 4 files
  ~/shop: 6 new messages in 2 sessions
  ~/.agent-memory: 3 new messages in 1 session (sessions from folders without a store)
  2 malformed lines skipped
  1 file skipped: not a transcript of a known assistant
    ~/.claude/projects/{slug}/notes.jsonl
"""
AGAIN = """\
! 0 new messages in 0 sessions, from 4 files
  ~/shop: 0 new messages in 0 sessions
  ~/.agent-memory: 0 new messages in 0 sessions (sessions from folders without a store)
  1 file skipped: not a transcript of a known assistant
    ~/.claude/projects/{slug}/notes.jsonl
"""


def test_everything_on_a_machine(full: Path, memfs: Run) -> None:
    slug = str(full).replace("/", "-")
    assert memfs("ingest", "--all") == (0, "", ALL.format(slug=slug))
    assert memfs("ingest", "--all") == (0, "", AGAIN.format(slug=slug))


def test_everything_as_json(full: Path, home: Path, memfs: Run) -> None:
    found = json.loads(memfs("ingest", "--all", "--json").out)
    stores = {each["store"]: (each["sessions"], each["messages"]) for each in found["stores"]}
    assert stores == {f"{full}/.agent-memory": (2, 6), f"{home}/.agent-memory": (1, 3)}
    assert (found["files"], found["sessions"], found["messages"]) == (4, 3, 9)
    assert (found["malformed"], found["no_store"]) == (2, [])
    ((path, reason),) = found["skipped"]
    assert path.endswith("/notes.jsonl")
    assert reason == "not a transcript of a known assistant"


def test_everything_where_no_store_is(repo: Path, home: Path, memfs: Run) -> None:
    hold(home, repo, "a", 2)
    shown = memfs("ingest", "--all")
    assert shown == (
        0,
        "",
        (
            "! 0 new messages in 0 sessions, from 1 file\n"
            "  1 session left out: their folder has no store; run memfs init in that folder\n"
            f"    {repo}\n"
        ),
    )
    (left,) = json.loads(memfs("ingest", "--all", "--json").out)["no_store"]
    assert (left["folder"], left["sessions"]) == (str(repo), 1)


def test_a_store_that_cannot_be_written_is_an_error_at_the_end(
    place: Place, repo: Path, home: Path, memfs: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold(home, repo, "a", 2)
    assert place.project
    monkeypatch.setattr(lock, "WAIT", 0.1)
    with lock.hold_lock(place.project, name="ingest.lock"):
        shown = memfs("ingest", "--all")
    assert shown.code == 1
    assert shown.err.splitlines()[1] == f"  {repo}: 0 new messages in 0 sessions"
    assert shown.err.splitlines()[2].startswith(
        "error: not all sessions were read: the store is locked by"
    )


def test_all_takes_no_paths(repo: Path, memfs: Run) -> None:
    shown = memfs("ingest", "--all", str(repo))
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.startswith(
        "error: --all cannot be combined with PATHS\nhint: run memfs ingest PATHS"
    )


def test_nothing_to_read(place: Place, repo: Path, memfs: Run, tmp_path: Path) -> None:
    assert memfs("ingest").err == (
        f"no transcripts found for {repo}\n"
        "to read the transcripts of all projects, run: memfs ingest --all\n"
    )
    assert memfs("ingest", "--all").err == "no assistant transcripts found on this machine\n"
    (tmp_path / "empty").mkdir()
    assert memfs("ingest", str(tmp_path / "empty")).err == "no transcripts found in these paths\n"
    assert json.loads(memfs("ingest", "--json").out)["files"] == 0
    assert json.loads(memfs("ingest", "--all", "--json").out)["stores"] == []


@pytest.mark.parametrize("words", [["--all"], [], ["FILE"], ["FOLDER"]])
def test_a_compressed_transcript_is_named_with_what_to_do(
    place: Place, home: Path, memfs: Run, words: list[str]
) -> None:
    path = home / ".codex/sessions/2026/08/01/rollout-2026-08-01T10-00-00-abc.jsonl.zst"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\x28\xb5\x2f\xfd\x24\x05")
    named = {"FILE": str(path), "FOLDER": str(path.parent)}
    shown = memfs("ingest", *(named.get(word, word) for word in words))
    assert place
    assert shown.err.startswith("! 0 new messages in 0 sessions, from 1 file\n")
    assert "1 file skipped: compressed: unpack a copy with zstd -d, then run" in shown.err
    assert path.name in shown.err


def test_a_dry_run_names_what_would_be_read(full: Path, home: Path, memfs: Run) -> None:
    slug = str(full).replace("/", "-")
    for number in range(7):
        hold(home, full, f"s{number}", 1)
    lines = memfs("ingest", "--dry-run", "--all").err.splitlines()
    assert lines[0] == "~/shop/.agent-memory: new messages from 9 files would be read"
    assert f"    ~/.claude/projects/{slug}/a.jsonl" in lines
    assert "    … and 4 more; --json lists all" in lines
    assert "~/.agent-memory: new messages from 1 file would be read" in lines
    folder = str(home / ".claude/projects")
    [found] = json.loads(memfs("ingest", "--dry-run", "--json", folder).out)
    assert found["store"] == f"{full}/.agent-memory"
    assert len(found["files"]) == 11
    (full / "empty").mkdir()
    assert memfs("ingest", "--dry-run", "empty").err == "no transcripts found\n"
    assert "0 messages in 0 sessions" in memfs("status").out
