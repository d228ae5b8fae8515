"""The settings files of hosts, and their versions: which have our entries, how they are read.

A file that cannot be read back exactly is refused, not mended.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from memfs.core.errors import StoreError
from memfs.files import outside
from memfs.hosts import PLUGIN, settings_merge
from memfs.hosts.base import Host
from memfs.hosts.settings_merge import Json

_TIMEOUT = 5  # seconds: those that are written in JavaScript take one or two
_NUMBER = re.compile(r"\d+(?:\.\d+)+(?:[-+][-+.\w]*\w)?")

_CAP = 4096  # bytes of a file of git's that names a folder

SCOPES = ("user", "project", "local")  # local: in the project, and not committed


class WiredFile(NamedTuple):
    """A settings file that holds entries of ours."""

    scope: str
    path: str
    text: str


def is_installed(host: Host, home: str) -> bool:
    """Return whether an assistant is on this machine."""
    return bool(shutil.which(host.COMMAND)) or os.path.isdir(f"{home}/{host.HOME}")


def list_hook_files(host: Host, home: str, top: str | None) -> list[WiredFile]:
    """List the settings files from which a host runs our hooks; `top` is the project, if any."""
    return [found for found in _read_files(host, home, top) if _has_our_hooks(found)]


def _has_our_hooks(found: WiredFile) -> bool:
    """Return whether a file has hooks of ours, or cannot be read."""
    try:
        suspected = settings_merge.may_have_hooks(found.text)
        parsed = parse(found.text, found.path) if suspected else {}
        return bool(settings_merge.commands(parsed) or settings_merge.list_words(found.text))
    except StoreError:
        return True


def list_server_files(host: Host, home: str, top: str | None) -> list[WiredFile]:
    """List the settings files from which a host starts our MCP server for a project."""
    return [
        each
        for each in _read_files(host, home, top)
        if settings_merge.SERVER in each.text
        and settings_merge.servers(
            parse(each.text, each.path), find_project_key(top) if top else None
        )
    ]


def list_plugin_files(host: Host, home: str, top: str | None) -> list[str]:
    """List the settings files that enable our plugin for a host."""
    paths_ = host.list_plugin_settings(home, top or "")
    texts = [(path, outside.read(path) or "") for path in paths_]
    return [
        path
        for path, text in texts
        if PLUGIN in text and settings_merge.is_plugin_enabled(parse(text, path))
    ]


def paths(host: Host, home: str, top: str | None) -> dict[str, str]:
    """Return the settings files that may have our entries, each with its first scope."""
    found: dict[str, str] = {}
    for scope in SCOPES if top else SCOPES[:1]:
        for path, _ in host.wiring(scope, home, top or ""):
            found.setdefault(path, scope)
    return found


def _read_files(host: Host, home: str, top: str | None) -> list[WiredFile]:
    every = paths(host, home, top).items()
    return [WiredFile(scope, path, outside.read(path) or "") for path, scope in every]


def find_ignored(host: Host, text: str, path: str) -> str:
    """Return why a host cannot read a settings file that we can, "" if it does."""
    from memfs.hosts import jsonc_edit  # where there are settings

    parse(text, path)
    extras = jsonc_edit.list_extras(text) if path.endswith(".json") else []
    wrong = [each for each in extras if each in host.IGNORES]
    return f"{host.TITLE} cannot read a file that contains {' and '.join(wrong)}" if wrong else ""


def is_switched_off(text: str, path: str) -> bool:
    """Tell whether a settings file has its host run no hook at all."""
    return '"disableAllHooks"' in text and parse(text, path).get("disableAllHooks") is True


def _load_toml(text: str) -> object:
    import tomllib  # for one assistant alone

    return tomllib.loads(text.removeprefix("\ufeff"))


def parse(text: str, path: str) -> Json:
    """Read a settings file; {} for a plugin. Raises `StoreError` if it is not read exactly."""
    from memfs.hosts import jsonc_edit  # likewise

    toml = path.endswith(".toml")
    if settings_merge.is_owned_kind(path) or (not toml and jsonc_edit.blank(text)):
        return {}
    try:
        text.encode()
        found = _load_toml(text) if toml else jsonc_edit.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"{path} cannot be parsed: {error}",
            "fix the file; memfs does not rewrite a file that it cannot parse",
        ) from error
    if not isinstance(found, dict) or not isinstance(found.get("hooks", {}), dict):
        raise StoreError(f"{path} is not a settings file: expected a mapping with 'hooks'")
    return found


def find_project_key(folder: str) -> str:
    """Return the key under `projects` for what runs in a folder, as the program computes it.

    It is git's top level, of a linked worktree that of the main one, and the repository itself
    where that is bare. `claude mcp add --scope local` writes under it (tried with 2.1.328).
    """
    top = folder = os.path.realpath(folder)
    while not os.path.lexists(f"{top}/.git"):
        if os.path.dirname(top) == top:
            return folder
        top = os.path.dirname(top)
    pointed = _read(f"{top}/.git").removeprefix("gitdir:").strip()
    git = os.path.join(top, pointed) if pointed else ""
    common = _read(f"{git}/commondir") if git else ""
    if not common:
        return top
    common = os.path.realpath(os.path.join(git, common))
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def _read(path: str) -> str:
    """Return the text of a file without its line ends; "" for what is none, or is no text."""
    return (outside.read(path, _CAP) or "").strip() if os.path.isfile(path) else ""


def ask_versions(known: Iterable[Host]) -> dict[str, str]:
    """Run the programs of hosts in parallel; return their versions by name, "" for none."""
    programs = {host.NAME: shutil.which(host.COMMAND) for host in known}
    from concurrent.futures import ThreadPoolExecutor  # where versions are asked for

    with ThreadPoolExecutor(max(len(programs), 1)) as threads:
        return dict(zip(programs, threads.map(_ask_program, programs.values()), strict=True))


def _ask_program(program: str | None) -> str:
    if not program or not os.path.isabs(program):  # no program of the folder one happens to be in
        return ""
    try:
        process = subprocess.Popen(  # noqa: S603 - the assistant's own program
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return ""
    with process:
        try:
            output = process.communicate(timeout=_TIMEOUT)[0]
        except subprocess.TimeoutExpired:
            output = b""
        finally:
            _kill(process)
    found = _NUMBER.search(output.decode("utf-8", "replace"))
    return found[0] if found else ""


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and its children, which may hold our pipe open."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def is_wired(host: Host, home: str, project: str) -> bool:
    """Return whether settings of a user or a project run hooks of ours that would start here.

    `project` is the folder of a project with a store, "" for none.
    """
    for scope in ("user", "project", "local") if project else ("user",):
        for path, _ in host.wiring(scope, home, project)[:1]:
            if settings_merge.may_have_hooks(outside.read(path) or "") and _can_run(path):
                return True
    return False


def _can_run(path: str) -> bool:
    """Return whether hooks of ours in a settings file would start here."""
    found = settings_merge.commands(parse(outside.read(path) or "", path))
    return any(
        all(map(settings_merge.is_available, settings_merge.programs(each))) for each in found
    )
