"""Where editors that are made of VS Code keep what they store: their folder `User`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import unquote

from memfs.files import outside


def list_user_folders(home: str, environment: Mapping[str, str]) -> list[str]:
    """List the folders `User` of such editors, whatever they are called, and of their servers."""
    settings = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    above = [settings, f"{home}/Library/Application Support", environment.get("APPDATA", "")]
    found = [f"{top}/{name}/User" for top in above if top for name in outside.list_names(top)]
    servers = [name for name in outside.list_names(home) if name[:1] == "." and "-server" in name]
    found += [f"{home}/{name}/data/User" for name in servers]
    return [folder for folder in dict.fromkeys(found) if os.path.isdir(f"{folder}/globalStorage")]


def parse_folder(uri: str) -> str:
    """Return the path of a URI of a folder, of another machine too; "" for something else."""
    scheme, found, rest = uri.partition("://")
    if not found:
        return uri if uri.startswith("/") or uri[1:2] == ":" else ""
    if scheme not in ("file", "vscode-remote"):
        return ""
    path = unquote(rest[rest.find("/") :]) if "/" in rest else ""
    return path[1:] if path[2:3] == ":" else path
