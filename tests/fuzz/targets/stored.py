"""Files of a store: block files, `config.yaml`, the journal, past sessions; and what is imported."""

import io
import tarfile
from itertools import count, cycle

from memfs.core import block_problems, settings
from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.importers import export_format
from memfs.ops import edit
from memfs.recall import model_config
from memfs.store import blocks, config, config_file
from tests.e2e import ways
from tests.e2e.hostile import CONFIG
from tests.fuzz.running import Case, Target
from tests.fuzz.world import World
from tests.ops.mutations import SAMPLES

_PROMPT = ways.hook("claude", "UserPromptSubmit", prompt="gophers dig tunnels")
_EXPORT = "export --all --with-secrets --force made.zip"
_CONFIG = """\
memfs: 1
max_blocks: 20
blocks:
  rules: {limit: 900}
hooks: {recall: 3, cold: hybrid}
embedding: none
memory_blocks: [vector, facts, {kind: static, limit: 3}]
tools:
  remove: [memory_undo]
  describe: {memory_status: Say how it is.}
  add:
    note: {tool: core_memory_append, description: Notes., with: {label: rules}}
review: {mode: nudge}
trust: {pulled: hold}
context: {budget: 2000}
"""


def _list_doors(*lines: str) -> list[ways.Door]:
    return [ways.cli(line) for line in lines]


def bundles(world: World) -> Target:
    """What `memfs import` is given: zips, and archives in tar that somebody made by hand."""
    options = cycle(("", " --dry-run"))

    def run(case: Case) -> None:
        path = world.repo / case.name
        path.write_bytes(case.data)
        export_format.read(str(path))
        dry = next(options)
        try:
            world.go(f"import --anyway {case.name}{dry}")
        finally:
            if not dry:
                world.put_back()

    samples = [Case("made.zip", (world.repo / "kept.zip").read_bytes())]
    for mode, name in (("w", "made.tar"), ("w:gz", "made.tar.gz")):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode=mode) as made:  # type: ignore[call-overload]
            for inner in ("config.yaml", "blocks", "archive", "static", "local/journal.jsonl"):
                made.add(world.store / inner, f".agent-memory/{inner}")
        samples.append(Case(name, data.getvalue()))
    return Target(samples, run)


def config_files(world: World) -> Target:
    """`config.yaml` of a project and of its user."""
    doors = [_PROMPT, *_list_doors("status", "doctor", "tools", "recall gophers", "search gophers")]
    doors.append(ways.tool("memory_status"))
    turns = count(1)

    def run(case: Case) -> None:
        (world.top / case.name).write_bytes(case.data)
        place = world.place()
        found = config.load(place)
        for key in settings.DEFAULTS:
            found.get(key)
        for store in place.stores():
            config_file.find_problems(store)
        model_config.load_wanted_model(place)
        turn = next(turns)
        if turn % 4 == 0:
            world.through(doors[turn // 4 % len(doors)])
        world.put_back("config.yaml")

    names = ("repo/.agent-memory/config.yaml", "home/.agent-memory/config.yaml")
    texts = (_CONFIG, CONFIG, (world.store / "config.yaml").read_text())
    return Target([Case(name, text.encode()) for name in names for text in texts], run)


def front_matter(world: World) -> Target:
    """Block files: read, shown, checked, edited, mended."""
    path = world.store / "blocks" / "fuzzed.md"
    lines = ("show", "doctor", "doctor --fix", "blocks", "sync --check", "status")
    turns = count(1)

    def run(case: Case) -> None:
        path.write_bytes(case.data)
        place = world.place()
        blocks.load(place)
        block_problems.find(case.data.decode("utf-8", "surrogateescape"))
        edit.run(place, [Append("fuzzed", "one more line")], Origin("user"))
        turn = next(turns)
        if turn % 8 == 0:
            world.through(_PROMPT)
            world.go(lines[turn // 8 % len(lines)])

    own = [(world.store / "blocks/rules.md").read_bytes()]
    return Target([Case("fuzzed.md", data) for data in (*SAMPLES, *own)], run)


def journal(world: World) -> Target:
    """The journal of edits, and the heads that are kept of it."""
    doors = cycle(
        _list_doors(
            *("log", "log rules --json", "blame rules", "diff rules", "undo rules"),
            *("restore rules 1", "edit rules --append more", "doctor", "doctor --fix"),
            *("page in rules", "status", _EXPORT, "doctor --secrets"),
        )
    )
    drops_heads = cycle((True, False))
    local = world.store / "local"

    def run(case: Case) -> None:
        (local / case.name).write_bytes(case.data)
        if next(drops_heads) and case.name == "journal.jsonl":
            (local / "heads.json").unlink(missing_ok=True)
        try:
            world.through(next(doors))
        finally:
            for name in ("local/journal.jsonl", "local/heads.json", "blocks"):
                world.put_back(name)

    names = ("journal.jsonl", "journal.jsonl", "heads.json", "facts.json", "outcomes.jsonl")
    return Target([Case(name, (local / name).read_bytes()) for name in names], run)


def recall(world: World) -> Target:
    """What is kept of past sessions, line by line, and how far it was read."""
    doors = cycle(
        [
            *_list_doors(
                *("search tabs spaces --mode text", "search tabs --sessions", "recall tabs"),
                *("facts extract --no-model", "graph", "ingest said.jsonl", "doctor --secrets"),
                *("status", "doctor --secrets --purge -y", _EXPORT, "graph --similar tabs"),
            ),
            ways.tool("conversation_search", query="tabs or spaces"),
            ways.tool("conversation_search_date", start_date="2026-01-01"),
            ways.hook("claude", "Stop"),
        ]
    )
    folder = world.store / "local/recall/claude"

    def run(case: Case) -> None:
        (folder / case.name).write_bytes(case.data)
        try:
            world.through(next(doors))
        finally:
            world.put_back("local/recall")

    return Target([Case(path.name, path.read_bytes()) for path in folder.iterdir()], run)
