"""Other tools' memory: a module for each tool, or an object in one (see `items.Importer`)."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from memfs.core.errors import UsageError
from memfs.importers.readers.items import Importer

# In the order in which a file is shown to them: the most particular first.
NAMES = {
    "claude-mem": "row_tools.CLAUDE_MEM",
    "server-memory": "server_memory",
    "chatgpt": "chatgpt",
    "claude-ai": "claude_ai",
    "cline": "task_folders.CLINE",
    "roo": "task_folders.ROO",
    "kilo": "task_folders.KILO",
    "cursor-ide": "cursor_ide",
    "mem0": "mem0",
    "letta": "letta",
    "letta-code": "letta_code",
    "mycelicmemory": "row_tools.MYCELICMEMORY",
    "mcp-memory-service": "row_tools.MCP_MEMORY_SERVICE",
    "engram": "row_tools.ENGRAM",
    "opencode-memory": "opencode_memory",
    "basic-memory": "basic_memory",
    "memory-folder": "memory_folder",  # the last one: it is a folder that no other one takes
}


def get(name: str) -> Importer:
    """Return the importer of a tool by its name. Raises `UsageError` for an unknown one."""
    if name not in NAMES:
        raise UsageError(f"unknown tool '{name}'", f"known tools: {', '.join(NAMES)}")
    module, _, attribute = NAMES[name].partition(".")
    found = import_module(f"{__name__}.{module}")
    return cast("Importer", getattr(found, attribute) if attribute else found)


def recognise(path: str) -> Importer | None:
    """Return the tool whose memory a file or folder is, by its content; None for none."""
    return next((tool for tool in map(get, NAMES) if tool.sniff(path)), None)
