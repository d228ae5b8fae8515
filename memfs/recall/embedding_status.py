"""How many documents have vectors of the configured model, and which vectors are searched."""

from __future__ import annotations

from dataclasses import dataclass

from memfs.recall import model_config
from memfs.recall.model_config import WantedModel
from memfs.search import active_model, catalog, vector_manifest
from memfs.search.lexical import TextIndex
from memfs.store.blocks import Place


@dataclass(frozen=True)
class Coverage:
    """The state of an embedding model.

    `said` is the setting that names it ("": the default), `source` its folder, `share` the share of
    documents with its vectors (0 to 1), `bytes` the size of all vectors. `former` is the folder of
    the model that is searched until then. `problem` and `hint` say why it cannot be used.
    """

    model: str
    said: str
    source: str
    dimensions: int
    vocabulary: int
    documents: int
    share: float
    bytes: int
    former: str
    problem: str
    hint: str

    @property
    def off(self) -> bool:
        """Tell whether embeddings are turned off."""
        return self.model == "none"

    @property
    def missing(self) -> int:
        """Return about how many documents have no vectors of the model yet."""
        return 0 if self.off else round(self.documents * (1 - self.share))

    def format_line(self) -> str:
        """Return the state in a line: `41 % of 120,000 with bundled`."""
        if self.off:
            return "none: search goes by words"
        # never rounded up: 100 % means all documents
        text = f"{int(self.share * 100)} % of {self.documents:,} with {self.model}"
        return f"{text} ({self.problem})" if self.problem else text


def load_status(place: Place) -> Coverage:
    """Return the state of a place's embedding model. Writes nothing."""
    wanted, index = model_config.load_wanted_model(place), place.home.index
    model = wanted.files
    now = vector_manifest.load_active_extent(index)
    former = now.source if now and model and now.model != model.name else ""
    return Coverage(
        model=wanted.model.name,
        said=wanted.model.said,
        source=model.folder if model else "",
        dimensions=model.dims if model else 0,
        vocabulary=model.size if model else 0,
        documents=_count_documents(index),
        share=_compute_share(index, wanted),
        bytes=active_model.measure_size(index),
        former=former,
        problem=wanted.problem.message if wanted.problem else "",
        hint=wanted.problem.hint if wanted.problem else "",
    )


def _count_documents(index: str) -> int:
    text = TextIndex.open(index)
    return text.searcher.num_docs if text else 0


def _compute_share(index: str, wanted: WantedModel) -> float:
    if wanted.files is None:
        return 0.0
    last = catalog.count_documents(index) - 1
    done = max(0, vector_manifest.load_extent(index, wanted.files.name).documents - 1)
    return min(1.0, done / last) if last else 1.0
