"""`memfs bench team`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs.cli import console, layout, options, progress, team_server

if TYPE_CHECKING:
    from memfs.bench.team import TeamReport


@click.command("team")
@click.option("--database", required=True, metavar="URL", help="An empty one: postgresql://…")
@options.number_option("--messages", help="Messages of all projects.", default=20000, least=100)
@options.number_option("--projects", help="Projects, few of them large.", default=40)
@options.number_option("--queries", help="Queries for each size of projects.", default=50, least=5)
@options.number_option("--rate", help="Requests a second of the load.", default=50)
@options.number_option("--seconds", help="How long the load lasts.", default=10)
@options.number_option("--servers", help="Servers that share the load.", default=1)
@click.option("--folders", is_flag=True, help="Search index folders, too, and load their server.")
@options.json_option
def command(
    database: str,
    messages: int,
    projects: int,
    queries: int,
    rate: int,
    seconds: int,
    servers: int,
    folders: bool,
    as_json: bool,
) -> None:
    """Time a team's server against bare SQL: upload, search, and a load of requests.

    The database's login has to be its superuser, or one that may make roles. Everything stays in
    it: drop it afterwards, and the roles memfs_bench_*. A million messages in 2,000 projects take
    about half an hour and 5 GB.
    """
    bench = team_server.load_module("memfs.bench.team")
    sizes = bench.TeamSizes(
        messages, projects, queries, float(rate), float(seconds), folders, servers
    )
    with progress.show_stages() as stage:
        report = bench.run(database, sizes, stage)
    if as_json:
        console.as_json(asdict(report))
    else:
        _show(report)


def _show(report: TeamReport) -> None:
    console.echo(
        f"{report.messages:,} messages of {report.text:.0f} bytes in {report.projects:,} projects: "
        f"{report.rows:,.0f} rows/s, bare SQL {report.bare_rows:,.0f} rows/s"
        + (f"; {report.refused:,} refused" if report.refused else "")
    )
    parts = ", ".join(f"{name} {size:,.0f}" for name, size in sorted(report.space.items()))
    total = sum(report.space.values())
    console.echo(f"{total:,.0f} bytes a message in the database: {parts}\n")
    rows = [("MESSAGES", "PROJECTS", "", "P50", "P95", "RATIO")]
    rows += [
        (
            each.projects,
            f"{each.count:,}",
            each.name,
            f"{each.p50:.1f} ms",
            f"{each.p95:.1f} ms",
            f"{each.ratio:.2f}",
        )
        for each in report.timings
    ]
    console.echo(layout.table(rows, right=(1, 3, 4, 5)))
    medians = {name: f"{value:.1f} ms" for name, value in report.neighbour.items()}
    console.echo(
        f"\na search of the smallest project: {medians['before']};"
        f" while a member fills the largest: {medians['beside']}; after it: {medians['after']}"
    )
    load = [[f"{report.rate:g}/S", "REQUESTS", "P50", "P95", "P99", "LONGEST", "ERRORS"]]
    for kind in report.load:
        times = (f"{value:.1f} ms" for value in (kind.p50, kind.p95, kind.p99, kind.longest))
        errors = ", ".join(f"{count:,} {name}" for name, count in kind.errors.items())
        load.append([kind.kind, f"{kind.requests:,}", *times, errors or "0"])
    console.echo("\n" + layout.table(load, right=(1, 2, 3, 4, 5, 6)))
