"""The subject of a prompt, its query and its ranking; most prompts have none. Hot path."""

from memfs.search import lexical, stopwords
from memfs.search.lexical import MOST_WORDS, Occur, Query, WantedStems, get_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sized

    from tantivy import Document

    from memfs.search.engine import Engine
    from memfs.search.hit_builder import HitBuilder
    from memfs.search.lexical import Term, TextIndex

FEWEST_WORDS = 2  # content words that a prompt needs, and that it and a text have in common
_FIELDS = ("kind", "role", "time", "id")
_LONGEST_PROMPT = 6000  # characters; of longer ones the beginning and the end count
_PAIR = 0.5  # a pair of CJK characters counts as half a word
_MOST_PAIRS = 24
_FIRST_UNSPACED = "\u0e01"  # of Thai: some scripts have no spaces between words
_RERANKED = 12  # on LoCoMo and devmembench 25 give the same hits

# Words about cooperation and time: they do not tell the subject of the work.
TALK = """
ok okay yes no yep nope yeah sure thanks thank great good nice cool perfect fine right wrong
correct bad hi hello hey morning evening sorry wow hmm lgtm job idea sense bit go going come get
got give take make made let put keep leave start started stop wait begin finish finished done
continue proceed next step ahead first last second third again still just also instead already yet
maybe really actually exactly back forth well much many lot little do did does say said see look
looks sound sounds want need like know think mean meant understand remember forget forgot try
tried work works working help show explain tell ask check review summarize describe mention run
running fix fixed change changed add added remove removed delete update use using create write
rewrite clean cleanup move rename revert undo redo apply implement refactor improve simplify split
merge commit push pull test tests build lint linter error errors fail fails failed failing bug
issue issues problem broken break code file files function variable line lines diff branch pr
request comment comments message plan task todo option approach way thing things stuff part
everything anything something nothing one two three other others another same different both all
every each new old better best shorter simpler faster missing ready possible easy time long today
yesterday tomorrow now week weeks month year day days ago recently later before soon monday
tuesday wednesday thursday friday saturday sunday january february march april june july august
september october november december
"""
_STEMS: set[str] = set()  # their stems, filled on first use


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


class PromptQuery:
    """The subject of a prompt: its content words, its CJK pairs, and their total idf.

    `terms` are all its words (see `TextIndex.parse_terms`). Its own `session` is not recalled for
    it, nor what it was `shown`, nor what is dismissed (`hidden`), by ids.
    """

    __slots__ = (
        *("hidden", "pairs", "prompt", "session"),
        *("shown", "terms", "wanted", "weight", "words"),
    )

    def __init__(
        self,
        prompt: str,
        session: str,
        terms: "list[Term]",
        words: "list[Term]",
        pairs: "list[Term]",
    ) -> None:
        self.prompt, self.session = prompt, session
        self.terms, self.words, self.pairs = terms, words, pairs
        self.wanted = WantedStems(words)
        self.weight = sum(term.idf for term in [*words, *pairs])
        self.shown: frozenset[str] = frozenset()
        self.hidden: frozenset[str] = frozenset()


def parse_prompt(text: "TextIndex", prompt: str, session: str) -> "PromptQuery | None":
    """Return the subject of a prompt; None if it has none, or there is nothing to recall."""
    if _has_nothing_to_recall(text, session):
        return None
    prompt = trim_prompt(prompt)
    inner = _extract_pairs(prompt)
    pairs = [text.build_part_term(part) for part in list(inner)[:_MOST_PAIRS]]
    terms = text.parse_terms(prompt)
    words = [term for term in terms if term.stem not in _load_talk_stems()]
    words = [term for term in words if not _is_unspaced(term.word, inner)]
    is_enough = _count(words, pairs) >= FEWEST_WORDS
    return PromptQuery(prompt, session, terms, words, pairs) if is_enough else None


def build_query(
    index: "TextIndex", prompt: PromptQuery, *, messages: bool = True
) -> "Query | None":
    """Return the query by words for messages (or without) and memory; None without words."""
    inner = [index.part_query(pair.word, 1.0) for pair in prompt.pairs]
    query = index.query(prompt.words, *inner)
    return query and exclude_running(index, query, prompt.session, messages=messages)


def exclude_running(
    index: "TextIndex", query: Query, session: str, *, messages: bool = True
) -> Query:
    """Return a query without blocks, tools and the running session."""
    out = [index.term_query("kind", "block"), index.term_query("role", "tool")]
    if not messages:
        out.append(index.term_query("kind", "message"))
    if session:
        out.append(index.term_query("session", session))
    return Query.boolean_query([(Occur.Must, query), *[(Occur.MustNot, each) for each in out]])


def look_up(engine: "Engine", prompt: str, session: str) -> "tuple[PromptQuery, HitBuilder] | None":
    """Return the subject of a prompt of a session, and the ranking for it, from an open index.

    None if there is nothing to recall.
    """
    query = parse_prompt(engine.text, prompt, session)
    builder = engine.rank(query.prompt, terms=query.terms, reranked=_RERANKED) if query else None
    return (query, builder) if query and builder else None


def list_content(prompt: str) -> list[str]:
    """Return the stems of a prompt's content words, and its CJK pairs, without an index.

    There are none for too few.
    """
    prompt = trim_prompt(prompt)
    pairs = _extract_pairs(prompt)
    stems = lexical.list_content_stems(prompt) - _load_talk_stems()
    words = [stem for stem in stems if not _is_unspaced(stem, pairs)]
    return [*words, *pairs] if _count(words, pairs) >= FEWEST_WORDS else []


def trim_prompt(prompt: str) -> str:
    """Return the part of a prompt that is searched for: of a long one the beginning and the end."""
    half = _LONGEST_PROMPT // 2
    return prompt if len(prompt) <= 2 * half else prompt[:half] + " " + prompt[-half:]


def _extract_pairs(text: str) -> dict[str, None]:
    if max(text, default="") < _FIRST_UNSPACED:
        return {}
    from memfs.search import identifiers

    return dict.fromkeys(part for part in identifiers.extract_parts(text) if not part.isascii())


def _is_unspaced(word: str, pairs: dict[str, None]) -> bool:
    if not pairs:
        return False
    from memfs.search import identifiers

    return not pairs.keys().isdisjoint(identifiers.extract_parts(word))


def _has_nothing_to_recall(text: "TextIndex", session: str) -> bool:
    searcher = text.searcher
    never = searcher.doc_freq("kind", "block")
    never += (
        searcher.doc_freq("session", str(stopwords.replace_surrogates(session))) if session else 0
    )
    if never < searcher.num_docs:
        return False  # no search is needed
    return not text.search(exclude_running(text, Query.all_query(), session), 1)


def _load_talk_stems() -> set[str]:
    if not _STEMS:
        _STEMS.update(lexical.stems(TALK))
    return _STEMS


def _count(words: "Sized", pairs: "Sized") -> float:
    return len(words) + _PAIR * len(pairs)
