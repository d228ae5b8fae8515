"""Floor 3: one module for each assistant (see `base`). Hot path."""

import os

from memfs.core.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any

    from memfs.hosts.base import Host
    from memfs.hosts.jsonl import Reader
    from memfs.hosts.transcript_files import Collection

    NAMES: tuple[str, ...]  # of all hosts
    READERS: dict[str, str]  # the modules that read transcripts, by host
    COLLECTIONS: dict[str, str]  # the modules that read files with several sessions
    RECORDED: tuple[str, ...]  # all whose sessions can be in recall

# Programs that run the hooks of others' settings with payloads of their own, and whose those are.
BORROWERS = {"vscode": ("claude", "copilot")}
OWN = "memfs"  # the host of the sessions of `memfs agent`
PROGRAM = "python"  # the host of what programs edit and store
_COLLECTIONS = dict.fromkeys(("aider", "cursor", "specstory"), "markdown")
_MARK = b'\n    COMMAND = "'  # only host modules say which program they are of
_HEAD = 4096  # bytes of a module
_STARTERS = " codex claude"  # they start others most often
# Folders that are no single assistant's.
_SHARED_FOLDERS = ("HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
# Tools whose sessions come in by `memfs import`.
IMPORTED = (
    "claude-mem", "mem0", "letta", "letta-code", "cline", "roo", "kilo", "cursor-ide", "engram",
    "mycelicmemory",
)  # fmt: skip
CHATS = ("chatgpt", "claude-ai")  # of a web site: their sessions belong to no project
HOOK = "memfs_hook.py"  # the script of our hook commands
HOOK_COMMAND = "memfs hook "  # the start of those that name nothing of this machine
HOOK_TOOL = "memory_hook"  # the tool of our server that hooks of earlier versions call
PLUGIN = "memfs@"  # the start of our plugin's name in hosts' lists of enabled plugins


def __getattr__(name: str) -> "Any":
    """Find the modules of hosts with the first look at their names, which hooks never take."""
    if name not in ("NAMES", "READERS", "COLLECTIONS", "RECORDED"):
        raise AttributeError(name)
    names, readers, collections = [], {}, dict(_COLLECTIONS)
    folder = os.path.dirname(__file__)
    for stem in sorted(file[:-3] for file in os.listdir(folder) if file.endswith(".py")):
        host, _, what = stem.rpartition("_")
        if what in ("transcript", "sessions"):
            readers[OWN if host == "agent" else host] = stem
        if what == "sessions" and host != "agent":
            collections[host] = stem
        with open(f"{folder}/{stem}.py", "rb") as file:
            if _MARK in file.read(_HEAD):
                names.append(stem)
    found = {"NAMES": tuple(names), "READERS": readers, "COLLECTIONS": collections}
    found["RECORDED"] = tuple(sorted({*names, *readers, *collections, *IMPORTED, *CHATS, PROGRAM}))
    globals().update(found)
    return found[name]


def _find(name: str) -> "Any":
    return globals().get(name) or __getattr__(name)


def _import(name: str) -> "Any":
    return __import__(f"memfs.hosts.{name}", fromlist=["HOST"])


def list_hosts() -> "list[Host]":
    """Return all hosts, those last whose variables others inherit most often."""
    return [get(name) for name in sorted(_find("NAMES"), key=_STARTERS.find)]


def get(name: str) -> "Host":
    """Return a host by name; raises `UsageError` for an unknown one."""
    try:
        host: Host = _import(name).HOST
        return host
    except (ModuleNotFoundError, AttributeError):
        pass
    known = ", ".join(sorted(each.NAME for each in list_hosts()))
    raise UsageError(f"unknown assistant '{name}'", f"use one of {known}")


def reader(name: str) -> "Reader[Any]":
    """Return what finds and reads a host's transcripts, of those in `READERS`."""
    found: Reader[Any] = _import(_find("READERS")[name]).READER
    return found


def collection(name: str) -> "Collection":
    """Return what reads files with several sessions, of those in `COLLECTIONS`."""
    module = _import(_find("COLLECTIONS")[name])
    found: Collection = getattr(module, "COLLECTIONS", {}).get(name) or module.READER
    return found


def trust_module(name: str) -> "ModuleType | None":
    """Return the module for a host's trust in hooks; None if the host runs all hooks."""
    if name != "codex":
        return None
    from memfs.hosts import codex_trust

    return codex_trust


def list_folder_variables() -> list[str]:
    """List the variables that name folders of assistants, and those of what they share."""
    return [*_SHARED_FOLDERS, *(name for host in list_hosts() for name in host.FOLDERS)]


def find_running_session(environment: "Mapping[str, str]") -> tuple[str, str]:
    """Return (session, host) of the assistant that started us; "" for an unknown one."""
    for host in list_hosts():
        if any(environment.get(variable) for variable in host.VARIABLES):
            return session_of(host.NAME, environment), host.NAME
    return session_of("", environment), ""


def session_of(host: str, environment: "Mapping[str, str]") -> str:
    """Return the session that a host itself set, not one inherited from another host."""
    for variable in get(host).VARIABLES if host in _find("NAMES") else ():
        if variable.endswith("_SESSION_ID") and environment.get(variable):
            return environment[variable]
    return environment.get("MEMFS_SESSION", "")
