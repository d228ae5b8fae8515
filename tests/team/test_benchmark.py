"""`benchmarks.team` with a real server and a real database, at a tiny size: nothing is timed."""

import json

import pytest
from click.testing import CliRunner

from benchmarks import team, team_data
from tests.team.postgres import Postgres


def test_the_data_are_the_same_each_time_and_have_the_sizes_that_are_wanted() -> None:
    projects = team_data.make_projects(20, 2000)
    sizes = [each.size for each in projects]
    assert sorted(sizes, reverse=True) == sizes
    assert 0.9 * 2000 < sum(sizes) < 1.2 * 2000
    pushes = list(team_data.encode_pushes(projects[0]))
    assert sum(count for count, _ in pushes) == projects[0].size
    assert pushes == list(team_data.encode_pushes(projects[0]))
    assert team_data.make_queries(projects[1], 3) == team_data.make_queries(projects[1], 5)[:3]


@pytest.mark.parametrize(
    "postgres", ["vectors", pytest.param("words", marks=pytest.mark.thorough)], indirect=True
)
def test_the_command_says_what_it_measured(postgres: Postgres) -> None:
    words = ["--database", postgres.make_database(), "--messages", "300", "--projects", "2"]
    words += ["--queries", "5", "--rate", "10", "--seconds", "1"]
    done = CliRunner().invoke(team.command, [*words, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    names = {each["name"] for each in found["timings"]}
    assert {"bare SQL, words", "memfs team"} <= names
    sizes = [each.size for each in team_data.make_projects(2, 300)]
    assert found["messages"] + found["refused"] == sum(sizes)
    assert found["space"]["messages"] > found["text"] > 100
    assert all(0 < each["p50"] <= each["p95"] for each in found["timings"])
    assert [each["errors"] for each in found["load"]] == [{}] * len(found["load"])
    assert found["load"][0]["requests"] == 10
    assert [*found["neighbour"]] == ["before", "beside", "after"]
    again = CliRunner().invoke(team.command, words)
    assert again.exit_code != 0
    assert "tables" in again.output + str(again.exception)
