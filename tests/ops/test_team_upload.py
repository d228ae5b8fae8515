"""What a team's server has is, in the end, what the rules share of recall: whatever happened."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from memfs.core.errors import LockedError, StoreError
from memfs.store import lock, recall
from memfs.store.blocks import Place
from memfs.team import membership, verbs
from memfs.team.client import TeamError
from memfs.team.protocol import LONGEST, MOST_MESSAGES
from memfs.team.status import load_status
from memfs.team.upload import UploadReport, upload
from tests.ops.recorded_sessions import change, record
from tests.ops.team_steps import ME, outbox, send, share
from tests.team.small_server import Answer, SmallServer
from tests.team.team_table import TeamTable

PORT = (("user", "which port?"), ("assistant", "Port 7741."), ("tool", "grep: 7741"))
DATE = (("user", "which day?"), ("assistant", "Monday."))


def test_a_session_is_shared_without_its_tools(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *PORT)
    record(joined.home, "s2", *DATE)
    done = share(joined, session="s1")
    assert (done.report, done.waits) == (UploadReport(stored=2), "")
    assert table.list_texts() == ["which port?", "Port 7741."]
    (first, _) = table.list_rows()
    assert (first["ordinal"], first["at"], first["role"]) == (1, "2026-05-01T09:00:00Z", "user")
    assert table.titles == {("claude", "s1"): "which port?"}
    share(joined, session="s1", tools=True)
    assert table.list_texts() == ["which port?", "Port 7741.", "grep: 7741"]


def test_what_is_added_to_a_session_goes_too_and_only_that(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *PORT)
    share(joined, session="s1")
    record(joined.home, "s1", *DATE)
    assert send(joined) == UploadReport(stored=2)
    assert [row["ordinal"] for row in table.list_rows()] == [1, 2, 4, 5]
    assert table.titles == {("claude", "s1"): "which port?"}
    assert send(joined) == UploadReport()
    assert table.pushes == [2, 2]


def test_turns_are_shared_and_the_title_is_of_what_is_shared(
    joined: Place, table: TeamTable
) -> None:
    record(joined.home, "s1", *PORT, *DATE, ("user", "thanks"))
    share(joined, session="s1", first=2, last=2)
    assert table.list_texts() == ["which day?", "Monday."]
    assert table.titles == {("claude", "s1"): "which day?"}
    share(joined, session="s1", first=1, last=1)
    assert len(table.list_rows()) == 4
    assert table.titles == {("claude", "s1"): "which port?"}
    done = verbs.unshare(joined, "s1", ME)
    assert done.report.removed == 4
    share(joined, session="s1", first=2)
    assert table.list_texts() == ["which day?", "Monday.", "thanks"]
    assert table.titles == {("claude", "s1"): "which day?"}
    verbs.set_pattern(joined, "which day", ME, remove=False)
    assert table.list_texts() == ["Monday.", "thanks"]
    assert table.titles == {("claude", "s1"): "thanks"}


def test_private_parts_secrets_and_what_never_goes_stay_here(
    joined: Place, table: TeamTable
) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLF"
    record(
        joined.home,
        "s1",
        ("user", f"the key is {key}"),
        ("user", "<private>all of it</private>"),
        ("user", "of customer EMCA and <private>x</private> others"),
        ("user", "plain\0 \udcff"),
        ("user", "x" * (LONGEST + 5)),
    )
    verbs.set_pattern(joined, "emca*others", ME, remove=False)
    plan = verbs.plan_sharing(joined, "s1")
    assert plan.left_out == {
        "with only private text": 1,
        "matching a pattern of 'memfs team never'": 1,
    }
    assert plan.messages == 3
    verbs.share(joined, plan, ME)
    first, second, third = table.list_texts()
    assert key not in first
    assert (second, len(third)) == ("plain\ufffd ?", LONGEST)
    verbs.set_pattern(joined, "emca*others", ME, remove=True)
    assert any("EMCA" in text for text in table.list_texts())


def test_many_messages_go_in_batches(joined: Place, table: TeamTable) -> None:
    for session in ("s1", "s2", "s3"):
        record(joined.home, session, *[("user", f"{session} {n}") for n in range(150)])
    share(joined, base="all")
    assert table.pushes == [MOST_MESSAGES, MOST_MESSAGES, 50]
    assert len(table.list_rows()) == 450
    assert send(joined) == UploadReport()


def test_large_messages_go_in_small_batches(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *[("user", f"{n} " + "\u2603 " * 100_000) for n in range(4)])
    share(joined, base="all")
    assert table.pushes == [2, 2]


def test_a_batch_that_was_acknowledged_is_not_sent_again(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *[("user", f"{n}") for n in range(MOST_MESSAGES + 10)])
    table.faults = ["", "before"]
    done = share(joined, base="all")
    assert done.waits == "the database is away"
    assert len(table.list_rows()) == MOST_MESSAGES
    found = load_status(joined)
    assert found
    assert (found.waits, found.contact.away, found.contact.failures) == (True, True, 1)
    assert send(joined) == UploadReport(stored=10)
    found = load_status(joined)
    assert found
    assert (found.waits, found.contact.error, found.contact.failures) == (False, "", 0)


def test_what_may_have_arrived_is_taken_back_if_it_is_shared_no_more(
    joined: Place, table: TeamTable
) -> None:
    record(joined.home, "s1", *PORT)
    table.faults = ["after"]
    assert share(joined, session="s1").waits
    assert len(table.list_rows()) == 2
    assert outbox(joined).load_ids(("claude", "s1")) == set()
    verbs.unshare(joined, "s1", ME)
    assert table.list_rows() == []
    assert outbox(joined).list_sessions() == []


def test_a_message_that_may_have_arrived_is_taken_back_if_it_is_another_now(
    joined: Place, table: TeamTable
) -> None:
    record(joined.home, "s1", *PORT)
    table.faults = ["after"]
    assert share(joined, session="s1").waits
    change(joined.home, "s1", "Port 7741.", "Port [redacted].")
    assert send(joined) == UploadReport(stored=1, known=1, removed=1)
    assert table.list_texts() == ["which port?", "Port [redacted]."]


@pytest.mark.parametrize("fault", ["before", "after"])
def test_what_could_not_be_taken_back_is_taken_back_later(
    joined: Place, table: TeamTable, fault: str
) -> None:
    record(joined.home, "s1", *PORT)
    share(joined, session="s1")
    table.faults = [fault]
    assert verbs.set_pattern(joined, "port?", ME, remove=False).waits
    send(joined)
    assert table.list_texts() == ["Port 7741."]
    table.faults = [fault]
    assert verbs.set_pattern(joined, "7741", ME, remove=False).waits
    verbs.set_pattern(joined, "port?", ME, remove=True)
    assert table.list_texts() == ["which port?"]


def test_what_the_server_refused_is_not_sent_again_and_counted(
    joined: Place, table: TeamTable
) -> None:
    record(joined.home, "s1", *PORT)
    table.refused = {"Port 7741."}
    assert share(joined, session="s1").report == UploadReport(stored=1, refused=1)
    assert send(joined) == UploadReport()
    found = load_status(joined)
    assert found
    assert found.refused == ("a secret",)
    verbs.unshare(joined, "s1", ME)
    found = load_status(joined)
    assert found
    assert found.refused == ()


def test_a_message_that_makes_a_batch_malformed_is_found(
    joined: Place, table: TeamTable, server: SmallServer
) -> None:
    def answer(path: str, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        texts = [each["text"] for each in body.get("messages", ())]
        if any(text.endswith(ends) for text in texts):
            return 400, {}, b'{"error": "the name of the session is malformed"}'
        return table.answer(path, body, headers)

    ends = " 77"
    server.handle = answer
    record(joined.home, "s1", *[("user", f"message {n}") for n in range(150)])
    assert share(joined, base="all").report == UploadReport(stored=149, refused=1)
    assert send(joined) == UploadReport()
    ends = ""  # all of them
    record(joined.home, "s1", *[("user", f"more {n}") for n in range(50)])
    with pytest.raises(TeamError, match="is malformed"):
        send(joined)


def test_one_who_has_no_access_any_more_is_told(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *PORT)
    table.member["projects"] = []
    assert share(joined, session="s1").waits == "you no longer have access to the project 'shop'"


def test_only_one_process_sends(joined: Place) -> None:
    record(joined.home, "s1", *PORT)
    share(joined, session="s1")
    with lock.hold_lock(joined.store("user"), name=outbox(joined).lock):
        with pytest.raises(LockedError, match="another process is already sending"):
            upload(joined.store("user"), joined.home, 0)
    with pytest.raises(StoreError, match="has not joined a team"):
        upload(joined.store("user"), joined.store("user"))


def test_all_that_is_known_of_the_server_may_be_lost(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *PORT)
    record(joined.home, "s2", *DATE)
    share(joined, base="all")
    folder = Path(membership.get_folder(joined.store("user")), "sent", outbox(joined)._folder[-32:])
    for path in sorted(folder.rglob("*")):  # each of its files damaged
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-3] + b"\xff\xff")
            send(joined)
            record(joined.home, "s1", ("user", path.name))
            send(joined)
            assert f"{path.name}" in table.list_texts()
    shutil.rmtree(folder)
    assert send(joined).stored == 0
    recall.forget(joined.home, "claude", "s2")
    send(joined)
    assert table.list_texts("s2") == []


def test_rules_that_are_damaged_share_nothing(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *PORT)
    path = Path(membership.get_project_path(joined.store("user"), outbox(joined)._folder[-32:]))
    share(joined, session="s1")
    record(joined.home, "s1", *DATE)
    path.write_text("{")
    with pytest.raises(StoreError, match="is damaged"):
        send(joined)
    found = load_status(joined)
    assert found
    assert "is damaged" in found.problem
    assert len(table.list_rows()) == 2
