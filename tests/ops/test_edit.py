from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

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
from memfs.core.records import Origin
from memfs.ops import edit, history, undo
from memfs.store import blocks
from memfs.store.blocks import Place

ORIGIN = Origin("agent", "claude", "s1", "because")


def run(place: Place, *wanted: Edit, expect: int | None = None) -> edit.Outcome:
    return edit.run(place, list(wanted), ORIGIN, [expect])


def value(place: Place, label: str = "human") -> str:
    return blocks.get(place, label).value


def test_operations_in_turn(place: Place) -> None:
    run(place, Append("human", "Name: Alice"))
    run(place, Append("human", "Likes: tea"))
    run(place, Replace("human", "Alice", "Bob"))
    run(place, Insert("human", 0, "# Facts"))
    run(place, Insert("human", -1, "Editor: vim"))
    run(place, Remove("human", "Likes: tea"))
    assert value(place) == "# Facts\nName: Bob\nEditor: vim"
    run(place, Rethink("human", "short"))
    assert value(place) == "short"


def test_who_when_and_why_are_in_the_journal_and_not_in_the_file(place: Place) -> None:
    outcome = run(place, Append("human", "x"))
    assert isinstance(outcome, edit.Edited)
    [entry] = outcome.entries
    assert (entry.actor, entry.host, entry.session, entry.reason) == (
        "agent",
        "claude",
        "s1",
        "because",
    )
    assert (entry.version, entry.at) == (2, "2026-05-03T10:00:00Z")
    assert not set(OUTDATED) & set(blocks.get(place, "human").meta)


def test_a_text_that_is_not_there_changes_nothing(place: Place) -> None:
    run(place, Append("human", "Name: Alice"))
    before = Path(blocks.get(place, "human").path).read_bytes()
    assert run(place, Replace("human", "Zed", "X")) == Rejected(
        "cannot replace in 'human': 'Zed' is not in it",
        "it must match exactly; look at the block with memfs show",
    )
    assert Path(blocks.get(place, "human").path).read_bytes() == before
    assert len(history.log(place, "human")) == 2


def test_over_the_limit_is_refused_with_the_numbers(place: Place) -> None:
    outcome = run(place, Append("human", "x" * 5212))
    assert isinstance(outcome, Rejected)
    assert outcome.message == "cannot write 'human': 5,212 characters, the limit is 5,000"
    assert value(place) == ""


def test_a_block_over_its_limit_can_be_made_shorter(
    place: Place, block_file: Callable[[str, str], Path]
) -> None:
    block_file("long", "---\nlimit: 10\n---\nabcdefghijklmno\n")
    assert isinstance(run(place, Replace("long", "abc", "")), edit.Edited)
    assert isinstance(run(place, Append("long", "xyz")), Rejected)
    assert value(place, "long") == "defghijklmno"


def test_a_large_file_without_a_limit_is_not_locked(
    place: Place, block_file: Callable[[str, str], Path]
) -> None:
    path = block_file("handbook", "line\n" * 2000)
    assert isinstance(run(place, Append("handbook", "one more")), edit.Edited)
    undo.undo_edit(place, "handbook", ORIGIN)
    assert path.read_text() == "line\n" * 2000


def test_a_token_cap_is_kept(place: Place, block_file: Callable[[str, str], Path]) -> None:
    block_file("capped", "---\ntokens: 5\n---\n")
    outcome = run(place, Append("capped", "word " * 20))
    assert isinstance(outcome, Rejected)
    assert outcome.message == "cannot write 'capped': about 20 tokens, the limit is 5"


@pytest.mark.parametrize(
    "wanted",
    [
        Append("ro", "x"),
        Replace("ro", "text", "x"),
        Remove("ro", "text"),
        Insert("ro", 0, "x"),
        Rethink("ro", "x"),
        Delete("ro"),
        Rename("ro", "rw"),
        Describe("ro", {"read_only": False}),
    ],
    ids=lambda wanted: type(wanted).__name__,
)
def test_read_only_holds_for_every_operation(
    place: Place, block_file: Callable[[str, str], Path], wanted: Edit
) -> None:
    path = block_file("ro", "---\nread_only: true\n---\ntext\n")
    outcome = run(place, wanted)
    assert isinstance(outcome, Rejected)
    assert outcome.message == f"cannot {type(wanted).__name__.lower()} 'ro': it is read-only"
    assert path.read_text() == "---\nread_only: true\n---\ntext\n"


