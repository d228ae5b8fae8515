"""All settings, with types, defaults and what they do. Hot path."""

from memfs.core.block import DEFAULT_LIMIT

NAME, HOLD = "name", "hold"
BUNDLED, NONE, RELATIVE, FOLDER, HUB = "bundled", "none", "relative", "folder", "hub"

DEFAULT_CHUNK_SIZE, DEFAULT_OVERLAP = 1500, 150  # characters of a chunk of a source


class Setting:
    """One setting: its name, default, the values that it may have, and what it does.

    `values` is what a person is told ("off or auto"; "a number" stands for any number); "" where
    the type of the default says it. `<label>` and `<name>` stand for names.
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
    Setting("enabled", True, "`false`, in your own or a project's configuration or in "
            "`MEMFS_ENABLED`, turns off hooks, tools and the service; memfs commands still work.",
            "true, false or off"),
    Setting("max_blocks", 10, "Maximum number of pinned blocks.", "1 or more"),
    Setting("blocks.<label>.limit", DEFAULT_LIMIT, "Maximum number of characters in a new block "
            "with that label.", "1 or more"),
    Setting("blocks.<label>.max_tokens", 0, "Maximum number of tokens in a new block with that "
            "label; 0: no limit."),
    Setting("blocks.<label>.default_content", "", "The text that a new block with that label "
            "starts with."),
    Setting("blocks.<label>.clear_on_session_end", False, "Clear the session's block with that "
            "label when the session ends."),
    Setting("hooks.recall", "auto", "Maximum number of items recalled for a prompt: `off`, "
            "`auto` (five: sessions and entries) or a number.", "off, auto or a number"),
    Setting("hooks.sources", "auto", "Whether a chunk of a data source is also recalled for a "
            "prompt.", _AUTO),
    Setting("hooks.team", "auto", "Whether memfs sends prompts as queries to the server of a team "
            "that the project joined; a project's configuration may only turn this off.", _AUTO),
    Setting("hooks.rules", "auto", "Whether the brief shows rules you stated that are not saved "
            "in a block. `memfs review` lists them either way.", _AUTO),
    Setting("hooks.handoff", "auto", "Whether a new session gets a note about how the project's "
            "last session ended. `memfs last --session` shows the note either way.", _AUTO),
    Setting("hooks.files", "auto", "What is shown to the model when it reads or edits a file: "
            "`rules` (blocks with matching `paths`), `auto` (also text of past sessions) or `off`.",
            "auto, rules or off"),
    Setting("hooks.notices", ["start", "recall", "edit"], "Notices on your screen: the size of the "
            "memory (`start`), what was recalled for a prompt (`recall`), what was saved (`edit`); "
            "`[]` for no notices. Only in your own configuration."),
    Setting("service.mode", "auto", "Whether the service starts when it is needed; only in your "
            "own configuration.", _AUTO),
    Setting("service.idle", 30, "Minutes without a request after which the service stops."),
    Setting("service.pause", "auto", "Whether large jobs wait up to ten minutes while the "
            "machine is on battery or busy (a load above twice the number of processors); only in "
            "your own configuration.", _AUTO),
    Setting("embedding", BUNDLED, "The model for search by meaning: see Models."),
    Setting("tools.profile", "small", "The tools that a model is shown: `small` for eight of them, "
            "`full` for all (short form: `tools: full`). Tools that are not shown can still be "
            "called.", "small or full"),
    Setting("tools.remove", [], "Tools to remove; a plugin's tools may then use their names."),
    Setting("tools.describe", {}, "Your own descriptions of tools, by the tool's name."),
    Setting("tools.add", {}, "New tools that call an existing tool with fixed arguments: "
            '`note_decision: {tool: core_memory_append, description: "…", with: {label: '
            "decisions}}`."),
    Setting("git.commit", "off", "When to commit memory files: `off` (never), at each `edit`, or "
            "at the end of a `session`.", "off, edit or session"),
    Setting("git.history", "auto", "Whether searches and prompts use the project's commits.",
            _AUTO),
    Setting("git.protected", ["main", "master"], "Branches that memfs never commits to (patterns "
            "like `release/*`); `[]` allows all branches."),
    Setting("sync.on_edit", False, "Update the memfs sections of `AGENTS.md` and similar files "
            "with each edit of a project block."),
    Setting("trust.pulled", NAME, "When changes by others are applied: with `name` at once (the "
            "next session lists them), with `hold` only after `memfs trust`.", "name or hold"),
    Setting("context.max_tokens", 32768, "The context window of `memfs agent`'s model, in tokens."),
    Setting("context.reserve_for_response", 4096, "Tokens of the context window reserved for an "
            "answer, at most a third of it."),
    Setting("context.reserve_for_tools", 512, "Tokens of the context window reserved for tool "
            "calls, at most an eighth of it."),
    Setting("context.message_history_limit", 0, "Maximum number of messages in the context "
            "window; 0: as many as fit."),
    Setting("paging.warn_threshold", 0.7, "Warn the model when its messages fill this share of "
            "the space for messages."),
    Setting("paging.page_out_threshold", 0.9, "At a compaction, page out parts of the scratch "
            "block if this share of the block is filled."),
    Setting("paging.min_relevance_to_keep", 0.3, "Parts of a block with a relevance below this "
            "value count as unrelated to the task."),
    Setting("paging.summarize_threshold", 500, "Parts of a block with this many tokens or more are "
            "shortened when they are paged out."),
    Setting("paging.stale_days", 30, "Days without an edit or a read after which a block is stale; "
            "0: never."),
    Setting("archival.auto_archive_importance", 7, "Parts of a block with this importance (1 to "
            "10) or more are archived when they are paged out."),
    Setting("archival.search_top_k", 5, "Maximum number of hits on a page of `memfs search` or in "
            "a model's archive search, and of parts that one page-in restores.", "1 or more"),
    Setting("sources.<name>.paths", [], "Folders and files that searches include: see Sources."),
    Setting("sources.<name>.glob", [], "Patterns of the source's files, as in `.gitignore`."),
    Setting("sources.<name>.exclude", [], "Patterns of files that the source leaves out."),
    Setting("sources.<name>.chunk_size", DEFAULT_CHUNK_SIZE, "Maximum number of characters "
            "in a chunk of the source (200 to 20,000), without its headings."),
    Setting("sources.<name>.overlap", DEFAULT_OVERLAP, "Number of characters that a chunk "
            "repeats from the previous chunk in the same section."),
    Setting("memory_blocks", {}, "Kinds of memory by name, each `{type, capacity, config}`; if "
            "empty, all four kinds: see Kinds of memory. A repository may name only these four; "
            "plugins and a model for facts must be in your own configuration. `memfs doctor`, "
            "`status` and `recall` list refused keys."),
    Setting("orchestrator.default_priority", [0.4, 0.3, 0.1, 0.2], "Shares of the context for the "
            "kinds of memory, in their order."),
    Setting("orchestrator.context_limit", 4000, "Maximum number of tokens in a context from "
            "`memfs recall`."),
    Setting("orchestrator.compression", "smart", "How texts that do not fit are shortened: `smart` "
            "keeps their best sentences, `aggressive` their beginnings.", "smart or aggressive"),
    Setting("review.mode", "off", "How sessions are reviewed: see Reviews. A repository cannot set "
            "`background`.", "off, nudge, inline or background"),
    Setting("review.min_messages", 5, "The number of prompts after which a session is reviewed."),
    Setting("review.apply", False, "Accept proposals of `memfs review reflect` at once; only in "
            "your own configuration."),
    Setting("team.id", "", "The id of this project's team, a hint for `memfs team join`. The "
            "address of a server is never read from a configuration."),
    Setting("llm.endpoint", "", "The address of an OpenAI-compatible endpoint with a model that "
            "memfs may ask; only in your own configuration, not in a repository or a variable."),
    Setting("llm.model", "", "The name of the model at the endpoint."),
    Setting("llm.key_env", "", "The environment variable with the endpoint's API key."),
    Setting("llm.command", "", "A command to ask instead of an endpoint: it reads a prompt on "
            "stdin and prints the answer (`claude -p`, `codex exec -`, `ollama run qwen3`)."),
    Setting("llm.timeout", 120, "Timeout for an answer of the model, in seconds."),
    Setting("llm.max_steps", 16, "Maximum number of model answers in one turn."),
    Setting("llm.max_retries", 3, "Maximum number of failed model answers in a row."),
    Setting("llm.calls_per_run", 2000, "Maximum number of model calls in one run; 0: no limit."),
    Setting("llm.tokens_per_run", 10_000_000, "Maximum number of tokens in one run; 0: no limit."),
    Setting("llm.calls_per_day", 5000, "Maximum number of model calls per day, in all projects; "
            "0: no limit."),
    Setting("llm.tokens_per_day", 20_000_000, "Maximum number of tokens per day, in all projects; "
            "0: no limit."),
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
            out.append(
                f"memory_blocks.{name} is not used: a plugin can be set only in your own "
                "configuration"
            )
        elif _without_model(kind) != kind:
            model = kind["config"]["extraction_model"]
            where = f"memory_blocks.{name}.config.extraction_model: {model}"
            out.append(f"{where} is not used: a model can be set only in your own configuration")
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
