"""basic-memory: a folder of notes. Blocks and passages are notes of types of their own."""

from __future__ import annotations

from memfs.importers.writers.contents import (
    MemoryContents,
    get_date,
    make_name,
    make_title,
    write_conversation,
    write_note,
)
from memfs.store import store_paths

NAME = "basic-memory"
FOLDER = SESSIONS = True
BLOCK, PASSAGE = "block", "passage"  # types of notes
KEYS = ("title", "type", "permalink", "label", "created")  # what a note has in its front matter


def make_files(memory: MemoryContents) -> dict[str, bytes]:
    """Return the notes; what stands in the texts as observations and relations is read as such."""
    made: dict[str, bytes] = {}
    for block in memory.blocks:
        made[f"blocks/{block.label}.md"] = write_note(
            {
                "title": block.label,
                "type": BLOCK,
                "permalink": f"blocks/{block.label}",
                "tags": block.tags,
                "label": block.label,
                "description": block.description,
                "limit": block.limit,
                "pinned": block.pinned,
            },
            block.value,
            block.head,
        )
    for passage in memory.passages:
        name = f"passages/{make_name(passage)}"
        made[f"{name}.md"] = write_note(
            {
                "title": make_title(passage),
                "type": PASSAGE,
                "permalink": name,
                "tags": passage.tags,
                "created": get_date(passage),
                "importance": passage.importance,
                "source": passage.source,
            },
            passage.text,
            memory.heads.get(passage.id, ""),
        )
    for (host, session), messages in memory.sessions.items():
        name = f"conversations/{host}/{store_paths.file_name(session)}.md"
        made[name] = write_conversation(host, session, messages)
    return made
