"""The subject of a prompt, and the candidates by words and meaning that fit it. Hot path.

Most prompts are about the work ("ok, run the tests again"), and name nothing to look up: their
words tell that before anything is searched. For others, a hit must score above a floor (see
`_is_relevant`). A silent hook is better than a wrong reminder.
"""

import math

from memfs import files
from memfs.search import lexical, prompt_bm25, stopwords
from memfs.search.lexical import Query, WantedStems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Sized
    from typing import Protocol, TypeAlias

    from tantivy import Document

    from memfs.search.engine import Engine
    from memfs.search.hit_builder import HitBuilder
    from memfs.search.lexical import Term, TextIndex

    class Found(Protocol):
        """Parallel lists of candidates, and their positions in ranking order.

        `said` is equal for duplicates, `group` for the turns of a session; 0: none.
        """

        @property
        def order(self) -> Sequence[int]: ...
        @property
        def numbers(self) -> Sequence[int]: ...
        @property
        def cosine(self) -> Sequence[float]: ...
        @property
        def group(self) -> Sequence[int]: ...
        @property
        def said(self) -> Sequence[int]: ...

    Taken: TypeAlias = tuple[int, Document]  # its position, and it


# A hit's score is its cosine plus this much of its share of the weight of the prompt's words (idf;
# words that no document has count against it); fewer than two words may be chance.
SHARE = 0.75
_FEWER = 0.15
# In a larger store something is close to anything: the floor that keeps off-topic prompts silent
# rises with each tenfold of its size, from 10 documents to 100,000 (where it is least
# sure). All these are round numbers near what one half of the questions of LoCoMo, devmembench and
# precisionmembench chose, each asked in its own and in other stores, with prompts of real sessions.
_FLOOR = 0.42
_TENFOLD = 0.08
CLOSE = 0.35  # the least cosine that is shown as a reason
_FEWEST = 2  # content words that a prompt needs
_PAIR = 0.5  # a pair of CJK characters counts as half a word
_MOST_PAIRS = 24
_FIRST_UNSPACED = "\u0e01"  # of Thai: some scripts have no spaces between words
_READ = 8  # candidates that are read, at most
_RERANKED = 12  # on LoCoMo and devmembench 25 give the same hits
_ALIKE = 0.8  # share of common words of two texts that are repetitions

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


class PromptQuery:
    """The subject of a prompt: its content words, its CJK pairs, and their total idf.

    `terms` are all its words (see `TextIndex.parse_terms`). `hidden` are the ids of what is not to
    be recalled for it.
    """

    __slots__ = ("hidden", "pairs", "prompt", "terms", "wanted", "weight", "words")

    def __init__(
        self, prompt: str, terms: "list[Term]", words: "list[Term]", pairs: "list[Term]"
    ) -> None:
        self.prompt = prompt
        self.terms = terms
        self.words = words
        self.wanted = WantedStems(words)
        self.pairs = pairs
        self.hidden: frozenset[str] = frozenset()
        self.weight = sum(term.idf for term in [*words, *pairs])


def parse_prompt(text: "TextIndex", prompt: str, session: str) -> "PromptQuery | None":
    """Return the subject of a prompt; None if it has none, or there is nothing to recall.

    Words about the work itself are left out.
    """
    if _has_nothing_to_recall(text, session):
        return None
    prompt = prompt_bm25.trim_prompt(prompt)
    inner = _extract_pairs(prompt)
    pairs = [text.build_part_term(part) for part in list(inner)[:_MOST_PAIRS]]
    terms = text.parse_terms(prompt)
    words = [term for term in terms if term.stem not in _load_talk_stems()]
    words = [term for term in words if not _is_unspaced(term.word, inner)]
    return PromptQuery(prompt, terms, words, pairs) if _count(words, pairs) >= _FEWEST else None


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
    prompt = prompt_bm25.trim_prompt(prompt)
    pairs = _extract_pairs(prompt)
    stems = lexical.list_content_stems(prompt) - _load_talk_stems()
    words = [stem for stem in stems if not _is_unspaced(stem, pairs)]
    return [*words, *pairs] if _count(words, pairs) >= _FEWEST else []


def _extract_pairs(text: str) -> dict[str, None]:
    """Return the pairs of characters of a text in a script without spaces, in order."""
    if max(text, default="") < _FIRST_UNSPACED:
        return {}
    from memfs.search import identifiers

    return dict.fromkeys(part for part in identifiers.extract_parts(text) if not part.isascii())


def _is_unspaced(word: str, pairs: dict[str, None]) -> bool:
    """Tell whether a word has parts among `pairs`."""
    if not pairs:
        return False
    from memfs.search import identifiers

    return not pairs.keys().isdisjoint(identifiers.extract_parts(word))


