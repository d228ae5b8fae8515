"""Page memory out of blocks and in again."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.body_edits import Append, Create, Delete, Insert, Remove, Rename
from memfs.core.errors import NotFoundError, RejectedError
from memfs.core.records import Origin
from memfs.ops import brief, edit, page, status, undo
from memfs.store import archive, blocks, journal, journal_query
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - a fixture
from tests.examples import examples
from tests.ops.clones import committed, git

AGENT = Origin("agent", "claude", "s1")
TASK = "Fix the flaky retry test of the payment client"
BODY = (
    "The payment client retries three times with backoff.\n"
    "The holiday party is on 12 December at the harbour.\n"
    "Never deploy on Fridays.\n"
    "Currently painting the logo of the newsletter green.\n"
)


def write(place: Place, body: str, label: str = "system_rules") -> Path:
    path = Path(blocks.get(place, label).path)
    head = path.read_text().partition("---\n")[2].partition("---\n")[0]
    path.write_bytes(f"---\n{head}---\n{body}".encode())
    journal_query.adopt(place)
    return path


def body_of(path: Path) -> bytes:
    return path.read_bytes().split(b"---\n", 2)[2]


def passages(place: Place) -> list[str]:
    found = [archive.read(path) for path in archive.sources(place.home)]
    return [each.text for each in found if each]


def test_what_is_off_the_task_leaves_by_its_kind(place: Place) -> None:
    path = write(place, BODY)
    done = page.page_out(place, "system_rules", AGENT, task=TASK)
    assert {each.fate for each in done.gone} == {"archive", "discard"}
    assert body_of(path).decode() == (
        "The payment client retries three times with backoff.\nNever deploy on Fridays.\n"
    )
    assert passages(place) == ["The holiday party is on 12 December at the harbour."]
    [found] = [archive.read(path) for path in archive.sources(place.home)]
    assert found
    assert found.tags == ("paged-out", "system_rules")
    assert found.source == "block project:system_rules"
    last = journal.read(place.home)[-1]
    assert (last.op, last.actor, last.reason) == ("page-out", "agent", "1 archived, 1 discarded")
    assert blocks.get(place, "system_rules").paged_out


def test_a_pointer_stays_in_the_brief(place: Place, memfs: Run) -> None:
    write(place, BODY)
    page.page_out(place, "system_rules", AGENT, task=TASK)
    pointer = "(parts of it are paged out; restore them with memfs page in system_rules)"
    assert pointer in memfs("show").out


def test_it_comes_back_byte_for_byte(place: Place) -> None:
    path = write(place, BODY)
    page.page_out(place, "system_rules", AGENT, task=TASK)
    page.page_out(place, "system_rules", AGENT, free=1e9)
    assert body_of(path) == b""
    back = page.page_in(place, "system_rules", AGENT)
    assert not back.shortened
    assert body_of(path).decode() == BODY
    assert passages(place) == []
    assert "paged_out" not in path.read_text()
    with pytest.raises(NotFoundError, match="no part was paged out of 'system_rules'"):
        page.page_in(place, "system_rules", AGENT)


LINES = st.lists(
    st.sampled_from(
        ["- one\n", "two  \n", "\n", "# Head\n", "x: 3\r\n", "Ünï\tx\n", "a" * 90 + "\n"]
    ),
    max_size=8,
)


@given(LINES, st.sampled_from(["", "no line end", "x\r\n"]), st.floats(0, 1))
@examples(40)
def test_any_block_comes_back_byte_for_byte(
    place: Place, lines: list[str], end: str, free: float
) -> None:
    path = write(place, "".join(lines) + end)
    before = body_of(path)
    if page.page_out(place, "system_rules", AGENT, task=TASK, free=free / 50).gone:
        page.page_in(place, "system_rules", AGENT)
    assert body_of(path) == before


def test_what_was_written_meanwhile_stays(place: Place) -> None:
    path = write(place, BODY)
    page.page_out(place, "system_rules", AGENT, free=1e9)
    edit.run(place, [Append("system_rules", "The queue holds ten messages.")], AGENT)
    page.page_in(place, "system_rules", AGENT)
    lines = body_of(path).decode().splitlines()
    assert sorted(lines) == sorted([*BODY.splitlines(), "The queue holds ten messages."])


def test_undo_takes_it_back_too(place: Place) -> None:
    path = write(place, BODY)
    page.page_out(place, "system_rules", AGENT, task=TASK)
    undo.undo_edit(place, "system_rules", AGENT)
    assert body_of(path).decode() == BODY
    with pytest.raises(NotFoundError):
        page.page_in(place, "system_rules", AGENT)
    page.page_out(place, "system_rules", AGENT, task=TASK)
    page.page_in(place, "system_rules", AGENT)
    undo.undo_edit(place, "system_rules", AGENT)
    assert not page.page_in(place, "system_rules", AGENT).shortened
    assert body_of(path).decode() == BODY


def test_a_long_part_leaves_a_short_one(place: Place) -> None:
    text = "The importer reads one row after the other and checks each of its cells. " * 50
    path = write(place, f"{text.strip()}\nThe payment client retries three times.\n")
    [gone] = page.page_out(place, "system_rules", AGENT, task=TASK).gone
    assert gone.fate == "summarise"
    assert passages(place) == [text.strip()]
    first = body_of(path).decode().splitlines()[0]
    assert first.endswith("[shortened]")
    assert len(first) < len(text) / 5
    page.page_in(place, "system_rules", AGENT)
    assert body_of(path).decode().startswith(text.strip())


def test_a_dry_run_writes_nothing(place: Place) -> None:
    path = write(place, BODY)
    before, count = path.read_bytes(), len(journal.read(place.home))
    assert len(page.page_out(place, "system_rules", AGENT, task=TASK, dry=True).gone) == 2
    assert path.read_bytes() == before
    assert len(journal.read(place.home)) == count
    assert passages(place) == []


def test_a_read_only_block_is_left_alone(place: Place) -> None:
    path = write(place, BODY)
    path.write_text(path.read_text().replace("read_only: false", "read_only: true"))
    with pytest.raises(RejectedError, match="the block is read-only"):
        page.page_out(place, "system_rules", AGENT, task=TASK)


def test_a_block_that_is_all_out_is_archived(place: Place, home: Path) -> None:
    write(place, BODY)

    def freshness() -> str:
        found = status.run(place, str(home)).blocks
        return next(each.freshness for each in found if each.block.label == "system_rules")

    assert freshness() == "active"
    page.page_out(place, "system_rules", AGENT, free=1e9)
    assert freshness() == "archived"
    page.page_in(place, "system_rules", AGENT)
    assert freshness() == "active"


def test_what_nobody_read_for_a_month_is_stale(
    place: Place, home: Path, memfs: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale() -> set[str]:
        found = status.run(place, str(home)).blocks
        return {each.block.label for each in found if each.freshness == "stale"}

    assert not stale()
    monkeypatch.setenv("MEMFS_NOW", "2026-06-12T10:00:00Z")
    assert stale() >= {"persona", "system_rules"}
    memfs("show", "persona")
    assert "persona" not in stale()
    monkeypatch.setenv("MEMFS_PAGING_STALE_DAYS", "90")
    assert not stale()


def test_the_command_says_what_goes(place: Place, memfs: Run) -> None:
    write(place, BODY)
    shown = memfs("page", "out", "system_rules", "--task", TASK, "--dry-run")
    assert shown.out.splitlines()[0] == "RELEVANCE  WORTH                                  PART"
    assert "The holiday party is on 12 December at the harbour." in shown.out
    assert shown.err == "2 parts of 'system_rules' would be paged out; no file was written\n"
    shown = memfs("page", "out", "system_rules", "--task", TASK)
    assert (
        shown.err
        == "✓ 2 parts paged out of 'system_rules'; to restore them: memfs page in system_rules\n"
    )
    assert (
        memfs("page", "in", "system_rules").err
        == "✓ restored all paged-out parts of 'system_rules'\n"
    )
    assert memfs("page", "in", "system_rules").code == 1


def test_what_is_the_users_is_archived_in_their_store(place: Place) -> None:
    write(place, "My salary is 91000.\nThe logo is green.\n", "human")
    page.page_out(place, "human", AGENT, free=1e9)
    assert passages(place) == []
    found = [archive.read(path) for path in archive.sources(place.store("user"))]
    assert {each.text for each in found if each} == {"My salary is 91000.", "The logo is green."}
    page.page_in(place, "human", AGENT)
    assert archive.sources(place.store("user")) == []


def test_of_a_sessions_scratch_passing_notes_alone_are_thrown_away(place: Place) -> None:
    here = Place(place.project, place.user, "s1")
    brief.start(here)
    text = "The budget is 30 seconds.\nCurrently looking at the parser."
    edit.run(here, [Append("session:working", text)], AGENT)
    page.page_out(here, "session:working", AGENT, free=1e9)
    assert passages(place) == ["The budget is 30 seconds."]
    page.page_in(here, "session:working", AGENT)
    assert passages(place) == []
    assert blocks.get(here, "session:working").value == text


def test_what_is_out_follows_a_rename(place: Place) -> None:
    write(place, BODY)
    page.page_out(place, "system_rules", AGENT, free=1e9)
    edit.run(place, [Rename("system_rules", "laws")], AGENT)
    edit.run(place, [Rename("laws", "rules")], Origin("agent", reason="shorter"))
    assert len(passages(place)) == 3
    assert not page.page_in(place, "rules", AGENT).shortened
    assert blocks.get(place, "rules").body == BODY
    assert passages(place) == [], "also what was archived under the old label"


def test_what_another_block_archived_under_a_label_stays(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(place, BODY)
    edit.run(place, [Rename("system_rules", "rules")], AGENT)
    monkeypatch.setenv("MEMFS_NOW", "2026-05-04T10:00:00Z")
    edit.run(place, [Create("system_rules", "Rules.", BODY)], AGENT)
    page.page_out(place, "system_rules", AGENT, free=1e9)
    page.page_out(place, "rules", AGENT, free=1e9)
    page.page_in(place, "rules", AGENT)
    left = [archive.read(path) for path in archive.sources(place.home)]
    assert {each.source for each in left if each} == {"block project:system_rules"}


def test_what_came_back_between_newer_lines_is_no_second_copy(place: Place) -> None:
    text = "The importer reads each row, one after the other.\nIt checks all of its cells.\n"
    write(place, f"# Import\n{text}\nThe payment client retries three times.\n")
    page.page_out(place, "system_rules", AGENT, free=1e9)
    assert passages(place)
    edit.run(place, [Insert("system_rules", 1, "The queue holds ten.")], AGENT)
    page.page_in(place, "system_rules", AGENT)
    assert set(text.splitlines()) < set(blocks.get(place, "system_rules").value.splitlines())
    assert passages(place) == []


def test_a_page_in_commits_that_passages_are_gone(place: Place, repo: Path) -> None:
    config = Path(place.home.root, "config.yaml")
    config.write_text(f"{config.read_text()}git:\n  commit: edit\n  protected: []\n")
    committed(place, repo)
    write(place, BODY)
    page.page_out(place, "system_rules", AGENT, free=1e9)
    assert page.page_in(place, "system_rules", AGENT).note == ""
    assert git(repo, "status", "--porcelain", "--", ".agent-memory/archive") == ""


def test_a_block_of_the_same_name_is_another_one(place: Place) -> None:
    write(place, BODY)
    page.page_out(place, "system_rules", AGENT, free=1e9)
    edit.run(place, [Delete("system_rules")], AGENT)
    edit.run(place, [Create("system_rules", "Rules.", "A new thing")], AGENT)
    with pytest.raises(NotFoundError):
        page.page_in(place, "system_rules", AGENT)


def test_what_came_back_shortened_comes_back_whole_once_there_is_room(place: Place) -> None:
    sentence = "The gateway answers slowly on Mondays because of the weekly report run {}.\n"
    body = "".join(sentence.format(n) for n in range(60))
    path = write(place, body)
    page.page_out(place, "system_rules", AGENT, free=1e9)
    edit.run(place, [Append("system_rules", "filler text. " * 340)], AGENT)
    assert page.page_in(place, "system_rules", AGENT).shortened
    block = blocks.get(place, "system_rules")
    assert block.chars <= block.limit
    assert "gateway" in body_of(path).decode()
    assert passages(place)
    edit.run(place, [Remove("system_rules", ("filler text. " * 340).strip())], AGENT)
    assert not page.page_in(place, "system_rules", AGENT).shortened
    assert set(blocks.get(place, "system_rules").value.splitlines()) == set(body.splitlines())


def test_a_passage_is_used_again(place: Place) -> None:
    write(place, BODY)
    for _ in range(3):
        page.page_out(place, "system_rules", AGENT, task=TASK)
        undo.undo_edit(place, "system_rules", AGENT)
    assert len(passages(place)) == 1


def test_conflicts_are_not_taken_apart(place: Place) -> None:
    write(place, "<<<<<<< HEAD\nOne.\n=======\nTwo.\n>>>>>>> other\n")
    with pytest.raises(RejectedError, match="the block has conflict markers"):
        page.page_out(place, "system_rules", AGENT, free=1e9)
