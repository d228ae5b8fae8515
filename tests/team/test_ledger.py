"""The ledger: whatever comes, however often and in whatever order, it is the same in the end."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from memfs.team.protocol import HEADER, PROTOCOL, RetractRequest
from memfs.team.server import administration
from tests.examples import examples
from tests.service import running
from tests.team.teams import Answer, Member, Team, make_push

pytestmark = pytest.mark.parametrize("postgres", ["vectors"], indirect=True)

MANY = [f"message {number} of the migration to the new ledger" for number in range(1000)]
BATCH = 200


def read_tables(team: Team) -> list[Any]:
    """Return what the tables say, without numbers that depend on who came first."""
    return [
        team.read(
            "SELECT m.project, m.at, m.id, s.host, s.ident, m.ordinal, m.role, m.text,"
            " m.member, m.stamp FROM message m JOIN session s ON s.id = m.session"
            " ORDER BY m.project, m.id"
        ),
        team.read(
            "SELECT project, member, host, ident, retracted, branch, title FROM session"
            " ORDER BY 1, 2, 3, 4"
        ),
        team.read("SELECT project, id, member, stamp FROM retraction ORDER BY 1, 2, 3"),
    ]


@pytest.mark.parametrize("count", [1000, pytest.param(10_000, marks=pytest.mark.thorough)])
def test_sixteen_uploads_of_the_same_messages_leave_each_once_for_its_member(
    team: Team, count: int
) -> None:
    messages = [f"message {number} of the migration to the new ledger" for number in range(count)]
    names = [f"dev{number}" for number in range(4)]
    members = [team.add(name, shop="writer") for name in names] * 4

    def upload(number: int) -> None:
        starts = range(0, count, BATCH)
        for start in starts if number % 2 else reversed(starts):
            texts = messages[start : start + BATCH]
            answer = members[number].push(1, texts, first=start, stamp=1000 + number)
            assert answer.status == 200
            assert answer.body["refused"] == []

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(upload, range(16)))
    assert team.count() == 4 * count
    stamps = team.read("SELECT DISTINCT member, stamp FROM message ORDER BY 1")
    assert stamps == [(1, 1012), (2, 1013), (3, 1014), (4, 1015)]
    assert team.read("SELECT sum(many) FROM change") == [(4 * count,)]
    found = members[0].find_texts([1], messages[3])
    assert len(found) == len({*found})


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["push", "retract", "whole"]),
        st.integers(0, 1),  # member
        st.integers(1, 5),  # stamp
        st.integers(0, 3),  # first message
        st.integers(1, 3),  # messages
    ),
    min_size=1,
    max_size=7,
)
TEXTS = ["where is the lease", "in the pool", "who renews it", "the worker", "and after", "nobody"]


@examples(24)
@given(steps=STEPS, data=st.data())
def test_any_order_and_repetition_gives_the_same_tables(
    team: Team, steps: list[tuple[str, int, int, int, int]], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations([*steps, *steps[:2]]))
    told = []
    for order in (steps, shuffled):
        team.clear()
        members = [team.add(name, shop="writer") for name in ("ana", "ben")]
        for kind, who, stamp, first, count in order:
            texts = TEXTS[first : first + count]
            push = make_push(1, texts, stamp=10 * stamp, first=first)
            if kind == "push":
                assert members[who].ask("POST", "/v1/push", push).status == 200
                continue
            ids = [message.id for message in push.messages] if kind == "retract" else []
            request = RetractRequest(1, 10 * stamp + 5, "claude", "s1", ids)
            assert members[who].ask("POST", "/v1/retract", request).status == 200
        told.append(read_tables(team))
    (rows, sessions, gone), (rows2, sessions2, gone2) = told
    assert (rows, gone) == (rows2, gone2)
    assert [row[:5] for row in sessions] == [row[:5] for row in sessions2]


@pytest.mark.thorough
def test_the_server_of_the_database_killed_in_the_middle_of_batches(team: Team) -> None:
    ana = team.add("ana", shop="writer")
    for round_ in range(5):
        start = round_ * 100
        texts = MANY[start : start + 100]
        thread = threading.Thread(target=lambda: ana.push(1, texts, first=start))  # noqa: B023
        thread.start()
        team.postgres.stop("immediate")
        thread.join()
        team.postgres.resume()
        for _ in range(30):
            if ana.push(1, texts, first=start).status == 200:
                break
    assert team.count() == 500
    assert team.read("SELECT sum(many) FROM change") == [(500,)]


@pytest.mark.thorough  # the database waits for a second before it looks for a conflict
def test_a_push_that_has_to_give_way_is_done_after_the_other(own_team: Team) -> None:
    ana = own_team.add("ana", shop="writer")
    ana.push(1, MANY[:1])
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(ana.push(1, MANY[:5])))
    with administration.open_administration(own_team.address) as admin:
        admin.execute("SELECT pg_advisory_xact_lock(1, 1)")  # what a push wants, of this member
        thread.start()
        running.until(lambda: own_team.read("SELECT pid FROM pg_locks WHERE NOT granted"))
        admin.execute("LOCK TABLE access IN ACCESS EXCLUSIVE MODE")  # which the push has
    thread.join()
    assert (answers[0].status, answers[0].body["stored"]) == (200, 4)
    conflicts = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    running.until(lambda: own_team.read(conflicts) == [(1,)])


def test_what_is_kept_for_a_time_goes(team: Team) -> None:
    ana, ben = team.add("ana", shop="writer"), team.add("ben", notes="writer")
    ana.push(1, MANY[:10])
    ben.push(2, MANY[:10])
    with administration.open_administration(team.address) as admin:
        admin.execute("UPDATE project SET retention_days = 30 WHERE id = 1")
        assert administration.prune(admin) == 10
        assert administration.prune(admin) == 0
    assert team.read("SELECT DISTINCT project FROM message") == [(2,)]
    assert team.read("SELECT title <> '' FROM session ORDER BY project") == [(False,), (True,)]
    assert ana.push(1, MANY[:10]).body["stored"] == 10


def test_a_call_with_a_revoked_token_fails_at_once(team: Team) -> None:
    ana = team.add("ana", shop="writer")
    assert ana.push(1, MANY[:3]).status == 200
    with administration.open_administration(team.address) as admin:
        assert administration.revoke_member(admin, "ana", purge=True) == 3
    assert ana.ask("GET", "/v1/me").status == 401
    assert team.count() == 0


def test_the_service_keeps_to_its_own_description(team: Team) -> None:
    ana = team.add("ana", shop="writer")
    api = schemathesis.openapi.from_url(f"{team.url}/openapi.json")
    checks = [not_a_server_error, status_code_conformance, content_type_conformance]
    checks.append(response_schema_conformance)
    seen: set[int] = set()

    for found in api.get_all_operations():
        operation: Any = found

        @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.ok().as_strategy())
        def ask(case: Any) -> None:
            own = {"Authorization": f"Bearer {ana.token}", HEADER: str(PROTOCOL)}
            case.headers = dict(case.headers or {}) | own
            response = case.call(base_url=team.url)
            seen.add(response.status_code)
            case.validate_response(response, checks=checks)

        ask()
    assert seen <= {200, 400, 401, 403, 413, 426, 429}
    assert 200 in seen


def test_a_search_reads_the_part_of_its_project_alone(own_team: Team) -> None:
    names = [f"p{number}" for number in range(1, 6)]
    ana = own_team.add("ana", **dict.fromkeys(names, "writer"))
    for number in range(1, 6):
        for session in range(3):
            ana.push(number, MANY[:30], f"s{session}")
    own = own_team.read("SELECT DISTINCT tableoid::regclass::text FROM message WHERE project = 1")[
        0
    ][0]
    parts = own_team.read("SELECT count(DISTINCT tableoid) FROM message")[0][0]
    assert parts > 2

    def count_reads() -> dict[str, int]:
        return dict(
            own_team.read(
                "SELECT relname, seq_scan + idx_scan FROM pg_stat_user_tables"
                " WHERE relname ~ '^(message|vector)_[0-9]'"
            )
        )

    def ask(times: int) -> dict[str, int]:
        for number in range(times):
            assert ana.find_texts([1], MANY[number])
            ana.ask("POST", "/v1/recall", {"projects": [1], "prompt": MANY[number]})
        time.sleep(1.1)  # a connection tells what it has read once a second
        assert ana.find_texts([1], MANY[0])
        return count_reads()

    before = ask(1)
    ask(20)  # also by a plan for any values
    read = {name for name, count in count_reads().items() if count > before[name]}
    assert read == {own, own.replace("message", "vector")}


def list_tables(team: Team) -> list[Any]:
    return team.read("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') ORDER BY 1")


@examples(15)
@given(
    dates=st.lists(
        st.datetimes(datetime(1990, 1, 1), datetime(2200, 1, 1)),  # noqa: DTZ001 - drawn as UTC
        min_size=1,
        max_size=200,
    )
)
def test_no_dates_make_tables(team: Team, dates: list[datetime]) -> None:
    if not team.members:
        team.add("ana", shop="writer")
    tables = list_tables(team)
    whole = [datetime(1999 + n // 12, n % 12 + 1, 15, tzinfo=UTC) for n in range(150)]
    now = datetime.now(UTC)
    for given_dates in (whole, [each.replace(tzinfo=UTC) for each in dates]):
        push = make_push(1, [f"it was {each}" for each in given_dates])
        messages = [
            replace(each, at=at.isoformat())
            for each, at in zip(push.messages, given_dates, strict=True)
        ]
        answer = team.members["ana"].ask("POST", "/v1/push", replace(push, messages=messages))
        assert answer.status == 200
        wrong = [at for at in given_dates if at.year < 2000 or at > now + timedelta(days=2)]
        assert len(answer.body["refused"]) == len(wrong)
    assert list_tables(team) == tables
    assert team.read("SELECT count(*) FROM message WHERE at < '2000-01-01'") == [(0,)]


def test_messages_without_a_date_and_old_ones_go_in_time(team: Team) -> None:
    ana = team.add("ana", shop="writer")
    push = make_push(1, ["when was that?", "In 2003.", "And now?"])
    dates = ["", "2003-05-03T10:00:00Z", "1999-12-31T23:59:59Z"]
    messages = [replace(each, at=at) for each, at in zip(push.messages, dates, strict=True)]
    answer = ana.ask("POST", "/v1/push", replace(push, messages=messages))
    assert (answer.body["stored"], [each["why"] for each in answer.body["refused"]]) == (
        2,
        ["the time is before the year 2000"],
    )
    assert team.count() == 2
    with administration.open_administration(team.address) as admin:
        admin.execute("UPDATE project SET retention_days = 30")
        assert administration.prune(admin) == 2
    assert team.count() == 0


@pytest.mark.parametrize(
    ("made_at", "kept", "told"),
    [
        ("now()", 20_000, "a member may add 20,000 sessions a day"),
        pytest.param(
            "now() - interval '2 days'",
            100_000,
            "a member may have 100,000 sessions in a project",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_member_has_so_many_sessions_and_no_more(
    team: Team, made_at: str, kept: int, told: str
) -> None:
    ana, ben = team.add("ana", shop="writer"), team.add("ben", shop="writer")
    with administration.open_administration(team.address) as admin:
        admin.execute(
            "INSERT INTO session (project, member, host, ident, branch, title, stamp, made_at)"
            f" SELECT 1, 1, 'claude', n::text, '', '', 0, {made_at}"
            f" FROM generate_series(1, {kept}) n".encode()
        )
    refused = ana.push(1, MANY[:2], "one more")
    assert (refused.status, refused.body["error"]) == (403, told)
    request = RetractRequest(1, 1000, "claude", "one more")
    assert ana.ask("POST", "/v1/retract", request).status == 403
    assert team.count() == 0
    assert ana.push(1, MANY[:2], "7").body["stored"] == 2  # a session that is there
    assert ben.push(1, MANY[:2], "one more").body["stored"] == 2


LEASES = [f"message {number} of the lease" for number in range(400)]
THREADS, CROWD_STEPS = 12, 60
AGO = 700  # minutes: times this, messages are of months that a prune drops


def step(draw: random.Random, member: Member) -> Answer:
    """Do something of one project that others do something of, too."""
    project, session = draw.choice((1, 1, 1, 2)), draw.choice(("s1", "s2"))
    stamp = int(time.time() * 1000)
    start, count = draw.randrange(300), draw.choice((5, 50, 100))
    first = start * draw.choice((1, 1, AGO))
    push = make_push(project, LEASES[start : start + count], session, first=first, stamp=stamp)
    kind = draw.choices(("push", "some", "whole", "purge", "search"), (50, 25, 10, 5, 10))[0]
    if kind == "push":
        return member.ask("POST", "/v1/push", push)
    if kind == "purge":
        return member.ask("POST", "/v1/purge", {"project": draw.choice((0, 1))})
    if kind == "search":
        return member.search([1, 2], "a message of the lease")
    ids = [each.id for each in push.messages] if kind == "some" else []
    return member.ask("POST", "/v1/retract", RetractRequest(project, stamp, "claude", session, ids))


@pytest.mark.thorough
def test_whatever_they_do_at_once_is_done_and_the_books_agree(own_team: Team) -> None:
    members = [own_team.add(name, shop="writer", site="writer") for name in ("ana", "ben", "cleo")]
    pruned: list[int] = []
    ended = threading.Event()

    def work(number: int) -> None:
        draw = random.Random(number)  # noqa: S311 - drawn again with the same seed
        for _ in range(CROWD_STEPS):
            answer = step(draw, members[number % len(members)])
            assert answer.status == 200, answer

    def prune() -> None:
        while not ended.wait(0.05):
            with administration.open_administration(own_team.address) as admin:
                pruned.append(administration.prune(admin))

    with administration.open_administration(own_team.address) as admin:
        admin.execute("UPDATE project SET retention_days = 30")
    pruning = threading.Thread(target=prune)
    pruning.start()
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(work, range(THREADS)))
    finally:
        ended.set()
        pruning.join()
    assert sum(pruned) > 0
    members[0].push(1, LEASES[:3], "s9")
    own_team.check_books()
    assert own_team.count() >= 3
    conflicts = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    assert own_team.read(conflicts) == [(0,)]
