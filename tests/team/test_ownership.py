"""A message is its member's own: nobody else adds to it, replaces it, claims it or brings it back."""

import json
import threading
import time
from itertools import count, product
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.errors import MemfsError
from memfs.team.protocol import PushRequest, RetractRequest, SharedMessage, SharedSession
from memfs.team.server import administration
from tests.examples import examples
from tests.service import running
from tests.team.teams import Member, Team, make_push

pytestmark = pytest.mark.parametrize("postgres", ["vectors"], indirect=True)

NAMES = ("ana", "ben", "mallory")
QUESTION = "who renews the checkout lease of the pool"
TALK = ["Who renews the checkout lease of the pool?", "The worker renews it, inside the lock."]
SCHEMA = Path(administration.__file__).parent / "schema"


def find_all(member: Member) -> list[dict[str, Any]]:
    """Return all that a search and a recall of project 1 say."""
    asked = {"projects": [1], "limit": 50}
    hits = member.ask("POST", "/v1/search", asked | {"query": QUESTION})
    answers = member.ask("POST", "/v1/recall", asked | {"prompt": QUESTION})
    assert (hits.status, answers.status) == (200, 200)
    return [*hits.body["hits"], *answers.body["answers"]]


class Play:
    """What members did, and from that which words may stand under whose name."""

    def __init__(self, team: Team) -> None:
        self.members = [team.add(name, shop="writer") for name in NAMES]
        self.pushed: list[tuple[int, int, int, int, str]] = []  # who, stamp, id, session, word
        self.taken: list[tuple[int, int, int | None, int | None]] = []  # who, stamp, id, session
        self._clock = count(int(time.time() * 1000) - 100_000)

    def do(self, kind: str, who: int, ident: int, session: int, word: str) -> None:
        stamp = next(self._clock)
        if kind == "push":
            self._push(who, stamp, ident, session, word)
        elif kind == "again":  # what was sent before comes once more, as old as it was
            for push in [each for each in self.pushed if each[0] == who]:
                self._push(*push)
        elif kind == "purge":
            stamp = int(time.time() * 1000) + 1
            self._ask(who, "/v1/purge", {})
            self.taken.append((who, stamp, None, None))
            self._clock = count(stamp + 1)
        else:
            ids = [f"{ident:032x}"] if kind == "retract" else []
            self._ask(who, "/v1/retract", RetractRequest(1, stamp, "claude", f"s{session}", ids))
            of = (ident, None) if ids else (None, session)
            self.taken.append((who, stamp, *of))

    def list_words(self, name: str) -> set[str]:
        """Return the words of what a member shares: of each id that was not taken back since."""
        own = [push for push in self.pushed if NAMES[push[0]] == name]
        kept = {push[2] for push in own if not self._is_taken(*push[:4])}
        return {push[4] for push in own if push[2] in kept}

    def _is_taken(self, who: int, stamp: int, ident: int, session: int) -> bool:
        return any(
            who == by and at >= stamp and one in (None, ident) and whole in (None, session)
            for by, at, one, whole in self.taken
        )

    def _push(self, who: int, stamp: int, ident: int, session: int, word: str) -> None:
        text = f"{QUESTION}? {word} renews it inside the lock"
        at = f"2026-05-03T10:{ident:02}:00Z"
        role = ("user", "assistant")[ident % 2]
        message = SharedMessage(f"{ident:032x}", 0, ident, at, role, text, "ana")
        shared = SharedSession("claude", f"s{session}", word, word)
        self._ask(who, "/v1/push", PushRequest(1, stamp, "0", [shared], [message]))
        self.pushed.append((who, stamp, ident, session, word))

    def _ask(self, who: int, path: str, body: object) -> None:
        assert self.members[who].ask("POST", path, body).status == 200


WORDS = [f"word{number}x" for number in range(4)]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["push", "push", "push", "retract", "whole", "again", "purge"]),
        st.integers(0, 2),  # who
        st.integers(0, 2),  # id
        st.integers(0, 1),  # session
        st.sampled_from(WORDS),
    ),
    min_size=3,
    max_size=12,
)


