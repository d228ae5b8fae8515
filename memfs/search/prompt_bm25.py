"""What a prompt brings to mind by its words alone: hits that clear a floor. Hot path."""

import math

from memfs import files
from memfs.core.snippet import snippet
from memfs.search.lexical import Occur, Query, TextIndex, WantedStems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tantivy import Document

# A hit must hold two of the prompt's words (one in common is chance), score at least this share
# of what they all weigh (idf), and enough by itself: "fix the tests" must not recall every time
# that tests were fixed. What is enough grows with the store, as weights do: about two words that
# one document in a hundred has. A silent hook is better than a wrong reminder.
FLOOR = 0.5
ENOUGH = 1.9
FEWEST_WORDS = 2
_TERMS = 12
_POOL = 24
_SNIPPET = 300  # characters
MOST_WORDS = 6  # that are named
_LONGEST_PROMPT = 6000  # characters; of longer ones the beginning and the end count


def by_words(
    index: TextIndex, prompt: str, session: str, shown: "Sequence[str]", limit: int
) -> "list[PromptHit]":
    """Return at most `limit` passages, facts and entries for a prompt, best first.

    Those in `shown` are left out.
    """
    if limit < 1:
        return []
    terms = index.terms(trim_prompt(prompt), _TERMS)
    query = index.query(terms)
    if query is None or len(terms) < FEWEST_WORDS:
        return []
    query = build_query(index, query, session, messages=False)
    # A word that no document has can only speak against a hit; half of its weight does.
    weight = sum(term.idf if term.frequency else term.idf / 2 for term in terms)
    floor = max(FLOOR * weight, ENOUGH * math.log(1 + index.searcher.num_docs / 10))
    wanted = WantedStems(terms)
    found: list[PromptHit] = []
    seen = set(shown)
    texts: set[str] = set()
    for score, address in index.search(query, _POOL):
        if score < floor:
            break
        document = index.opened(address)
        hit = PromptHit(document)
        if hit.id in seen or hit.text in texts:
            continue
        source = get_field(document, "source")
        if source and not files.is_file(source):
            continue  # somebody removed it; the index is told of that by the next search
        stems = index.held(wanted, hit.text)
        words = [term.word for term in terms if term.stem in stems]
        if len(words) < FEWEST_WORDS:
            continue
        hit.told(words)
        texts.add(hit.text)
        found.append(hit)
        if len(found) == limit:
            break
    return found


def build_query(index: TextIndex, query: Query, session: str, *, messages: bool = True) -> Query:
    """Return a query for what was said and kept, but in the running session.

    There are no blocks in it, nor what tools were given and put out.
    """
    out = [index.term("kind", "block"), index.term("role", "tool")]
    if not messages:
        out.append(index.term("kind", "message"))
    if session:
        out.append(index.term("session", session))
    return Query.boolean_query([(Occur.Must, query), *[(Occur.MustNot, each) for each in out]])


class PromptHit:
    """A hit as the brief shows it: the fields of `records.Hit` that rendering reads."""

    __slots__ = ("at", "host", "id", "kind", "role", "snippet", "text", "why")

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
        """What a session was shown with it."""
        return (self.id,)

    def told(self, words: list[str], *more: str) -> None:
        """Say why it came: the words of the prompt that are in it, and what else there is."""
        self.snippet = snippet(self.text, words, _SNIPPET)
        self.why = ("words: " + ", ".join(words[:MOST_WORDS]), *more) if words else more


def get_field(document: "Document", name: str) -> str:
    """Return a stored field as text, "" where it has none."""
    return str(document.get_first(name) or "")


def trim_prompt(prompt: str) -> str:
    """Return what counts of a prompt: of a long one the beginning and the end."""
    half = _LONGEST_PROMPT // 2
    return prompt if len(prompt) <= 2 * half else prompt[:half] + " " + prompt[-half:]
