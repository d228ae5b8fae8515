"""A team's server: rows a second, search by the size of a project, and a load, against bare SQL.

It is the installed program over loopback, with a database that is empty before. All searches of a
class of projects are timed in turns, query by query, each time in another order.
"""

import hashlib
import itertools
import random
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field

import click
import msgspec
import psycopg
from psycopg.conninfo import conninfo_to_dict

from benchmarks import command as runner
from benchmarks import team_data, team_load, team_program
from benchmarks.team_baseline import BareTable
from benchmarks.team_data import BenchProject
from benchmarks.team_load import LoadTiming
from benchmarks.team_program import LoopbackMember
from memfs.cli import console, layout, options, progress
from memfs.core.errors import UsageError
from memfs.team.protocol import PREFIX, PushRequest

Stage = Callable[[str, int], Callable[[int], object]]
Searches = dict[str, Callable[[int, str], int]]  # by name: project and query to hits

_UPLOADERS = 4
_MEMBERS, _SHARED = 20, 10  # members at least; projects for each of them
_TOGETHER = 3  # members of a project
_BARE = 20_000  # messages whose upload without memfs is timed
_LOUD = 2_000_000  # the number of the first session of a loud neighbour
_UNTIMED = 3  # queries of each class
_EMPTY = (
    "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND c.relkind IN ('r', 'p')"
)
# What lies in the database for the messages: by table, its heap and each of its indexes.
_SPACE = (
    "SELECT CASE WHEN c.relkind = 'i' THEN 'index' WHEN c.relname ~ '^vector' THEN 'vectors'"
    " WHEN c.relname ~ '^message' THEN 'messages' ELSE 'others' END,"
    " CASE WHEN c.relkind <> 'i' THEN '' WHEN t.relname ~ '^vector' THEN 'vectors, key'"
    " WHEN pg_get_indexdef(c.oid) ~ 'gin' THEN 'words' WHEN pg_get_indexdef(c.oid) ~ 'session, at'"
    " THEN 'session' WHEN t.relname ~ '^message' THEN 'key' ELSE 'others' END,"
    " sum(CASE WHEN c.relkind = 'i' THEN pg_relation_size(c.oid) ELSE pg_table_size(c.oid) END)"
    " FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid"
    " LEFT JOIN pg_class t ON t.oid = i.indrelid"
    " WHERE c.relnamespace = 'memfs'::regnamespace AND c.relkind IN ('r', 'i') GROUP BY 1, 2"
)


@dataclass(frozen=True)
class TeamTiming:
    """Searches of a class of projects in milliseconds; `ratio` is that of the median to bare SQL.

    `floor`: it is a search without memfs.
    """

    projects: str
    count: int
    name: str
    p50: float
    p95: float
    ratio: float
    floor: bool = False


@dataclass
class TeamReport:
    """All of a run. `space` is bytes a message, by what they are for; `seconds` of the upload."""

    messages: int = 0
    refused: int = 0
    projects: int = 0
    text: float = 0.0  # bytes of a text, the mean
    seconds: float = 0.0
    rows: float = 0.0  # a second
    bare_rows: float = 0.0
    space: dict[str, float] = field(default_factory=dict)
    timings: list[TeamTiming] = field(default_factory=list)
    load: list[LoadTiming] = field(default_factory=list)
    rate: float = 0.0
    neighbour: dict[str, float] = field(default_factory=dict)  # see `time_neighbour`


@dataclass(frozen=True)
class TeamSizes:
    """What is measured: `queries` of each class, `rate` requests a second for `seconds`.

    `servers` of them share the load.
    """

    messages: int
    projects: int
    queries: int
    rate: float
    seconds: float
    servers: int = 1


def run(database: str, sizes: TeamSizes, stage: Stage) -> TeamReport:
    """Make a team in an empty database, fill it, search it, and put a load on it.

    Everything stays there. Raises `UsageError` for a database that holds something.
    """
    check_empty(database)
    served = team_program.make_schema(database)
    projects = team_data.make_projects(sizes.projects, sizes.messages)
    tokens = add_members(database, len(projects))
    report = TeamReport(projects=len(projects), rate=sizes.rate)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="memfs-bench-"))
        port = stack.enter_context(team_program.serve(served, folder))
        upload(port, tokens, projects, report, stage)
        measure_space(database, report)
        tick = stage("copying to bare SQL", 0)
        bare = stack.enter_context(closing(BareTable(database)))
        report.bare_rows = bare.fill(_UPLOADERS, _BARE)
        tick(1)
        report.timings = time_searches(bare, port, tokens, projects, sizes.queries, stage)
        with team_program.serve(served, folder, "--rate", "50") as limited:
            report.neighbour = time_neighbour(limited, tokens, projects, sizes.queries)
        loaded = [port]
        for _ in range(1, sizes.servers):
            loaded.append(stack.enter_context(team_program.serve(served, folder)))
        tick = stage("loading", round(sizes.rate * sizes.seconds))
        report.load = team_load.run(loaded, tokens, projects, sizes.rate, sizes.seconds, tick)
    return report