@examples(24)
@given(steps=STEPS)
def test_nobodys_words_stand_under_the_name_of_another(
    team: Team, steps: list[tuple[str, int, int, int, str]]
) -> None:
    team.clear()
    play = Play(team)
    reader = team.add("reader", shop="reader")
    for each in steps:
        play.do(*each)
        for found in find_all(reader):
            said = {word for word in WORDS if word in json.dumps(found)}
            assert said <= play.list_words(found["member"])
    team.check_books()


@pytest.mark.parametrize("stamps", [(1000, 2000), (2000, 1000)])
def test_what_two_members_share_is_found_once_from_the_first(
    team: Team, stamps: tuple[int, int]
) -> None:
    """By the clock of the server: whoever copies it later cannot say that it was before."""
    ana, ben = team.add("ana", shop="writer"), team.add("ben", shop="writer")
    reader = team.add("cleo", shop="reader")
    ana.push(1, TALK, stamp=stamps[0])
    ben.push(1, TALK, stamp=stamps[1])
    assert team.count() == 4
    first = "ana"
    hits = reader.search([1], QUESTION).body["hits"]
    assert [hit["text"] for hit in hits].count(TALK[0]) == 1
    assert {each["member"] for each in find_all(reader)} == {first}
    answers = reader.ask("POST", "/v1/recall", {"projects": [1], "prompt": QUESTION}).body
    assert len(answers["answers"]) == 1
    team.members[first].ask("POST", "/v1/purge", {})
    assert {each["member"] for each in find_all(reader)} == {"ana", "ben"} - {first}


def test_another_members_id_takes_nothing_and_gives_nothing(team: Team) -> None:
    ana, mallory = team.add("ana", shop="writer"), team.add("mallory", shop="writer")
    push = make_push(1, TALK)
    ids = [each.id for each in push.messages]
    ana.ask("POST", "/v1/push", push)
    forged = [SharedMessage(i, 0, 0, "2026-05-03T10:00:00Z", "user", "mallory's") for i in ids]
    answer = mallory.ask("POST", "/v1/push", PushRequest(1, 1, "0", push.sessions, forged))
    assert (answer.body["stored"], answer.body["known"]) == (2, 0)
    assert mallory.ask(
        "POST", "/v1/retract", RetractRequest(1, 9000, "claude", "s1", ids)
    ).body == {"removed": 2}
    assert ana.ask("POST", "/v1/purge", {}).body == {"sessions": 1, "messages": 2}
    mallory.ask("POST", "/v1/push", PushRequest(1, 9001, "0", push.sessions, push.messages))
    assert {each["member"] for each in find_all(ana)} <= {"mallory"}
    assert team.read("SELECT DISTINCT member FROM message") == [(2,)]


def test_a_database_of_the_first_version_is_brought_up_to_date(own_team: Team) -> None:
    ana, ben = own_team.add("ana", shop="writer"), own_team.add("ben", shop="writer")
    reader = own_team.add("cleo", shop="reader")
    ana.push(1, TALK)
    ben.push(1, ["Who has the port?", "The proxy has port 7741."], first=2)
    downgrade(own_team.address)
    state = administration.set_up(own_team.address)
    assert (state.before, state.version) == (1, 2)
    own_team.check_books()
    hits = reader.search([1], QUESTION).body["hits"]
    assert {(hit["member"], hit["session"]) for hit in hits} == {("ana", "s1")}
    assert "7741" not in str(find_all(reader))
    assert "The proxy has port 7741." in ben.find_texts([1], "which port has the proxy")
    assert ana.push(1, TALK).body["known"] == 2
    assert ben.push(1, TALK).body["stored"] == 2
    ids = [each.id for each in make_push(1, TALK).messages]
    gone = ana.ask("POST", "/v1/retract", RetractRequest(1, 9000, "claude", "s1", ids))
    assert gone.body["removed"] == 2
    old = own_team.read("SELECT text, member, stamp FROM message WHERE at < '2011-01-01'")
    assert old == [("long ago", 2, 6)]
    assert own_team.read("SELECT relname FROM pg_class WHERE relname ~ '^old_'") == []
    others = "has_function_privilege('public', oid, 'EXECUTE')"  # of logins of before
    functions = "pg_proc WHERE pronamespace = 'memfs'::regnamespace"
    assert own_team.read(f"SELECT proname FROM {functions} AND {others}") == []


