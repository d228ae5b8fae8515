"""The configured embedding model of a place, the one that is searched, and the state of both."""

import os
from typing import NamedTuple

from memfs.core import settings
from memfs.core.errors import MemfsError, StoreError
from memfs.files import outside, signatures
from memfs.search import active_model, model_files, segments, vector_layout
from memfs.search.model_files import ModelFiles
from memfs.store import config, store_paths
from memfs.store.blocks import Place
from memfs.store.config import ModelSetting

FEW = 2000  # documents that a search gives a new model's vectors: one second


class WantedModel(NamedTuple):
    """The configured model. `files` is None if it is off, or if there is a `problem`."""

    model: ModelSetting
    files: ModelFiles | None
    problem: MemfsError | None = None

    @property
    def off(self) -> bool:
        return self.model.kind == settings.NONE


def load_wanted_model(place: Place) -> WantedModel:
    """Return the configured model, with its files checked."""
    return check_files(config.model(place))


def check_files(model: ModelSetting) -> WantedModel:
    """Return a model with its files, or with the problem of its files."""
    if model.kind == settings.NONE:
        return WantedModel(model, None)
    try:
        return WantedModel(model, model_files.read(folder(model)))
    except MemfsError as error:
        return WantedModel(model, None, error)


def folder(model: ModelSetting) -> str:
    """Return the folder of a model's files; raises `MemfsError` if it is unknown."""
    if model.kind == settings.HUB:
        return model_files.find_model(model.name)
    if model.kind == settings.BUNDLED:
        return model_files.BUNDLED
    if not os.path.isdir(model.folder):
        raise StoreError(
            f"the folder {model.folder} does not exist (setting embedding: {model.name})",
            f"correct the setting in {model.said}"
            if model.said
            else "write a folder as ./x, ~/x or /x",
        )
    return model.folder


def list_signatures(place: Place, previous: WantedModel | None) -> object:
    """Return signatures that change with the configured model or its files."""
    stores = [store for store in (place.project, place.user) if store]
    found = [signatures.sign_file(f"{store.root}/{store_paths.CONFIG}") for store in stores]
    if previous and previous.files:
        seen = [outside.status(f"{previous.files.folder}/{name}") for name in model_files.FILES]
        found += [each and signatures.Signature(each) for each in seen]
    return os.environ.get("MEMFS_EMBEDDING"), found


def get_active_model(index: str, configured: WantedModel) -> ModelFiles | None:
    """Return the model that is searched, the former until all is embedded; None: words."""
    if configured.off:
        return None
    now = vector_layout.load_active_extent(index)
    if now is None or (configured.files and configured.files.name == now.model):
        return configured.files
    try:
        former = model_files.read(now.source)
    except StoreError:
        return None
    return former if former.name == now.model else None


def is_left(index: str, files: ModelFiles, missing: int) -> bool:
    """Tell whether the missing vectors of a new model are too many to be made unasked."""
    now = vector_layout.load_active_extent(index)
    return missing >= FEW and now is not None and now.model != files.name


class Coverage(NamedTuple):
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
        return 0 if self.off else round(self.documents * (1 - self.share))

    def format_line(self) -> str:
        if self.off:
            return "none: search by words only"
        if not self.documents and not self.problem:
            return f"ready ({self.model}), nothing indexed yet"
        # never rounded up: 100 % means all documents
        text = f"{int(self.share * 100)} % of {self.documents:,} texts indexed ({self.model})"
        return f"{text} ({self.problem})" if self.problem else text


def load_status(place: Place) -> Coverage:
    """Return the state of a place's embedding model. Writes nothing."""
    wanted, index = load_wanted_model(place), place.home.index
    model = wanted.files
    now = vector_layout.load_active_extent(index)
    former = now.source if now and model and now.model != model.name else ""
    return Coverage(
        model=wanted.model.name,
        said=wanted.model.said,
        source=model.folder if model else "",
        dimensions=model.dims if model else 0,
        vocabulary=model.size if model else 0,
        documents=segments.count_documents(index),
        share=_compute_share(index, wanted),
        bytes=active_model.measure_size(index),
        former=former,
        problem=wanted.problem.message if wanted.problem else "",
        hint=wanted.problem.hint if wanted.problem else "",
    )


def _compute_share(index: str, wanted: WantedModel) -> float:
    if wanted.files is None:
        return 0.0
    if not segments.count_documents(index):
        return 1.0
    from memfs.search import catalog  # with SQLite

    last = catalog.count_documents(index) - 1
    done = max(0, vector_layout.load_extent(index, wanted.files.name).documents - 1)
    return min(1.0, done / last) if last else 1.0
