"""Nothing of a project reaches who is no member of it: by no function, id, or injected SQL."""

from datetime import UTC, datetime

import psycopg
import pytest
from psycopg.types.json import Jsonb

from memfs.team.protocol import RetractRequest
from memfs.team.server.database import hash_token
from tests.team.teams import Member, Team, make_push

pytestmark = pytest.mark.parametrize("postgres", ["vectors"], indirect=True)

PLAN = "the zanzibar migration is planned for the quarter after next"
NOW = datetime(2026, 5, 3, tzinfo=UTC)


@pytest.fixture
def outsider(team: Team) -> Member:
    """A member of the project 2 alone; the first project holds a text."""
    team.add("ana", plans="writer").push(1, [PLAN, "Noted: zanzibar."])
    return team.add("cleo", other="writer")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/push", make_push(1, ["hello there"])),
        ("/v1/retract", RetractRequest(1, 5000, "claude", "s1")),
        ("/v1/search", {"projects": [1], "query": "zanzibar migration"}),
        ("/v1/search", {"projects": [2, 1], "query": "zanzibar migration"}),
        ("/v1/recall", {"projects": [1], "prompt": "what of the zanzibar migration plan"}),
    ],
)
def test_no_request_reaches_a_foreign_project(
    team: Team, outsider: Member, path: str, body: object
) -> None:
    refused = outsider.ask("POST", path, body)
    assert (refused.status, refused.body["error"]) == (403, "no access to this project")
    missing = {"projects": [77], "query": "zanzibar migration"}
    same = outsider.ask("POST", "/v1/search", missing)  # a project that does not exist
    assert (same.status, same.body) == (403, refused.body)
    assert team.count() == 2


def test_a_purge_of_everything_is_of_ones_own(team: Team, outsider: Member) -> None:
    assert outsider.ask("POST", "/v1/purge", {"project": 1}).body["messages"] == 0
    assert outsider.ask("POST", "/v1/purge", {}).body["messages"] == 0
    assert team.count() == 2


def test_an_id_of_a_foreign_message_tells_nothing(team: Team, outsider: Member) -> None:
    push = make_push(1, [PLAN])
    moved = outsider.ask("POST", "/v1/push", make_push(2, [PLAN]))
    assert moved.body["known"] == 0  # that it is known elsewhere is not said
    gone = RetractRequest(2, 5000, "claude", "s1", [push.messages[0].id])
    outsider.ask("POST", "/v1/retract", gone)
    assert team.read("SELECT count(*) FROM message WHERE project = 1") == [(2,)]


SESSION = {"host": "x", "ident": "y", "branch": "", "title": ""}
CALLS = [
    ("push", [1, 10, "0", Jsonb([SESSION]), Jsonb([])]),
    ("retract", [1, 10, "claude", "s1", None]),
    ("check_search", [[1]]),
    ("find_words", [1, [1, 2], [], None, None, 10]),
    ("find_near", [1, "[" + ",".join(["0.1"] * 256) + "]", [], None, None, 10]),
    ("read_messages", [[1], [make_push(1, [PLAN]).messages[0].id]]),
    ("read_around", [1, [make_push(1, [PLAN]).messages[0].id], [NOW], 5]),
]


@pytest.mark.parametrize(("function", "values"), CALLS)
def test_no_function_gives_a_foreign_project_away(
    team: Team, outsider: Member, function: str, values: list[object]
) -> None:
    token = hash_token(outsider.token)
    marks = ", ".join(["%s"] * (len(values) + 1))
    statement = f"SELECT * FROM memfs.{function}({marks})"
    with psycopg.connect(team.state.service) as connection:
        with pytest.raises(psycopg.Error) as refused:
            connection.execute(statement.encode(), [token, *values])
    assert refused.value.sqlstate == "MF403"


STATEMENTS = (
    "SELECT * FROM memfs.message",
    "SELECT * FROM memfs.message_0",
    "SELECT * FROM memfs.session",
    "SELECT * FROM memfs.token",
    "SELECT memfs.authorize('x', 'push')",
    "SELECT * FROM memfs.purge_member(1, 0)",
    "SELECT memfs.drop_project(1)",
    "SELECT memfs.prune()",
    "SET ROLE memfs_acme_owner",
    "CREATE TABLE memfs.mine (x int)",
    "CREATE FUNCTION memfs.authorize(a bytea, b text) RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "ALTER ROLE memfs_acme_service SUPERUSER",
)


def test_the_login_of_the_service_may_do_nothing_else(team: Team) -> None:
    with psycopg.connect(team.state.service, autocommit=True) as connection:
        connection.execute("SELECT set_config('memfs.administration', 'on', false)")
        for statement in STATEMENTS:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())


@pytest.mark.parametrize(
    "text",
    [
        "'; DROP TABLE memfs.message; --",
        "zanzibar') OR 1=1 --",
        "{1,2},(SELECT text FROM memfs.message)",
        "\\'; SELECT pg_sleep(9); --",
        "%s %(x)s {} $1 $$",
    ],
)
def test_texts_are_texts_wherever_they_stand(team: Team, outsider: Member, text: str) -> None:
    pushed = outsider.push(2, [f"note {text}", "seen"], session="s'--")
    assert pushed.body["stored"] == 2
    assert outsider.search([2], text, roles=[text]).body["hits"] == []
    assert "planned for" not in str(outsider.search([2], f"zanzibar {text}").body)
    outsider.ask("POST", "/v1/retract", RetractRequest(2, 5000, "claude", "s'--"))
    assert team.count() == 2


def test_the_second_wall_hides_sessions_from_a_function_that_forgot_its_check(
    team: Team, outsider: Member
) -> None:
    with psycopg.connect(team.address) as connection:
        connection.execute("SET ROLE memfs_acme_owner")
        for member, seen in ((1, 1), (2, 0)):
            connection.execute(f"SELECT set_config('memfs.member', '{member}', false)".encode())
            rows = connection.execute("SELECT count(*) FROM memfs.session WHERE project = 1")
            assert rows.fetchall() == [(seen,)]
