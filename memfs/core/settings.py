"""All settings, with types, defaults and what they do. Hot path."""

from memfs.core.block import DEFAULT_LIMIT

NAME, HOLD = "name", "hold"
BUNDLED, NONE, RELATIVE, FOLDER, HUB = "bundled", "none", "relative", "folder", "hub"

DEFAULT_CHUNK_SIZE, DEFAULT_OVERLAP = 1500, 150  # characters of a chunk of a source


class Setting:
    """One setting: its name, default, the values that it may have, and what it does.

    `values` is what a person is told ("off or auto"; a number in it stands for any number);
    "" where the type of the default says it. `<label>` and `<name>` stand for names.
    """

    __slots__ = ("default", "name", "text", "values")

    def __init__(self, name: str, default: object, text: str, values: str = "") -> None:
        self.name = name
        self.default = default
        self.text = text
        self.values = values

    def format_default(self) -> str:
        """Return the default as YAML has it, "" for none."""
        if self.default in ("", [], {}):
            return ""
        found = str(self.default).replace("'", "")
        return found.lower() if isinstance(self.default, bool) else found


_AUTO = "auto or off"
# All settings. `memfs help configuration`, the documentation and what checks a configuration read
# this; `embedding` (see `model_kind`) and the sources (see `store.data_sources`) are checked apart.
SETTINGS = (
    Setting("enabled", True, "`false` in your own configuration, a project's or `MEMFS_ENABLED` "
            "turns hooks, tools and the service off; your commands still work.",
            "true, false or off"),
    Setting("max_blocks", 10, "Pinned blocks at most.", "1 or more"),
    Setting("blocks.<label>.limit", DEFAULT_LIMIT, "The limit of a new block of that label, in "
            "characters.", "1 or more"),
    Setting("blocks.<label>.max_tokens", 0, "The limit of a new block of that label, in tokens; 0: "
            "none."),
    Setting("blocks.<label>.default_content", "", "The first text of a new block of that label."),
    Setting("blocks.<label>.clear_on_session_end", False, "Empty that block of a session when it "
            "ends."),
    Setting("hooks.recall", "auto", "How much a prompt brings: `off`, `auto` (five sessions and "
            "entries at most) or a number.", "off, auto or 3"),
    Setting("hooks.sources", "auto", "Whether a prompt also brings a chunk of a data source.",
            _AUTO),
    Setting("hooks.team", "auto", "Whether prompts of a joined project are sent to the team's "
            "server as questions; a project may only say `off`.", _AUTO),
    Setting("hooks.rules", "auto", "Whether the brief has the standing rules that no block has. "
            "`memfs review` lists them either way.", _AUTO),
    Setting("hooks.handoff", "auto", "Whether a new session gets a note about the end of the last "
            "one in the project. `memfs last --session` shows it either way.", _AUTO),
    Setting("hooks.files", "auto", "What a file that is read or edited brings: `rules` (blocks "
            "with matching `paths`), `auto` (also text of past sessions) or `off`.",
            "auto, rules or off"),
    Setting("hooks.notices", ["start", "recall", "edit"], "Notices on your screen: the size of the "
            "memory (`start`), what a prompt brought (`recall`), what was saved (`edit`); `[]` for "
            "none. Only in your own configuration."),
    Setting("service.mode", "auto", "Whether the service starts when it is needed; only in your "
            "own configuration.", _AUTO),
    Setting("service.idle", 30, "Minutes without a request, after which the service ends."),
    Setting("service.pause", "auto", "Whether large jobs wait while the machine is on battery or "
            "busy (a load above twice the number of processors), ten minutes at most; only in your "
            "own configuration.", _AUTO),
    Setting("embedding", BUNDLED, "The embedding model: see Models."),
    Setting("tools.profile", "small", "The tools that a model sees: the eight of `small`, or "
            "`full`, which has every tool (`tools: full` for short). In both, all tools can be "
            "called.", "small or full"),
    Setting("tools.remove", [], "Tools that are removed; tools of a plugin may have their names."),
    Setting("tools.describe", {}, "Descriptions of your own, by tool."),
    Setting("tools.add", {}, "Tools that are another one with arguments given: `note_decision: "
            '{tool: core_memory_append, description: "…", with: {label: decisions}}`.'),
    Setting("git.commit", "off", "Commit memory files: `off`, at each `edit`, at the end of a "
            "`session`.", "off, edit or session"),
    Setting("git.history", "auto", "Whether searches and prompts use the project's commits.",
            _AUTO),
    Setting("git.protected", ["main", "master"], "Branches memfs never commits on (patterns like "
            "`release/*`); `[]` allows all."),
    Setting("sync.on_edit", False, "Update the memfs sections of `AGENTS.md` and the like with "
            "each edit of a project block."),
    Setting("trust.pulled", NAME, "Changes of others: `name` lists them when a session starts, "
            "`hold` applies them only after `memfs trust`.", "name or hold"),
    Setting("context.max_tokens", 32768, "Tokens of the window of `memfs agent`'s model."),
    Setting("context.reserve_for_response", 4096, "Tokens of it that are reserved for an answer, a "
            "third at most."),
    Setting("context.reserve_for_tools", 512, "Tokens of it that are reserved for tool calls, an "
            "eighth at most."),
    Setting("context.message_history_limit", 0, "Messages in its queue; 0: as many as fit."),
    Setting("paging.warn_threshold", 0.7, "Warn the model from this share of the queue in use on."),
    Setting("paging.page_out_threshold", 0.9, "The share of the scratch block in use at which a "
            "compaction pages it out."),
    Setting("paging.min_relevance_to_keep", 0.3, "Parts of a block with a lower relevance are not "
            "about the task."),
    Setting("paging.summarize_threshold", 500, "Parts of so many tokens or more are shortened when "
            "they move out."),
    Setting("paging.stale_days", 30, "Days without an edit or a read, after which a block is "
            "stale; 0: never."),
    Setting("archival.auto_archive_importance", 7, "Parts that sound this important (1 to 10) are "
            "always archived."),
    Setting("archival.search_top_k", 5, "Hits on a page of `memfs search`, hits of a model's "
            "archive search, and parts of a page-in, at most.", "1 or more"),
    Setting("sources.<name>.paths", [], "Folders and files that searches include: see Sources."),
    Setting("sources.<name>.glob", [], "Patterns of its files, as in `.gitignore`."),
    Setting("sources.<name>.exclude", [], "Patterns of its files that are left out."),
    Setting("sources.<name>.chunk_size", DEFAULT_CHUNK_SIZE, "Characters of a chunk at most (200 "
            "to 20,000), without its headings."),
    Setting("sources.<name>.overlap", DEFAULT_OVERLAP, "Characters that a chunk repeats from the "
            "one before in its section."),
    Setting("memory_blocks", {}, "Kinds of memory by name, each `{type, capacity, config}`; none: "
            "all four. See Kinds of memory; a repository may name these four kinds; only you may "
            "name plugins and a model for facts. `memfs doctor`, `status` and `recall` name "
            "refused keys."),
    Setting("orchestrator.default_priority", [0.4, 0.3, 0.1, 0.2], "The shares of the kinds in a "
            "context, in their order."),
    Setting("orchestrator.context_limit", 4000, "Tokens of `memfs recall`."),
    Setting("orchestrator.compression", "smart", "How texts that do not fit are shortened.",
            "smart or aggressive"),
    Setting("review.mode", "off", "See Reviews; a repository cannot set `background`.",
            "off, nudge, inline or background"),
    Setting("review.min_messages", 5, "Prompts after which a session is reviewed."),
    Setting("review.apply", False, "Accept proposals of `memfs review reflect` at once; only in "
            "your own configuration."),
    Setting("team.id", "", "The team of this project: a hint for `memfs team join`. No "
            "configuration has the address of a server."),
    Setting("llm.endpoint", "", "A model that memfs may ask, over an OpenAI-compatible endpoint; "
            "only in your own configuration, not in a repository or a variable."),
    Setting("llm.model", "", "The name of the model at the endpoint."),
    Setting("llm.key_env", "", "The environment variable with its key."),
    Setting("llm.command", "", "A command to ask instead: it reads a prompt on stdin and prints "
            "the answer (`claude -p`, `codex exec -`, `ollama run qwen3`)."),
    Setting("llm.timeout", 120, "Seconds an answer may take."),
    Setting("llm.max_steps", 16, "Answers in one turn."),
    Setting("llm.max_retries", 3, "Failed answers in a row."),
    Setting("llm.calls_per_run", 2000, "Calls that one run may make; 0: no limit."),
    Setting("llm.tokens_per_run", 10_000_000, "Tokens that one run may cost; 0: no limit."),
    Setting("llm.calls_per_day", 5000, "Calls of a day, over all projects; 0: no limit."),
    Setting("llm.tokens_per_day", 20_000_000, "Tokens of a day, over all projects; 0: no limit."),
)  # fmt: skip


def nest(values: dict[str, object]) -> dict[str, object]:
    """Return values by the names of settings as a configuration has them: by section and key."""
    found: dict[str, object] = {}
    for name, value in values.items():
        *sections, key = name.split(".")
        inner = found
        for section in sections:
            inner = inner.setdefault(section, {})  # type: ignore[assignment]
        inner[key] = value
    return found


DEFAULTS: dict[str, object] = {
    "blocks": {},
    "sources": {},
    **nest({each.name: each.default for each in SETTINGS if "<" not in each.name}),
}
# The tools of the small profile: the others can be called, and are not listed.
SMALL = (
    *("core_memory_append", "core_memory_replace", "memory_create", "memory_rethink"),
    *("memory_page_out", "archival_memory_insert", "memory_search", "memory_read"),
)
FULL = "full"
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
    """Return the settings that a repository may set: none that runs, asks or reads elsewhere."""
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
    if isinstance(hooks, dict):  # prompts are the user's, and so is what the user is told
        found["hooks"] = {
            key: value
            for key, value in hooks.items()
            if key != "notices" and (key, value) != ("team", "auto")
        }
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
