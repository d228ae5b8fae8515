"""Which embedding model a place is to be searched with, which it is, and what is left to do."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from memfs.core import settings
from memfs.core.errors import MemfsError, StoreError
from memfs.files import outside, signatures
from memfs.search import hf_hub, model_files, vector_manifest
from memfs.store import config, store_paths

if TYPE_CHECKING:
    from memfs.search.model_files import ModelFiles
    from memfs.store.blocks import Place
    from memfs.store.config import ModelSetting

FEW = 2000  # documents that get vectors of another model in a search: it takes a second


class WantedModel(NamedTuple):
    """The model that is configured. `files` is None for none, and where there is a `problem`."""

    model: ModelSetting
    files: ModelFiles | None
    problem: MemfsError | None = None

    @property
    def off(self) -> bool:
        """Tell whether there is to be no model: words alone are searched."""
        return self.model.kind == settings.NONE


def load_wanted(place: Place) -> WantedModel:
    """Look which model is configured, and whether its files are there."""
    return check_files(config.model(place))


def check_files(model: ModelSetting) -> WantedModel:
    """Look whether the files of a model are there and can be used."""
    if model.kind == settings.NONE:
        return WantedModel(model, None)
    try:
        return WantedModel(model, model_files.read(folder(model)))
    except MemfsError as error:
        return WantedModel(model, None, error)


def folder(model: ModelSetting) -> str:
    """Return where the files of a model should be; raises `MemfsError` if nobody knows."""
    if model.kind == settings.HUB:
        return hf_hub.cached(model.name)
    if model.kind == settings.BUNDLED:
        return model_files.BUNDLED
    if not os.path.isdir(model.folder):
        raise StoreError(
            f"there is no folder {model.folder}, which embedding: {model.name} names",
            f"see {model.said}" if model.said else "a folder is written ./x, ~/x or /x",
        )
    return model.folder


def list_signatures(place: Place, known: WantedModel | None) -> object:
    """Return what changes when another model may be wanted, or its files are other ones."""
    stores = [store for store in (place.project, place.user) if store]
    found = [signatures.sign_file(f"{store.root}/{store_paths.CONFIG}") for store in stores]
    if known and known.files:
        seen = [outside.status(f"{known.files.folder}/{name}") for name in model_files.FILES]
        found += [each and signatures.Signature(each) for each in seen]
    return os.environ.get("MEMFS_EMBEDDING"), found


def get_searched(index: str, wanted: WantedModel) -> ModelFiles | None:
    """Return the model whose vectors are to be searched: the former one until all have new ones.

    None: by words alone, because there is to be no model, or none can be opened.
    """
    if wanted.off:
        return None
    now = vector_manifest.load_served(index)
    if now is None or (wanted.files and wanted.files.name == now.model):
        return wanted.files
    try:
        former = model_files.read(now.source)
    except StoreError:
        return None
    return former if former.name == now.model else None


def changes(index: str, files: ModelFiles) -> bool:
    """Tell whether vectors of another model are searched than of this one."""
    now = vector_manifest.load_served(index)
    return now is not None and now.model != files.name
