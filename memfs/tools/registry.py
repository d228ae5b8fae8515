"""All tools: those of memfs and of plugins, as changed by the configuration.

A plugin adds tools by an entry point of the group `memfs.tools`: a `Tool`, or a list of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import entry_points

from memfs.core.errors import MemfsError
from memfs.core.settings import Settings
from memfs.store import config, resources
from memfs.tools import catalog
from memfs.tools.definition import Tool
from memfs.tools.tool_context import ToolContext

GROUP = "memfs.tools"


@dataclass(frozen=True)
class ToolOffer:
    """The tools a model is offered, by name, and the problems of others that were configured."""

    tools: dict[str, Tool]
    problems: tuple[str, ...] = ()


def built_in() -> dict[str, Tool]:
    """Return the tools of memfs by name, with their descriptions."""
    return {
        tool.name: replace(
            tool, description=resources.read_text("templates", "tools", f"{tool.name}.md")
        )
        for tool in catalog.BUILT_IN
    }


def offer_tools(context: ToolContext) -> ToolOffer:
    """Return the tools that a model is offered for a context.

    A plugin's tool takes the name of a built-in one only where `tools.remove` names it.
    """
    problems: list[str] = []
    found = built_in()
    settings = _load_settings(context)
    listed = settings.get("tools.remove") if settings else None
    removed = [str(name) for name in listed] if isinstance(listed, list) else []
    successors: dict[str, Tool] = {}
    for name, tool in _load_plugins(problems):
        if name in successors or (name in found and name not in removed):
            problems.append(f"the tool {name} of a plugin has the name of another")
        else:
            (successors if name in found else found)[name] = tool
    if settings is not None:
        _add(found, _get_mapping(settings, "tools.add"), problems)
        for name in removed:
            if found.pop(name, None) is None:
                problems.append(f"tools.remove: there is no tool {name!r}")
        found |= successors
        for name, text in _get_mapping(settings, "tools.describe").items():
            if name in found and isinstance(text, str) and text.strip():
                found[name] = replace(found[name], description=text)
            elif name not in removed:
                problems.append(f"tools.describe.{name}: no such tool, or no text")
    return ToolOffer(found, tuple(problems))


def _load_settings(context: ToolContext) -> Settings | None:
    try:
        return config.load(context.place())
    except MemfsError:  # no store yet: nothing is configured
        return None


def _get_mapping(settings: Settings, name: str) -> dict[str, object]:
    value = settings.get(name)
    return {str(key): each for key, each in value.items()} if isinstance(value, dict) else {}


def _add(found: dict[str, Tool], added: dict[str, object], problems: list[str]) -> None:
    """Add tools that are another one with fixed arguments: `{tool, description, with}`."""
    for name, each in added.items():
        base = found.get(str(each.get("tool"))) if isinstance(each, dict) else None
        if base is None or not isinstance(each, dict) or name in found:
            problems.append(f"tools.add.{name}: needs a name of its own and the name of a `tool`")
            continue
        given = each.get("with") or {}
        fixed = _check_fixed(base, given)
        if isinstance(fixed, str):
            problems.append(f"tools.add.{name}: {fixed}")
            continue
        description = str(each.get("description") or base.description)
        found[name] = replace(base, name=name, description=description, fixed=fixed)


def _check_fixed(base: Tool, given: object) -> dict[str, object] | str:
    """Return the fixed arguments of a tool, checked, or an error message."""
    if not isinstance(given, dict):
        return "`with` has to be a mapping of arguments"
    kept = tuple(each for each in base.parameters if each.name in given)
    checked = replace(base, parameters=kept, fixed={}).check(given)
    return checked if isinstance(checked, str) else {**base.fixed, **checked}


def _load_plugins(problems: list[str]) -> Iterator[tuple[str, Tool]]:
    """Yield the tools of plugins; one that cannot be loaded is a problem, and left out."""
    for entry in entry_points(group=GROUP):
        try:
            loaded = entry.load()
            several = loaded if isinstance(loaded, (list, tuple)) else [loaded]
            tools = [each for each in several if isinstance(each, Tool)]
        except Exception as error:  # noqa: BLE001 - other people's code
            problems.append(f"the plugin {entry.name} cannot be loaded: {error}")
            continue
        if len(tools) < len(several):
            problems.append(f"the plugin {entry.name} is no memfs.tools.definition.Tool")
        yield from ((tool.name, tool) for tool in tools)
