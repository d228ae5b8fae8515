"""A small memory of each tool, and of those that keep notes in text files or in one table."""

from collections.abc import Callable
from pathlib import Path

from tests.importers import samples
from tests.importers.samples import make_database

_MYCELICMEMORY = """
CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT NOT NULL, source TEXT, importance INTEGER,
    tags TEXT, session_id TEXT, domain TEXT, created_at DATETIME, parent_memory_id TEXT,
    chunk_level INTEGER DEFAULT 0, conversation_id TEXT);
CREATE TABLE memory_relationships (id TEXT PRIMARY KEY, source_memory_id TEXT, target_memory_id TEXT,
    relationship_type TEXT, strength REAL, context TEXT, created_at DATETIME);
CREATE TABLE conversations (id TEXT PRIMARY KEY, session_id TEXT, project_path TEXT,
    project_hash TEXT, created_at DATETIME);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, content TEXT,
    timestamp DATETIME, sequence_index INTEGER);
CREATE TABLE memory_blocks (id TEXT, block_type TEXT, content TEXT, max_tokens INTEGER,
    version INTEGER);
INSERT INTO memories VALUES ('m-1', 'One timeout for all calls. 世界', 'manual', 9,
    '["http", "decision"]', 's', 'backend', '2026-01-01 00:00:01', NULL, 0, NULL);
INSERT INTO memories VALUES ('m-2', 'The gateway closes at 6 seconds', NULL, 5, NULL, 's', 'backend',
    '2026-01-01 00:00:02', NULL, 0, NULL);
INSERT INTO memories VALUES ('m-3', 'One timeout', NULL, 9, NULL, 's', 'backend',
    '2026-01-01 00:00:01', 'm-1', 1, NULL);
INSERT INTO memory_relationships VALUES ('r', 'm-1', 'm-2', 'causes', 0.8, 'because', '2026-01-01');
INSERT INTO conversations VALUES ('c-1', 's-1', '/home/dev/repo', 'ab', '2026-01-01 00:00:00');
INSERT INTO messages VALUES ('p-1', 'c-1', 'user', 'Honour Retry-After', '2026-01-01 00:00:00', 0);
INSERT INTO memory_blocks VALUES ('b-1', 'persona', 'I keep notes.', 500, 1);
INSERT INTO memory_blocks VALUES ('b-2', 'persona', 'I keep short notes.', 500, 2);
"""
_ENGRAM = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, project TEXT, directory TEXT, started_at TEXT,
    ended_at TEXT, summary TEXT);
CREATE TABLE observations (id INTEGER PRIMARY KEY, session_id TEXT, type TEXT, title TEXT,
    content TEXT, tool_name TEXT, project TEXT, scope TEXT, topic_key TEXT, created_at TEXT,
    updated_at TEXT, deleted_at TEXT);
CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, session_id TEXT, content TEXT, project TEXT,
    created_at TEXT);
INSERT INTO sessions VALUES ('s-1', 'repo', '/home/dev/repo', '2026-01-01 00:00:00', NULL,
    'Waits as the server says');
INSERT INTO observations VALUES (1, 's-1', 'decision', 'Timeouts', 'One timeout for all calls. 世界',
    NULL, 'repo', 'project', 'architecture/http', '2026-01-01 00:00:01', '2026-01-01 00:00:02', NULL);
INSERT INTO observations VALUES (2, 's-1', 'bugfix', 'Gone', 'It was wrong.', NULL, 'repo',
    'project', NULL, '2026-01-01 00:00:01', '2026-01-01 00:00:02', '2026-01-02 00:00:00');
INSERT INTO user_prompts VALUES (1, 's-1', 'Honour Retry-After', 'repo', '2026-01-01 00:00:00');
"""
_MCP_MEMORY_SERVICE = """
CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT UNIQUE NOT NULL,
    content TEXT NOT NULL, tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL,
    updated_at REAL, created_at_iso TEXT, updated_at_iso TEXT, deleted_at REAL DEFAULT NULL);
INSERT INTO memories VALUES (1, 'abc', 'One timeout for all calls. 世界', 'http,gateway', 'decision',
    '{}', 1767225601.5, 1767225601.5, '2026-01-01T00:00:01Z', '2026-01-01T00:00:01Z', NULL);
INSERT INTO memories VALUES (2, 'def', 'It was wrong.', '', NULL, '{}', 1767225601, 1767225601, NULL,
    NULL, 1767225699);
"""
SAID = "One timeout for all calls. 世界"


def make_mycelicmemory(folder: Path, text: str = SAID) -> Path:
    return make_database(folder / "memories.db", _MYCELICMEMORY.replace(SAID, text))


def make_engram(folder: Path, text: str = SAID) -> Path:
    return make_database(folder / "engram.db", _ENGRAM.replace(SAID, text))


def make_mcp_memory_service(folder: Path, text: str = SAID) -> Path:
    return make_database(folder / "sqlite_vec.db", _MCP_MEMORY_SERVICE.replace(SAID, text))


def write_texts(folder: Path, texts: dict[str, str]) -> Path:
    """Write text files, by their names in a folder."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def make_opencode_memory(folder: Path, text: str = SAID) -> Path:
    block = "---\nlabel: project\ndescription: Rules\nlimit: 4000\nread_only: false\n---\n"
    entry = "---\ntitle: Retry-After\ncreated: 2026-01-01T00:00:01.000Z\ntags:\n  - http\n---\n"
    texts = {
        "memory/project.md": f"{block}{text}\n",
        "journal/20260101-000001-000.md": f"{entry}Seconds.\n",
    }
    return write_texts(folder, texts)


def make_basic_memory(folder: Path, text: str = SAID) -> Path:
    note = "---\ntitle: HTTP client\ntype: note\npermalink: shop/notes/http-client\n---\n\n"
    decision = (
        "---\ntitle: Retry policy\ntype: note\npermalink: shop/decisions/retry-policy\n"
        "tags:\n- http\n---\n\n# Retry policy\n\n- [gotcha] 429 carries Retry-After #gateway\n"
    )
    texts = {"notes/HTTP client.md": f"{note}{text}\n", "decisions/Retry policy.md": decision}
    return write_texts(folder, texts)


def make_memory_folder(folder: Path, text: str = SAID) -> Path:
    return write_texts(folder, {"progress.md": f"{text}\n", "shop/todo.txt": "- wait\n"})


# By tool, as in `samples`: all tools.
SAMPLES: dict[str, Callable[..., Path]] = {
    **samples.SAMPLES,
    "mycelicmemory": make_mycelicmemory,
    "engram": make_engram,
    "mcp-memory-service": make_mcp_memory_service,
    "opencode-memory": make_opencode_memory,
    "basic-memory": make_basic_memory,
    "memory-folder": make_memory_folder,
}
