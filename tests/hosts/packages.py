"""The packages that assistants and registries take, made from one source.

    python -m tests.hosts.packages

The source is `pyproject.toml`, what is below, the hooks in `hooks/HOST/hooks.json`, and the skill in
`skills/`. The repository itself is the package of Agent Plugins 1.0 (`plugin.json`, `mcp.json`,
`skills/`, and the hooks of Copilot and VS Code in `com.github.copilot/`) and the extension for Gemini
CLI (`gemini-extension.json`, `hooks/hooks.json`, `skills/`). `hooks/plugin` is the plugin of Claude
Code, Codex and Copilot CLI (`.claude-plugin/`, `hooks/`), and that of Cursor (`.cursor-plugin/`, with
hooks in `com.cursor/`). It has no `plugin.json`: beside one, Codex runs no hooks (0.169).
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import memfs
from memfs.core.parts import DISTRIBUTION
from memfs.hosts import claude, codex, copilot
from memfs.hosts.base import CLAUDE_KINDS, TOOL_EVENTS
from tests.hosts.script import Json

ROOT: Final = Path(__file__).parents[2]
PLUGIN: Final = "hooks/plugin"
_PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_HOME: Final = _PROJECT["urls"]["Homepage"]
_OWNER, _REPOSITORY = _HOME.split("/")[-2:]
_SPECIFICATION: Final = "https://agent-plugins.org/schemas/1.0.0"
_REGISTRY: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_WIDTH: Final = 190
_AUTHOR: Final = {"name": "memfs developers"}
_SHORT: Final = (
    "Memory for coding assistants: plain files in your repository, searched with past sessions"
)
_LONG: Final = (
    "Memory that is plain files in your repository: in every prompt, edited with tools, searched "
    "with your past sessions"
)
_HOOKS: Final = "The brief at each start, what is new at each prompt, and what was said into recall"
_ABOUT: Final[Json] = {"name": "memfs", "version": memfs.__version__, "description": _LONG}
_MORE: Final[Json] = {
    "license": _PROJECT["license"],
    "keywords": ["memory", "memgpt", "letta", "context", "recall"],
}
_LINKS: Final[Json] = {"homepage": _PROJECT["urls"]["Documentation"], "repository": _HOME}
_SERVER: Final[Json] = {"command": "memfs", "args": ["mcp"]}


def make() -> dict[str, str]:
    """Return the text of each file that is made, by its path in the repository."""
    files = {**_make_manifests(), **_make_servers(), **_make_hooks()}
    skill = "skills/memory/SKILL.md"
    made = {path: f"{_lay_out(value)}\n" for path, value in files.items()}
    return {**made, f"{PLUGIN}/{skill}": (ROOT / skill).read_text(encoding="utf-8")}


def _make_manifests() -> dict[str, Json]:
    market: Json = {"name": "memfs", "owner": _AUTHOR}
    about = {
        "description": "Memory for coding assistants that is plain files",
        "version": memfs.__version__,
    }
    return {
        ".claude-plugin/marketplace.json": {
            **market,
            "metadata": about,
            "plugins": [{"name": "memfs", "source": f"./{PLUGIN}", **_ABOUT, **_MORE}],
        },
        ".cursor-plugin/marketplace.json": {
            **market,
            "plugins": [{"name": "memfs", "source": PLUGIN, "description": _LONG}],
        },
        "plugin.json": {
            "$schema": f"{_SPECIFICATION}/plugin.schema.json",
            **_ABOUT,
            "author": _AUTHOR,
            **_LINKS,
            **_MORE,
        },
        f"{PLUGIN}/.claude-plugin/plugin.json": {**_ABOUT, "author": _AUTHOR, **_MORE},
        f"{PLUGIN}/.cursor-plugin/plugin.json": {
            **_ABOUT,
            "displayName": "memfs",
            "author": _AUTHOR,
            **_LINKS,
            **_MORE,
            "skills": "./skills/",
            "hooks": "./com.cursor/hooks.json",
            "mcpServers": {
                "memfs": {"command": "memfs", "args": ["mcp", "--folder", "${workspaceFolder}"]}
            },
        },
        "gemini-extension.json": {**_ABOUT, "mcpServers": {"memfs": _SERVER}},
    }


def _make_servers() -> dict[str, Json]:
    package = {
        "registryType": "pypi",
        "identifier": DISTRIBUTION,
        "version": memfs.__version__,
        "runtimeHint": "uvx",
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "transport": {"type": "stdio"},
    }
    return {
        "mcp.json": {
            "$schema": f"{_SPECIFICATION}/mcp.schema.json",
            "mcpServers": {"memfs": {"type": "stdio", **_SERVER}},
        },
        f"{PLUGIN}/.mcp.json": {"mcpServers": {"memfs": {**_SERVER, "alwaysLoad": True}}},
        "server.json": {
            "$schema": _REGISTRY,
            "name": f"io.github.{_OWNER}/{_REPOSITORY}",
            "title": "memfs",
            "description": _SHORT,
            "repository": {"url": _HOME, "source": "github"},
            "version": memfs.__version__,
            "packages": [package],
        },
    }


def _make_hooks() -> dict[str, Json]:
    # Claude Code, Codex and Copilot run the same hooks; of Codex's they have the shortest times.
    matchers = {
        name: "|".join(
            dict.fromkeys(
                tool
                for host in (claude.HOST, codex.HOST, copilot.HOST)
                for tool in host.TOOLS.list_wired(kind, host.TELLS)
            )
        )
        for name, kind in CLAUDE_KINDS.items()
        if kind in TOOL_EVENTS
    }
    inside = "${PLUGIN_ROOT}/" + PLUGIN
    return {
        "com.github.copilot/hooks/hooks.json": {
            "hooks": _list_hooks("codex", inside, "auto mcp", matchers)
        },
        f"{PLUGIN}/hooks/hooks.json": {
            "description": _HOOKS,
            "hooks": _list_hooks("codex", "${CLAUDE_PLUGIN_ROOT}", "auto mcp", matchers),
        },
        f"{PLUGIN}/com.cursor/hooks.json": {
            "version": 1,
            "hooks": _list_hooks("cursor", "${CURSOR_PLUGIN_ROOT}", "auto mcp"),
        },
        "hooks/hooks.json": {
            "description": f"{_HOOKS}: of the extension for Gemini CLI",
            "hooks": _list_hooks("gemini", "${extensionPath}/" + PLUGIN, "gemini"),
        },
    }


def _list_hooks(
    host: str, root: str, words: str, matchers: Mapping[str, str] | None = None
) -> object:
    """Return a host's hooks with the plugin's launcher; `matchers` are of events, by their names."""
    text = (ROOT / f"hooks/{host}/hooks.json").read_text(encoding="utf-8")
    command = json.dumps(f'sh "{root}/hook" {words}')
    found: dict[str, list[Json]] = json.loads(text.replace('"{hook}"', command))["hooks"]
    return {
        event: [
            {**each, "matcher": matchers[event]} if matchers and "matcher" in each else each
            for each in groups
        ]
        for event, groups in found.items()
    }


def _lay_out(value: object, before: str = "") -> str:
    """Return JSON as a person would write it: what fits into a line is in one."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or (before and len(before) + len(flat) <= _WIDTH):
        return flat
    inner = f"{before}  "
    if isinstance(value, list):
        parts, ends = [_lay_out(each, inner) for each in value], "[]"
    else:
        parts = [f"{json.dumps(key)}: {_lay_out(each, inner)}" for key, each in value.items()]
        ends = "{}"
    return f"{ends[0]}\n" + ",\n".join(f"{inner}{part}" for part in parts) + f"\n{before}{ends[1]}"


if __name__ == "__main__":
    for path, text in make().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")
