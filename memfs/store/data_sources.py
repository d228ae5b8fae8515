"""Data sources: folders and files outside of the store that are searched. Hot path."""

import os

from memfs import files
from memfs.core import label as labels
from memfs.core import settings
from memfs.store import blocks, config, worktrees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.store.blocks import Place
    from memfs.store.store_paths import Store

SECTION = "sources"
FILES, COMMITS = "source", "commit"  # kinds of what is found in a source
HISTORY = "commits"  # the source of the project's commits
MOST = 100  # sources of a store, paths or patterns of a source
SMALLEST, LARGEST = 200, 20_000  # characters of a chunk
_LONGEST = 4096  # characters of a path


class DataSource:
    """A source: its `paths` are absolute and real, `index` is the folder of its index.

    `globs` and `excludes` are patterns as in `.gitignore`; no globs: all files. `chunk_size` is the
    most characters of a chunk, `overlap` what it repeats of the one before. `top` is the folder
    that names of files are relative to, `shown` what stands before them when they are shown. `kind`
    is `COMMITS` for the project's history, whose files memfs writes itself (see `commit_log`).
    """

    def __init__(
        self,
        name: str,
        tier: str,
        paths: tuple[str, ...],
        globs: tuple[str, ...],
        excludes: tuple[str, ...],
        chunk_size: int,
        overlap: int,
        index: str,
        top: str,
        shown: str,
        kind: str = FILES,
    ) -> None:
        self.name, self.tier, self.kind = name, tier, kind
        self.paths, self.globs, self.excludes = paths, globs, excludes
        self.chunk_size, self.overlap = chunk_size, overlap
        self.index, self.top, self.shown = index, top, shown


def list_searched(place: "Place") -> list[DataSource]:
    """List what is searched beside memory: the project's commits, then what is configured."""
    history = find_history(place)
    return [*([history] if history else []), *list_sources(place)]


def find_history(place: "Place") -> DataSource | None:
    """Return the commits of a trusted project as a source; None outside git, or if turned off."""
    store = place.project
    if store is None or explain_no_history(place):
        return None
    index = f"{store.sources}/{HISTORY}"
    logs = (f"{index}/log",)
    return DataSource(HISTORY, store.tier, logs, (), (), LARGEST, 0, index, store.top, "", COMMITS)


def explain_no_history(place: "Place") -> str:
    """Return why no commits are read, and what to do about it; "" if they are."""
    store = place.project
    if store is None and not place.left_out:
        return "there is no project store here"
    if store is None or not store.trusted:
        return "the store is not trusted (ask the user to run memfs trust)"
    if not worktrees.git_dir(store.root):
        return "the project is not in a git repository"
    if config.load(place).get("git.history") != "auto":
        return "git.history is off (set it to auto in config.yaml or MEMFS_GIT_HISTORY)"
    return ""


def has_unused_history(place: "Place") -> bool:
    """Tell whether the project's commits are kept that are not to be read any more."""
    store = place.project
    kept = store is not None and files.is_folder(f"{store.sources}/{HISTORY}")
    return kept and not find_history(place)


def list_sources(place: "Place") -> list[DataSource]:
    """List the sources of a trusted project, then the user's. Of refused ones none is listed."""
    found = []
    for _, store in place.list_lasting_tiers():
        for name, value in _read_section(store).items():
            source = parse_source(store, name, value)
            if isinstance(source, DataSource) and store.trusted:
                found.append(source)
    return found


def refuse_sources(place: "Place") -> list[str]:
    """Return what the sources of a place's stores may not say, with reasons."""
    found = []
    for _, store in place.list_lasting_tiers():
        path, section = blocks.get_config_path(store), _read_section(store)
        for name, value in section.items():
            reason = parse_source(store, name, value)
            if isinstance(reason, str):
                found.append(f"{path}: {SECTION}.{name} is not used: {reason}")
        if section and not store.trusted:
            found.append(
                f"{path}: its {SECTION} are not used, because you have not trusted the store"
            )
    return found


def list_names(store: "Store") -> list[str]:
    """List the names in the configuration of a store, those of refused sources too."""
    return list(_read_section(store))


