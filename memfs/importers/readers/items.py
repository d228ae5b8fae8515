"""What other tools remember, as they hand it over: texts, blocks and sessions."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from memfs.core.records import Message


@dataclass(frozen=True)
class ToolText:
    """A text that becomes a passage.

    `ident` is what its tool calls it, the same at each import; `noun` is the tool's word for one
    ("observation"). `at` is UTC in ISO 8601, "" where the tool does not know. `project` is a
    folder's path or bare name, "" for none; `private` is about the user, for their own store.
    A `document` that is long is cut at its headings. The keys of its front matter (`head`) stay;
    `own`: `memfs export` wrote it, and nothing is added.
    """

    ident: str
    noun: str
    text: str
    at: str = ""
    tags: tuple[str, ...] = ()
    importance: int = 5
    project: str = ""
    private: bool = False
    document: bool = False
    head: str = ""
    own: bool = False


@dataclass(frozen=True)
class ToolBlock:
    """A text that becomes a block under `label`.

    A `limit` of 0 leaves it to the configuration, and a text that is longer becomes passages.
    `head` and `own` are as those of a `ToolText`.
    """

    label: str
    noun: str
    text: str
    description: str = ""
    limit: int = 0
    read_only: bool = False
    pinned: bool = False
    tags: tuple[str, ...] = ()
    project: str = ""
    private: bool = False
    at: str = ""
    head: str = ""
    own: bool = False

    @property
    def ident(self) -> str:
        return self.label


@dataclass(frozen=True)
class ToolSession:
    """A session, or a conversation, whose messages go to recall. Their host is the tool's name.

    `recorded_by` names an assistant whose transcripts hold the same session under the same id.
    """

    ident: str
    noun: str
    messages: tuple[Message, ...]
    project: str = ""
    private: bool = False
    recorded_by: str = ""


class UnreadItem(NamedTuple):
    """What could not be read, and why. The same is named once, with how often it was yielded."""

    ident: str
    why: str


class OmittedItem(NamedTuple):
    """What is no memory, or no longer: its tool's word for one, and why. They are counted."""

    noun: str
    why: str


ToolItem: TypeAlias = ToolText | ToolBlock | ToolSession
AnyItem: TypeAlias = ToolItem | UnreadItem | OmittedItem


def group_sessions(
    messages: Iterable[Message], noun: str, recorded_by: str = ""
) -> Iterator[ToolSession]:
    """Yield a session for each that these messages are of, in the project of its first one."""
    found: dict[str, list[Message]] = {}
    for message in messages:
        found.setdefault(message.session, []).append(message)
    for name, said in found.items():
        yield ToolSession(name, noun, tuple(said), said[0].project, recorded_by=recorded_by)


@dataclass(frozen=True)
class Importer:
    """Reads the memory of one tool. It never writes to it, and runs nothing that stands in it.

    `name` is the word in `memfs import NAME`, and in the source of each passage. `sniff` tells by
    its content whether a file or folder is this tool's, and never raises. `read` yields what is
    remembered at a path; it raises `OSError`, and `StoreError` with a hint. `find` lists the paths
    on this machine where the tool keeps its memory, those that exist, by home and environment; its
    default is for a tool whose files are wherever their owner saved them.
    """

    name: str
    sniff: Callable[[str], bool]
    read: Callable[[str], Iterator[AnyItem]]
    find: Callable[[str, Mapping[str, str]], list[str]] = lambda _home, _environment: []
