"""Recall for a prompt by its words alone: hits that score above a floor. Hot path."""

import math

from memfs import files
from memfs.core.snippet import snippet
from memfs.search.lexical import Occur, Query, TextIndex, WantedStems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tantivy import Document

# A hit must contain two of the prompt's words (one in common is chance), score at least this share
# of their total weight (idf), and an absolute minimum: "fix the tests" must not recall every time
# that tests were fixed. The minimum grows with the store, as weights do: about two words that
# one document in a hundred has. A silent hook is better than a wrong reminder.
FLOOR = 0.5
ENOUGH = 1.9
FEWEST_WORDS = 2
_TERMS = 12
_POOL = 24
_SNIPPET = 300  # characters
MOST_WORDS = 6  # in a reason
_LONGEST_PROMPT = 6000  # characters; of longer ones the beginning and the end count


def by_words(
    index: TextIndex, prompt: str, session: str, shown: "Sequence[str]", limit: int
) -> "list[PromptHit]":
    """Return at most `limit` passages, facts and entries for a prompt, without those in `shown`."""
    if limit < 1:
        return []
    terms = index.parse_terms(trim_prompt(prompt), _TERMS)
    query = index.query(terms)
    if query is None or len(terms) < FEWEST_WORDS:
        return []
    query = build_query(index, query, session, messages=False)
    # A word that no document has only counts against a hit, with half of its weight.
    weight = sum(term.idf if term.frequency else term.idf / 2 for term in terms)
    floor = max(FLOOR * weight, ENOUGH * math.log(1 + index.documents / 10))
    wanted = WantedStems(terms)
    found: list[PromptHit] = []
    seen = set(shown)
    texts: set[str] = set()
    for score, address in index.search(query, _POOL):
        if score < floor:
            break
        document = index.load_document(address)
        hit = PromptHit(document)
        if hit.id in seen or hit.text in texts:
            continue
        source = get_field(document, "source")
        if source and not files.is_file(source):
            continue  # removed; the next search deletes it from the index
        stems = index.match_stems(wanted, hit.text)
        words = [term.word for term in terms if term.stem in stems]
        if len(words) < FEWEST_WORDS:
            continue
        hit.set_reasons(words)
        texts.add(hit.text)
        found.append(hit)
        if len(found) == limit:
            break
    return found


def build_query(index: TextIndex, query: Query, session: str, *, messages: bool = True) -> Query:
    """Return a query for messages and memory, without the running session.

    Blocks, and the inputs and outputs of tools, are excluded.
    """
    out = [index.term_query("kind", "block"), index.term_query("role", "tool")]
    if not messages:
        out.append(index.term_query("kind", "message"))
    if session:
        out.append(index.term_query("session", session))
    return Query.boolean_query([(Occur.Must, query), *[(Occur.MustNot, each) for each in out]])


class PromptHit:
    """A hit as the brief shows it: the fields of `hits.Hit` that rendering reads."""

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

    def set_reasons(self, words: list[str], *more: str) -> None:
        """Set the snippet and the reasons: the matching words, and `more`."""
        self.snippet = snippet(self.text, words, _SNIPPET)
        self.why = ("words: " + ", ".join(words[:MOST_WORDS]), *more) if words else more


def get_field(document: "Document", name: str) -> str:
    """Return a stored field as text, "" where it has none."""
    return str(document.get_first(name) or "")


def trim_prompt(prompt: str) -> str:
    """Return the part of a prompt that is searched for: of a long one the beginning and the end."""
    half = _LONGEST_PROMPT // 2
    return prompt if len(prompt) <= 2 * half else prompt[:half] + " " + prompt[-half:]
