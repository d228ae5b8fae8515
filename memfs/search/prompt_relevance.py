"""What a prompt is about, and which of the candidates by words and meaning it brings up. Hot path.

Most prompts talk about the work ("ok, run the tests again") and are about nothing that could be
looked up: they are known by their words, before anything is searched. Of others, a hit has to clear
a floor (see `_clears`). A silent hook is better than a wrong reminder.
"""

import math

from memfs import files
from memfs.search import lexical, prompt_bm25, stopwords
from memfs.search.lexical import Query, WantedStems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol, TypeAlias

    from tantivy import Document

    from memfs.search.lexical import Term, TextIndex

    class Found(Protocol):
        """Candidates, side by side, and their places in the order in which they are looked at.

        `said` is equal for those that say the same, `group` for the turns of a session; 0: none.
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

    Taken: TypeAlias = tuple[int, Document]  # its place too


# A hit scores its cosine, and this much of the share that it holds of what the prompt's words weigh
# (idf; a word that nobody ever wrote speaks against it); fewer than two words may be chance.
SHARE = 0.75
_FEWER = 0.15
# In a larger store something is close to anything: what keeps prompts about other things silent
# rises with the tenfold of its size, from 10 documents to 100,000 (where it is least
# sure). All these are round numbers near what one half of the questions of LoCoMo, devmembench and
# precisionmembench chose, each asked in its own and in other stores, with prompts of real sessions.
_FLOOR = 0.42
_TENFOLD = 0.08
CLOSE = 0.35  # a cosine worth naming as a reason
_FEWEST = 2  # words of a prompt that say what it is about
_PAIR = 0.5  # of a word is what two CJK characters are
_MOST_PAIRS = 24
_FIRST_CJK = "\u3040"
_READ = 8  # candidates that are read, at most
_ALIKE = 0.8  # of all their words have two texts in common that say the same

# Words for working together, and for time: they do not say what is worked on.
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
_STEMS: set[str] = set()  # of these, once they were needed


class PromptQuery:
    """What a prompt is about: its words, the CJK pairs in it, and the idf of all together.

    `terms` are all that it says (see `TextIndex.terms`).
    """

    __slots__ = ("pairs", "prompt", "terms", "wanted", "weight", "words")

    def __init__(
        self, prompt: str, terms: "list[Term]", words: "list[Term]", pairs: "list[Term]"
    ) -> None:
        self.prompt = prompt
        self.terms = terms
        self.words = words
        self.wanted = WantedStems(words)
        self.pairs = pairs
        self.weight = sum(term.idf for term in [*words, *pairs])


def parse_prompt(text: "TextIndex", prompt: str, session: str) -> "PromptQuery | None":
    """Return what a prompt is about; None if that is nothing, or there is nothing to bring up.

    What it says of the work itself is left out.
    """
    if _alone(text, session):
        return None
    prompt = prompt_bm25.trim_prompt(prompt)
    inner: dict[str, None] = {}
    if max(prompt, default="") >= _FIRST_CJK:
        from memfs.search import identifiers

        inner = dict.fromkeys(part for part in identifiers.parts(prompt) if not part.isascii())
    pairs = [text.inner(part) for part in list(inner)[:_MOST_PAIRS]]
    terms = text.terms(prompt)
    words = [term for term in terms if term.stem not in _talk()]
    if inner:
        words = [term for term in words if not inner.keys() & identifiers.parts(term.word)]
    return PromptQuery(prompt, terms, words, pairs) if _count(words, pairs) >= _FEWEST else None


def select_relevant(
    text: "TextIndex",
    asked: PromptQuery,
    found: "Found",
    document: "Callable[[int], Document | None]",
    session: str,
    shown: "Sequence[str]",
    limit: int,
) -> "list[Taken]":
    """Return at most `limit` candidates that a prompt is about, in their order.

    Turns of sessions are left out (see `recall`), those in `shown`, and what says the same as one
    of them, as a better one, or as the prompt. `document` reads a candidate: None for one that is
    gone.
    """
    taken = _Chosen(text, asked, found, document, session, shown)
    read = 0
    for place in found.order:
        if found.group[place] or found.cosine[place] + SHARE < taken.floor:
            continue  # whatever words it holds
        if read == _READ or len(taken.taken) >= limit:
            break
        read += taken.look(place)
    return taken.taken


class _Chosen:
    """The candidates that are brought up, looked at in their order."""

    def __init__(
        self,
        text: "TextIndex",
        asked: PromptQuery,
        found: "Found",
        document: "Callable[[int], Document | None]",
        session: str,
        shown: "Sequence[str]",
    ) -> None:
        self._text, self._asked, self._found, self._document = text, asked, found, document
        self._session, self._shown = session, set(shown)
        self._known: list[set[str]] = []  # stems of what is there already
        self._said: set[int] = set()
        self._gone: set[str] = set()
        self.floor = _FLOOR + _TENFOLD * math.log10(max(10, text.searcher.num_docs))
        self._prompt: set[str] = set()  # its stems, once they were needed
        self.taken: list[Taken] = []

    def look(self, place: int) -> bool:
        """Take a candidate if it is to be brought up; tell whether it had to be read."""
        found = self._found
        if found.said[place] in self._said:
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
            self._know(place, self._text.stems(content))
        elif self._clears(found.cosine[place], content):
            stems = self._text.stems(content)
            source = prompt_bm25.get_field(document, "source")
            if not self._repeats(document, stems) and self._there(source):
                self._know(place, stems)
                self.taken.append((place, document))
        return True

    def _clears(self, cosine: float, content: str) -> bool:
        """Tell whether a text is about what the prompt is about."""
        asked = self._asked
        stems = self._text.held(asked.wanted, content)
        words = [term for term in asked.words if term.stem in stems]
        pairs = _pairs(asked, content) if asked.pairs else []
        share = sum(term.idf for term in words + pairs) / asked.weight
        fewer = _FEWER if _count(words, pairs) < _FEWEST else 0.0
        return cosine + SHARE * share - fewer > self.floor

    def _repeats(self, document: "Document", stems: set[str]) -> bool:
        """Tell whether a text says what is known: a person also what the prompt says."""
        if prompt_bm25.get_field(document, "role") == "user":
            self._prompt = self._prompt or self._text.stems(self._asked.prompt)
            if _alike(stems, self._prompt):
                return True
        return any(_alike(stems, known) for known in self._known)

    def _know(self, place: int, stems: set[str]) -> None:
        self._known.append(stems)
        if self._found.said[place]:
            self._said.add(self._found.said[place])

    def _there(self, source: str) -> bool:
        """Tell whether a source is still there; the index is told of that by the next search."""
        if source in self._gone or (source and not files.is_file(source)):
            self._gone.add(source)
            return False
        return True


def _alone(text: "TextIndex", session: str) -> bool:
    """Tell whether there is nothing that could be brought up, as in a project's first session."""
    searcher = text.searcher
    never = searcher.doc_freq("kind", "block")
    never += (
        searcher.doc_freq("session", str(stopwords.replace_surrogates(session))) if session else 0
    )
    if never < searcher.num_docs:
        return False  # which takes no search to tell
    return not text.search(prompt_bm25.build_query(text, Query.all_query(), session), 1)


def _talk() -> set[str]:
    if not _STEMS:
        _STEMS.update(lexical.stems(TALK))
    return _STEMS


def _pairs(asked: PromptQuery, content: str) -> "list[Term]":
    from memfs.search import identifiers

    parts = set(identifiers.parts(content))
    return [term for term in asked.pairs if term.stem in parts]


def _count(words: "list[Term]", pairs: "list[Term]") -> float:
    return len(words) + _PAIR * len(pairs)


def _alike(one: set[str], other: set[str]) -> bool:
    return len(one & other) >= _ALIKE * max(1, len(one | other))
