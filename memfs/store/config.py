"""`config.yaml` of the tiers, and the `MEMFS_…` variables over them. Hot path."""

import os

from memfs import files
from memfs.core import settings, yaml_fast
from memfs.core.settings import Settings
from memfs.store import blocks, store_paths
from memfs.store.blocks import Place

_LARGEST = 64 << 10  # bytes; a hook has no time for more
_WORDS = {  # the choices as told to a person, and as values
    "hooks.recall": ("off, auto or 3", ("off", "auto", False)),
    "trust.pulled": ("name or hold", (settings.NAME, settings.HOLD)),
    "service.mode": ("auto or off", ("auto", "off", False)),
    "service.pause": ("auto or off", ("auto", "off", False)),
    "git.commit": ("off, edit or session", ("off", "edit", "session", False)),
    "orchestrator.compression": ("smart or aggressive", ("smart", "aggressive")),
    "review.mode": (
        "off, nudge, inline or background",
        ("off", "nudge", "inline", "background", False),
    ),
}
_FLAGS = {"true": True, "false": False}  # as a variable says them
_SECTIONS = ("memfs", "recall", "memory_blocks", *settings.DEFAULTS)


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
    layers = [_read_variables()]
    if place.project:
        layers.append(_load_project_layer(place.project))
    if place.user:
        layers.append(read(f"{place.user.root}/{store_paths.CONFIG}")[0])
    return Settings(layers)


def _load_project_layer(store: store_paths.Store) -> dict[str, object]:
    """Load the settings a project may make; `git` and `sync` only of a trusted store."""
    found = settings.of_project(read(path_of(store))[0])
    written = [section for section in ("git", "sync") if section in found]
    if written and not store_paths.is_trusted(store):
        for section in written:
            del found[section]
    return found


def path_of(store: store_paths.Store) -> str:
    """Return the file to read: changes by others may be quarantined."""
    if store_paths.may_quarantine(store):
        from memfs.store import quarantine

        return quarantine.path_of(store, store_paths.CONFIG)
    return f"{store.root}/{store_paths.CONFIG}"


def model(place: Place) -> ModelSetting:
    """Return the configured embedding model of a place; invalid values are ignored."""
    value = os.environ.get("MEMFS_EMBEDDING")
    found = None
    if settings.model_kind(value) in (settings.NONE, settings.BUNDLED):  # a project can have set it
        found = _parse_model(value, "MEMFS_EMBEDDING", "")
    for store in (place.project, place.user):
        if found is None and store is not None:
            path = path_of(store)
            layer = read(path)[0]
            if "embedding" in layer and not _is_refused(store, layer["embedding"]):
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


def _is_refused(store: store_paths.Store, value: object) -> bool:
    """Tell whether a store may not name this model: a repository only one that is in it.

    A repository must not make this machine read elsewhere, nor download a model.
    """
    kind = settings.model_kind(value)
    if not store.private and kind == settings.RELATIVE:
        from memfs.files import trees

        folder = os.path.normpath(os.path.join(store.root, str(value)))
        if not folder.startswith(f"{store.top}/"):
            return True
        return trees.has_others(folder)  # links may lead anywhere
    return not store.private and kind in (settings.FOLDER, settings.HUB)


def read(path: str) -> tuple[dict[str, object], str]:
    """Read one file: (mapping, what is wrong with its YAML or "")."""
    return parse(files.read(path, cap=_LARGEST + 1) or "")


def parse(text: str) -> tuple[dict[str, object], str]:
    """Parse the text of a configuration: (mapping, what is wrong with its YAML or "")."""
    if len(text) > _LARGEST:
        return {}, f"it is longer than {_LARGEST >> 10} kB; nothing in it is used"
    found = yaml_fast.read(text)
    return (found, "") if found is not None else blocks.full_reader(text)


