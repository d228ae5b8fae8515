"""How much later a prompt gets to the model with memfs, in the real assistants.

    MEMFS_HOSTS_DIR=DIR python -m tests.hosts.overhead [HOST…] [--prompts N]

The same assistant runs several times side by side: without memfs, with its hooks, and with the
service at hand. Each in turn is given a prompt, and the time until the model is asked is taken. Prints medians, as a table in
Markdown.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tests.hosts.assistants import ALL, Assistant
from tests.hosts.project import Project
from tests.hosts.scripted_model import ScriptedModel

WAYS: Final = ("without", "hooks", "service")
UNTIMED: Final = 3  # prompts: the first ones wait for servers that start
PAUSE: Final = 0.8  # seconds: what is read of a turn after it is not the next prompt's work


class Way(NamedTuple):
    """One running assistant, and when its model was asked."""

    name: str
    session: object
    asked: list[float]
    took: list[float]


@contextmanager
def running(host: Assistant, name: str, folder: Path) -> Iterator[Way]:
    """A conversation with an assistant that has, or has not, memfs."""
    folder.mkdir()
    served = name == "service"
    project = Project(folder, service=served)
    if name != "without":
        host.install(project, "--user", "--no-mcp")
    asked: list[float] = []
    with ExitStack() as stack:
        if served:
            stack.callback(project.memfs, "service", "stop")
            project.memfs("service", "start")
        model = stack.enter_context(ScriptedModel())
        model.meanwhile = lambda: asked.append(time.perf_counter())
        program = host.start(project, model)
        session = stack.enter_context(program.conversation())
        yield Way(name, session, asked, [])


def measured(host: Assistant, prompts: int) -> dict[str, list[float]]:
    """Return milliseconds from a prompt to the request, by way."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        found = [stack.enter_context(running(host, name, Path(folder, name))) for name in WAYS]
        for number in range(prompts + UNTIMED):
            for way in found:
                before = len(way.asked)
                began = time.perf_counter()
                way.session.say(f"prompt number {number} about the weather")  # type: ignore[attr-defined]
                if number >= UNTIMED:
                    way.took.append((way.asked[before] - began) * 1000)
                time.sleep(PAUSE)
        return {way.name: way.took for way in found}


def row(host: str, took: dict[str, list[float]]) -> str:
    """Return a row of the table."""
    medians = {name: statistics.median(values) for name, values in took.items()}
    floor = medians["without"]
    cells = [f"{floor:.0f} ms"]
    cells += [f"+{medians[name] - floor:.0f} ms" if name in medians else "-" for name in WAYS[1:]]
    return f"| {host} | {' | '.join(cells)} |"


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("hosts", nargs="*", default=[host.name for host in ALL])
    parser.add_argument("--prompts", type=int, default=20)
    given = parser.parse_args()
    sys.stdout.write("| | without memfs | hooks | hooks, service |\n|---|---|---|---|\n")
    for host in ALL:
        if host.name in given.hosts:
            sys.stdout.write(row(host.name, measured(host, given.prompts)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
