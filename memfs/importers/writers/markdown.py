"""A folder of plain Markdown: a file for each block and passage, with front matter."""

from __future__ import annotations

from memfs.importers.writers.contents import (
    MemoryContents,
    get_date,
    make_name,
    write_conversation,
    write_note,
)
from memfs.store import store_paths

NAME = "markdown"
FOLDER = SESSIONS = True
KEYS = ()
PASSAGES = "archive"


def make_files(memory: MemoryContents) -> dict[str, bytes]:
    """Return the files: blocks by their labels, passages and sessions in folders of their own."""
    made: dict[str, bytes] = {}
    for block in memory.blocks:
        head = {"description": block.description, "limit": block.limit, "pinned": block.pinned}
        made[f"{block.label}.md"] = write_note(head, block.value, block.head)
    for passage in memory.passages:
        name = f"{PASSAGES}/{make_name(passage)}.md"
        made[name] = write_note(
            {
                "created_at": get_date(passage),
                "importance": passage.importance,
                "tags": passage.tags,
                "source": passage.source,
            },
            passage.text,
            memory.heads.get(passage.id, ""),
        )
    for (host, session), messages in memory.sessions.items():
        name = f"sessions/{host}/{store_paths.file_name(session)}.md"
        made[name] = write_conversation(host, session, messages)
    return made
