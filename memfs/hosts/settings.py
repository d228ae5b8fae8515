"""The settings files of hosts: which have our entries, and how they are read.

A file that cannot be read back exactly is refused, not mended.
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from collections.abc import Callable
from typing import NamedTuple

from memfs.core.errors import StoreError
from memfs.hosts import PLUGIN, claude_project, jsonc_edit, owned_file, settings_merge
from memfs.hosts.base import Host
from memfs.hosts.settings_merge import Json

SCOPES = ("user", "project", "local")  # local: in the project, and not committed


class WiredFile(NamedTuple):
    """A settings file that holds entries of ours."""

    scope: str
    path: str
    text: str


def is_installed(host: Host, home: str) -> bool:
    """Return whether an assistant is on this machine."""
    return bool(shutil.which(host.COMMAND)) or os.path.isdir(f"{home}/{host.HOME}")


def list_hook_files(
    host: Host, home: str, top: str | None, read: Callable[[str], str | None]
) -> list[WiredFile]:
    """List the settings files from which a host runs our hooks; `top` is the project, if any."""
    return [found for found in _read_files(host, home, top, read) if _has_our_hooks(found)]


def _has_our_hooks(found: WiredFile) -> bool:
    """Return whether a file has hooks of ours, or cannot be read."""
    try:
        suspected = settings_merge.may_have_hooks(found.text)
        parsed = parse(found.text, found.path) if suspected else {}
        return bool(settings_merge.commands(parsed) or owned_file.list_words(found.text))
    except StoreError:
        return True


def list_server_files(
    host: Host, home: str, top: str | None, read: Callable[[str], str | None]
) -> list[WiredFile]:
    """List the settings files from which a host starts our MCP server for a project."""
    return [
        each
        for each in _read_files(host, home, top, read)
        if f'"{settings_merge.SERVER}"' in each.text
        and settings_merge.servers(
            parse(each.text, each.path), claude_project.find_key(top) if top else None
        )
    ]


def list_plugin_files(
    host: Host, home: str, top: str | None, read: Callable[[str], str | None]
) -> list[str]:
    """List the settings files that enable our plugin for a host."""
    texts = [(path, read(path) or "") for path in host.list_plugin_settings(home, top or "")]
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


def _read_files(
    host: Host, home: str, top: str | None, read: Callable[[str], str | None]
) -> list[WiredFile]:
    every = paths(host, home, top)
    return [WiredFile(scope, path, read(path) or "") for path, scope in every.items()]


def find_ignored(host: Host, text: str, path: str) -> str:
    """Return why a host ignores a settings file that can be read, "" if it does not."""
    bare = text.removeprefix("\ufeff")
    parse(text, path)
    if host.STRICT and path.endswith(".json") and bare.strip():
        try:
            json.loads(bare)
        except ValueError:
            return f"{host.TITLE} ignores all of it, for a comment or a trailing comma is in it"
    return ""


def is_switched_off(text: str, path: str) -> bool:
    """Tell whether a settings file has its host run no hook at all."""
    return '"disableAllHooks"' in text and parse(text, path).get("disableAllHooks") is True


def parse(text: str, path: str) -> Json:
    """Read a settings file; {} for a plugin. Raises `StoreError` if it is not read exactly."""
    toml = path.endswith(".toml")
    if owned_file.is_owned_kind(path) or (not toml and jsonc_edit.blank(text)):
        return {}
    try:
        text.encode()
        found = tomllib.loads(text.removeprefix("\ufeff")) if toml else jsonc_edit.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"{path} cannot be read back safely: {error}",
            "mend it first; memfs does not rewrite what it cannot read",
        ) from error
    if not isinstance(found, dict) or not isinstance(found.get("hooks", {}), dict):
        raise StoreError(f"{path} is not a settings file: a mapping with hooks was expected")
    return found
