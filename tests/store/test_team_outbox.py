"""The ids that a server has: kept through kills, and lost without harm."""

import time
from pathlib import Path

import pytest

from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from memfs.team.outbox import SentSession, ServerContact, TeamOutbox

NAME = ("claude", "s1")
ODD = ("claude", "a/b \u2603")
ONE, TWO = bytes(range(16)).hex(), bytes(range(1, 17)).hex()


@pytest.fixture
def user(place: Place) -> Store:
    assert place.user
    return place.user


def reopen(user: Store) -> TeamOutbox:
    return TeamOutbox(user, "0" * 32)


def test_ids_are_added_and_replaced(user: Store) -> None:
    outbox = reopen(user)
    for name in (NAME, ODD):
        outbox.save_session(SentSession(*name, rules="r", offset=3))
        outbox.add_ids(name, [ONE])
        outbox.add_ids(name, [TWO])
    outbox.replace_ids(ODD, [TWO])
    found = reopen(user)
    assert {(s.host, s.session) for s in found.list_sessions()} == {NAME, ODD}
    assert (found.load_ids(NAME), found.load_ids(ODD)) == ({ONE, TWO}, {TWO})
    assert found.load_session(ODD) == SentSession(*ODD, rules="r", offset=3)
    found.remove_session(NAME)
    assert [s.session for s in reopen(user).list_sessions()] == [ODD[1]]


def test_a_torn_id_is_cut_off(user: Store) -> None:
    outbox = reopen(user)
    outbox.save_session(SentSession(*NAME))
    outbox.add_ids(NAME, [ONE])
    (path,) = Path(user.local).rglob("*.ids")
    with path.open("ab") as handle:
        handle.write(b"half")
    assert reopen(user).load_ids(NAME) == {ONE}
    outbox.add_ids(NAME, [TWO])
    assert reopen(user).load_ids(NAME) == {ONE, TWO}


def test_what_is_on_its_way_is_known_until_an_answer_comes(user: Store) -> None:
    outbox = reopen(user)
    outbox.take_stamp({NAME: {ONE, TWO}})
    found = reopen(user)
    assert found.get_flight(NAME) == {ONE, TWO}
    assert [(s.host, s.session) for s in found.list_sessions()] == [NAME]
    found.land(NAME, [ONE])
    found.save_flight()
    assert reopen(user).get_flight(NAME) == {TWO}


def test_stamps_grow_also_where_the_clock_went_back(
    user: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = reopen(user).take_stamp({})
    monkeypatch.setattr(time, "time_ns", lambda: 5_000_000)
    outbox = reopen(user)
    assert [outbox.take_stamp({}), outbox.take_stamp({})] == [before + 1, before + 2]


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b"\xff", b'{"sent": [["a", "b", ["zz"]]]}'])
def test_damaged_files_count_as_lost(user: Store, damage: bytes) -> None:
    outbox = reopen(user)
    outbox.save_session(SentSession(*NAME, rules="r"))
    outbox.add_ids(NAME, [ONE])
    outbox.take_stamp({NAME: {TWO}})
    outbox.save_contact(ServerContact("now"))
    outbox.save_refusals({"00": "a secret"})
    for path in Path(user.local, "team").rglob("*.json"):
        path.write_bytes(damage)
    found = reopen(user)
    assert found.load_session(NAME) in (None, SentSession(*NAME))
    assert found.load_contact() == ServerContact()
    assert found.load_ids(NAME) == {ONE}
    assert [(s.host, s.session) for s in found.list_sessions() if s.host == "claude"] == [NAME]
    assert found.take_stamp({}) > 0
