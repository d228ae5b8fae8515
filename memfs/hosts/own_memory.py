"""Where assistants keep a memory of their own, and whether their settings have it on.

Read from their programs and documentation: Claude Code 2.1.328 (`autoMemoryEnabled`,
`autoMemoryDirectory`; a project's committed settings cannot name a folder), Codex 0.169.0
(`[features] memories`, off by default), Gemini CLI (a section of GEMINI.md, and a folder for each
project). Copilot's and Cursor's are kept by their makers, and are no files.
"""

import os
from collections.abc import Callable
from typing import NamedTuple

from memfs.core.errors import StoreError
from memfs.files.account import find_named_folder, list_variables
from memfs.hosts import settings, settings_merge

ON, OFF, HERE = "on", "off", "here"
ENABLED, FOLDER = settings_merge.OWN_MEMORY
SECTION = "## Gemini Added Memories"
_DISABLED = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
_Read = Callable[[str], "str | None"]


class OwnMemory(NamedTuple):
    """The memory that an assistant keeps by itself of a project, or of its user.

    `path` is its folder, or the file that holds it. `state` is on, off, or here: in the store of
    the project. `switch` says how to turn it off.
    """

    host: str
    path: str
    state: str
    switch: str


def name_folder(top: str) -> str:
    """Return the folder of a project's store in which Claude Code's memory is kept as blocks."""
    return f"{top}/.agent-memory/blocks/claude"


def describe_memories(home: str, top: str, read: _Read) -> list[tuple[str, str]]:
    """Return (host, a line for people) for each memory that is on beside the store, or in it.

    `top` is the project, "" for none: there is nothing to say then.
    """
    found = []
    for each in find_memories(home, top, read) if top else ():
        if each.state == HERE:
            found.append((each.host, f"keeps its own memory in the store, in {each.path}"))
        elif each.state == ON:
            how = f"to turn it off: {each.switch}"
            found.append((each.host, f"keeps its own memory in {each.path}; {how}"))
    return found


def find_memories(home: str, top: str, read: _Read) -> list[OwnMemory]:
    """Return the memories that assistants keep for a project, as their settings are."""
    found = (find_claude(home, top, read), _find_codex(home, read), _find_gemini(home, read))
    return [each for each in found if each]


def find_claude(home: str, top: str, read: _Read) -> OwnMemory | None:
    """Return Claude Code's memory of a project; None where it was never run."""
    folder = find_named_folder("CLAUDE_CONFIG_DIR") or f"{home}/.claude"
    if not os.path.isdir(folder):
        return None
    user, shared, local = (
        _read_settings(path, read)
        for path in (
            f"{folder}/settings.json",
            f"{top}/.claude/settings.json",
            f"{top}/.claude/settings.local.json",
        )
    )
    enabled = (user | shared | local).get(ENABLED) is not False
    path = str((user | local).get(FOLDER) or "")  # it believes no committed file in that
    path = os.path.join(home, path[2:]) if path.startswith("~/") else path
    if not os.path.isabs(path) or not path.isprintable():  # no system has such a path
        from memfs.hosts import claude_transcript  # with msgspec

        key = settings.find_project_key(top)
        path = f"{claude_transcript.READER.list_folders(home, key)[0]}/memory"
    variable = list_variables().get(_DISABLED, "")
    enabled = enabled and variable.lower() not in ("1", "true", "yes", "on")
    inside = os.path.realpath(path).startswith(f"{os.path.realpath(top)}/.agent-memory/")
    state = OFF if not enabled else HERE if inside else ON
    return OwnMemory("claude", path, state, "memfs install claude --own-memory off")


def _find_codex(home: str, read: _Read) -> OwnMemory | None:
    folder = find_named_folder("CODEX_HOME") or f"{home}/.codex"
    found = _read_settings(f"{folder}/config.toml", read)
    features = found.get("features")
    on = isinstance(features, dict) and features.get("memories") is True
    if not on and not os.path.isdir(f"{folder}/memories"):
        return None
    switch = f"set memories = false in [features] of {folder}/config.toml"
    return OwnMemory("codex", f"{folder}/memories", ON if on else OFF, switch)


def _find_gemini(home: str, read: _Read) -> OwnMemory | None:
    path = f"{find_named_folder('GEMINI_CLI_HOME') or home}/.gemini/GEMINI.md"
    try:
        text = read(path) or ""
    except OSError:  # it cannot be read, so nothing can be said
        return None
    if SECTION not in text:
        return None
    return OwnMemory("gemini", path, ON, f'remove "{SECTION}" from {path}')


def _read_settings(path: str, read: _Read) -> dict[str, object]:
    """Read a settings file; {} for none, and for one that its program cannot read either."""
    try:
        text = read(path)
        return settings.parse(text, path) if text else {}
    except (StoreError, OSError):
        return {}
