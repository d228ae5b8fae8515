"""What a team's server has is, in the end, what the rules share of recall: whatever happened."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from memfs.core.errors import LockedError, StoreError
from memfs.core.records import Origin
from memfs.ipc.team_client import TeamError
from memfs.ipc.team_protocol import LONGEST, MOST_MESSAGES
from memfs.ops import team
from memfs.ops.team import ShareRequest
from memfs.ops.team_status import load_status
from memfs.ops.team_upload import UploadReport, upload
from memfs.store import lock, recall, session_outcomes, team_membership
from memfs.store.blocks import Place
from memfs.store.session_outcomes import SessionOutcome
from memfs.store.team_outbox import TeamOutbox
from tests.ipc.small_server import SmallServer, serve
from tests.ipc.team_table import TeamTable
from tests.ops.recorded_sessions import change, record

ME = Origin()
PORT = (("user", "which port?"), ("assistant", "Port 7741."), ("tool", "grep: 7741"))
DATE = (("user", "which day?"), ("assistant", "Monday."))


@pytest.fixture
def table() -> TeamTable:
    return TeamTable()


@pytest.fixture
def server(table: TeamTable) -> Iterator[SmallServer]:
    with serve(table.answer) as found:
        yield found


@pytest.fixture
def joined(place: Place, server: SmallServer) -> Place:
    team.join_project(place, server.address, "mft_1", ME, project="shop")
    return place


def share(place: Place, **request: object) -> team.SendOutcome:
    plan = team.plan_sharing(place, ShareRequest(**request))  # type: ignore[arg-type]
    return team.share(place, plan, ME)


def send(place: Place) -> UploadReport:
    assert place.user
    return upload(place.user, place.home)


def outbox(place: Place) -> TeamOutbox:
    assert place.user
    return TeamOutbox(place.user, team_membership.make_key(place.home.local))


def test_joining_shares_nothing(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *PORT)
    assert send(joined) == UploadReport()
    assert table.rows == {}


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
    done = team.unshare(joined, "s1", ME)
    assert done.report.removed == 4
    share(joined, session="s1", first=2)
    assert table.list_texts() == ["which day?", "Monday.", "thanks"]
    assert table.titles == {("claude", "s1"): "which day?"}


def test_a_title_whose_prompt_is_taken_back_goes_with_it(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *PORT, *DATE)
    share(joined, session="s1")
    team.set_pattern(joined, "which port", ME, remove=False)
    assert table.list_texts() == ["Port 7741.", "which day?", "Monday."]
    assert table.titles == {("claude", "s1"): "which day?"}


def test_what_was_solved_is_a_question_and_its_outcome(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *PORT, ("assistant", "It is 7742."), *DATE)
    record(joined.home, "s2", ("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"))
    record(joined.home, "s3", *DATE)
    session_outcomes.write_outcome(joined.home, SessionOutcome("s1", True, turn=1))
    session_outcomes.write_outcome(joined.home, SessionOutcome("s2", True))
    session_outcomes.write_outcome(joined.home, SessionOutcome("s3", False))
    share(joined, base="solved")
    assert table.list_texts("s1") == ["which port?", "It is 7742."]
    assert table.list_texts("s2") == ["a", "d"]
    assert table.list_texts("s3") == []
    record(joined.home, "s2", ("user", "e"), ("assistant", "f"))
    send(joined)
    assert table.list_texts("s2") == ["a", "f"]
    session_outcomes.write_outcome(joined.home, SessionOutcome("s2", False))
    send(joined)
    assert table.list_texts("s2") == []


def test_all_sessions_are_shared_but_those_that_are_withheld(
    joined: Place, table: TeamTable
) -> None:
    record(joined.home, "s1", *PORT)
    record(joined.home, "s2", *DATE)
    share(joined, base="all")
    assert len(table.list_rows()) == 4
    team.unshare(joined, "s2", ME)
    assert table.list_texts() == ["which port?", "Port 7741."]
    record(joined.home, "s3", *DATE)
    send(joined)
    assert len(table.list_rows()) == 4
    share(joined, session="s2")
    assert len(table.list_rows()) == 6
    assert team.unshare(joined, "", ME).report.removed == 6
    assert table.list_rows() == []


def test_what_is_forgotten_or_purged_is_taken_back(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *PORT)
    record(joined.home, "s2", *DATE)
    share(joined, base="all")
    change(joined.home, "s1", "Port 7741.", "Port [redacted].")
    recall.forget(joined.home, "claude", "s2")
    assert send(joined) == UploadReport(stored=1, removed=3)
    assert table.list_texts() == ["which port?", "Port [redacted]."]


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
    team.set_pattern(joined, "emca*others", ME, remove=False)
    plan = team.plan_sharing(joined, ShareRequest("s1"))
    assert plan.left_out == {"private": 1, "named by memfs team never": 1}
    assert plan.messages == 3
    team.share(joined, plan, ME)
    first, second, third = table.list_texts()
    assert key not in first
    assert (second, len(third)) == ("plain\ufffd ?", LONGEST)
    team.set_pattern(joined, "emca*others", ME, remove=True)
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
    team.unshare(joined, "s1", ME)
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
    assert team.set_pattern(joined, "port?", ME, remove=False).waits
    send(joined)
    assert table.list_texts() == ["Port 7741."]
    table.faults = [fault]
    assert team.set_pattern(joined, "7741", ME, remove=False).waits
    team.set_pattern(joined, "port?", ME, remove=True)
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
    team.unshare(joined, "s1", ME)
    found = load_status(joined)
    assert found
    assert found.refused == ()


def test_one_who_has_no_access_any_more_is_told(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *PORT)
    table.member["projects"] = []
    assert share(joined, session="s1").waits == "you have no access to shop any more"


def test_only_one_process_sends(joined: Place) -> None:
    assert joined.user
    record(joined.home, "s1", *PORT)
    share(joined, session="s1")
    with lock.hold_lock(joined.user, name=outbox(joined).lock):
        with pytest.raises(LockedError, match="another process is sending"):
            upload(joined.user, joined.home, 0)
    with pytest.raises(StoreError, match="has joined no team"):
        upload(joined.user, joined.user)


def test_all_that_is_known_of_the_server_may_be_lost(joined: Place, table: TeamTable) -> None:
    record(joined.home, "s1", *PORT)
    record(joined.home, "s2", *DATE)
    share(joined, base="all")
    assert joined.user
    folder = Path(team_membership.get_folder(joined.user), "sent", outbox(joined)._folder[-32:])
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
    assert joined.user
    path = Path(team_membership.get_project_path(joined.user, outbox(joined)._folder[-32:]))
    share(joined, session="s1")
    record(joined.home, "s1", *DATE)
    path.write_text("{")
    with pytest.raises(StoreError, match="is damaged"):
        send(joined)
    found = load_status(joined)
    assert found
    assert "is damaged" in found.problem
    assert len(table.list_rows()) == 2


# Any sequence of changes and faults ends with what the rules share.

NAMES = ("s1", "s2")
TEXTS = ("which port?", "Port 7741.", "a plan of EMCA", "<private>x</private>", "Monday.")
SAID = st.tuples(st.sampled_from(("user", "assistant", "tool")), st.sampled_from(TEXTS))
STEPS = st.one_of(
    st.tuples(st.just("record"), st.sampled_from(NAMES), st.lists(SAID, min_size=1, max_size=4)),
    st.tuples(st.just("edit"), st.sampled_from(NAMES), st.sampled_from(TEXTS)),
    st.tuples(st.just("forget"), st.sampled_from(NAMES)),
    st.tuples(st.just("share"), st.sampled_from(NAMES), st.booleans()),
    st.tuples(st.just("turns"), st.sampled_from(NAMES), st.integers(1, 3), st.integers(0, 2)),
    st.tuples(st.just("base"), st.sampled_from(("all", "solved")), st.booleans()),
    st.tuples(st.just("unshare"), st.sampled_from(("", *NAMES))),
    st.tuples(st.just("never"), st.booleans()),
    st.tuples(st.just("worked"), st.sampled_from(NAMES), st.integers(0, 2), st.booleans()),
    st.tuples(st.just("faults"), st.lists(st.sampled_from(("after", "before", "")), max_size=3)),
    st.tuples(st.just("faults"), st.just(["after"])),
    st.tuples(st.just("send")),
)


@dataclass
class Model:
    """What ought to be shared, said another way: from lists of what was said."""

    said: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    turns: list[tuple[str, int, int, bool]] = field(default_factory=list)
    withheld: set[str] = field(default_factory=set)
    base: str = "nothing"
    tools: bool = False
    never: bool = False
    worked: dict[tuple[str, int], bool] = field(default_factory=dict)

    def wanted(self) -> set[tuple[str, int, str]]:
        found = set()
        for name, said in self.said.items():
            turn, turns = 0, []
            for role, _ in said:
                turn += role == "user"
                turns.append(turn)
            chosen = set()
            for n, (role, _) in enumerate(said):
                ways = [t for s, a, b, t in self.turns if s == name and a <= turns[n] <= (b or 99)]
                ways += [self.tools] if self.base == "all" else []
                if ways and (role != "tool" or any(ways)):
                    chosen.add(n)
            for (session, turn), worked in self.worked.items():
                if session == name and worked and self.base == "solved":
                    of = [n for n in range(len(said)) if turn in (0, turns[n])]
                    chosen |= set([n for n in of if said[n][0] == "user"][:1])
                    chosen |= set([n for n in of if said[n][0] == "assistant"][-1:])
            for n in chosen if name not in self.withheld else ():
                text = said[n][1]
                if "private" not in text and not (self.never and "EMCA" in text):
                    found.add((name, n + 1, text))
        return found


class World:
    """A place with its model; each step changes both."""

    def __init__(self, place: Place, table: TeamTable) -> None:
        self.place, self.table, self.model = place, table, Model()

    def record(self, name: str, said: list[tuple[str, str]]) -> None:
        if name in self.model.said or not self._is_forgotten(name):
            record(self.place.home, name, *said)
            self.model.said.setdefault(name, []).extend(said)

    def edit(self, name: str, text: str) -> None:
        if name in self.model.said:
            change(self.place.home, name, text, "other words")
            said = self.model.said[name]
            said[:] = [(role, each.replace(text, "other words")) for role, each in said]

    def forget(self, name: str) -> None:
        if self.model.said.pop(name, None):
            recall.forget(self.place.home, "claude", name)

    def _is_forgotten(self, name: str) -> bool:
        return Path(self.place.home.local, f"recall/claude/{name}.forgotten").exists()

    def share(self, name: str, tools: bool) -> None:
        if name in self.model.said:
            share(self.place, session=name, tools=tools)
            self.model.turns = [each for each in self.model.turns if each[0] != name]
            self.model.turns.append((name, 0, 0, tools))
            self.model.withheld.discard(name)

    def turns(self, name: str, first: int, more: int) -> None:
        count = sum(role == "user" for role, _ in self.model.said.get(name, ()))
        if first + more <= count:
            share(self.place, session=name, first=first, last=first + more)
            self.model.turns.append((name, first, first + more, False))
            self.model.withheld.discard(name)

    def base(self, base: str, tools: bool) -> None:
        share(self.place, base=base, tools=tools)
        self.model.base, self.model.tools = base, tools

    def unshare(self, name: str) -> None:
        model = self.model
        if not name:
            team.unshare(self.place, "", ME)
            model.base, model.tools, model.turns, model.withheld = "nothing", False, [], set()
        elif name in model.said:
            team.unshare(self.place, name, ME)
            model.turns = [each for each in model.turns if each[0] != name]
            model.withheld.discard(name)
            model.withheld |= {name} if model.base != "nothing" else set()

    def never(self, remove: bool) -> None:
        if remove <= self.model.never:
            team.set_pattern(self.place, "emca", ME, remove=remove)
            self.model.never = not remove

    def worked(self, name: str, turn: int, worked: bool) -> None:
        session_outcomes.write_outcome(self.place.home, SessionOutcome(name, worked, turn=turn))
        self.model.worked[name, turn] = worked

    def faults(self, faults: list[str]) -> None:
        self.table.faults = faults

    def send(self) -> None:
        try:
            send(self.place)
        except TeamError:
            return
        self.check()

    def check(self) -> None:
        rows = self.table.list_rows()
        assert {(r["name"][1], r["ordinal"], r["text"]) for r in rows} == self.model.wanted()
        found = outbox(self.place)
        assert found._flight == {}
        ids = set[bytes]().union(
            *(found.load_ids((s.host, s.session)) for s in found.list_sessions())
        )
        assert ids == {bytes.fromhex(row["id"]) for row in rows}
        for (_, name), title in self.table.titles.items():
            texts = [text for session, _, text in self.model.wanted() if session == name]
            assert not texts or not title or title in texts


@given(st.lists(STEPS, max_size=14))
@limits(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_whatever_happens_the_server_ends_with_what_is_shared(
    joined: Place, server: SmallServer, steps: list[tuple[str, object]]
) -> None:
    table = TeamTable()
    server.handle = table.answer
    assert joined.user
    shutil.rmtree(f"{joined.home.local}/recall", ignore_errors=True)
    Path(joined.home.local, session_outcomes.FILE).unlink(missing_ok=True)
    for name in ("sent", "projects"):
        shutil.rmtree(f"{joined.user.local}/team/{name}", ignore_errors=True)
    Path(team_membership.get_patterns_path(joined.user)).unlink(missing_ok=True)
    team.join_project(joined, server.address, "mft_1", ME, project="shop")
    world = World(joined, table)
    for name, *words in steps:
        getattr(world, name)(*words)
    table.faults = []
    send(joined)
    world.check()
    status = load_status(joined)
    assert status
    assert not status.waits
