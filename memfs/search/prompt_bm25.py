"""Hits for a prompt, and the query for them by words. Hot path."""

from memfs.search.lexical import Occur, Query, TextIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tantivy import Document

FEWEST_WORDS = 2  # in common with a prompt: one is chance
MOST_WORDS = 6  # in a reason
_FIELDS = ("kind", "role", "time", "id")
_LONGEST_PROMPT = 6000  # characters; of longer ones the beginning and the end count


def exclude_running(
    index: TextIndex, query: Query, session: str, *, messages: bool = True
) -> Query:
    """Return a query without blocks, tools and the running session."""
    out = [index.term_query("kind", "block"), index.term_query("role", "tool")]
    if not messages:
        out.append(index.term_query("kind", "message"))
    if session:
        out.append(index.term_query("session", session))
    return Query.boolean_query([(Occur.Must, query), *[(Occur.MustNot, each) for each in out]])


class PromptHit:
    """What memory says to a prompt: an answer of a past session, or a document.

    The fields are those of `hits.Hit` that rendering reads. `ids` are those of what is shown;
    `reason` is for people, `why` is shown to the assistant, too. `session` is that of an answer,
    `source` the file of a document.
    """

    __slots__ = (
        *("at", "host", "id", "ids", "kind", "reason"),
        *("role", "session", "snippet", "source", "why"),
    )

    def __init__(self, kind: str, role: str, at: str, ids: list[str], reason: str) -> None:
        self.kind, self.role, self.at, self.reason = kind, role, at, reason
        self.id, self.ids = ids[0], ids
        self.host = self.session = self.snippet = self.source = ""
        self.why: tuple[str, ...] = ()

    @classmethod
    def of_document(cls, document: "Document", words: list[str], snippet: str) -> "PromptHit":
        """Return a document as a hit; the reason are the matching words, or the meaning."""
        reason = "words: " + ", ".join(words[:MOST_WORDS]) if words else "by meaning"
        kind, role, at, ident = (get_field(document, name) for name in _FIELDS)
        hit = cls(kind, role, at, [ident], reason)
        hit.host, hit.source = get_field(document, "host"), get_field(document, "source")
        hit.snippet, hit.why = snippet, (reason,)
        return hit


def get_field(document: "Document", name: str) -> str:
    """Return a stored field as text, "" where it has none."""
    return str(document.get_first(name) or "")


def trim_prompt(prompt: str) -> str:
    """Return the part of a prompt that is searched for: of a long one the beginning and the end."""
    half = _LONGEST_PROMPT // 2
    return prompt if len(prompt) <= 2 * half else prompt[:half] + " " + prompt[-half:]
