"""What `memfs import` is given: zips, and archives in tar that somebody made by hand."""

from __future__ import annotations

import io
import tarfile

from memfs.importers import export_format
from tests.fuzz.running import Case, Target
from tests.fuzz.world import World


def begin(world: World) -> Target:
    turn = 0

    def run(case: Case) -> None:
        nonlocal turn
        turn += 1
        path = world.repo / case.name
        path.write_bytes(case.data)
        export_format.read(str(path))
        dry = " --dry-run" if turn % 2 else ""
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
