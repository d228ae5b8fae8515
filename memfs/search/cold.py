"""What a prompt brings to mind, by words and meaning, in a process that has just started. Hot path.

Nothing is loaded that takes long: neither numpy (45 ms) nor tokenizers, nor the graph. All rows are
looked at, which takes as long as a graph takes to open. What is known of a candidate is how well
its words fit and its cosine; there is no late interaction.
"""

import sys

from memfs.search import extents, plain, relevance, reminder
from memfs.search.lexical import TextIndex
from memfs.search.rows import COLUMNS, DOCUMENTS, FIRST, GROUP, OWNERS, SAID, VECTORS, WEIGHT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from tantivy import DocAddress, Document

    from memfs.search.extents import Extent
    from memfs.search.plain import PlainModel
    from memfs.search.relevance import Asked
    from memfs.search.reminder import Recalled

MOST_ROWS = 500_000  # more take longer than a prompt may wait
_POOL = 48  # candidates of each side
_ROWS = 64  # the nearest: a long text has several
_CHUNK = 1 << 16  # rows whose distances are looked at together
_SAMPLED = 16  # one of so many distances tells what is near
_SURE = 4  # times as many as are wanted are looked for so


def look(
    folder: str, prompt: str, session: str
) -> "tuple[TextIndex, Asked | None, Candidates | None] | None":
    """Return the index, what a prompt is about, and what is near to it (None: nothing).

    None where there are no vectors that could be searched.
    """
    text = TextIndex.open(folder)
    extent = None if text is None else extents.served(folder)
    if text is None or extent is None:
        return None
    asked = relevance.asked(text, prompt, session)
    if asked is None:
        return text, None, None
    rows = Rows.open(folder, extent)
    return None if rows is None else (text, asked, Candidates(text, rows, asked, session))


class Rows:
    """The rows of the model that is searched, and what is kept of the documents they are of."""

    __slots__ = ("_documents", "_extent", "_kong", "_owners", "_vectors", "model")

    def __init__(self, folder: str, extent: "Extent", model: "PlainModel") -> None:
        """Map the files in `folder`; raises `OSError` or `ValueError` if they are not whole."""
        self.model, self._extent = model, extent
        self._kong = _numkong()
        size = extent.rows * model.dims
        shape = [extent.rows, model.dims]
        vectors = memoryview(plain.mapped(f"{folder}/{VECTORS}", size))
        self._vectors = vectors.cast("b", shape)
        self._owners = memoryview(plain.mapped(f"{folder}/{OWNERS}", 4 * extent.rows)).cast("I")
        size = 4 * COLUMNS * extent.documents
        self._documents = memoryview(plain.mapped(f"{folder}/{DOCUMENTS}", size)).cast("I")

    @classmethod
    def open(cls, index: str, extent: "Extent") -> "Rows | None":
        """Open the vectors of an index; None if there are none, or too many to look at all."""
        if not 0 < extent.rows <= MOST_ROWS:
            return None
        folder = extents.path(index, extent.model)
        model = plain.opened(folder)
        try:
            return None if model is None else cls(folder, extent, model)
        except (OSError, ValueError, ImportError):
            return None

    def distances(self, vector: bytes) -> "memoryview[float]":
        """Return the distance (1 - cosine) of each row to a vector."""
        query = memoryview(vector).cast("b", [1, self.model.dims])
        found = memoryview(self._kong.cdist(query, self._vectors, "angular"))
        return found.cast("B").cast("d")

    def nearest(self, far: "memoryview[float]") -> list[int]:
        """Return the numbers of the documents nearest by the distances of the rows, best first."""
        near = [self._owners[row] for row in smallest(far, _ROWS)]
        return [number for number in dict.fromkeys(near) if self.kept(number, WEIGHT)][:_POOL]

    def cosine(self, number: int, far: "memoryview[float]") -> float:
        """Return the cosine of the nearest row of a document, 0 for one without rows."""
        first, end = self.kept(number, FIRST), self.kept(number + 1, FIRST)
        return 1.0 - min(far[first:end], default=1.0)

    def kept(self, number: int, column: int) -> int:
        """Return what is kept of a document; of one that is new, nothing."""
        if number < self._extent.documents:
            return self._documents[number * COLUMNS + column]
        return self._extent.rows if column == FIRST else 0


