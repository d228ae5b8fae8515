"""All settings, with types and defaults. Hot path."""

from memfs.core.block import DEFAULT_LIMIT

NAME, HOLD = "name", "hold"
BUNDLED, NONE, RELATIVE, FOLDER, HUB = "bundled", "none", "relative", "folder", "hub"

DEFAULTS: dict[str, object] = {
    "enabled": True,  # false, said anywhere: hooks, tools and the service do nothing
    "max_blocks": 10,  # pinned blocks at most
    "blocks": {},  # by label: see BLOCK
    # recall: off, auto, or hits for a prompt at most; off or auto: whether data sources are
    # searched, a team's server is asked, and a session is told the standing rules and where the
    # last one stopped
    "hooks": {
        "recall": "auto",
        "sources": "auto",
        "team": "auto",
        "rules": "auto",
        "handoff": "auto",
    },
    # Idle minutes until it ends; mode, and whether large jobs wait for power and memory: auto, off.
    "service": {"mode": "auto", "idle": 30, "pause": "auto"},
    "embedding": BUNDLED,  # the model: see `model_kind`
    # The tools that a model is given, small or full, and changes to them.
    "tools": {"profile": "small", "remove": [], "describe": {}, "add": {}},
    "trust": {"pulled": NAME},  # changes by others: name them to the user, or hold them back
    # Commits of memory: off, edit or session; whether the project's commits are read: auto or off.
    "git": {"commit": "off", "protected": ["main", "master"], "history": "auto"},
    "sync": {"on_edit": False},  # renew our sections in AGENTS.md and the like
    # Tokens of a model's window, of which some are kept free; 0 messages: as many as fit.
    "context": {
        "max_tokens": 32768,
        "reserve_for_response": 4096,
        "reserve_for_tools": 512,
        "message_history_limit": 0,
    },
    # Shares of what there is room for; tokens from which on a text is summarised.
    "paging": {
        "warn_threshold": 0.7,
        "page_out_threshold": 0.9,
        "min_relevance_to_keep": 0.3,
        "summarize_threshold": 500,
        "stale_days": 30,
    },
    "archival": {"auto_archive_importance": 7, "search_top_k": 5},
    "sources": {},  # folders and files outside of the store that are searched, by name: see SOURCE
    "memory_blocks": {},  # kinds of memory by name: {type, capacity, config}; none: all four
    # The context for a task: the shares of the kinds, in their order, its tokens, and the
    # compression of pieces that do not fit.
    "orchestrator": {
        "default_priority": [0.4, 0.3, 0.1, 0.2],
        "context_limit": 4000,
        "compression": "smart",
    },
    "review": {"mode": "off", "min_messages": 5, "apply": False},
    "team": {"id": ""},  # a hint for `memfs team join`: no file names a server but the user's own
    # A model that memfs may ask: an endpoint, with the variable that holds its key, or a command;
    # and how much of it. 0: no limit.
    "llm": {
        "endpoint": "",
        "model": "",
        "key_env": "",
        "command": "",
        "timeout": 120,
        "max_steps": 16,
        "max_retries": 3,
        "calls_per_run": 2000,
        "tokens_per_run": 10_000_000,
        "calls_per_day": 5000,
        "tokens_per_day": 20_000_000,
    },
}
# The tools of the small profile: the others can be called, and are not listed.
SMALL = (
    "core_memory_append",
    "core_memory_replace",
    "memory_create",
    "memory_rethink",
    "memory_page_out",
    "archival_memory_insert",
    "memory_search",
    "memory_read",
)
FULL = "full"
# Characters and tokens (0: any) that a new block of a label may hold, and what it begins with.
BLOCK: dict[str, object] = {
    "limit": DEFAULT_LIMIT,
    "max_tokens": 0,
    "default_content": "",
    "clear_on_session_end": False,
}
# Patterns (as in .gitignore) of the files that count and that do not; characters of a chunk at
# most, and those that it repeats of the one before.
SOURCE: dict[str, object] = {
    "paths": [],
    "glob": [],
    "exclude": [],
    "chunk_size": 1500,
    "overlap": 150,
}
# Variables beside those that name a setting (MEMFS_SECTION_KEY).
VARIABLES = (
    *("MEMFS_DEBUG", "MEMFS_HOME", "MEMFS_INSIDE", "MEMFS_NOW", "MEMFS_SESSION"),
    *("MEMFS_TEAM_TOKEN", "MEMFS_TEAM_DATABASE"),
)
KINDS = ("vector", "facts", "static", "graph")
CONFIGURED = "configured"  # a model of facts: that of `llm`
_CLASSES = {  # types of kinds by other names
    "VectorMemoryBlock": "vector",
    "FactExtractionMemoryBlock": "facts",
    "StaticMemoryBlock": "static",
    "ConversationGraphMemoryBlock": "graph",
}
USER_ONLY = ("llm", "service", "trust")  # sections that a repository's configuration cannot set


