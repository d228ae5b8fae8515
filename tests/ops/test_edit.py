import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.core import events
from memfs.core.block import OUTDATED
from memfs.core.body_edits import (
    Append,
    Create,
    Delete,
    Describe,
    Edit,
    Insert,
    Rejected,
    Remove,
    Rename,
    Replace,
    Rethink,
)
from memfs.core.errors import MemfsError
from memfs.core.events import Event
from memfs.core.records import Origin
from memfs.ops import brief, edit, history, undo
from memfs.store import blocks, clean_texts
from memfs.store.blocks import Place

Write = Callable[[str, str], Path]
ORIGIN = Origin("agent", "claude", "s1", "because")


def run(place: Place, *wanted: Edit, expect: int | None = None) -> edit.Outcome:
    return edit.run(place, list(wanted), ORIGIN, [expect])


def refuse(place: Place, *wanted: Edit, expect: int | None = None) -> Rejected:
    outcome = run(place, *wanted, expect=expect)
    assert isinstance(outcome, Rejected)
    return outcome


def value(place: Place, label: str = "human") -> str:
    return blocks.get(place, label).value


def test_who_when_and_why_are_in_the_journal_and_not_in_the_file(place: Place) -> None:
    outcome = run(place, Append("human", "x"))
    assert isinstance(outcome, edit.Edited)
    [entry] = outcome.entries
    assert (entry.actor, entry.host, entry.session, entry.reason) == ORIGIN[:4]
    assert (entry.version, entry.at) == (2, "2026-05-03T10:00:00Z")
    assert not set(OUTDATED) & set(blocks.get(place, "human").meta)


def test_a_large_file_without_a_limit_is_not_locked(place: Place, block_file: Write) -> None:
    path = block_file("handbook", "line\n" * 2000)
    assert isinstance(run(place, Append("handbook", "one more")), edit.Edited)
    undo.undo_edit(place, "handbook", ORIGIN)
    assert path.read_text() == "line\n" * 2000


def test_a_token_cap_is_kept(place: Place, block_file: Write) -> None:
    block_file("capped", "---\ntokens: 5\n---\n")
    assert (
        refuse(place, Append("capped", "word " * 20)).message
        == "cannot write 'capped': about 20 tokens, the limit is 5"
    )


@pytest.mark.parametrize(
    ("wanted", "verb"),
    [
        (Append("ro", "x"), "append to"),
        (Replace("ro", "text", "x"), "replace text in"),
        (Remove("ro", "text"), "remove text from"),
        (Insert("ro", 0, "x"), "insert into"),
        (Rethink("ro", "x"), "rewrite"),
        (Delete("ro"), "delete"),
        (Rename("ro", "rw"), "rename"),
        (Describe("ro", {"read_only": False}), "describe"),
    ],
)
def test_read_only_holds_for_every_operation(
    place: Place, block_file: Write, wanted: Edit, verb: str
) -> None:
    path = block_file("ro", "---\nread_only: true\n---\ntext\n")
    assert refuse(place, wanted).message == f"cannot {verb} 'ro': the block is read-only"
    assert path.read_text() == "---\nread_only: true\n---\ntext\n"


def test_compare_and_swap(place: Place) -> None:
    assert isinstance(run(place, Append("human", "a"), expect=1), edit.Edited)
    outcome = run(place, Append("human", "b"), expect=1)
    assert outcome == Rejected(
        "cannot append to 'human': it is at version 2, not 1",
        "read the changed block again: memfs show human",
    )
    undo.undo_edit(place, "human", ORIGIN)
    assert isinstance(run(place, Append("human", "c"), expect=2), Rejected), "an undo counts"


def test_create(place: Place) -> None:
    run(place, Create("Services API", "What the API does", "first", 300, tags=("api",)))
    block = blocks.get(place, "services_api")
    assert (block.value, block.limit, block.tags, block.tier) == ("first", 300, ["api"], "project")
    outcome = run(place, Create("services_api", "again"))
    assert outcome == Rejected(
        "cannot create 'services_api': the block already exists",
        "add to the block: memfs edit services_api --append TEXT",
    )


