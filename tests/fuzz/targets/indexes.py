"""The files of an index, which libraries open: tantivy, SQLite, numpy, and our own rows."""

import shutil
import time
from itertools import count
from pathlib import Path

from memfs.recall import prompts
from tests.e2e import ways
from tests.fuzz.running import Case, Target
from tests.fuzz.world import World

_WAYS = (
    ways.cli("search gophers tunnels"),
    ways.cli("search gophers --mode text"),
    ways.cli("search gophers --sessions"),
    ways.cli("search gophers --mode semantic"),
    ways.hook("claude", "UserPromptSubmit", prompt="where do gophers dig tunnels? rules"),
    ways.cli("recall tunnels"),
    ways.cli("graph"),
    ways.cli("graph --similar tunnels"),
    ways.cli("status"),
    ways.cli("doctor"),
    ways.cli("ingest said.jsonl"),
    ways.tool("conversation_search", query="tabs or spaces"),
    ways.hook("claude", "Stop"),
    ways.cli("export --all --with-secrets --force made.zip"),
    ways.cli("graph --patterns"),
)
_OF_SEGMENT = 32  # letters
# Seconds: tantivy opens an index once more, in a thread, right after it was opened. A file that is
# damaged between its verification and that ends the process.
_SETTLED = 0.02


def begin(world: World) -> Target:
    index = world.store / "local/index"
    turns = count(1)

    def run(case: Case) -> None:
        turn = next(turns)
        name = case.name.partition("/")[2]  # below the folder of a version
        path = max(index.glob(f"*/{name}"), key=lambda path: path.stat().st_size)
        time.sleep(_SETTLED)
        path.write_bytes(case.data)
        if turn % 3 == 0:  # something new goes in, too
            (world.store / "blocks/new.md").write_text(f"Gophers number {turn}.\n")
        try:
            world.through(_WAYS[turn % len(_WAYS)])
            if turn % 5 == 0:
                prompts.recall_by_words(str(index), "gophers dig tunnels", "", [], 3)
            world.go("search gophers tunnels")
        finally:
            shutil.rmtree(index)
            world.put_back("local/index")

    files = [path for path in index.rglob("*") if path.is_file()]
    files = [path for path in files if path.stat().st_size < 1 << 20]
    return Target([Case(_named(path, index), path.read_bytes()) for path in files], run)


def _named(path: Path, index: Path) -> str:
    """Return a name that the same file of another index has: segments are named by lot."""
    inner = path.relative_to(index).as_posix()
    folder = inner.rpartition("/")[0]
    return f"{folder}/*{path.suffix}" if len(path.stem) == _OF_SEGMENT else inner