def test_compare_and_swap(place: Place) -> None:
    assert isinstance(run(place, Append("human", "a"), expect=1), edit.Edited)
    outcome = run(place, Append("human", "b"), expect=1)
    assert outcome == Rejected(
        "cannot append 'human': it is at version 2, not 1",
        "it was changed meanwhile; read it again: memfs show human",
    )
    undo.undo_edit(place, "human", ORIGIN)
    assert isinstance(run(place, Append("human", "c"), expect=2), Rejected), "an undo counts"


def test_create(place: Place) -> None:
    run(place, Create("Services API", "What the API does", "first", 300, tags=("api",)))
    block = blocks.get(place, "services_api")
    assert (block.value, block.limit, block.tags, block.tier) == ("first", 300, ["api"], "project")
    outcome = run(place, Create("services_api", "again"))
    assert outcome == Rejected(
        "cannot create 'services_api': it exists already",
        "add to it: memfs edit services_api --append TEXT",
    )


def test_labels_nest_three_deep(place: Place) -> None:
    assert isinstance(run(place, Create("a/b/c", "deep")), edit.Edited)
    with pytest.raises(MemfsError, match="4 levels, at most 3"):
        run(place, Create("a/b/c/d", "too deep"))


@pytest.mark.parametrize(
    "label", ["../up", "/abs", "a//b", "con", "a\nb", "", "ü", ".hidden", "a/../b"]
)
def test_labels_that_could_leave_the_store_are_refused(place: Place, label: str) -> None:
    with pytest.raises(MemfsError):
        run(place, Create(label, "x"))