def test_an_upgrade_that_is_killed_leaves_all_as_it_was(own_team: Team) -> None:
    ana, _ = own_team.add("ana", shop="writer"), own_team.add("ben", shop="writer")
    ana.push(1, TALK)
    downgrade(own_team.address)
    for table in ("message", "session", "change", "vector"):
        killed = threading.Thread(target=upgrade_in_vain, args=(own_team.address,))
        with administration.open_administration(own_team.address) as admin:
            admin.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE".encode())
            killed.start()
            running.until(lambda: end_upgrade(own_team.address))
            killed.join()
        assert own_team.read("SELECT max(number) FROM schema_version") == [(1,)]
        assert own_team.read("SELECT count(*) FROM message WHERE claims <> '{}'") == [(3,)]
    assert administration.set_up(own_team.address).version == 2
    own_team.check_books()
    assert ana.push(1, TALK).body["known"] == 2


def upgrade_in_vain(address: str) -> None:
    with pytest.raises(MemfsError):
        administration.set_up(address)


def end_upgrade(address: str) -> bool:
    """End the connection that waits for a lock; tell whether there was one."""
    with psycopg.connect(address, autocommit=True) as admin:
        return bool(
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ).fetchall()
        )


def downgrade(address: str) -> None:
    """Put what is shared back into the tables of version 1: one session for all of a name.

    Beside it is a message of the year 2010, in a partition of its own, that two members share.
    """
    stay = ("team", "member", "token", "project", "access")
    with administration.open_administration(address) as admin:
        for name in (*stay, "message", "vector"):
            admin.execute(f"CREATE TEMPORARY TABLE old_{name} AS TABLE {name}".encode())
        for (table_name,) in admin.execute(
            "SELECT c.oid::regclass::text FROM pg_class c WHERE relkind IN ('r', 'p')"
            " AND relnamespace = 'memfs'::regnamespace AND NOT relispartition"
            " AND relname <> 'schema_version'"
        ).fetchall():
            admin.execute(f"DROP TABLE {table_name} CASCADE".encode())
        admin.execute((SCHEMA / "001_tables.sql").read_bytes())
        admin.execute(
            "CREATE TABLE vector (project int, at timestamptz, id uuid, value halfvec(256) NOT NULL,"
            " PRIMARY KEY (project, at, id)) PARTITION BY RANGE (at)"
        )
        for name in stay:
            admin.execute(f"INSERT INTO {name} OVERRIDING SYSTEM VALUE TABLE old_{name}".encode())
        for table, number in product(("message", "vector"), (201003, 202605)):
            first = f"{number // 100}-{number % 100:02}-01T00:00Z"
            then = first.replace(f"-{number % 100:02}-", f"-{number % 100 + 1:02}-")
            admin.execute(
                f"CREATE TABLE {table}_{number} PARTITION OF {table}"
                f" FOR VALUES FROM ('{first}') TO ('{then}')".encode()
            )
        admin.execute(TO_VERSION_1)


TO_VERSION_1 = """
INSERT INTO session (project, host, ident, branch, title, stamp)
VALUES (1, 'claude', 's1', 'main', 'somebody''s', 1000);
INSERT INTO message SELECT project, at, client_id, 1, ordinal, role, speaker, text, words,
    jsonb_build_object(member::text, 1000), redactor FROM old_message;
INSERT INTO message SELECT 1, '2010-03-03T00:00Z', md5('')::uuid, 1, 9, 'user', '', 'long ago',
    '{}', jsonb_build_object('1', 7, '2', 6), '';
INSERT INTO vector SELECT v.project, v.at, o.client_id, v.value
FROM old_vector v JOIN old_message o USING (project, at, id);
INSERT INTO vector SELECT 1, '2010-03-03T00:00Z', md5('')::uuid, value FROM old_vector LIMIT 1;
INSERT INTO change (project, gone, many, ids, ats)
SELECT 1, false, count(*), array_agg(id), array_agg(at) FROM message;
DELETE FROM schema_version WHERE number > 1;
"""