def of_project(layer: dict[str, object]) -> dict[str, object]:
    """Return the settings of a layer that a repository may set.

    It may be stricter than its user, and never names what is run, asked or read elsewhere.
    """
    found = {key: value for key, value in layer.items() if key not in USER_ONLY}
    if holds_changes(layer):
        found["trust"] = {"pulled": HOLD}
    review = layer.get("review")
    if isinstance(review, dict):  # only the user decides to spend tokens, or to apply unseen
        kept = {key: value for key, value in review.items() if key != "apply"}
        if kept.get("mode") == "background":
            del kept["mode"]
        found["review"] = kept
    hooks = layer.get("hooks")
    if isinstance(hooks, dict) and hooks.get("team") == "auto":  # prompts are the user's
        found["hooks"] = {key: value for key, value in hooks.items() if key != "team"}
    kinds = layer.get("memory_blocks")
    if isinstance(kinds, dict):  # nor may it name installed plugins
        found["memory_blocks"] = {
            name: _without_model(kind) for name, kind in kinds.items() if get_type(kind) in KINDS
        }
    if model_kind(layer.get("embedding")) in (RELATIVE, FOLDER, HUB):
        del found["embedding"]
    return found


def holds_changes(layer: object) -> bool:
    """Tell whether a layer holds back what others changed."""
    return find_value(layer, ["trust", "pulled"]) == HOLD


def restrict_service(layer: dict[str, object]) -> dict[str, object]:
    """Return the service settings that any layer may set: mode off, and pause."""
    service = layer.get("service")
    if not isinstance(service, dict):
        return {}
    kept = {key: value for key, value in service.items() if key == "pause"}
    if service.get("mode") in ("off", False):
        kept["mode"] = "off"
    return {"service": kept}


def get_type(kind: object) -> object:
    """Return the type that an entry of `memory_blocks` names; ours by their own names."""
    named = kind.get("type") if isinstance(kind, dict) else None
    return _CLASSES.get(named, named) if isinstance(named, str) else named


def refuse_kinds(layer: dict[str, object]) -> list[str]:
    """Return what a repository's `memory_blocks` may not name, each with the reason."""
    kinds = layer.get("memory_blocks")
    out = []
    for name, kind in kinds.items() if isinstance(kinds, dict) else ():
        if get_type(kind) not in KINDS:
            out.append(f"memory_blocks.{name} is not used: only you may name a plugin")
        elif _without_model(kind) != kind:
            model = kind["config"]["extraction_model"]
            where = f"memory_blocks.{name}.config.extraction_model: {model}"
            out.append(f"{where} is not used: only you may have a model asked")
    return out


def _without_model(kind: object) -> object:
    """Return a kind that has no model asked."""
    config = kind.get("config") if isinstance(kind, dict) else None
    if not isinstance(config, dict) or config.get("extraction_model") in (None, NONE):
        return kind
    rest = {key: value for key, value in config.items() if key != "extraction_model"}
    return {**kind, "config": rest} if isinstance(kind, dict) else kind


