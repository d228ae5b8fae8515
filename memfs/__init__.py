"""memfs: memory for coding assistants that is plain files.

Importing this package costs nothing: names are resolved when they are first used.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.api import AssembledContext, ContextAssembler, Memory, SessionReviewer
    from memfs.api import open_memory as open  # noqa: A004 - memfs.open(path) reads as it should
    from memfs.context.pieces import Compression, Context, Found, Piece
    from memfs.core.block import Block
    from memfs.core.body_edits import (
        Append,
        Create,
        Delete,
        Describe,
        Edit,
        Insert,
        Remove,
        Rename,
        Replace,
        Rethink,
    )
    from memfs.core.errors import (
        DamagedError,
        LockedError,
        MemfsError,
        NotFoundError,
        RejectedError,
        StoreError,
        UsageError,
    )
    from memfs.core.hits import Hit, SessionHit
    from memfs.core.records import Fact, JournalEntry, Message, Passage
    from memfs.importers.exporting import Exported
    from memfs.importers.importing import Imported
    from memfs.importers.merge import ImportItem
    from memfs.ingest.transcripts import Tally
    from memfs.knowledge.kinds.facts import Facts
    from memfs.knowledge.kinds.graph import Graph
    from memfs.knowledge.kinds.protocol import (
        Capacity,
        Content,
        Kind,
        Metrics,
        Query,
        Relevant,
        State,
    )
    from memfs.knowledge.kinds.static import Static
    from memfs.knowledge.kinds.vector import Vector
    from memfs.knowledge.orchestrator import Orchestrator
    from memfs.ops.sessions import RecordedSession
    from memfs.ops.source import DataSource, ListedSource, SourceState
    from memfs.search.request import Filter, Mode
    from memfs.secrets import Secret, find_secrets
    from memfs.store.blocks import Place

__version__ = "0.2.0"
__all__ = [
    "Append",
    "AssembledContext",
    "Block",
    "Capacity",
    "Compression",
    "Content",
    "Context",
    "ContextAssembler",
    "Create",
    "DamagedError",
    "DataSource",
    "Delete",
    "Describe",
    "Edit",
    "Exported",
    "Fact",
    "Facts",
    "Filter",
    "Found",
    "Graph",
    "Hit",
    "ImportItem",
    "Imported",
    "Insert",
    "JournalEntry",
    "Kind",
    "ListedSource",
    "LockedError",
    "MemfsError",
    "Memory",
    "Message",
    "Metrics",
    "Mode",
    "NotFoundError",
    "Orchestrator",
    "Passage",
    "Piece",
    "Place",
    "Query",
    "RecordedSession",
    "RejectedError",
    "Relevant",
    "Remove",
    "Rename",
    "Replace",
    "Rethink",
    "Secret",
    "SessionHit",
    "SessionReviewer",
    "SourceState",
    "State",
    "Static",
    "StoreError",
    "Tally",
    "UsageError",
    "Vector",
    "__version__",
    "find_secrets",
    "open",
]

_KINDS = "memfs.knowledge.kinds"
_NAMES = {  # the public names of each module
    "memfs.api": "AssembledContext ContextAssembler Memory SessionReviewer open_memory",
    "memfs.context.pieces": "Compression Context Found Piece",
    "memfs.core.block": "Block",
    "memfs.core.body_edits": (
        "Append Create Delete Describe Edit Insert Remove Rename Replace Rethink"
    ),
    "memfs.core.errors": (
        "DamagedError LockedError MemfsError NotFoundError RejectedError StoreError UsageError"
    ),
    "memfs.core.hits": "Hit SessionHit",
    "memfs.core.records": "Fact JournalEntry Message Passage",
    "memfs.importers.merge": "ImportItem",
    "memfs.ingest.transcripts": "Tally",
    f"{_KINDS}.facts": "Facts",
    f"{_KINDS}.graph": "Graph",
    f"{_KINDS}.protocol": "Capacity Content Kind Metrics Query Relevant State",
    f"{_KINDS}.static": "Static",
    f"{_KINDS}.vector": "Vector",
    "memfs.knowledge.orchestrator": "Orchestrator",
    "memfs.importers.exporting": "Exported",
    "memfs.importers.importing": "Imported",
    "memfs.ops.sessions": "RecordedSession",
    "memfs.ops.source": "DataSource ListedSource SourceState",
    "memfs.search.request": "Filter Mode",
    "memfs.secrets": "Secret find_secrets",
    "memfs.store.blocks": "Place",
}


if not TYPE_CHECKING:  # a type checker would take any name for one that is here

    def __getattr__(name: str) -> object:
        if name in __all__:
            attribute = "open_memory" if name == "open" else name
            for module, names in _NAMES.items():
                if attribute in names.split():
                    return getattr(__import__(module, fromlist=[attribute]), attribute)
        raise AttributeError(f"module 'memfs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
