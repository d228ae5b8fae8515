"""The pages of `memfs web`, each against reading the same rows without a page."""

import http.client
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from urllib.parse import urlencode, urlsplit
from urllib.request import url2pathname

import click

from benchmarks import command as runner
from benchmarks import passages, program, project, scratch_store
from memfs.cli import console, layout, options, progress
from memfs.core.body_edits import Create
from memfs.core.records import Origin
from memfs.ops import edit, search, sessions, show, timeline
from memfs.recall import index_sources
from memfs.recall.index_sources import Stage
from memfs.recall.open_store import OpenStore
from memfs.search.request import Filter
from memfs.store.blocks import Place

_LENGTH = 100  # messages of a session
_BLOCKS, _CHARS = 10, 3900
_UNTIMED = 2  # rounds
_QUERY = "close the file after the error"


@dataclass(frozen=True)
class PageTiming:
    """A page in ms, the rows that it shows in ms (0: none), and their ratio."""

    name: str
    median: float
    p95: float
    rows: float
    ratio: float


def run(rounds: int, items: int, stage: Stage) -> list[PageTiming]:
    """Time the pages of a store with `items` messages, in sessions of 100, `rounds` times each.

    The page is the installed program; the rows are read in this process by the same operations.
    """
    with tempfile.TemporaryDirectory(prefix="memfs-bench-") as folder:
        user = program.make_user(folder, "user", "service:\n  mode: off")
        path = f"{folder}/project"
        with scratch_store.home(user["MEMFS_HOME"]):
            place = passages.store(path, items, stage("writing", items), _LENGTH)
            for number in range(_BLOCKS):
                new = Create(f"block{number}", "A block of the measurement", "x " * (_CHARS // 2))
                edit.run(place, [new], Origin("user"))
            index_sources.sync(place, embed=True, stage=stage)
            project.trust_own(path)
        began = time.perf_counter()
        with _serve(user, path) as ask:
            first = (time.perf_counter() - began) * 1000
            timed = _time_pages(place, ask, rounds, stage("timing", rounds))
    start = PageTiming("start until the first page", first, first, 0.0, 0.0)
    return [*timed, start]


def _time_pages(
    place: Place, ask: Callable[[str], object], rounds: int, tick: Callable[[int], object]
) -> list[PageTiming]:
    index, known = OpenStore(place), sessions.make_cache()
    cases: dict[str, tuple[str, Callable[[], object]]] = {
        "blocks": ("blocks", lambda: show.show_all(place)),
        "one block": ("blocks/block0", lambda: show.run(place, "block0")),
        "sessions": ("sessions", lambda: sessions.list_sessions(place, cache=known)),
        "one session": (
            "sessions/bench/s00001",
            lambda: sessions.open_session(place, "bench", "s00001"),
        ),
        "search": (f"search?q={_QUERY.replace(' ', '+')}", lambda: _search(index)),
        "timeline": ("timeline", lambda: timeline.run(index)),
    }
    pages: dict[str, list[float]] = {name: [] for name in cases}
    rows: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + _UNTIMED):
        for name, (path, read) in cases.items():
            timed = _time(lambda path=path: ask(path)), _time(read)  # type: ignore[misc]
            if number >= _UNTIMED:
                pages[name].append(timed[0])
                rows[name].append(timed[1])
        tick(number >= _UNTIMED)
    return [_summarize(name, sorted(pages[name]), sorted(rows[name])) for name in cases]


def _search(index: OpenStore) -> object:
    return search.run(index, _QUERY, mode=None, only=Filter(), limit=100, page=1)


def _time(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def _summarize(name: str, pages: list[float], rows: list[float]) -> PageTiming:
    median, floor = pages[len(pages) // 2], rows[len(rows) // 2]
    p95 = pages[min(len(pages) - 1, int(len(pages) * 0.95))]
    return PageTiming(name, median, p95, floor, median / floor)


@contextmanager
def _serve(user: dict[str, str], folder: str) -> Iterator[Callable[[str], object]]:
    """Serve a project, and yield a function that gets one of its pages."""
    command = [sys.executable, "-m", "memfs", "web", "--no-open"]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, env=user, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as page:
        try:
            lines = [page.stdout.readline().strip() for _ in range(2)] if page.stdout else []
            port, base, cookie = _open(lines[1])

            def ask(path: str) -> object:
                return _ask(port, f"{base}/{path}", {"Cookie": cookie})[0]

            yield ask
        finally:
            page.terminate()


def _open(opener: str) -> tuple[int, str, str]:
    """Open the page by its file, as a browser does; return (port, its folder, the cookie)."""
    with open(url2pathname(urlsplit(opener).path), encoding="utf-8") as file:
        found = re.search(r'action="([^"]+)".* name="(\w+)" value="([^"]+)"', file.read())
    if not found:
        raise RuntimeError("memfs web wrote no file that opens it")
    target = urlsplit(found[1])
    port = target.port or 80
    page, cookie = _ask(port, target.path, {"Origin": "null"}, urlencode({found[2]: found[3]}))
    _, first = _ask(port, page.partition('<a href="')[2].partition('"')[0], {"Cookie": cookie})
    return port, first.rpartition("/")[0], cookie


def _ask(port: int, path: str, headers: dict[str, str], form: str = "") -> tuple[str, str]:
    """Ask the page; return (its text, the cookie or place that it gives). Raises `RuntimeError`."""
    sent = {"Sec-Fetch-Site": "same-origin", **headers}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as line:
        line.request("POST" if form else "GET", path, form or None, sent)
        answer = line.getresponse()
        text = answer.read().decode()
        if answer.status not in (200, 303):
            raise RuntimeError(f"{path}: {answer.status} {text[:200]}")
        given = answer.getheader("set-cookie", "").partition(";")[0]
        return text, given or answer.getheader("location", "")


@click.command("web", cls=runner.Measurement)
@options.number_option("--rounds", help="Times that each page is asked for.", default=20, least=5)
@options.number_option("--items", help="Messages in the store.", default=20000)
@options.json_option
def command(rounds: int, items: int, as_json: bool) -> None:
    """Time the pages of `memfs web` against reading what they show.

    A store of sessions of 100 messages and 10 blocks; a second run with --items 1000000 says how
    the pages grow.
    """
    with progress.show_stages() as stage:
        timings = run(rounds, items, stage)
    if as_json:
        console.as_json([asdict(timing) for timing in timings])
        return
    rows = [("PAGE", "MEDIAN", "P95", "ITS ROWS", "RATIO")]
    for each in timings:
        floor = (f"{each.rows:.1f} ms", f"{each.ratio:.1f}") if each.rows else ("-", "-")
        rows.append((each.name, f"{each.median:.1f} ms", f"{each.p95:.1f} ms", *floor))
    console.echo(layout.table(rows, right=(1, 2, 3, 4)))


if __name__ == "__main__":
    runner.run(command)