def model_kind(value: object) -> str:
    """Return the kind of model that `embedding` names; "" for an invalid value.

    The bundled model, none, a folder relative to the file (`./x`, `../x`) or of its own (`/x`,
    `~/x`), or a name of the hub (`owner/name`).
    """
    if value is False or value == NONE:
        return NONE
    if not isinstance(value, str) or "\0" in value:
        return ""
    if value == BUNDLED:
        return BUNDLED
    if value in (".", "..") or value.startswith(("./", "../", ".\\", "..\\")):
        return RELATIVE
    if value.startswith(("/", "\\", "~")) or value[1:3] in (":/", ":\\"):
        return FOLDER
    owner, slash, name = value.partition("/")
    return HUB if slash and _is_hub_word(owner) and _is_hub_word(name) else ""


def _is_hub_word(text: str) -> bool:
    plain = text.replace("-", "").replace("_", "").replace(".", "")
    is_plain = plain.isascii() and plain.isalnum() and len(text) <= 96
    return is_plain and text[0] not in "-._" and ".." not in text and "--" not in text


class Settings:
    """Merged settings. `get("hooks.recall")` never fails: a wrong type gives the default."""

    __slots__ = ("_found",)

    def __init__(self, layers: list[dict[str, object]]) -> None:
        self._found = layers  # strongest first

    def get(self, name: str) -> object:
        keys = name.split(".")
        default = find_value(DEFAULTS, keys)
        for layer in self._found:
            value = find_value(layer, keys)
            if value is not None and (default is None or right_type(value, default)):
                return value
        return default

    def number(self, name: str) -> int:
        value = self.get(name)
        return value if isinstance(value, int) else 0

    def get_share(self, name: str) -> float:
        """Return a number between 0 and 1; the default for any other value."""
        for value in (self.get(name), find_value(DEFAULTS, name.split("."))):
            if isinstance(value, int | float) and 0 <= value <= 1:
                return float(value)
        return 0.0

    def get_limit(self, label: str) -> int:
        """Return the limit, in characters, with which a block of this label is created."""
        return self._get_count(f"blocks.{label}.limit") or DEFAULT_LIMIT

    def get_token_cap(self, label: str) -> int:
        """Return the limit, in tokens, with which a block of this label is created; 0 for none."""
        return self._get_count(f"blocks.{label}.max_tokens")

    def get_default_content(self, label: str) -> str:
        """Return the text that a new block of this label begins with."""
        found = self.get(f"blocks.{label}.default_content")
        return found.strip("\n") if isinstance(found, str) else ""

    def get_page_size(self, most: int) -> int:
        """Return the hits on a page of a search of the archive (`archival.search_top_k`)."""
        return min(most, max(1, self.number("archival.search_top_k")))

    def asks_for_facts(self, model: object) -> bool:
        """Tell whether an `extraction_model` is the configured model, by that word or its name."""
        return model == CONFIGURED or (bool(model) and model == self.get("llm.model"))

    def _get_count(self, name: str) -> int:
        """Return a whole number from 1 on, 0 for any other value."""
        found = self.get(name)
        return found if type(found) is int and found > 0 else 0


def right_type(value: object, default: object) -> bool:
    """Tell whether a configured value has the type of its default (recall may also be a number)."""
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool | str)
    if isinstance(default, str):
        return isinstance(value, str | int)
    if isinstance(default, float):
        return isinstance(value, int | float)
    return isinstance(value, type(default))


def find_value(layer: object, keys: "list[str] | tuple[str, ...]") -> object:
    """Return what is at some keys of a layer, None where nothing is."""
    for key in keys:
        if not isinstance(layer, dict):
            return None
        layer = layer.get(key)
    return layer
