"""Transcripts of assistants: lines of JSON, whole JSON, a database, Markdown."""

import json
import shutil

from memfs.ingest import transcripts as ingest_transcripts
from tests.e2e.linking import SAID
from tests.fuzz.running import Case, Target
from tests.fuzz.world import World
from tests.hosts.reading import FIXTURES
from tests.hosts.test_opencode import MESSAGES, Base


def begin(world: World) -> Target:
    folder = world.top / "said"
    folder.mkdir()
    place = world.place()

    def run(case: Case) -> None:
        path = folder / case.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(case.data)
        try:
            ingest_transcripts.ingest_transcripts(
                place.home, [str(path)], ingest_transcripts.Tally()
            )
        finally:
            shutil.rmtree(folder)
            folder.mkdir()
            shutil.rmtree(world.store / "local/recall", ignore_errors=True)

    found = _recorded()
    found += [
        Case(".aider.chat.history.md", (FIXTURES / "aider/history.md").read_bytes()),
        Case("chat.md", (FIXTURES / "cursor/chat.md").read_bytes()),
        Case(".specstory/history/2026.md", (FIXTURES / "specstory/fix.md").read_bytes()),
        _exported(),
    ]
    found += [_database(world)] * 3
    return Target(found, run)


def _recorded() -> list[Case]:
    top = SAID.parents[1]
    names = {"gemini": "session-1.jsonl", "codex": "rollout-1.jsonl", "copilot": "events.jsonl"}
    return [
        Case(names.get(path.parent.name, path.name), path.read_bytes()[: 60 << 10])
        for path in sorted(top.glob("*/*.jsonl"))
    ]


def _exported() -> Case:
    listed: list[dict[str, object]] = [
        {"info": info | {"id": ident, "sessionID": "s"}, "parts": parts}
        for ident, info, parts in MESSAGES
    ]
    info = {"id": "ses_1", "directory": "/home/dev/shop", "time": {"created": 1, "updated": 2}}
    return Case("export.json", json.dumps({"info": info, "messages": listed}).encode())


def _database(world: World) -> Case:
    path = world.top / "made.db"
    base = Base(path)
    base.session("ses_1", "/home/dev/shop")
    for message in MESSAGES:
        base.say("ses_1", *message)
    base.base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    base.base.close()
    data = path.read_bytes()
    path.unlink()
    return Case("opencode.db", data)
