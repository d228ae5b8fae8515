"""Memory in the formats of other tools: one module for each (see `contents.Exporter`)."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from memfs.core.errors import UsageError
from memfs.importers.writers.contents import Exporter

NAMES = {
    "letta": "letta",
    "basic-memory": "basic_memory",
    "markdown": "markdown",
    "server-memory": "server_memory",
}


def get(name: str) -> Exporter:
    """Return the module of a format by its name. Raises `UsageError` for an unknown one."""
    if name not in NAMES:
        raise UsageError(f"unknown format '{name}'", f"known formats: {', '.join(NAMES)}")
    return cast("Exporter", import_module(f"{__name__}.{NAMES[name]}"))
