"""What memfs puts into each request of an assistant: its parts, and the tokens of each."""

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memfs import hosts
from memfs.context import brief_contents, window_budget
from memfs.core import brief_layout
from memfs.core import label as labels
from memfs.core.errors import StoreError
from memfs.core.tokens import estimate
from memfs.files import outside
from memfs.hosts import settings
from memfs.hosts.base import Host
from memfs.hosts.marked_section import MARKS, TARGETS
from memfs.ops import show
from memfs.store import blocks, config, prompt_log, prompts, resources
from memfs.store.blocks import Place
from memfs.tools import catalog, registry
from memfs.tools.definition import Tool
from memfs.tools.tool_context import ToolContext

_PROMPTS = 100  # the last ones, of which the average is told
_PREFIX = "mcp__memfs__"  # most hosts put something as long before a tool's name


class RequestPart(NamedTuple):
    """One part of a request; `cut` are the tokens that are left out of it."""

    name: str
    characters: int
    tokens: int
    cut: int = 0


class RequestCost(NamedTuple):
    """What memfs puts into each request.

    `host` is the assistant's, "" for `memfs agent`. `window` are the tokens of its model's context,
    `room` those that are not kept free for an answer. `counter` names what counted. The last
    `prompts` prompts were given `given` tokens on top, all together.
    """

    host: str
    window: int
    room: int
    parts: tuple[RequestPart, ...]
    counter: str
    prompts: int = 0
    given: int = 0

    @property
    def used(self) -> int:
        return sum(part.tokens for part in self.parts)

    @property
    def left(self) -> int:
        return self.room - self.used

    @property
    def added(self) -> int:
        """The tokens that a prompt was given on average."""
        return round(self.given / self.prompts) if self.prompts else 0


def measure_tool(tool: Tool) -> int:
    """Estimate the tokens of a tool's definition, as an assistant sends it to its model."""
    return estimate(_define(tool))


def measure_request(place: Place, home: str, host: str = "", window: int = 0) -> RequestCost:
    """Measure what memfs puts into a request of a host, or of `memfs agent` with a `window`.

    A host that is not wired is measured as `memfs install` would wire it. Writes nothing. Raises
    `UsageError` for a window that is too small.
    """
    counter = window_budget.load_counter()
    parts = []
    if host:
        known = hosts.get(host)
        budget = window_budget.Budget(known.WINDOW, 0, 0)
        wiring = _find_wiring(known, home, place)
        found = _list_host_parts(place, known, *wiring)
        if known.ADDS and wiring[1]:
            parts.append(RequestPart(f"text that {known.TITLE} adds for MCP", 0, known.ADDS))
    else:
        budget = window_budget.load_budget(config.load(place), window)
        found = _list_agent_parts(place, budget)
    parts[:0] = [
        RequestPart(name, len(shown), counter.measure(shown), counter.measure(cut))
        for name, shown, cut in found
        if shown or cut
    ]
    records = [each for each in prompt_log.read(place.home, _PROMPTS) if host in ("", each.host)]
    return RequestCost(
        host,
        budget.window,
        budget.room,
        tuple(parts),
        counter.name,
        len(records),
        sum(counter.measure(each.text) for each in records if each.text),
    )


def _list_host_parts(
    place: Place, host: Host, has_hooks: bool, has_server: bool, has_plugin: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield the parts in a host's requests: name, text, and what is cut of it."""
    if has_hooks and not host.IS_SILENT:
        found = show.compose_brief(place, host.NAME, tools=has_server)
        yield from _split_brief(place, found.brief, host.NAME)
        yield "where the last session stopped", found.handed, ""
        yield "rules not saved in a block", found.rules, ""
    if has_server:
        listed = registry.offer_tools(ToolContext("", chosen=place)).listed
        if not host.IS_SILENT:
            yield f"{len(listed)} tools", "\n".join(map(_define, listed)), ""
        yield "the MCP server's instructions", catalog.INSTRUCTIONS, ""
    if has_plugin:
        yield "names of the plugin's skill and command", "\n".join(_list_skills()), ""
    for group in host.READS if place.project else ():
        for path in [TARGETS[name].path for name in group]:
            whole = outside.read(f"{place.home.top}/{path}") or ""
            section = whole.partition(MARKS[0])[2].partition(MARKS[1])[0]
            if section:
                yield f"memfs section in {path}", section, ""
                break


def _list_agent_parts(place: Place, budget: window_budget.Budget) -> Iterator[tuple[str, str, str]]:
    """Yield the parts in a request of `memfs agent`, which fits them into its window."""
    from memfs.tools import tool_budget  # with msgspec, which no host's request needs

    offered = registry.offer_tools(ToolContext("", chosen=place)).tools.values()
    tools = tool_budget.fit_tools(list(offered), budget.get_share("tools"))
    named = [tool.name for tool in tools]
    text = brief_contents.compose_within(place, budget.get_share("blocks"), tools=named)
    yield from _split_brief(place, text, "")
    yield f"{len(tools)} tools", tool_budget.format_definitions(tools), ""


def _split_brief(place: Place, brief: str, host: str) -> Iterator[tuple[str, str, str]]:
    """Yield the parts of a brief: name, text, and what is cut of it."""
    guidance = prompts.read(place, "guidance", host).strip()
    rest = brief.replace(guidance, "", 1)
    yield "instructions", guidance, ""
    for block in brief_layout.sort_blocks([each for each in blocks.load(place) if each.pinned]):
        section = brief_layout.section(block)
        shown = _clip(section, rest)
        rest = rest.replace(shown, "", 1) if shown else rest
        yield block.label, shown, section[len(shown) :]
    if place.project and not place.session:  # a session has it from its start on
        text = resources.render(config.load(place), labels.WORKING)
        scratch = blocks.make(labels.SESSION, labels.WORKING, "", text)
        yield labels.WORKING, brief_layout.section(scratch), ""
    yield "names of other blocks and tools", rest, ""


def _clip(text: str, brief: str) -> str:
    """Return the leading lines of a section that the brief has, all of them if it is whole."""
    if text in brief:
        return text
    shown = ""
    for line in text.splitlines(keepends=True):
        if shown + line not in brief:
            break
        shown += line
    return shown


def _find_wiring(host: Host, home: str, place: Place) -> tuple[bool, bool, bool]:
    """Return whether a host runs our hooks, starts our server, and has our plugin."""
    top = place.project.top if place.project else None
    hooked = bool(settings.list_hook_files(host, home, top))
    try:
        plugged = bool(settings.list_plugin_files(host, home, top))
        served = bool(settings.list_server_files(host, home, top))
    except StoreError:  # settings that cannot be read: memfs doctor says so
        plugged, served = False, True
    is_wired = hooked or served or plugged
    return hooked or plugged or not is_wired, served or plugged or not is_wired, plugged


def _define(tool: Tool) -> str:
    """Return the definition of a tool as most assistants send it."""
    named = {"name": f"{_PREFIX}{tool.name}", "description": tool.description}
    found = {**named, "input_schema": tool.schema()}
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def _list_skills() -> Iterable[str]:
    """Yield what the plugin has its host tell of its skill and command: name and description."""
    for path in ("skills/memory/SKILL.md", "commands/memfs.md"):
        head = resources.read_text("hooks", "plugin", path).split("---\n")[1]
        yield "\n".join(line for line in head.splitlines() if line.startswith(("name:", "descr")))
