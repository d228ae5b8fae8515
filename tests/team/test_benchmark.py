"""`benchmarks.team` with a real server and a real database, at a tiny size: nothing is timed."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from benchmarks import team, team_data
from benchmarks.team import TeamSizes
from memfs.core.errors import UsageError
from tests.team.postgres import Postgres

SIZES = TeamSizes(messages=1500, projects=4, queries=5, rate=30, seconds=1)


def ignore_stage(_label: str, _length: int) -> Callable[[int], object]:
    return lambda _: None


def test_the_data_are_the_same_each_time_and_have_the_sizes_that_are_wanted() -> None:
    projects = team_data.make_projects(20, 2000)
    sizes = [each.size for each in projects]
    assert sorted(sizes, reverse=True) == sizes
    assert 0.9 * 2000 < sum(sizes) < 1.2 * 2000
    pushes = list(team_data.encode_pushes(projects[0]))
    assert sum(count for count, _ in pushes) == projects[0].size
    assert pushes == list(team_data.encode_pushes(projects[0]))
    assert team_data.make_queries(projects[1], 3) == team_data.make_queries(projects[1], 5)[:3]


@pytest.mark.thorough
def test_a_team_is_filled_searched_and_loaded(postgres: Postgres) -> None:
    address = postgres.make_database()
    report = team.run(address, SIZES, ignore_stage)
    assert report.messages + report.refused == sum(
        each.size for each in team_data.make_projects(4, 1500)
    )
    assert report.space["messages"] > report.text > 100
    names = [each.name for each in report.timings]
    assert {"bare SQL, words", "memfs team"} <= {*names}
    assert all(0 < each.p50 <= each.p95 for each in report.timings)
    assert [each.errors for each in report.load] == [{}] * len(report.load)
    assert report.load[0].requests == 30
    assert [*report.neighbour] == ["before", "beside", "after"]
    with pytest.raises(UsageError, match="tables"):
        team.check_empty(address)


@pytest.mark.parametrize("postgres", ["vectors"], indirect=True)
def test_the_command_says_what_it_measured(postgres: Postgres) -> None:
    words = ["--database", postgres.make_database(), "--messages", "300"]
    words += ["--projects", "2", "--queries", "5", "--rate", "10", "--seconds", "1"]
    done = CliRunner().invoke(team.command, [*words, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert "bare SQL, words and vectors" in {each["name"] for each in found["timings"]}
    again = CliRunner().invoke(team.command, words)
    assert again.exit_code != 0