def problems(store: store_paths.Store) -> list[str]:
    """List the errors in a store's configuration, each with its line and the expected value."""
    import difflib

    path = f"{store.root}/{store_paths.CONFIG}"
    found, wrong = read(path)
    if wrong:
        return [f"{path}: {wrong}"]
    allowed = dict(found) if store.private else settings.of_project(found)
    if _is_refused(store, found.get("embedding")):
        allowed.pop("embedding", None)
    out = [] if found.get("memfs") == 1 else [f"{path}: memfs is not 1, the only version there is"]
    for key, value in found.items():
        if key not in _SECTIONS:
            close = difflib.get_close_matches(key, _SECTIONS, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            out.append(f"{path}:{_find_line(path, key)}: unknown key '{key}'{hint}")
            continue
        if key not in allowed and key == "embedding":
            out.append(
                f"{path}:{_find_line(path, key)}: embedding: {value} is not used: a repository may "
                "name bundled, none, or a folder in it (./x)"
            )
            continue
        if key not in allowed:
            out.append(
                f"{path}:{_find_line(path, key)}: {key} is not used: only your own configuration "
                f"({store_paths.user_root()}/{store_paths.CONFIG}) may set it"
            )
            continue
        default = settings.DEFAULTS.get(key)
        if isinstance(default, dict) and isinstance(value, dict):
            out.extend(_find_wrong_types(path, key, value, default))
        elif default is not None and not settings.right_type(value, default):
            out.append(_describe_type_error(path, key, key, value, default))
        elif key == "embedding" and not settings.model_kind(value):
            kind = "bundled, none, a folder (./x, ~/x, /x) or a name of the hub (owner/name)"
            out.append(f"{path}:{_find_line(path, key)}: embedding is {value!r}, expected {kind}")
        if key == "max_blocks" and isinstance(value, int) and value < 1:
            out.append(f"{path}:{_find_line(path, key)}: max_blocks is {value}, expected 1 or more")
    return out


def _find_wrong_types(
    path: str, section: str, values: dict[str, object], defaults: dict[str, object]
) -> list[str]:
    out = []
    for key, value in values.items():
        name = f"{section}.{key}"
        if key in defaults and not settings.right_type(value, defaults[key]):
            out.append(_describe_type_error(path, key, name, value, defaults[key]))
        elif name in _WORDS and value not in _WORDS[name][1] and not isinstance(value, int):
            choices = _WORDS[name][0]
            out.append(f"{path}:{_find_line(path, key)}: {name} is {value!r}, expected {choices}")
        elif section == "blocks":
            limit = value.get("limit", 1) if isinstance(value, dict) else None
            if not isinstance(limit, int) or limit < 1:
                out.append(f"{path}:{_find_line(path, key)}: {name} needs a limit of 1 or more")
    return out


def _describe_type_error(path: str, key: str, name: str, value: object, default: object) -> str:
    kind = {
        bool: "true or false",
        int: "a whole number",
        str: "a word",
        list: "a list",
        dict: "a mapping",
        float: "a number between 0 and 1",
    }.get(type(default), "a value")
    return f"{path}:{_find_line(path, key)}: {name} is {value!r}, expected {kind}"


def _find_line(path: str, key: str) -> int:
    for number, line in enumerate((files.read(path) or "").splitlines(), 1):
        if line.strip().startswith(f"{key}:"):
            return number
    return 1


def _parse_value(value: str) -> object:
    """Parse the value of a variable: a number, true or false, or a word."""
    if value.isdigit():
        return int(value)
    if value.replace(".", "", 1).isdigit():
        return float(value)
    return _FLAGS.get(value, value)


def _read_variables() -> dict[str, object]:
    """Turn `MEMFS_HOOKS_RECALL=off` into {"hooks": {"recall": "off"}}.

    A project can have variables set for what is run in it: they say no more than its own
    configuration may, that there is to be no service, and at what pace one works.
    """
    layer: dict[str, object] = {}
    for key in [key for key in os.environ if key.startswith("MEMFS_")]:
        value = os.environ.get(key, "")
        section, _, name = key[len("MEMFS_") :].lower().partition("_")
        if isinstance(settings.DEFAULTS.get(section), dict) and name:
            inner = layer.setdefault(section, {})
            if isinstance(inner, dict):
                inner[name] = _parse_value(value)
        elif key == "MEMFS_MAX_BLOCKS" and value.isdigit():
            layer["max_blocks"] = int(value)
    return {**settings.of_project(layer), **settings.restrict_service(layer)}
