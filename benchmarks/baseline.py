"""The bare engines, without memfs: the baselines that its search is compared with."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import tantivy
from numpy.typing import NDArray
from usearch.index import search as scanned

from memfs.search import encoder, semantic, stopwords


@dataclass(frozen=True)
class NamedText:
    """A text to search, and its name."""

    name: str
    text: str


def by_words(texts: list[NamedText], most: int) -> Callable[[str], list[str]]:
    """Return a search by tantivy: BM25 of stems, without English stop words, any of the words.

    It returns the names of at most `most` texts, the best first.
    """
    analyzer = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(40))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.stopword("english"))
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )
    fields = tantivy.SchemaBuilder().add_text_field("text", tokenizer_name="plain")
    schema = fields.add_unsigned_field("place", stored=True).build()
    index = tantivy.Index(schema)
    index.register_tokenizer("plain", analyzer)
    writer = index.writer(num_threads=1)
    for place, each in enumerate(texts):
        writer.add_document(
            tantivy.Document(text=stopwords.replace_surrogates(each.text), place=place)
        )
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(query: str) -> list[str]:
        stems = dict.fromkeys(analyzer.analyze(str(stopwords.replace_surrogates(query))))
        either = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", stem)) for stem in stems
        ]
        if not either:
            return []
        found = searcher.search(tantivy.Query.boolean_query(either), most).hits
        return [texts[int(searcher.doc(at).get_first("place") or 0)].name for _, at in found]

    return search


def by_vectors(texts: list[NamedText], most: int) -> Callable[[str], list[str]]:
    """Return a search by usearch: the cosine of the bundled model's vectors, exact.

    The best window of a long text counts. It returns what `by_words` does.
    """
    model = encoder.load_bundled()
    windows = []
    for place, each in enumerate(texts):
        windows += [(place, part) for part in semantic.split_windows(each.text)]
    rows = model.encode([part for _, part in windows]).vectors.astype(np.float32)

    def search(query: str) -> list[str]:
        vector: NDArray[np.float32] = model.encode([query]).vectors[0].astype(np.float32)
        if not vector.any():  # a zero vector: all would be equally far
            return []
        near = scanned(rows, vector, len(rows), metric="cos", exact=True, threads=1)
        places = dict.fromkeys(windows[key][0] for key in near.keys.tolist())
        return [texts[place].name for place in list(places)[:most]]

    return search
