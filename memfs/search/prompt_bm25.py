"""Hits for a prompt, and the query for them by words. Hot path."""

from memfs.core.snippet import snippet
from memfs.search.lexical import Occur, Query, TextIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tantivy import Document

    from memfs.search.prompt_relevance import PromptQuery

FEWEST_WORDS = 2  # in common with a prompt: one is chance
_SNIPPET = 300  # characters
MOST_WORDS = 6  # in a reason
_LONGEST_PROMPT = 6000  # characters; of longer ones the beginning and the end count


def build_query(
    index: TextIndex, prompt: "PromptQuery", session: str, *, messages: bool = True
) -> Query | None:
    """Return the query by words for messages (or without them) and memory; None without words.

    The running session, blocks, and the inputs and outputs of tools are excluded.
    """
    inner = [index.part_query(pair.word, 1.0) for pair in prompt.pairs]
    query = index.query(prompt.words, *inner)
    return exclude_running(index, query, session, messages=messages) if query else None


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
    """A hit as the brief shows it: the fields of `records.Hit` that rendering reads."""

    __slots__ = ("at", "host", "id", "kind", "role", "snippet", "text", "why")

    session = ""  # what is dismissed of it is not of a session

    def __init__(self, document: "Document") -> None:
        self.id = get_field(document, "id")
        self.kind = get_field(document, "kind")
        self.text = get_field(document, "text")
        self.at = get_field(document, "time")
        self.host = get_field(document, "host")
        self.role = get_field(document, "role")
        self.snippet = ""
        self.why: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that a session has seen once it is shown this hit."""
        return (self.id,)

    def set_reasons(self, words: list[str]) -> None:
        """Set the snippet and the reason: the matching words, or the meaning."""
        self.snippet = snippet(self.text, words, _SNIPPET)
        self.why = ("words: " + ", ".join(words[:MOST_WORDS]) if words else "by meaning",)


def get_field(document: "Document", name: str) -> str:
    """Return a stored field as text, "" where it has none."""
    return str(document.get_first(name) or "")


def trim_prompt(prompt: str) -> str:
    """Return the part of a prompt that is searched for: of a long one the beginning and the end."""
    half = _LONGEST_PROMPT // 2
    return prompt if len(prompt) <= 2 * half else prompt[:half] + " " + prompt[-half:]
