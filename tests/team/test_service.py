"""What members may do, through the service, with a real PostgreSQL."""

import pytest

from memfs.team.protocol import RetractRequest
from tests.team.teams import Member, Team, make_push

TALK = [
    "The checkout fails with StaleLeaseError in lease_pool.py since the update",
    "The lease is renewed after it was given back. Renew it inside the lock, then it is solved.",
    "That was it, thanks",
    "Good. I added a test for the lease pool.",
]


def test_what_one_shares_the_other_finds(team: Team) -> None:
    ana, ben = team.add("ana", shop="writer"), team.add("ben", shop="reader")
    assert ana.push(1, TALK).body == {"stored": 4, "known": 0, "retracted": 0, "refused": []}
    found = ben.search([1], "StaleLeaseError in the lease pool").body["hits"]
    assert found[0]["text"] == TALK[0]
    assert found[0]["member"] == "ana"
    assert found[0]["project"] == "shop"
    assert found[0]["at"] == "2026-05-03T10:00:00Z"
    assert "Renew it inside the lock" in found[0]["after"]
    answers = ben.ask(
        "POST",
        "/v1/recall",
        {"projects": [1], "prompt": "I get StaleLeaseError in lease_pool.py at checkout"},
    ).body["answers"]
    assert "Renew it inside the lock" in answers[0]["snippet"]
    assert (answers[0]["member"], answers[0]["project"]) == ("ana", "shop")


def test_of_my_own_sessions_a_prompt_is_told_nothing_by_the_team(team: Team) -> None:
    ana = team.add("ana", shop="writer")
    ana.push(1, TALK)
    asked = {"projects": [1], "prompt": "I get StaleLeaseError in lease_pool.py at checkout"}
    assert ana.ask("POST", "/v1/recall", asked).body["answers"] == []


def test_a_question_about_something_else_finds_nothing(team: Team) -> None:
    ana = team.add("ana", shop="writer")
    ana.push(1, TALK)
    assert ana.find_texts([1], "how to bake bread with rye flour") == []


def test_a_push_again_adds_nothing_and_a_retraction_hides_at_once(team: Team) -> None:
    ana = team.add("ana", shop="writer")
    ana.push(1, TALK)
    assert ana.push(1, TALK).body["known"] == 4
    gone = make_push(1, TALK).messages[0].id
    request = RetractRequest(1, 2000, "claude", "s1", [gone])
    assert ana.ask("POST", "/v1/retract", request).body == {"removed": 1}
    assert TALK[0] not in ana.find_texts([1], "StaleLeaseError in the lease pool")
    assert ana.push(1, TALK).body == {"stored": 0, "known": 3, "retracted": 1, "refused": []}
    assert ana.push(1, TALK, stamp=3000).body["stored"] == 1
    assert TALK[0] in ana.find_texts([1], "StaleLeaseError in the lease pool")


def test_a_whole_session_is_taken_back_with_its_title(team: Team) -> None:
    ana = team.add("ana", shop="writer")
    ana.push(1, TALK)
    assert team.read("SELECT title FROM session") == [(TALK[0][:60],)]
    request = RetractRequest(1, 2000, "claude", "s1")
    assert ana.ask("POST", "/v1/retract", request).body == {"removed": 4}
    assert team.read("SELECT title FROM session") == [("",)]
    ana.push(1, TALK)  # an old batch that comes late
    assert team.count() == 0
    assert team.read("SELECT title FROM session") == [("",)]


@pytest.mark.parametrize(
    "text",
    [
        "the key is AKIAIOSFODNN7EXAMPLQ and the secret wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEZ",
        "before <private>the plan</private> after",
    ],
)
def test_a_secret_that_a_client_lets_through_is_refused(team: Team, text: str) -> None:
    ana = team.add("ana", shop="writer")
    reply = ana.push(1, [text, "and something harmless"]).body
    assert reply["stored"] == 1
    assert "secret" in reply["refused"][0]["why"]
    assert text not in str(reply)
    assert team.read("SELECT text FROM message") == [("and something harmless",)]


def test_who_may_read_may_not_share(team: Team) -> None:
    ana = team.add("ana", shop="reader")
    answer = ana.push(1, TALK)
    assert (answer.status, answer.body["error"]) == (403, "no access to this project")


def test_tokens_that_are_none(team: Team) -> None:
    ana = team.add("ana", shop="writer")
    for token in ("", "mft_", f"{ana.token}x", "mft_" + "a" * 43, ana.token[4:]):
        answer = Member(ana.port, token).ask("GET", "/v1/me")
        assert answer.status == 401, token
        assert answer.headers["www-authenticate"] == "Bearer"
    team.read("UPDATE token SET expires_at = now() RETURNING 1")
    assert ana.ask("GET", "/v1/me").status == 401


def test_a_member_knows_what_it_may_see(team: Team) -> None:
    ana = team.add("ana", shop="writer", site="reader")
    team.add("ben", bank="writer")
    told = ana.ask("GET", "/v1/me").body
    assert (told["team"], told["member"], told["scopes"]) == ("acme", "ana", ["search", "push"])
    assert [(each["name"], each["role"]) for each in told["projects"]] == [
        ("shop", "writer"),
        ("site", "reader"),
    ]


def test_metrics_need_a_token_of_their_own_and_name_nobody(own_team: Team) -> None:
    ana = own_team.add("ana", shop="writer")
    ana.push(1, TALK)
    assert ana.ask("GET", "/metrics").status == 403
    own_team.read("UPDATE token SET scopes = '{metrics}' RETURNING 1")
    text = ana.ask("GET", "/metrics").body
    assert 'memfs_team_messages_total{outcome="stored"} 4.0' in text
    assert "ana" not in text.replace("Quantiles", "")
    assert "shop" not in text
    assert ana.search([1], "lease").status == 403


@pytest.mark.thorough
def test_the_database_away_is_said_and_over_when_it_is_back(team: Team) -> None:
    ana = team.add("ana", shop="writer")
    team.postgres.stop("immediate")
    try:
        assert ana.push(1, TALK).status == 503
        assert ana.ask("GET", "/v1/health").status == 503
    finally:
        team.postgres.resume()
    for _ in range(20):
        if ana.push(1, TALK).status == 200:
            break
    assert team.count() == 4