def check_empty(database: str) -> None:
    """Raise `UsageError` for a database that has tables, or is not there."""
    try:
        with psycopg.connect(database) as connection:
            found = connection.execute(_EMPTY).fetchone()
    except psycopg.Error as error:
        told = str(error).strip().partition("\n")[0]
        raise UsageError(f"the database cannot be used: {told}") from error
    if found and found[0]:
        name = conninfo_to_dict(database).get("dbname", "")
        raise UsageError(
            f"the database {name} has {found[0]:,} tables", "name an empty one: createdb bench"
        )


def add_members(database: str, projects: int) -> list[str]:
    """Add projects and members, three for each project; return a token of each member.

    A project's number, modulo the number of members, is the place of its first one.
    """
    count = max(_MEMBERS, projects // _SHARED)
    tokens = [PREFIX + secrets.token_urlsafe(32) for _ in range(count)]
    hashes = [hashlib.sha256(token.encode()).digest() for token in tokens]
    with psycopg.connect(database) as connection:
        connection.execute("SET ROLE memfs_bench_owner")
        connection.execute("SET search_path = memfs")
        connection.execute(
            "INSERT INTO project (name) SELECT 'project' || n FROM generate_series(1, %s) n",
            (projects,),
        )
        connection.execute(
            "INSERT INTO member (login) SELECT 'member' || n FROM generate_series(1, %s) n",
            (count,),
        )
        connection.execute(
            "INSERT INTO token (hash, member, scopes, expires_at) SELECT (%s::bytea[])[id], id,"
            " '{search,push}', now() + interval '30 days' FROM member",
            (hashes,),
        )
        connection.execute(
            "INSERT INTO access SELECT p.id, 1 + (p.id + n) %% %s, 'writer'"
            " FROM project p, generate_series(0, %s) n",
            (count, _TOGETHER - 1),
        )
    return tokens


def upload(
    port: int,
    tokens: Sequence[str],
    projects: Sequence[BenchProject],
    report: TeamReport,
    stage: Stage,
) -> None:
    """Push the messages of all projects from several machines at once."""
    total = sum(each.size for each in projects)
    tick = stage("uploading", total)
    shares = [list(projects[at::_UPLOADERS]) for at in range(_UPLOADERS)]

    def push(number: int) -> list[int]:
        counts = [0, 0]
        with closing(LoopbackMember(port, tokens)) as member:
            for project in shares[number]:
                for count, body in team_data.encode_pushes(project):
                    status, answer = member.ask(project.number, "POST", "/v1/push", body)
                    if status >= 300:
                        raise RuntimeError(f"a push failed: {status} {answer[:200]!r}")
                    reply = msgspec.json.decode(answer)
                    counts[0] += reply["stored"]
                    counts[1] += len(reply["refused"])
                    tick(count)
        return counts

    began = time.perf_counter()
    with ThreadPoolExecutor(_UPLOADERS) as pool:
        counts = list(pool.map(push, range(_UPLOADERS)))
    report.seconds = time.perf_counter() - began
    report.messages, report.refused = map(sum, zip(*counts, strict=True))
    report.rows = report.messages / report.seconds


def measure_space(database: str, report: TeamReport) -> None:
    """Vacuum, as PostgreSQL does in a while by itself, and note what a message takes."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        rows = connection.execute(_SPACE).fetchall()
        length = connection.execute("SELECT avg(octet_length(text)) FROM memfs.message").fetchone()
    report.text = float(length[0] or 0) if length else 0.0
    for kind, index, size in rows:
        name = f"index: {index}" if index else str(kind)
        report.space[name] = float(size) / max(1, report.messages)


def time_searches(
    bare: BareTable,
    port: int,
    tokens: Sequence[str],
    projects: Sequence[BenchProject],
    count: int,
    stage: Stage,
) -> list[TeamTiming]:
    """Time `count` queries of each class of projects, by bare SQL and by the server."""
    classes: dict[str, list[BenchProject]] = {}
    for project in reversed(projects):
        classes.setdefault(project.size_class, []).append(project)
    searches: Searches = {"bare SQL, words": bare.search_words}
    if bare.has_vectors:
        searches["bare SQL, words and vectors"] = bare.search_both
    floors = len(searches)
    with closing(LoopbackMember(port, tokens)) as member:
        searches["memfs team"] = member.search
        tick = stage("searching", len(classes) * count)
        found: list[TeamTiming] = []
        for name, group in classes.items():
            times = _time_class(searches, group, count, tick)
            base = _get_part(times["bare SQL, words"], 0.5)
            for place, (search, each) in enumerate(times.items()):
                p50, p95 = _get_part(each, 0.5), _get_part(each, 0.95)
                row = TeamTiming(name, len(group), search, p50, p95, p50 / base, place < floors)
                found.append(row)
    return found


def _time_class(
    searches: Searches, group: Sequence[BenchProject], count: int, tick: Callable[[int], object]
) -> dict[str, list[float]]:
    lot = random.Random(len(group))  # noqa: S311 - an order, no secret
    chosen = lot.choices(group, k=count + _UNTIMED)
    times: dict[str, list[float]] = {name: [] for name in searches}
    for number, project in enumerate(chosen):
        query = team_data.make_queries(project, number + 1)[number]
        for name, search in lot.sample([*searches.items()], len(searches)):
            began = time.perf_counter()
            search(project.number, query)
            if number >= _UNTIMED:
                times[name].append((time.perf_counter() - began) * 1000)
        tick(number >= _UNTIMED)
    return times


def time_neighbour(
    port: int, tokens: Sequence[str], projects: Sequence[BenchProject], count: int
) -> dict[str, float]:
    """Time the searches of the smallest project while a member fills the largest, and around it.

    Returns the medians in milliseconds.
    """
    small, large = projects[-1], projects[0]
    queries = team_data.make_queries(small, count + _UNTIMED)
    over = threading.Event()

    def fill() -> None:
        with closing(LoopbackMember(port, tokens)) as member:
            for number in itertools.takewhile(lambda _: not over.is_set(), itertools.count()):
                session, messages = team_data.make_session(large, _LOUD + number, 200)
                push = PushRequest(large.number, 1000, "bench", [session], messages)
                if (
                    member.ask(large.number, "POST", "/v1/push", msgspec.json.encode(push))[0]
                    == 429
                ):
                    over.wait(0.1)

    def search() -> float:
        times = []
        for query in queries:
            began = time.perf_counter()
            member.search(small.number, query)
            times.append((time.perf_counter() - began) * 1000)
        return _get_part(times[_UNTIMED:], 0.5)

    loud = threading.Thread(target=fill)
    with closing(LoopbackMember(port, tokens)) as member:
        found = {"before": search()}
        loud.start()
        try:
            over.wait(2)  # its first pushes go at once
            found["beside"] = search()
        finally:
            over.set()
            loud.join()
        return found | {"after": search()}


def _get_part(times: Sequence[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


@click.command("team", cls=runner.Measurement)
@click.option("--database", required=True, metavar="URL", help="An empty one: postgresql://…")
@options.number_option("--messages", help="Messages of all projects.", default=20000, least=100)
@options.number_option("--projects", help="Projects, few of them large.", default=40)
@options.number_option("--queries", help="Queries for each size of projects.", default=50, least=5)
@options.number_option("--rate", help="Requests a second of the load.", default=50)
@options.number_option("--seconds", help="How long the load lasts.", default=10)
@options.number_option("--servers", help="Servers that share the load.", default=1)
@options.json_option
def command(
    database: str,
    messages: int,
    projects: int,
    queries: int,
    rate: int,
    seconds: int,
    servers: int,
    as_json: bool,
) -> None:
    """Time a team's server against bare SQL: upload, search, and a load of requests.

    The database's login has to be its superuser, or one that may make roles. Everything stays in
    it: drop it afterwards, and the roles memfs_bench_*. A million messages in 2,000 projects take
    about half an hour and 5 GB.
    """
    sizes = TeamSizes(messages, projects, queries, float(rate), float(seconds), servers)
    with progress.show_stages() as stage:
        report = run(database, sizes, stage)
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


if __name__ == "__main__":
    runner.run(command)
