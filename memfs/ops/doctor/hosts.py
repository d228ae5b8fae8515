"""Assistants: whether our hooks are in their settings, and what these run is there."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from memfs import hosts
from memfs.core.errors import MemfsError
from memfs.hosts import settings
from memfs.ops.doctor import leftovers
from memfs.ops.doctor.finding import Finding
from memfs.store import files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memfs.store.blocks import Place


def look(place: Place, home: str) -> Iterator[Finding]:
    """Look at our entries in the settings of assistants."""
    for name in hosts.NAMES:
        host = hosts.get(name)
        top = place.project.top if place.project else None
        wired = settings.wired(host.SETTINGS, home, top, files.read)
        for scope, path, text in wired:
            flag = "" if scope == "project" else f" --{scope}"
            try:
                commands = settings.commands(settings.parse(text, path))
            except MemfsError as error:
                yield Finding("error", error.message, error.hint)
                continue
            missing = {word for c in commands for word in programs(c) if not os.path.exists(word)}
            for word in sorted(missing):
                yield Finding(
                    "error", f"{path}: the hook needs {word}, which is gone",
                    f"write it anew: memfs install {name}{flag}",
                )  # fmt: skip
            if not missing:
                yield Finding("ok", f"{host.TITLE} is wired in {path}")
        if len(wired) > 1:
            yield Finding(
                "warning", f"{host.TITLE} is wired {len(wired)} times: every prompt runs each",
                f"keep one: memfs uninstall {name} [--user]",
            )  # fmt: skip
        if not wired:
            yield Finding("warning", f"{host.TITLE} is not wired", f"memfs install {name}")
    for path in leftovers.of_settings(place, home):
        yield leftovers.finding(path)


def programs(command: str) -> list[str]:
    """Return what a command needs to be there: its program, and our script."""
    words = shlex.split(command) if os.name != "nt" else command.replace('"', "").split()
    return [words[0], *[word for word in words if word.endswith(settings.MARK)]] if words else []
