"""An index of some documents in memory, made for one question: it has no files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import tantivy
from numpy.typing import NDArray

from memfs.search import doc_json, semantic
from memfs.search.engine import Engine
from memfs.search.lexical import EXACT, TextIndex
from memfs.search.semantic import Document, VectorIndex
from memfs.search.stopwords import replace_surrogates
from memfs.search.vector_layout import LARGEST, Extent

if TYPE_CHECKING:
    from memfs.search.encoder import Encoder, TokenIds


class EncodedWindows(NamedTuple):
    """A text's windows: an int8 row for each, and the token ids of each."""

    rows: NDArray[np.int8]
    tokens: list[TokenIds]


def encode_windows(texts: Sequence[str], encoder: Encoder) -> list[EncodedWindows]:
    """Return the windows of each text by a model."""
    pieces = [semantic.split_windows(text) for text in texts]
    encoded = encoder.encode([piece for each in pieces for piece in each])
    rows = np.rint(encoded.vectors * LARGEST).astype(np.int8)
    found, begin = [], 0
    for each in pieces:
        end = begin + len(each)
        found.append(EncodedWindows(rows[begin:end], encoded.tokens[begin:end]))
        begin = end
    return found


def make_engine(
    documents: Sequence[dict[str, object]], windows: Sequence[EncodedWindows], encoder: Encoder
) -> Engine:
    """Return an engine of documents with text, turn by turn in order, and their windows."""
    text = TextIndex(tantivy.Index(doc_json.schema(EXACT)))
    found: list[Document] = []
    text.add_json(_prepare(documents, found))
    text.commit()
    return Engine(text, MemoryVectors(found, windows, encoder))


class MemoryVectors(VectorIndex):
    """The rows of documents in memory. Nothing can be added."""

    def __init__(
        self, documents: list[Document], windows: Sequence[EncodedWindows], encoder: Encoder
    ) -> None:
        self.encoder, self.graph = encoder, None
        self.extent = Extent(encoder.name, source=encoder.folder)
        self._latest, self._after = {}, {}
        counts = [len(each.tokens) for each in windows]
        numbers = [document.number for document in documents]
        self.owners = np.array(numbers, np.uint32).repeat(counts)
        end = max(numbers, default=0) + 1
        self.documents = self._build_records(end, self.owners.astype(np.uint32), documents)
        none = np.zeros((0, encoder.dims), np.int8)
        self.vectors = np.concatenate([none, *(each.rows for each in windows)])
        tokens = [row for each in windows for row in each.tokens]
        self.tokens = np.concatenate([np.zeros(0, encoder.ids), *tokens])
        self.ends = np.cumsum([len(row) for row in tokens], dtype=np.uint64)
        self.frequencies = np.bincount(self.tokens, minlength=encoder.size).astype(np.uint32)
        self.extent = Extent(
            encoder.name, len(self.owners), len(self.tokens), len(self.documents), encoder.folder
        )


def _prepare(documents: Sequence[dict[str, object]], found: list[Document]) -> Iterator[str]:
    """Yield documents as JSON, numbered from 1 on; add to `found` what vectors need of them."""
    for number, document in enumerate(documents, 1):
        clean = {name: replace_surrogates(value) for name, value in document.items()}
        prepared = doc_json.encode(clean)
        values = (int(str(clean[name])) for name in ("said", "at", "weight"))
        found.append(Document(number, int(str(clean["group"])), str(clean["text"]), *values))
        yield doc_json.add_number(prepared, number, '""')