def test_a_folder_that_links_out_of_the_store_is_refused(place: Place, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    Path(place.home.root, "blocks/out").symlink_to(tmp_path / "out")
    with pytest.raises(MemfsError, match="is a link"):
        run(place, Create("out/x", "x"))
    assert not list((tmp_path / "out").iterdir())
    folder = Path(place.home.root, "blocks")
    folder.rename(tmp_path / "outside")
    folder.symlink_to(tmp_path / "outside")
    with pytest.raises(MemfsError, match="is a link"):
        run(place, Append("persona", "hacked"))
    assert "hacked" not in (tmp_path / "outside/persona.md").read_text()


def test_a_patch_is_all_or_nothing_over_tiers(place: Place) -> None:
    refuse(place, Append("human", "a"), Append("persona", "b"), Remove("human", "nowhere"))
    assert (value(place), value(place, "persona")[:4]) == ("", "I am")
    outcome = run(place, Append("human", "a"), Append("persona", "b"), Append("human", "c"))
    assert isinstance(outcome, edit.Edited)
    assert [(each.label, each.version) for each in outcome.entries] == [
        ("human", 2),
        ("persona", 2),
    ]
    assert value(place) == "a\nc"


def test_a_bare_label_is_the_nearest_tier(place: Place) -> None:
    run(place, Create("project:human", "This project's people"))
    run(place, Append("human", "nearest"))
    run(place, Append("user:human", "farther"))
    assert value(place, "project:human") == "nearest"
    assert value(place, "user:human") == "farther"


def test_session_blocks_are_the_sessions_own(place: Place) -> None:
    one = Place(place.project, place.user, "one")
    two = Place(place.project, place.user, "two")
    run(one, Create("session:notes", "x", "of one"))
    assert value(one, "notes") == "of one"
    with pytest.raises(MemfsError, match="there is no block 'notes'"):
        value(two, "notes")
    with pytest.raises(MemfsError, match="there is no session tier here"):
        run(place, Create("session:notes", "x"))
    run(two, Create("session:notes", "x", "of two"))
    undo.undo_edit(two, "notes", ORIGIN)
    assert value(one, "notes") == "of one"


def test_two_blocks_cannot_become_one(place: Place) -> None:
    run(place, Create("a", "A", "AAA"), Create("c", "C", "CCC"))
    assert run(place, Rename("a", "b"), Rename("c", "b")) == Rejected(
        "cannot rename 'c' to 'b': the block 'b' already exists", "choose another label"
    )
    assert run(place, Create("b", "B"), Rename("a", "b")) == Rejected(
        "cannot rename 'a' to 'b': the block 'b' already exists", "choose another label"
    )
    assert (value(place, "a"), value(place, "c")) == ("AAA", "CCC")
    assert isinstance(run(place, Delete("c"), Rename("a", "c")), edit.Edited)
    assert value(place, "c") == "AAA"


def test_a_label_in_the_way_of_a_folder_is_refused_and_costs_nothing(
    place: Place, block_file: Write
) -> None:
    block_file("services", "a file\n").rename(block_file("x", "").with_name("services"))
    with pytest.raises(OSError, match="Not a directory"):
        run(place, Create("services/api", "d"))
    assert isinstance(run(place, Append("persona", "still works")), edit.Edited)
    assert "services/api" not in {entry.label for entry in history.log(place)}


def test_patches_in_any_order_do_not_wait_for_each_other(place: Place, repo: Path) -> None:
    code = (
        "import sys; from memfs.store import blocks; from memfs.ops import edit\n"
        "from memfs.core.body_edits import Append; from memfs.core.records import Origin\n"
        "place = blocks.find_place('.')\n"
        "for n in range(10):\n"
        "    edits = [Append(label, f'{sys.argv[1]} {n}') for label in sys.argv[2:]]\n"
        "    assert isinstance(edit.run(place, edits, Origin()), edit.Edited)\n"
    )
    orders = [("human", "persona"), ("persona", "human")] * 2
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(number), *order], cwd=repo)
        for number, order in enumerate(orders)
    ]
    assert [process.wait(60) for process in running] == [0, 0, 0, 0]
    assert len(value(place).split("\n")) == 40


@pytest.mark.parametrize("text", ["a\0b", "bad \udcff byte", "bell\x07"])
def test_texts_that_are_no_text_are_refused(place: Place, text: str) -> None:
    for wanted in (Append("human", text), Rethink("human", text), Create("x", "x", text)):
        assert refuse(place, wanted).hint == "pass plain UTF-8 text"


TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def test_a_secret_that_is_there_already_locks_no_block(place: Place, block_file: Write) -> None:
    path = block_file("old", f"already here: {TOKEN}\n")
    assert isinstance(run(place, Append("old", "harmless")), edit.Edited)
    assert path.read_text().endswith("harmless\n")
    scratch = Place(place.project, place.user, "s1")
    refuse(scratch, Create("session:notes", "x", TOKEN))


def test_private_parts_are_not_written(place: Place) -> None:
    run(place, Append("human", "Name: Alice <private>aged 30</private>"))
    assert value(place) == "Name: Alice"
    assert isinstance(run(place, Append("human", "<private>all of it</private>")), Rejected)


def test_ten_pinned_blocks_hold_within_a_patch_and_for_pinning(place: Place) -> None:
    assert isinstance(run(place, *[Create(f"b{n}", "x") for n in range(8)]), Rejected)
    assert isinstance(run(place, *[Create(f"b{n}", "x") for n in range(7)]), edit.Edited)
    many = "10 blocks are already pinned, the limit is 10"
    assert refuse(place, Create("extra", "x")).message == f"cannot create 'extra': {many}"
    run(place, Create("extra", "x", pinned=False))
    assert (
        refuse(place, Describe("extra", {"pinned": True})).message == f"cannot pin 'extra': {many}"
    )


def test_a_limit_below_what_is_there_is_refused(place: Place) -> None:
    run(place, Append("human", "x" * 48))
    assert (
        refuse(place, Describe("human", {"limit": 5})).message
        == "cannot set the limit of 'human' to 5: the block has 48 characters"
    )


