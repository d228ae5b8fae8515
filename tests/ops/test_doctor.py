"""What `memfs doctor` names, and what `--fix` does about it: nothing is lost, and once is enough."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Create, Delete, Describe, Edit, Rejected, Rename
from memfs.core.errors import StoreError
from memfs.core.records import Origin
from memfs.ops import archive, brief, doctor, edit, history, install, show, undo
from memfs.ops.doctor import Finding
from memfs.store import blocks, sessions, spool
from memfs.store.blocks import Place
from memfs.store.sessions import ShownState

Write = Callable[[str, str], Path]
HEAD = "---\ndescription: mine\nlimit: 500\n"
LONG = "k: [a\n" * 3000
CONFLICT = "<<<<<<< x\nb\n=======\nc\n>>>>>>> y\n"
FIXES = "run memfs doctor --fix, which repairs the file and saves the old one"


def wrong(place: Place, home: Path) -> list[Finding]:
    """Everything that doctor does not like, but that no assistant is wired."""
    found = [each for each in doctor.run(place, str(home)) if each.level != "ok"]
    return [each for each in found if "is not wired" not in each.text]


def mended(place: Place, home: Path) -> list[str]:
    """Mend twice; return what was done the first time."""
    done = [each.text for each in doctor.fix(place, str(home))]
    assert doctor.fix(place, str(home)) == []
    return done


def rejected(place: Place, wanted: Edit) -> Rejected:
    outcome = edit.run(place, [wanted], Origin())
    assert isinstance(outcome, Rejected)
    return outcome


def dead_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_a_new_store_has_nothing_wrong(place: Place, home: Path) -> None:
    install.run(place, "claude", "project", str(home))
    archive.run(place, "We chose httpx over requests.", importance=5, tags=(), origin=Origin())
    edit.run(place, [Create("notes", "What is worth noting", "one")], Origin())
    brief.start(Place(place.project, place.user, "s"))
    assert wrong(place, home) == []
    assert mended(place, home) == []


@pytest.mark.parametrize(
    ("text", "line", "what", "hint"),
    [
        (f"{HEAD}limit: 600\n---\nx\n", 4, "front matter: while constructing a mapping", FIXES),
        (f"{HEAD}pinned:\ttrue\n\ttags: a\n---\nx\n", 4, "front matter: while scanning", FIXES),
        (f"{HEAD}tags:\n\t- a\n---\nx\n", 5, "front matter: while scanning for the next", FIXES),
        (f"{HEAD}stray\n---\nx\n", 4, "front matter: while scanning a simple key", "fix the"),
        (f"{HEAD}x\n", 4, "the closing '---' line of the front matter is missing", FIXES),
        (f"{HEAD[4:]}---\nx\n", 1, "the opening '---' line of the front matter is missing", FIXES),
        ("---\nlimit: 5\nx\n", 1, "front matter begins here but does not end", "add a line '---'"),
        (f"{HEAD}---\n---\nlimit: 5\n---\nx\n", 5, "the second front matter is read", "move its"),
        (f"{HEAD}---\na\n{CONFLICT}", 6, "merge conflict markers", FIXES),
        (
            f"{HEAD}---\na\n{CONFLICT.replace('=======', '')}",
            6,
            "merge conflict",
            "resolve the conflict in",
        ),
        (f"{HEAD}---\na\nb\0\0\n", 6, "2 NUL bytes in the text", "remove the NUL bytes"),
        (f"{HEAD}---\na\nb\udce9\n", 6, "1 byte not in UTF-8", "save the file as UTF-8"),
        (f"{HEAD}{LONG}---\nx\n", 1, "front matter: 18,029 characters, the limit", "fix the"),
        (f"{HEAD}a: {'[' * 90}\n---\nx\n", 1, "front matter: nested more than 50", "fix the file"),
    ],
)
def test_each_fault_is_named_where_it_is(
    place: Place, home: Path, block_file: Write, text: str, line: int, what: str, hint: str
) -> None:
    path = block_file("odd", text)
    [found] = wrong(place, home)
    assert found.text.startswith(f"{path}:{line}: {what}")
    assert found.hint.startswith(hint)
    assert "## [ODD]" in brief.start(Place(place.project, place.user, "s")).context
    done = mended(place, home)
    if hint != FIXES:
        assert (done, path.read_bytes()) == ([], text.encode("utf-8", "surrogateescape"))
        return
    assert len(done) == 1
    assert wrong(place, home) == []
    undo.undo_edit(place, "odd", Origin())
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_read_refused_mended_and_given_back(
    place: Place, home: Path, block_file: Write, codec: str
) -> None:
    path = block_file("odd", "")
    text = f"{HEAD}version: 3\n---\nGrüße an alle\n"
    path.write_bytes(text.encode(codec))
    as_it_was = path.read_bytes()
    found = blocks.get(place, "odd")
    assert (found.value, found.description, found.limit) == ("Grüße an alle", "mine", 500)
    shown = brief.start(Place(place.project, place.user, "s")).context
    assert "(its file is not UTF-8; run memfs doctor)\nGrüße an alle\n" in shown
    for wanted in (Append("odd", "more"), Describe("odd", {"limit": 9}), Rename("odd", "even")):
        refused = rejected(place, wanted)
        assert refused.message.endswith("the file is UTF-16, not UTF-8")
        assert refused.hint.startswith("memfs doctor --fix converts the file to UTF-8")
    assert [each.text for each in wrong(place, home)] == [
        f"{path}:1: the file is UTF-16, not UTF-8"
    ]
    assert path.read_bytes() == as_it_was
    assert mended(place, home) == ["project:odd: UTF-16 converted to UTF-8"]
    assert path.read_text(encoding="utf-8") == text
    assert isinstance(edit.run(place, [Append("odd", "more")], Origin()), edit.Edited)
    for _ in range(2):
        undo.undo_edit(place, "odd", Origin())
    assert path.read_bytes() == as_it_was
    assert isinstance(edit.run(place, [Delete("odd")], Origin()), edit.Edited)
    undo.undo_edit(place, "odd", Origin())
    assert path.read_bytes() == as_it_was


def test_an_edit_leaves_nul_bytes_and_broken_front_matter_alone(
    place: Place, block_file: Write
) -> None:
    text = f"{HEAD}stray\0\n---\nfirst\0 line\n"
    path = block_file("odd", text)
    shown = brief.start(Place(place.project, place.user, "s")).context
    assert "*mine*\n(its front matter cannot be read; run memfs doctor)\nfirst line\n" in shown
    assert isinstance(edit.run(place, [Append("odd", "second")], Origin()), edit.Edited)
    assert path.read_text() == text + "second\n"
    assert "cannot describe 'odd'" in rejected(place, Describe("odd", {"limit": 400})).message


def test_what_was_protected_stays_protected(place: Place, block_file: Write) -> None:
    for text in (
        f"{HEAD}read_only: true\nread_only: false\n---\nx\n",
        f"{HEAD}\tread_only: true\nstray\n---\nx\n",
        f"{HEAD}read_only: true\nx\n",
    ):
        path = block_file("odd", text)
        assert "read-only" in rejected(place, Append("odd", "more")).message
        assert path.read_text() == text


def test_a_file_where_the_blocks_should_be_is_named(place: Place, home: Path) -> None:
    folder = Path(place.home.root, "blocks")
    shutil.rmtree(folder)
    folder.write_text("x\n")
    assert [each.text for each in wrong(place, home)] == [
        f"{folder} cannot be read: Not a directory"
    ]
    assert mended(place, home) == []


@pytest.mark.parametrize("other", ["Notes", "NOTES", "noteS", "nOtes"])
@pytest.mark.parametrize("earlier", [False, True])
def test_of_two_files_with_one_label_the_one_of_that_name_keeps_it(
    place: Place, home: Path, block_file: Write, other: str, earlier: bool
) -> None:
    second = block_file(other, "upper\n") if earlier else Path()
    first = block_file("notes", "lower\n")
    edit.run(place, [Append("notes", "mine")], Origin())
    second = block_file(other, "upper\n")
    block_file("notes-2", "taken\n")
    assert blocks.get(place, "notes").value == "lower\nmine"
    assert blocks.read_texts(place)["project:notes"] == first.read_text()
    assert [each.text for each in wrong(place, home)] == [
        f"{second} and {first} have the same label"
    ]
    assert mended(place, home) == [f"{second} is now the block 'project:notes-3'"]
    found = [blocks.get(place, label).value for label in ("notes", "notes-2", "notes-3")]
    assert found == ["lower\nmine", "taken", "upper"]
    assert wrong(place, home) == []
    reason = f"{other}.md had the same label as notes.md: by memfs doctor"
    assert history.log(place, "notes-3")[0].reason == reason
    assert [each.op for each in history.log(place, "notes")] == ["append"]


def test_leftovers_of_killed_runs_are_put_away(place: Place, home: Path, repo: Path) -> None:
    install.run(place, "claude", "project", str(home))
    dead, root = dead_process(), Path(place.home.root)
    edit.run(place, [Create("notes", "What is worth noting", "one")], Origin())
    sessions.save(place.home, "s", ShownState({}, []))
    spool.write_note(place.home, "claude", "/x")
    left = [
        root / f".config.yaml.{dead}.tmp",
        root / "blocks/.notes.md.tmp",
        root / f"archive/.p.md.{dead}.tmp",
        root / f"local/sessions/s/.shown.json.{dead}.tmp",
        root / f"local/inbox/.1-a.json.{dead}.tmp",
        home / f".agent-memory/blocks/.human.md.{dead}.tmp",
        repo / f".claude/.settings.json.{dead}.tmp",
    ]
    for path in left:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(f"half of {path.name}")
        path.chmod(0o600)
    alive = root / f"blocks/.notes.md.{os.getpid()}.tmp"
    alive.write_text("still being written")
    (repo / ".claude/.other.tmp").write_text("somebody else's")
    found = {each.text for each in wrong(place, home)}
    assert found == {f"{path} is a temporary file left by an interrupted run" for path in left}
    assert len(mended(place, home)) == len(left)
    assert not any(path.exists() for path in left)
    assert alive.exists()
    assert (repo / ".claude/.other.tmp").exists()
    kept = [*(root / "local/backup").iterdir(), *(home / ".agent-memory/local/backup").iterdir()]
    assert {path.read_text() for path in kept} == {f"half of {path.name}" for path in left}
    assert wrong(place, home) == []


def test_leftovers_in_the_main_store_are_seen_from_a_linked_worktree(
    place: Place, linked: Place, home: Path
) -> None:
    left = Path(place.home.local, ".heads.json.tmp")
    left.write_text("half")
    left.chmod(0o600)
    assert [each.text for each in wrong(linked, home)] == [
        f"{left} is a temporary file left by an interrupted run"
    ]
    assert len(mended(linked, home)) == 1


def test_private_files_are_closed_to_others(place: Place, home: Path) -> None:
    user = home / ".agent-memory"
    journal = Path(place.home.journal)
    human = user / "blocks/human.md"
    journal.chmod(0o644)
    human.chmod(0o664)
    (user / "blocks").chmod(0o755)
    (user / "link").symlink_to("/etc/hosts")
    found = [each.text for each in wrong(place, home)]
    assert found == [
        f"{journal} can be read by other users of this machine",
        f"{user}/blocks and 1 more can be read by other users of this machine",
    ]
    assert mended(place, home) == [
        "project store: 1 files and folders made private",
        "user store: 2 files and folders made private",
    ]
    modes = [path.stat().st_mode & 0o777 for path in (journal, human, user / "blocks")]
    assert modes == [0o600, 0o600, 0o700]
    assert wrong(place, home) == []


def test_damaged_lines_of_the_journal_are_numbered(place: Place, home: Path) -> None:
    journal = Path(place.home.journal)
    lines = journal.read_bytes().split(b"\n")
    journal.write_bytes(b"\n".join([b"{}", lines[0], b"\xff\0", *lines[1:]]) + b"half")
    found = [each.text for each in wrong(place, home)]
    assert found == [
        f"{journal}: lines 1, 3 cannot be read; their versions cannot be restored",
        f"{journal}: the last entry is incomplete",
    ]


def test_a_name_that_is_no_label_is_named_and_its_text_mended(
    place: Place, home: Path, block_file: Write
) -> None:
    path = block_file("Ä" * 100, f"{HEAD}limit: 5\n---\nx\n")
    assert len(wrong(place, home)) == 2
    assert len(mended(place, home)) == 1
    assert path.read_text() == "---\ndescription: mine\nlimit: 5\n---\nx\n"


def test_a_plugin_whose_hook_is_gone_is_an_error(place: Place, home: Path) -> None:
    install.run(place, "opencode", "user", str(home))
    assert any(
        each.text.startswith("opencode is wired to memfs in")
        for each in doctor.run(place, str(home))
    )
    plugin = home / ".config/opencode/plugins/memfs.js"
    plugin.write_text(plugin.read_text().replace(sys.executable, "/gone/python"))
    found = [each for each in doctor.run(place, str(home)) if "/gone/python" in each.text]
    assert [(each.level, each.hint) for each in found] == [
        ("error", "update the settings: memfs install opencode --user")
    ]


def test_a_git_that_refuses_the_folder_is_named_once_with_what_to_do(
    place: Place, home: Path, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    subprocess.run(["chown", "-R", "12345", str(repo / ".git")], check=True)
    [found] = wrong(place, home)
    assert found.text == f"git refuses to use {repo}, because the folder belongs to another user"
    assert found.hint.startswith("if you trust the folder, run git config --global --add safe.")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").symlink_to(str(shutil.which("git")))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")  # no memfs that a committed file could name
    with pytest.raises(StoreError, match=f"settings.json: git refuses to use {repo}"):
        install.run(place, "claude", "project", str(home))


def test_a_git_that_is_not_there_is_named_once(
    place: Place, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = [each for each in wrong(place, home) if "git" in each.text]
    assert [each.hint for each in found] == ["install git"]


CONFLICTED = (
    *(
        f" ({words})"
        for words in ("conflicted copy 2026-11-01", "Anna's conflicted copy 2026-11-01")
    ),
    *(" (In Konflikt stehende Kopie von Anna 2026-11-01)", " (copie en conflit de Anna)"),
    *(" (conflict on 2026-11-01)", " (Anna のコンピュータの競合コピー)"),
    *(".sync-conflict-20261101-120000-ABCDEFG", ".Conflict"),
)


@pytest.mark.parametrize("mark", CONFLICTED)
def test_a_conflicted_copy_of_a_sync_tool_is_named_and_not_used(
    place: Place, home: Path, block_file: Write, mark: str
) -> None:
    block_file("topic/notes", "mine\n")
    copy = block_file(f"topic/notes{mark}", "theirs\n")
    assert [block.label for block in blocks.load(place) if "notes" in block.path] == ["topic/notes"]
    assert "theirs" not in brief.start(Place(place.project, place.user, "s")).context
    [found] = wrong(place, home)
    assert found.text == f"{copy} is a conflicted copy left by a sync tool; memfs does not use it"
    assert mended(place, home) == []
    assert copy.read_text() == "theirs\n"


def test_lines_that_are_no_facts_are_named(place: Place, home: Path) -> None:
    path = Path(place.home.root, "facts/2026-05.jsonl")
    path.parent.mkdir()
    fact = (
        b'{"id":"f","statement":"The port is 7741","confidence":0.9,"category":"config","at":""}\n'
    )
    path.write_bytes(fact + b"no json\n\n" + fact[:20] + b"\n[1]\n\xff\n" + fact)
    [found] = wrong(place, home)
    assert found.text == f"{path}: lines 2, 4, 5, 6 are not facts"


def test_a_file_that_is_too_large_is_shown_from_its_beginning(
    place: Place, home: Path, block_file: Write
) -> None:
    path = block_file("big", f"{HEAD}---\nthe beginning\n")
    with path.open("r+b") as handle:
        handle.truncate(3 << 30)
    session = Place(place.project, place.user, "s")
    shown = brief.start(session).context
    assert (
        "(only the beginning is shown: the file has 3,221,225,472 bytes; run memfs doctor)" in shown
    )
    assert "the beginning" in shown
    assert brief.prompt(session, "hello there").context == ""
    with path.open("r+b") as handle:
        handle.truncate(4 << 30)
    assert "4,294,967,296 bytes" in brief.prompt(session, "hello there").context
    refused = rejected(place, Append("big", "more"))
    assert (
        refused.message == f"{path} is too large to edit: 4,294,967,296 bytes, the limit is 262,144"
    )
    assert refused.hint.startswith("shorten the file in an editor")
    assert len(show.show_all(place)) == 4
    assert isinstance(edit.run(place, [Append("persona", "more")], Origin()), edit.Edited)
    assert [entry.label for entry in history.log(place)][:1] == ["persona"]
    [found] = wrong(place, home)
    size = "4,294,967,296 bytes, the limit is 262,144; memfs shows only the beginning"
    assert found.text == f"{path}: {size}"
    assert mended(place, home) == []
    assert path.stat().st_size == 4 << 30


def test_an_edit_does_not_make_a_block_too_large(place: Place, block_file: Write) -> None:
    block_file("big", f"---\nlimit: 1000000\n---\n{'é' * 131_000}\n")
    assert isinstance(edit.run(place, [Append("big", "x" * 50)], Origin()), edit.Edited)
    assert "the limit is 262,144" in rejected(place, Append("big", "x" * 500)).message


def test_what_is_no_file_is_named_and_never_opened(
    place: Place, home: Path, block_file: Write, tmp_path: Path
) -> None:
    folder = block_file("odd", "x\n").parent
    (folder / "folder.md").mkdir()
    (folder / "folder.md/in_it.md").write_text("x\n")
    os.mkfifo(folder / "fifo.md")
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.md")
    (folder / "gone.md").symlink_to(folder / "not-there")
    (tmp_path / "outside.md").write_text("private")
    (folder / "out.md").symlink_to(tmp_path / "outside.md")
    (folder / "outside").symlink_to(tmp_path)
    (folder / "inside.md").symlink_to(folder / "odd.md")
    found = {each.text for each in wrong(place, home)}
    assert found == {
        f"{folder}/folder.md/in_it.md is not a block: nested too deep",
        f"{folder}/fifo.md is not a block: a FIFO",
        f"{folder}/socket.md is not a block: a socket",
        f"{folder}/gone.md is not a block: a link",
        f"{folder}/out.md is not a block: a link",
        f"{folder}/outside is not a block: a link",
        f"{folder}/inside.md is not a block: a link",
    }
    assert "private" not in brief.start(Place(place.project, place.user, "s")).context
    assert mended(place, home) == []
    assert len(list(folder.iterdir())) == 10


@pytest.mark.usefixtures("bound")
def test_what_may_not_be_read_is_named(place: Place, home: Path, block_file: Write) -> None:
    path = block_file("odd", "x\n")
    inner = block_file("sub/inner", "y\n").parent
    path.chmod(0)
    inner.chmod(0)
    shown = brief.start(Place(place.project, place.user, "s")).context
    assert "(its file cannot be read; run memfs doctor)" in shown
    found = {each.text for each in wrong(place, home)}
    assert f"{path}: the file cannot be read (Permission denied)" in found
    assert f"{inner} cannot be read: Permission denied" in found
    assert mended(place, home) == []
    inner.chmod(0o755)


@pytest.mark.parametrize(
    ("data", "level", "said"),
    [
        (b"---\ntags: [red\n---\nbody\n", "error", ":3: front matter"),
        (
            "---\ntags: [red]\n---\nbody\n".encode("utf-16"),
            "error",
            ":1: the file is UTF-16, not UTF-8",
        ),
        (b"caf\xe9\n", "error", ":1: 1 byte not in UTF-8"),
        (b"---\ntags: [red]\nbody without an end\n", "warning", ":1: front matter begins here"),
        (
            b"---\nimportance: high\n---\nbody\n",
            "warning",
            ": importance is 'high', which is ignored",
        ),
        (b"---\nimportance: 11\n---\nbody\n", "warning", ": importance is 11, which is ignored"),
        (b"---\ntags: {a: b}\n---\nbody\n", "warning", ": tags is {'a': 'b'}, which is ignored"),
        (
            b"---\ncreated_at: soon\n---\nbody\n",
            "warning",
            ": created_at is 'soon', which is ignored",
        ),
    ],
)
def test_a_passage_that_is_broken_is_named(
    place: Place, home: Path, data: bytes, level: str, said: str
) -> None:
    path = Path(place.home.root, "archive/mine/odd.md")
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    [found] = [each for each in doctor.run(place, str(home)) if str(path) in each.text]
    assert (found.level, said in found.text) == (level, True), found.text
    assert found.hint
    assert "doctor --fix" not in found.hint
    assert path.read_bytes() == data


def test_nothing_is_said_of_whole_ones(place: Place, home: Path) -> None:
    archive.run(place, "We chose httpx.", importance=10, tags=("a", "b"), origin=Origin())
    path = Path(place.home.root, "archive/mine/plain.md")
    path.parent.mkdir(parents=True)
    path.write_text("---\ntags: red, blue\ncreated_at: 2026-05-03\n---\nWritten by hand.\n")
    assert not [each for each in doctor.run(place, str(home)) if "archive/" in each.text]


def test_nested_keys_variables_and_kinds(
    place: Place, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [each.text for each in wrong(place, home)] == []
    path = Path(place.home.root, "config.yaml")
    path.write_text(
        "memfs: 1\ncontext: {max_tokenz: 1}\nmemory_blocks:\n"
        "  notes: {type: facts, capacty: {max_items: 3}}\n"
        "  more: {type: facts, config: {confidence: 3}}\n"
    )
    monkeypatch.setenv("MEMFS_HOOK_RECALL", "3")
    unknown = "unknown key 'context.max_tokenz'; did you mean 'max_tokens'?"
    assert [each.text for each in wrong(place, home)] == [
        f"{path}:2: {unknown}",
        "unknown variable MEMFS_HOOK_RECALL; did you mean 'MEMFS_HOOKS_RECALL'?",
        "memory_blocks.notes cannot have 'capacty' (did you mean 'capacity'?)",
        "memory_blocks.more.config cannot have 'confidence' (did you mean 'confidence_threshold'?)",
    ]