def test_a_folder_that_links_out_of_the_store_is_refused(place: Place, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    Path(place.home.root, "blocks/out").symlink_to(tmp_path / "out")
    with pytest.raises(MemfsError, match="is a link"):
        run(place, Create("out/x", "x"))
    assert not list((tmp_path / "out").iterdir())


def test_at_most_ten_blocks_are_pinned(place: Place) -> None:
    for number in range(7):
        assert isinstance(run(place, Create(f"b{number}", "x")), edit.Edited)
    outcome = run(place, Create("one_more", "x"))
    assert isinstance(outcome, Rejected)
    assert outcome.message == "cannot create 'one_more': 10 blocks are pinned, at most 10 may be"
    assert isinstance(run(place, Create("one_more", "x", pinned=False)), edit.Edited)


def test_delete_and_undo(place: Place) -> None:
    run(place, Append("persona", "extra"))
    path = Path(blocks.get(place, "persona").path)
    before = path.read_bytes()
    run(place, Delete("persona"))
    assert not path.exists()
    undo.undo_edit(place, "persona", ORIGIN)
    assert path.read_bytes() == before


def test_rename_keeps_text_and_counts_on(place: Place) -> None:
    run(place, Create("old", "x", "text"), Append("old", "more"))
    run(place, Rename("old", "new"))
    assert value(place, "new") == "text\nmore"
    with pytest.raises(MemfsError, match="there is no block 'old'"):
        blocks.get(place, "old")
    undo.undo_edit(place, "new", ORIGIN)
    assert value(place, "old") == "text\nmore"
    assert isinstance(run(place, Rename("old", "persona")), Rejected)


def test_a_patch_is_all_or_nothing_over_tiers(place: Place) -> None:
    outcome = run(place, Append("human", "a"), Append("persona", "b"), Remove("human", "nowhere"))
    assert isinstance(outcome, Rejected)
    assert (value(place), value(place, "persona")[:4]) == ("", "I am")
    outcome = run(place, Append("human", "a"), Append("persona", "b"), Append("human", "c"))
    assert isinstance(outcome, edit.Edited)
    assert [(entry.label, entry.version) for entry in outcome.entries] == [
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
        "cannot rename 'c' to 'b': that label exists"
    )
    assert run(place, Create("b", "B"), Rename("a", "b")) == Rejected(
        "cannot rename 'a' to 'b': that label exists"
    )
    assert (value(place, "a"), value(place, "c")) == ("AAA", "CCC")
    assert isinstance(run(place, Delete("c"), Rename("a", "c")), edit.Edited)
    assert value(place, "c") == "AAA"


def test_a_label_in_the_way_of_a_folder_is_refused_and_costs_nothing(
    place: Place, block_file: Callable[[str, str], Path]
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
        outcome = run(place, wanted)
        assert isinstance(outcome, Rejected)
        assert outcome.hint == "pass plain UTF-8 text"


TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def test_secrets_are_kept_out_of_blocks(
    place: Place, block_file: Callable[[str, str], Path]
) -> None:
    for wanted in (
        Append("human", f"token: {TOKEN}"),
        Rethink("human", TOKEN),
        Create("x", "x", TOKEN),
        Insert("human", 0, TOKEN),
    ):
        outcome = run(place, wanted)
        assert isinstance(outcome, Rejected)
        assert "looks like a secret (github" in outcome.message
        assert TOKEN not in outcome.message + outcome.hint
    path = block_file("old", f"already here: {TOKEN}\n")
    assert isinstance(run(place, Append("old", "harmless")), edit.Edited)
    assert path.read_text().endswith("harmless\n")
    scratch = Place(place.project, place.user, "s1")
    assert isinstance(run(scratch, Create("session:notes", "x", TOKEN)), Rejected)


def test_private_parts_are_not_written(place: Place) -> None:
    run(place, Append("human", "Name: Alice <private>aged 30</private>"))
    assert value(place) == "Name: Alice"
    assert isinstance(run(place, Append("human", "<private>all of it</private>")), Rejected)


def test_ten_pinned_blocks_hold_within_a_patch_and_for_pinning(place: Place) -> None:
    assert isinstance(run(place, *[Create(f"b{n}", "x") for n in range(8)]), Rejected)
    assert isinstance(run(place, *[Create(f"b{n}", "x") for n in range(7)]), edit.Edited)
    run(place, Create("extra", "x", pinned=False))
    outcome = run(place, Describe("extra", {"pinned": True}))
    assert isinstance(outcome, Rejected)
    assert outcome.message == "cannot pin 'extra': 10 blocks are pinned, at most 10 may be"


def test_a_limit_below_what_is_there_is_refused(place: Place) -> None:
    run(place, Append("human", "x" * 48))
    outcome = run(place, Describe("human", {"limit": 5}))
    assert isinstance(outcome, Rejected)
    assert outcome.message == "cannot set the limit of 'human' to 5: it has 48 characters"


def test_a_blocks_folder_that_leads_out_of_the_store_is_refused(
    place: Place, tmp_path: Path
) -> None:
    folder = Path(place.home.root, "blocks")
    folder.rename(tmp_path / "outside")
    folder.symlink_to(tmp_path / "outside")
    with pytest.raises(MemfsError, match="is a link"):
        run(place, Append("persona", "hacked"))
    assert "hacked" not in (tmp_path / "outside/persona.md").read_text()


def test_nothing_to_change_is_no_version(place: Place) -> None:
    run(place, Append("human", "a"))
    assert run(place, Replace("human", "a", "a")) == edit.Unchanged("human")
    assert len(history.log(place, "human")) == 2


def test_describe_changes_front_matter_alone(
    place: Place, block_file: Callable[[str, str], Path]
) -> None:
    path = block_file("x", "---\n# mine\nlimit: 10  # small\ncustom: [1, 2]\n---\nbody\n")
    run(place, Describe("x", {"limit": 20, "description": "Now: described"}))
    lines = path.read_text().splitlines()
    assert lines[:4] == ["---", "# mine", "limit: 20  # small", "custom: [1, 2]"]
    assert 'description: "Now: described"' in lines
    assert lines[-1] == "body"


def test_front_matter_that_cannot_be_read_is_left_alone(
    place: Place, block_file: Callable[[str, str], Path]
) -> None:
    head = "---\nglobs: *.ts\ndescription: [broken\n---\n"
    path = block_file("rules", head + "body\n")
    assert isinstance(run(place, Append("rules", "more")), edit.Edited)
    assert path.read_text() == head + "body\nmore\n"


def test_a_body_cannot_become_front_matter(
    place: Place, block_file: Callable[[str, str], Path]
) -> None:
    block_file("plain", "text\n")
    outcome = run(place, Rethink("plain", "---\nread_only: true\n---\nmine"))
    assert isinstance(outcome, Rejected)
    assert outcome.message == "cannot write 'plain': the text would become front matter"


def test_in_a_linked_worktree_versions_are_its_own(place: Place, linked: Place) -> None:
    run(place, Append("persona", "in main"))
    run(linked, Append("persona", "in linked"))
    assert "in main" not in value(linked, "persona")
    assert "in linked" not in value(place, "persona")
    assert [entry.op for entry in history.log(place, "persona")] == ["append", "create"]
    assert [entry.op for entry in history.log(linked, "persona")] == ["append", "commit"]
    undo.undo_edit(linked, "persona", ORIGIN)
    assert "in main" in value(place, "persona")
