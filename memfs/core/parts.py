"""How memfs is installed: its parts that can be left out, found by name, and its extras."""

import re
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

from memfs.core.errors import MemfsError

DISTRIBUTION = "agent-memfs"
# Programs that install into an environment of their own, by the file that each leaves in it.
_INSTALLERS = {"uv-receipt.toml": "uv tool install", "pipx_metadata.json": "pipx install --force"}

# The modules that the rest of memfs uses, by part; its commands are in `cli.command_list`.
PARTS = {
    "agent": ("configured_model", "extract", "reviewer"),
    "importers": ("exporting", "importing", "undo"),
    "team": ("seam",),
    "web": (),
}


def is_installed(part: str) -> bool:
    """Tell whether a part is there."""
    from importlib.util import find_spec  # 3 ms, which most commands need not

    return find_spec(f"memfs.{part}") is not None


def find(name: str) -> Any:
    """Return a module of a part, such as `team.seam`; None where the part is not installed."""
    return load(name) if is_installed(name.partition(".")[0]) else None


def load(name: str) -> Any:
    """Return a module of a part. Raises `MemfsError` where the part is not installed."""
    part, _, module = name.partition(".")
    if not is_installed(part):
        raise MemfsError(
            f"memfs is installed without the part '{part}'",
            "install all of memfs: pip install agent-memfs",
        )
    if module not in PARTS[part]:
        raise KeyError(name)
    return import_module(f"memfs.{name}")


def name_extra(extra: str) -> str:
    """Return the command that installs `extra` beside the extras that are installed."""
    for mark, command in _INSTALLERS.items():
        with suppress(OSError), open(f"{sys.prefix}/{mark}", encoding="utf-8") as file:
            found = re.search(rf'{DISTRIBUTION}(?:", extras = )?\[([^]]*)\]', file.read())
            extras = {extra, *re.findall(r"[a-z]+", found[1] if found else "")}
            return f"{command} '{DISTRIBUTION}[{','.join(sorted(extras))}]'"
    return f"pip install '{DISTRIBUTION}[{extra}]'"
