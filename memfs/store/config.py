"""`config.yaml` of the tiers, and the `MEMFS_…` variables over them. Hot path."""

import os

from memfs import files
from memfs.core import settings
from memfs.core.settings import Settings
from memfs.store import blocks, store_paths
from memfs.store.blocks import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_LARGEST = 64 << 10  # bytes; a hook has no time for more
PREFIX = "MEMFS_"  # of the variables
_FLAGS = {"true": True, "false": False}  # as a variable says them


class ModelSetting:
    """The configured embedding model: bundled, none, a folder, or one of the hub.

    `name` is what is configured, `folder` where a folder is, `said` what says so ("": the default).
    """

    __slots__ = ("folder", "kind", "name", "said")

    def __init__(self, kind: str, name: str, folder: str = "", said: str = "") -> None:
        self.kind = kind
        self.name = name
        self.folder = folder
        self.said = said


def load(place: Place) -> Settings:
    """Return the settings of a place: variables over project over user over defaults."""
    layers = [read_variables(os.environ)]
    if place.project:
        layers.append(_load_project_layer(place.project))
    if place.user:
        layers.append(read(f"{place.user.root}/{store_paths.CONFIG}")[0])
    return Settings(layers)


def _load_project_layer(store: store_paths.Store) -> dict[str, object]:
    """Load the settings a project may make; `git` and `sync` only of a trusted store."""
    found = settings.of_project(read(blocks.get_config_path(store))[0])
    written = [section for section in ("git", "sync") if section in found]
    if written and not store.trusted:
        for section in written:
            del found[section]
    return found


def names_model() -> bool:
    """Tell whether the user's own configuration names a language model."""
    found = load(Place(None, store_paths.user_store()))
    return bool(found.get("llm.command") or (found.get("llm.endpoint") and found.get("llm.model")))


def list_refused_kinds(place: Place) -> list[str]:
    """Return what the `memory_blocks` of a place's project names and may not, with reasons."""
    if place.project is None:
        return []
    path = blocks.get_config_path(place.project)
    return [f"{path}: {each}" for each in settings.refuse_kinds(read(path)[0])]


def model(place: Place) -> ModelSetting:
    """Return the configured embedding model of a place; invalid values are ignored."""
    value = os.environ.get("MEMFS_EMBEDDING")
    found = None
    if settings.model_kind(value) in (settings.NONE, settings.BUNDLED):  # a project can have set it
        found = _parse_model(value, "MEMFS_EMBEDDING", "")
    for store in (place.project, place.user):
        if found is None and store is not None:
            path = blocks.get_config_path(store)
            layer = read(path)[0]
            if "embedding" in layer and not is_model_refused(store, layer["embedding"]):
                found = _parse_model(layer["embedding"], path, store.root)
    return found or ModelSetting(settings.BUNDLED, settings.BUNDLED)


def _parse_model(value: object, source: str, base: str) -> ModelSetting | None:
    kind = settings.model_kind(value)
    if kind in (settings.RELATIVE, settings.FOLDER):
        folder = os.path.normpath(os.path.join(base, os.path.expanduser(str(value))))
        return ModelSetting(settings.FOLDER, str(value), folder, source)
    return (
        ModelSetting(kind, settings.NONE if kind == settings.NONE else str(value), "", source)
        if kind
        else None
    )


def is_model_refused(store: store_paths.Store, value: object) -> bool:
    """Tell whether a store may not name this model: a project only the bundled one, or none."""
    own = (settings.NONE, settings.BUNDLED, "")
    return not store.private and settings.model_kind(value) not in own


def read(path: str) -> tuple[dict[str, object], str]:
    """Read one file: (mapping, what is wrong with its YAML or "")."""
    return parse(files.read(path, cap=_LARGEST + 1) or "")


def parse(text: str) -> tuple[dict[str, object], str]:
    """Parse the text of a configuration: (mapping, what is wrong with its YAML or "")."""
    if len(text) > _LARGEST:
        return {}, f"the file is larger than {_LARGEST >> 10} kB and is not used"
    found, wrong = blocks.read_yaml(text)
    if isinstance(found.get("tools"), str):  # the short form: `tools: full`
        found["tools"] = {"profile": found["tools"]}
    return found, wrong


def parse_value(value: str) -> object:
    """Parse the value of a variable: a number, true or false, or a word."""
    if value.isdigit():
        return int(value)
    if value.replace(".", "", 1).isdigit():
        return float(value)
    return _FLAGS.get(value, value)


def read_variables(environ: "Mapping[str, str]") -> dict[str, object]:
    """Turn `MEMFS_HOOKS_RECALL=off` into {"hooks": {"recall": "off"}}."""
    layer: dict[str, object] = {}
    for key in [key for key in environ if key.startswith(PREFIX)]:
        value = environ.get(key, "")
        section, _, name = key[len(PREFIX) :].lower().partition("_")
        if isinstance(settings.DEFAULTS.get(section), dict) and name:
            inner = layer.setdefault(section, {})
            if isinstance(inner, dict):
                inner[name] = parse_value(value)
        elif key == "MEMFS_MAX_BLOCKS" and value.isdigit():
            layer["max_blocks"] = int(value)
        elif key == blocks.SWITCH:
            layer["enabled"] = parse_value(value)
    return {**settings.of_project(layer), **settings.restrict_service(layer)}
