"""A server of PostgreSQL for all tests of a process, and a team in it that each finds empty."""

from collections.abc import Iterator

import pytest

from tests.team.postgres import Postgres, find_programs
from tests.team.teams import Team


@pytest.fixture(scope="session", params=["vectors", "words"])
def postgres(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    programs = find_programs(vectors=request.param == "vectors")
    if not programs:
        pytest.skip(f"there is no PostgreSQL for {request.param} here")
    server = Postgres.start(programs)
    yield server
    server.remove()


@pytest.fixture(scope="session")
def shared_team(postgres: Postgres) -> Iterator[Team]:
    made = Team.make(postgres)
    yield made
    made.stop()


@pytest.fixture
def team(shared_team: Team) -> Team:
    """A team without members."""
    shared_team.clear()
    return shared_team


@pytest.fixture
def own_team(postgres: Postgres) -> Iterator[Team]:
    """A team with a server and a database of its own, for a test that changes these."""
    made = Team.make(postgres)
    yield made
    made.stop()