class Candidates:
    """What may be what a prompt is about, the surest first (see `relevance.Found`)."""

    __slots__ = (
        "_addresses", "_asked", "_far", "_rows", "_text", "cosine", "group", "numbers", "order",
        "said",
    )  # fmt: skip

    def __init__(self, text: TextIndex, rows: Rows, asked: "Asked", session: str) -> None:
        self._text, self._asked = text, asked
        scores, self._addresses = self._by_words(session)
        vector = rows.model.vector(asked.prompt)
        far = rows.distances(vector) if vector else None
        self._rows, self._far = rows, far
        near = rows.nearest(far) if far else []
        self.numbers = list(dict.fromkeys([*scores, *near]))
        self.cosine = [rows.cosine(number, far) if far else 0.0 for number in self.numbers]
        self.group = [rows.kept(number, GROUP) for number in self.numbers]
        self.said = [rows.kept(number, SAID) for number in self.numbers]
        # No text holds more of the words than all, whatever it scores for having them often.
        sure = [
            cosine + relevance.SHARE * min(1.0, scores.get(number, 0.0) / asked.weight)
            for number, cosine in zip(self.numbers, self.cosine, strict=True)
        ]
        self.order = sorted(range(len(sure)), key=lambda place: -sure[place])

    def near(self, numbers: list[int]) -> list[float]:
        """Return the cosines of documents by their numbers."""
        far = self._far
        return [self._rows.cosine(number, far) if far else 0.0 for number in numbers]

    def document(self, place: int) -> "Document | None":
        """Return the document of a candidate, None if it is gone."""
        number = self.numbers[place]
        if number not in self._addresses:
            self._addresses |= self._text.located([number])
        address = self._addresses.get(number)
        return None if address is None else self._text.opened(address)

    def hit(self, place: int, document: "Document") -> "Recalled":
        """Return the hit of a candidate that was read."""
        found = reminder.Recalled(document)
        stems = self._text.held(self._asked.wanted, found.text)
        words = [term.word for term in self._asked.words if term.stem in stems]
        cosine = self.cosine[place]
        near = cosine >= relevance.CLOSE or (not words and cosine > 0)
        more = [f"meaning {cosine:.2f}"] if near else [] if words else ["parts of words"]
        found.told(words, *more)
        return found

    def _by_words(self, session: str) -> "tuple[dict[int, float], dict[int, DocAddress]]":
        """Return the scores and addresses of documents by number, the best by words first.

        Those of the running session are left to meaning, and so is what tools put out: they would
        leave no room for others.
        """
        text = self._text
        inner = [text.part(pair.word, 1.0) for pair in self._asked.pairs]
        query = text.query(self._asked.words, *inner)
        found = [] if query is None else text.search(reminder.said(text, query, session), _POOL)
        numbers = text.numbers([address for _, address in found])
        scores = {number: score for number, (score, _) in zip(numbers, found, strict=True)}
        return scores, {n: address for n, (_, address) in zip(numbers, found, strict=True)}


def smallest(values: "memoryview[float]", count: int) -> list[int]:
    """Return the places of the `count` smallest values, in order; of equals the earlier."""
    best: list[tuple[float, int]] = []
    for start in range(0, len(values), _CHUNK):
        chunk = values[start : start + _CHUNK]
        if len(best) < count:  # some of them tell what is small
            some = sorted(chunk[::_SAMPLED])
            most = some[min(len(some) - 1, _SURE * count // _SAMPLED)]
        else:
            most = best[-1][0]
        found = [(value, start + at) for at, value in enumerate(chunk) if value <= most]
        if sum(value <= most for value, _ in best) + len(found) < count:
            found = [(value, start + at) for at, value in enumerate(chunk)]
        best = sorted(best + found)[:count]
    return [at for _, at in best]


def _numkong() -> "ModuleType":
    """Return numkong without numpy, which it loads if it is there: it needs it for nothing here.

    Only in a process without threads: another one could want numpy just then.
    """
    alone = "numpy" not in sys.modules and "threading" not in sys.modules
    if alone:
        sys.modules["numpy"] = None  # type: ignore[assignment]  # as if it were not installed
    try:
        import numkong
    finally:
        if alone:
            del sys.modules["numpy"]
    return numkong
