"""The embedding model: load its status, set another one, download one from the hub."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.core import settings
from memfs.core.errors import LockedError, StoreError, UsageError
from memfs.recall import model_config
from memfs.recall.model_config import Coverage
from memfs.search import active_model, model_files
from memfs.store import config, config_file, lock
from memfs.store.blocks import Place
from memfs.store.config import ModelSetting

if TYPE_CHECKING:
    from memfs.recall.index_sources import Stage

__all__ = ["Coverage", "ModelChange", "fetch", "load_status", "use_model"]


@dataclass(frozen=True)
class ModelChange:
    """The result of setting a model: the setting, its file, and the state of the vectors.

    `overruled` names a setting of higher precedence that differs. `state`: "made", "behind"
    (another process makes the vectors), "removed" or "" (nothing to do).
    """

    model: str
    path: str
    overruled: str
    state: str


load_status = model_config.load_status


def use_model(place: Place, text: str, stage: Stage) -> ModelChange:
    """Set the model for all of this user's memory, and compute its vectors here.

    `text` is `bundled`, `none`, a folder or a name of the hub. `stage` reports progress. Raises
    `MemfsError` for a model that cannot be used; nothing is changed then.
    """
    if place.user is None:
        raise StoreError(
            "you have no store of your own to save the setting in", "create a store: memfs init"
        )
    model = _parse_model(text)
    found = model_config.check_files(model)
    if found.problem:
        raise found.problem
    if found.files:
        from memfs.search import encoder  # with numpy

        encoder.open_model(found.files).check()
    path = config_file.write(place.user, "embedding", model.name)
    active = model_config.load_wanted_model(place)
    if active.model.said != path:
        return ModelChange(model.name, path, f"{active.model.said} sets {active.model.name}", "")
    if active.off:
        had = bool(active_model.measure_size(place.home.index))
        if had:
            with lock.hold_lock(place.home, name=lock.INDEX):
                active_model.drop_vectors(place.home.index)
        return ModelChange(model.name, path, "", "removed" if had else "")
    from memfs.recall import index_sources  # the engine

    try:
        status = model_config.load_status(place)
        count = round(status.documents * (1 - status.share))
        made = index_sources.rebuild_vectors(place, stage("embedding", count))
    except LockedError:  # the other process rereads the configured model
        return ModelChange(model.name, path, "", "behind")
    return ModelChange(model.name, path, "", "made" if made else "")


def fetch(place: Place, name: str) -> str:
    """Download a model of the hub (the configured one, without a name); return its folder."""
    if not name:
        configured = config.model(place)
        name = configured.name if configured.kind == settings.HUB else ""
    if settings.model_kind(name) != settings.HUB:
        raise UsageError(
            f"{name!r} is not the name of a Hugging Face model" if name else "no model is named",
            "give a model name: memfs model fetch minishlab/potion-base-8M",
        )
    return model_files.read(model_files.fetch(name)).folder


def _parse_model(text: str) -> ModelSetting:
    kind = settings.model_kind(text)
    if kind in (settings.BUNDLED, settings.NONE):
        return config.ModelSetting(kind, text)
    folder = os.path.abspath(os.path.expanduser(text))
    if os.path.isdir(folder) or kind in (settings.RELATIVE, settings.FOLDER):
        return config.ModelSetting(settings.FOLDER, folder, folder)
    if kind != settings.HUB:
        raise UsageError(
            f"{text!r} is neither a model nor a folder",
            "use 'bundled', 'none', a folder, or a model from the Hugging Face hub (owner/name)",
        )
    return config.ModelSetting(kind, text)