def select_relevant(
    text: "TextIndex",
    query: PromptQuery,
    found: "Found",
    document: "Callable[[int], Document | None]",
    session: str,
    shown: "Sequence[str]",
    limit: int,
) -> "list[Taken]":
    """Return at most `limit` candidates that are relevant to a prompt, in ranking order.

    Turns of sessions (see `recall`) and ids in `shown` are left out, and repetitions of those, of
    better candidates, and of the prompt. `document` loads a candidate; None if it was deleted.
    """
    selection = _Chosen(text, query, found, document, session, shown)
    read = 0
    for place in found.order:
        if found.group[place] or found.cosine[place] + SHARE < selection.floor:
            continue  # no words can lift it above the floor
        if read == _READ or len(selection.taken) >= limit:
            break
        read += selection.add_if_relevant(place)
    return selection.taken


class _Chosen:
    """The selected candidates, collected in ranking order."""

    def __init__(
        self,
        text: "TextIndex",
        query: PromptQuery,
        found: "Found",
        document: "Callable[[int], Document | None]",
        session: str,
        shown: "Sequence[str]",
    ) -> None:
        self._text, self._query, self._found, self._document = text, query, found, document
        self._session, self._shown = session, set(shown)
        self._known: list[set[str]] = []  # stems of the texts that are known
        self._hashes: set[int] = set()
        self._missing: set[str] = set()
        self.floor = _FLOOR + _TENFOLD * math.log10(max(10, text.documents))
        self._prompt: set[str] = set()  # its stems, filled on first use
        self.taken: list[Taken] = []

    def add_if_relevant(self, place: int) -> bool:
        """Add a candidate if it is relevant; tell whether its document was read."""
        found = self._found
        if found.said[place] in self._hashes:
            return False
        document = self._document(place)
        if (
            document is None
            or prompt_bm25.get_field(document, "kind") == "block"
            or prompt_bm25.get_field(document, "role") == "tool"
        ):
            return False
        content = prompt_bm25.get_field(document, "text")
        own = bool(self._session) and prompt_bm25.get_field(document, "session") == self._session
        if own or prompt_bm25.get_field(document, "id") in self._shown:
            self._record_known(place, self._text.stems(content))
        elif self._is_relevant(found.cosine[place], content):
            stems = self._text.stems(content)
            source = prompt_bm25.get_field(document, "source")
            if not self._is_repetition(document, stems) and self._source_exists(source):
                self._record_known(place, stems)
                self.taken.append((place, document))
        return True

    def _is_relevant(self, cosine: float, content: str) -> bool:
        """Tell whether a text scores above the floor for the prompt."""
        query = self._query
        stems = self._text.match_stems(query.wanted, content)
        words = [term for term in query.words if term.stem in stems]
        pairs = _match_pairs(query, content) if query.pairs else []
        share = sum(term.idf for term in words + pairs) / query.weight
        fewer = _FEWER if _count(words, pairs) < _FEWEST else 0.0
        return cosine + SHARE * share - fewer > self.floor

    def _is_repetition(self, document: "Document", stems: set[str]) -> bool:
        """Tell whether a text repeats a known one, or a user's message repeats the prompt."""
        if prompt_bm25.get_field(document, "role") == "user":
            self._prompt = self._prompt or self._text.stems(self._query.prompt)
            if _are_alike(stems, self._prompt):
                return True
        return any(_are_alike(stems, known) for known in self._known)

    def _record_known(self, place: int, stems: set[str]) -> None:
        self._known.append(stems)
        if self._found.said[place]:
            self._hashes.add(self._found.said[place])

    def _source_exists(self, source: str) -> bool:
        """Tell whether a source file exists; the next search deletes a missing one's documents."""
        if source in self._missing or (source and not files.is_file(source)):
            self._missing.add(source)
            return False
        return True


def _has_nothing_to_recall(text: "TextIndex", session: str) -> bool:
    """Tell whether there is nothing to recall, as in a project's first session."""
    searcher = text.searcher
    never = searcher.doc_freq("kind", "block")
    never += (
        searcher.doc_freq("session", str(stopwords.replace_surrogates(session))) if session else 0
    )
    if never < searcher.num_docs:
        return False  # no search is needed
    return not text.search(prompt_bm25.build_query(text, Query.all_query(), session), 1)


def _load_talk_stems() -> set[str]:
    if not _STEMS:
        _STEMS.update(lexical.stems(TALK))
    return _STEMS


def _match_pairs(query: PromptQuery, content: str) -> "list[Term]":
    from memfs.search import identifiers

    parts = set(identifiers.extract_parts(content))
    return [term for term in query.pairs if term.stem in parts]


def _count(words: "Sized", pairs: "Sized") -> float:
    return len(words) + _PAIR * len(pairs)


def _are_alike(one: set[str], other: set[str]) -> bool:
    return len(one & other) >= _ALIKE * max(1, len(one | other))
