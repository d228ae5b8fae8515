"""All tools: those of memfs and of plugins, as changed by the configuration.

A plugin adds tools by an entry point of the group `memfs.tools`: a `Tool`, or a list of them.
"""

import os
import sys

from memfs import files
from memfs.core import settings
from memfs.core.errors import MemfsError
from memfs.core.settings import Settings
from memfs.store import config, resources
from memfs.tools import catalog
from memfs.tools.definition import Tool
from memfs.tools.tool_context import ToolContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

GROUP = "memfs.tools"
_ENTRIES, _LARGEST = "entry_points.txt", 64 << 10  # bytes


class ToolOffer:
    """The tools that can be called, by name, and the problems of others that were configured.

    `listed` are those whose definitions a model is given.
    """

    __slots__ = ("listed", "problems", "tools")

    def __init__(
        self, tools: dict[str, Tool], listed: list[Tool], problems: tuple[str, ...]
    ) -> None:
        self.tools = tools
        self.listed = listed
        self.problems = problems


def built_in() -> dict[str, Tool]:
    """Return the tools of memfs by name, with their descriptions."""
    folder = resources.path("templates", "tools")
    return {
        tool.name: tool.with_changes(
            description=(files.read(f"{folder}/{tool.name}.md") or "").strip()
        )
        for tool in catalog.BUILT_IN
    }


def offer_tools(context: ToolContext) -> ToolOffer:
    """Return the tools that a model is offered for a context.

    A plugin's tool takes the name of a built-in one only where `tools.remove` names it. In the
    small profile, the tools of memfs beside `settings.SMALL` are listed where the configuration
    describes them.
    """
    problems: list[str] = []
    found = built_in()
    others = set(found).difference(settings.SMALL)
    configured = _load_settings(context)
    listed = configured.get("tools.remove") if configured else None
    removed = [str(name) for name in listed] if isinstance(listed, list) else []
    successors: dict[str, Tool] = {}
    for name, tool in _load_plugins(problems):
        if name in successors or (name in found and name not in removed):
            problems.append(f"a plugin's tool '{name}' is not used: another tool has its name")
        else:
            (successors if name in found else found)[name] = tool
    if configured is not None:
        _add(found, _get_mapping(configured, "tools.add"), problems)
        for name in removed:
            if found.pop(name, None) is None:
                problems.append(f"tools.remove: unknown tool {name!r}")
        found |= successors
        others.difference_update(successors)
        for name, text in _get_mapping(configured, "tools.describe").items():
            if name in found and isinstance(text, str) and text.strip():
                found[name] = found[name].with_changes(description=text)
                others.discard(name)
            elif name not in removed:
                wrong = "no description is given" if name in found else "unknown tool"
                problems.append(f"tools.describe.{name}: {wrong}")
        if configured.get("tools.profile") == settings.FULL:
            others.clear()
    shown = [tool for name, tool in found.items() if name not in others]
    return ToolOffer(found, shown, tuple(problems))


def _load_settings(context: ToolContext) -> Settings | None:
    try:
        place = context.find()
    except MemfsError:  # a damaged store: calls report it
        return None
    return config.load(place) if place else None


def _get_mapping(settings: Settings, name: str) -> dict[str, object]:
    value = settings.get(name)
    return {str(key): each for key, each in value.items()} if isinstance(value, dict) else {}


def _add(found: dict[str, Tool], added: dict[str, object], problems: list[str]) -> None:
    """Add tools that are another one with fixed arguments: `{tool, description, with}`."""
    for name, each in added.items():
        base = found.get(str(each.get("tool"))) if isinstance(each, dict) else None
        if base is None or not isinstance(each, dict) or name in found:
            problems.append(
                f"tools.add.{name}: needs an unused name, and an existing tool as 'tool'"
            )
            continue
        given = each.get("with") or {}
        fixed = _check_fixed(base, given)
        if isinstance(fixed, str):
            problems.append(f"tools.add.{name}: {fixed}")
            continue
        description = str(each.get("description") or base.description)
        found[name] = base.with_changes(name=name, description=description, fixed=fixed)


def _check_fixed(base: Tool, given: object) -> dict[str, object] | str:
    """Return the fixed arguments of a tool, checked, or an error message."""
    if not isinstance(given, dict):
        return "'with' must be a mapping of arguments"
    from memfs.tools.arguments import check_arguments  # with msgspec, for what few configure

    kept = tuple(each for each in base.parameters if each.name in given)
    checked = check_arguments(base.with_changes(parameters=kept, fixed={}), given)
    return checked if isinstance(checked, str) else {**base.fixed, **checked}


def _load_plugins(problems: list[str]) -> "Iterator[tuple[str, Tool]]":
    """Yield the tools of plugins; one that cannot be loaded is a problem, and left out."""
    if not _has_plugins():
        return
    from importlib.metadata import entry_points  # takes longer than all else of a list

    for entry in entry_points(group=GROUP):
        try:
            loaded = entry.load()
            several = loaded if isinstance(loaded, (list, tuple)) else [loaded]
            tools = [each for each in several if isinstance(each, Tool)]
        except Exception as error:  # noqa: BLE001 - other people's code
            problems.append(f"plugin '{entry.name}' cannot be loaded: {error}")
            continue
        if len(tools) < len(several):
            problems.append(f"plugin '{entry.name}' is not a memfs.tools.definition.Tool")
        yield from ((tool.name, tool) for tool in tools)


def _has_plugins() -> bool:
    """Tell whether an installed package names our group among its entry points."""
    mark = f"[{GROUP}]".encode()
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:  # an archive, or a folder that is not there
            continue
        for name in names:
            if name.endswith(("-info", ".egg")) and mark in _read_entries(f"{folder}/{name}"):
                return True
    return False


def _read_entries(folder: str) -> bytes:
    try:
        handle = os.open(f"{folder}/{_ENTRIES}", os.O_RDONLY)  # faster than a file object
    except OSError:
        return b""
    try:
        return os.read(handle, _LARGEST)
    finally:
        os.close(handle)
