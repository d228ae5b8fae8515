"""How far the vectors of the wanted embedding model go, and whose are searched meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs import files
from memfs.memory import models, reembed
from memfs.search import catalog, extents, serving
from memfs.search.lexical import TextIndex

if TYPE_CHECKING:
    from memfs.memory.models import Wanted
    from memfs.store.blocks import Place


@dataclass(frozen=True)
class Coverage:
    """An embedding model and what it has been through.

    `said` is what names it ("": the default), `source` its folder, `share` how much of the
    documents have its vectors (0 to 1), `bytes` what all vectors take. `former` is the folder of
    the model that is searched until then, `running`: somebody makes the new ones. `problem` and
    `hint` say why it cannot be used, `failure` why the background ended before its time.
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
    running: bool
    problem: str
    hint: str
    failure: str

    @property
    def off(self) -> bool:
        """Tell whether there is to be no model."""
        return self.model == "none"

    @property
    def missing(self) -> int:
        """Return about how many documents have no vectors of the model yet."""
        return 0 if self.off else round(self.documents * (1 - self.share))

    def line(self) -> str:
        """Return it in a line: `41 % of 120,000 with bundled`."""
        if self.off:
            return "none: search goes by words"
        # never rounded up: 100 % are all of them
        text = f"{int(self.share * 100)} % of {self.documents:,} with {self.model}"
        return f"{text} ({self.problem})" if self.problem else text


def look(place: Place) -> Coverage:
    """Look at a place; nothing is written."""
    wanted, index = models.wanted(place), place.home.index
    model = wanted.files
    now = extents.served(index)
    former = now.source if now and model and now.model != model.name else ""
    return Coverage(
        model=wanted.model.name,
        said=wanted.model.said,
        source=model.folder if model else "",
        dimensions=model.dims if model else 0,
        vocabulary=model.size if model else 0,
        documents=_documents(index),
        share=_share(index, wanted),
        bytes=serving.size(index),
        former=former,
        running=files.is_file(f"{place.home.local}/{reembed.LOCK}") and reembed.running(place.home),
        problem=wanted.problem.message if wanted.problem else "",
        hint=wanted.problem.hint if wanted.problem else "",
        failure=reembed.failure(place.home),
    )


def _documents(index: str) -> int:
    text = TextIndex.open(index)
    return text.searcher.num_docs if text else 0


def _share(index: str, wanted: Wanted) -> float:
    if wanted.files is None:
        return 0.0
    last = catalog.published(index) - 1
    done = max(0, extents.extent(index, wanted.files.name).documents - 1)
    return min(1.0, done / last) if last else 1.0
