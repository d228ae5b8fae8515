"""Exports that were made, files that were made by hand, and what importing them came to."""

import json
from pathlib import Path

from memfs.core.records import Origin
from memfs.importers import exporting, importing
from memfs.importers.importing import Imported
from memfs.store.blocks import Place
from tests.store.test_export_format import zipped

BY = Origin("user", reason="from m.zip")


def exported(place: Place, tmp_path: Path, *, user: bool = False, everything: bool = True) -> str:
    path = str(tmp_path / "m.zip")
    exporting.run(place, path, user=user, everything=everything, force=True, anyway=True)
    return path


def made(tmp_path: Path, **files: str) -> str:
    """A zip made by hand, of blocks by their labels."""
    return packed(tmp_path, {f"blocks/{label}.md": text for label, text in files.items()})


def packed(tmp_path: Path, files: dict[str, str]) -> str:
    path = tmp_path / "hand.zip"
    members = ((name, text.encode("utf-8", "surrogateescape")) for name, text in files.items())
    path.write_bytes(zipped(("config.yaml", b"memfs: 1\n"), *members))
    return str(path)


def run(
    place: Place, path: str, *, user: bool = False, anyway: bool = False, dry_run: bool = False
) -> Imported:
    return importing.run(place, path, BY, user=user, anyway=anyway, dry_run=dry_run)


def outcomes(done: Imported) -> dict[str, str]:
    return {item.name: item.outcome for item in done.items}


def refusals(done: Imported) -> list[str]:
    return [item.detail for item in done.items if item.outcome == "refused"]


def everything(place: Place) -> dict[str, bytes]:
    root = Path(place.home.root)
    found = [path for path in root.rglob("*") if path.is_file()]
    return {str(path): path.read_bytes() for path in found if path.suffix != ".lock"}


def said(*texts: str, **more: object) -> str:
    row = {
        "session": "s",
        "host": "claude",
        "project": "/p",
        "branch": "",
        "at": "",
        "role": "user",
    }
    lines = [{"id": f"m{number}", **row, "text": text, **more} for number, text in enumerate(texts)]
    return "".join(json.dumps(line) + "\n" for line in lines)
