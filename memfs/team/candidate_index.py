"""An index of the messages that may answer one question, made for it in memory, and thrown away.

The database finds candidates by their words and vectors; memfs ranks them as it does everywhere,
with the turns around them. What takes longest, the vectors and tokens of a text, is kept for the
texts that were candidates lately.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memfs.core.records import Message
from memfs.search import encoder, memory_index, message_documents
from memfs.search.engine import Engine
from memfs.search.memory_index import EncodedWindows
from memfs.team.ledger import StoredMessage

_MOST_KEPT = 50_000  # messages: about a kilobyte each
# By project, too: what somebody sends as a message of one project is nothing to another.
_kept: dict[tuple[int, UUID], EncodedWindows] = {}  # the first ones are the oldest


def index_candidates(messages: Sequence[StoredMessage]) -> Engine:
    """Return an engine that searches some messages, given session by session in order."""
    model = encoder.load_bundled()
    keys = [(each.project, each.id) for each in messages]
    known = {key: _kept.get(key) for key in keys}
    new = {key: m.text for key, m in zip(keys, messages, strict=True) if known[key] is None}
    encoded = dict(zip(new, memory_index.encode_windows([*new.values()], model), strict=True))
    _keep(encoded)
    windows = [known[key] or encoded[key] for key in keys]
    return memory_index.make_engine([make_document(each) for each in messages], windows, model)


def _keep(encoded: dict[tuple[int, UUID], EncodedWindows]) -> None:
    _kept.update(encoded)
    while len(_kept) > _MOST_KEPT:
        try:
            del _kept[next(iter(_kept))]
        except (KeyError, RuntimeError, StopIteration):  # another thread does it, too
            return


def name_session(ident: str, member: str) -> str:
    """Return the name of a member's session: two members may have one of the same name."""
    return f"{member} {ident}"


def make_document(stored: StoredMessage) -> dict[str, object]:
    """Return the document of a shared message: the ledger's id, and a session of its member."""
    message = Message(
        stored.id.hex,
        name_session(stored.ident, stored.member),
        stored.host,
        str(stored.project),
        stored.branch,
        stored.time,
        stored.role,
        stored.text,
        speaker=stored.speaker,
    )
    return message_documents.document(message) | {"id": stored.id.hex}