def parse_source(store: "Store", name: str, value: object) -> DataSource | str:
    """Return the source that a store's configuration describes, or why it cannot be used."""
    if wrong := check_name(name):
        return wrong
    if not isinstance(value, dict):
        return "expected a mapping with 'paths'"
    found: dict[str, tuple[str, ...]] = {}
    for key in ("paths", "glob", "exclude"):
        texts = value.get(key) or []
        if not isinstance(texts, list) or not all(_is_text(each) for each in texts):
            return f"'{key}' is not a list of strings"
        if len(texts) > MOST:
            return f"'{key}' has {len(texts):,} entries, the limit is {MOST}"
        found[key] = tuple(texts)
    sizes = (
        value.get("chunk_size", settings.DEFAULT_CHUNK_SIZE),
        value.get("overlap", settings.DEFAULT_OVERLAP),
    )
    size, overlap = (each if type(each) is int else -1 for each in sizes)
    if not SMALLEST <= size <= LARGEST:
        return f"'chunk_size' is {sizes[0]!r}, expected {SMALLEST} to {LARGEST:,}"
    if not 0 <= overlap <= size // 2:
        return f"'overlap' is {sizes[1]!r}, expected 0 to half of 'chunk_size'"
    if not found["paths"]:
        return "'paths' is missing or empty"
    paths = []
    for text in found["paths"]:
        path, wrong = resolve_path(store, text)
        if wrong:
            return f"'{text}' {wrong}"
        paths.append(path)
    paths = _drop_nested(paths)
    top = paths[0]
    if len(paths) > 1 or files.is_file(top):
        top = os.path.commonpath([os.path.dirname(path) for path in paths]).rstrip("/")
    what = (tuple(paths), found["glob"], found["exclude"], size, overlap)
    return DataSource(name, store.tier, *what, f"{store.sources}/{name}", top, _shorten(store, top))


def check_name(name: str) -> str:
    """Return the rule that the name of a source breaks, "" if it breaks none."""
    if name == HISTORY:
        return "the name is reserved for the project's own commits"
    return labels.problem(name) or ("a name cannot contain '/'" if "/" in name else "")


def resolve_path(store: "Store", text: str) -> tuple[str, str]:
    """Return (the real path that a source of a store names, the rule that it breaks or "")."""
    if store.private:
        path = os.path.expanduser(text)
        if not os.path.isabs(path):
            return "", "must begin with '/' or '~/'"
    else:
        if os.path.isabs(text) or text.startswith("~") or "\\" in text:
            return "", "must be relative to the repository's folder"
        if os.pardir in text.split("/"):
            return "", "must not contain '..'"
        path = f"{store.top}/{text}"
    real = os.path.realpath(path)
    if not store.private and not files.is_below(real, os.path.realpath(store.top)):
        return "", f"leads out of the repository, to {real}"
    if real == "/":
        return "", "is the whole disk"
    if ".git" in real.split("/"):
        return "", "is in git's own folder"
    if files.is_below(real, os.path.realpath(store.root)):
        return "", "is in the store, which memfs already searches"
    return real, ""


def _read_section(store: "Store") -> dict[str, object]:
    path = blocks.get_config_path(store)
    if f"{SECTION}:" not in (files.read(path) or ""):  # most configurations have none
        return {}
    found = config.read(path)[0].get(SECTION)
    return dict(list(found.items())[:MOST]) if isinstance(found, dict) else {}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST and "\0" not in value


def _drop_nested(paths: list[str]) -> list[str]:
    found = list(dict.fromkeys(paths))
    nested = {a for a in found for b in found if a != b and files.is_below(a, b)}
    return [path for path in found if path not in nested]


def _shorten(store: "Store", top: str) -> str:
    """Return what stands before a name of a file when it is shown: in a project, no folder of it.

    In one's own store it is the path, with `~` for the home folder.
    """
    if not store.private:
        real = os.path.realpath(store.top)
        return f"{top[len(real) :].strip('/')}/".lstrip("/")
    home = os.path.realpath(os.path.expanduser("~"))
    return f"~{top[len(home) :]}/" if files.is_below(top, home) else f"{top}/"
