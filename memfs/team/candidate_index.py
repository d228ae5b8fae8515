"""An index of the messages that may answer one question, made for it and thrown away.

The database finds candidates by their words and vectors; memfs ranks them as it does everywhere,
with the turns around them. It takes some milliseconds for each hundred messages.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memfs.core.records import Message
from memfs.search import message_documents
from memfs.search.catalog import IndexSource
from memfs.search.engine import Engine
from memfs.search.indexer import open_writer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memfs.team.ledger import StoredMessage


@contextmanager
def open_candidates(messages: Sequence[StoredMessage]) -> Iterator[Engine]:
    """Yield an engine that searches some messages, given session by session in order."""
    with tempfile.TemporaryDirectory(prefix="memfs-team-") as folder:
        with open_writer(folder) as writer:
            source = f"{folder}/candidates"
            open(source, "w").close()
            writer.update(
                [IndexSource(source, "message", grows=False)],
                lambda _source, _start: map(make_document, messages),
            )
            writer.embed()
        yield Engine.open(folder)


def make_document(stored: StoredMessage) -> dict[str, object]:
    """Return the document of a shared message: its id is that of the ledger."""
    message = Message(
        stored.id.hex,
        stored.ident,
        stored.host,
        str(stored.project),
        stored.branch,
        stored.time,
        stored.role,
        stored.text,
        speaker=stored.speaker,
    )
    return message_documents.document(message) | {"id": stored.id.hex}
