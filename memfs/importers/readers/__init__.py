"""Other tools' memory: an `Importer` for each tool."""

from importlib import import_module

from memfs.core.errors import UsageError
from memfs.importers.readers.items import Importer

# In the order in which a file is shown to them: the most particular first.
NAMES = {
    "claude-mem": "row_tools.CLAUDE_MEM",
    "server-memory": "server_memory.SERVER_MEMORY",
    "chatgpt": "chat_exports.CHATGPT",
    "claude-ai": "chat_exports.CLAUDE_AI",
    "cline": "task_folders.CLINE",
    "roo": "task_folders.ROO",
    "kilo": "task_folders.KILO",
    "cursor-ide": "cursor_ide.CURSOR_IDE",
    "mem0": "mem0.MEM0",
    "letta": "letta_tools.LETTA",
    "letta-code": "letta_tools.LETTA_CODE",
    "mycelicmemory": "row_tools.MYCELICMEMORY",
    "mcp-memory-service": "row_tools.MCP_MEMORY_SERVICE",
    "engram": "row_tools.ENGRAM",
    "opencode-memory": "note_tools.OPENCODE_MEMORY",
    "basic-memory": "note_tools.BASIC_MEMORY",
    "memory-folder": "note_tools.MEMORY_FOLDER",  # the last one: a folder that no other one takes
}


def get(name: str) -> Importer:
    """Return the importer of a tool by its name. Raises `UsageError` for an unknown one."""
    if name not in NAMES:
        raise UsageError(f"unknown tool '{name}'", f"known tools: {', '.join(NAMES)}")
    module, _, attribute = NAMES[name].partition(".")
    found: Importer = getattr(import_module(f"{__name__}.{module}"), attribute)
    return found


def recognise(path: str) -> Importer | None:
    """Return the tool whose memory a file or folder is, by its content; None for none."""
    return next((tool for tool in map(get, NAMES) if tool.sniff(path)), None)