def test_nothing_to_change_is_no_version(place: Place) -> None:
    run(place, Append("human", "a"))
    assert run(place, Replace("human", "a", "a")) == edit.Unchanged("human")
    assert len(history.log(place, "human")) == 2


def test_describe_changes_front_matter_alone(place: Place, block_file: Write) -> None:
    path = block_file("x", "---\n# mine\nlimit: 10  # small\ncustom: [1, 2]\n---\nbody\n")
    run(place, Describe("x", {"limit": 20, "description": "Now: described"}))
    lines = path.read_text().splitlines()
    assert lines[:4] == ["---", "# mine", "limit: 20  # small", "custom: [1, 2]"]
    assert 'description: "Now: described"' in lines
    assert lines[-1] == "body"


def test_a_body_cannot_become_front_matter(place: Place, block_file: Write) -> None:
    block_file("plain", "text\n")
    assert (
        refuse(place, Rethink("plain", "---\nread_only: true\n---\nmine")).message
        == "cannot write 'plain': the text would be read as front matter"
    )


def test_in_a_linked_worktree_versions_are_its_own(place: Place, linked: Place) -> None:
    run(place, Append("persona", "in main"))
    run(linked, Append("persona", "in linked"))
    assert "in main" not in value(linked, "persona")
    assert "in linked" not in value(place, "persona")
    assert [entry.op for entry in history.log(place, "persona")] == ["append", "create"]
    assert [entry.op for entry in history.log(linked, "persona")] == ["append", "commit"]
    undo.undo_edit(linked, "persona", ORIGIN)
    assert "in main" in value(place, "persona")


@pytest.mark.parametrize(
    "wanted",
    [
        Describe("human", {"description": f"the key is {TOKEN}"}),
        Describe("human", {"tags": ["a", TOKEN]}),
        Create("api", f"the key is {TOKEN}", "x"),
        Create("api", "d", "x", tags=(TOKEN,)),
        Create(f"keys/{TOKEN.lower()}", "d", "x"),
        Rename("human", f"keys/{TOKEN.lower()}"),
        Append("human", f"token: {TOKEN}"),
        Rethink("human", TOKEN),
        Create("x", "x", TOKEN),
        Insert("human", 0, TOKEN),
    ],
)
def test_no_secret_gets_into_the_head_or_the_name(place: Place, wanted: Edit) -> None:
    before = Path(place.home.journal).read_bytes()
    outcome = refuse(place, wanted)
    assert "a secret" in outcome.message
    assert TOKEN not in outcome.message + outcome.hint
    assert Path(place.home.journal).read_bytes() == before


def test_a_secret_that_an_editor_wrote_is_not_journalled(place: Place) -> None:
    path = Path(blocks.get(place, "human").path)
    run(place, Append("human", "one"))
    path.write_text(path.read_text() + f"key: {TOKEN}\n")
    run(place, Append("human", "two"))
    run(place, Append("human", "three"))
    assert TOKEN in path.read_text()
    assert TOKEN not in Path(place.store("user").journal).read_text()
    ops = [each.op for each in history.log(place, "human")]
    assert ops[:4] == ["append", "append", "adopt", "append"]
    undo.undo_edit(place, "human", Origin())
    assert "three" not in path.read_text()


def test_of_what_an_editor_wrote_what_was_shown_keeps_no_secret(place: Place) -> None:
    """What is new is told all the same, once."""
    path = Path(blocks.get(place, "human").path)
    top = str(place.home.top)

    def tell(kind: str, session: str = "s") -> str:
        return brief.run(Event("claude", kind, "", session, top, "", "", "go on")).context

    tell(events.START)
    for number in range(3):
        path.write_text(f"{path.read_text()}{number} the key: {TOKEN}\n")
        assert f"{number} the key: {TOKEN}" in tell(events.PROMPT)
        assert tell(events.PROMPT) == ""
        assert TOKEN in tell(events.START, f"new{number}")
        assert tell(events.PROMPT, f"new{number}") == ""
    kept = [each for each in Path(place.home.local).rglob("*") if each.is_file()]
    assert not [each for each in kept if TOKEN.encode() in each.read_bytes()]
    path.write_text(path.read_text().replace(TOKEN, "gone"))
    assert "2 the key: gone" in tell(events.PROMPT)


def test_what_is_known_to_hold_no_secret_is_not_looked_through_again(
    place: Place, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"a": "one", "b": f"key: {TOKEN}"}
    assert clean_texts.redact_texts(texts)["b"] != texts["b"]
    noted = (home / ".agent-memory/local/clean").read_text()
    assert clean_texts.redact_texts({"a": "one"}) == {"a": "one"}
    assert (home / ".agent-memory/local/clean").read_text() == noted
    assert clean_texts.redact_texts(texts)["b"] != texts["b"], "with a secret, each time"
    for number in range(900):
        clean_texts.note_clean(f"text {number}.{each}" for each in range(10))
    assert (home / ".agent-memory/local/clean").stat().st_size < 70_000
