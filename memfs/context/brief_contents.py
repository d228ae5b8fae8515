"""The texts of the brief, composed from the blocks of a place."""

import os
import sys

from memfs import files
from memfs.core import brief_layout
from memfs.core import label as labels
from memfs.core.block import Block
from memfs.core.brief_layout import Names
from memfs.core.settings import FULL, SMALL
from memfs.files import atomic
from memfs.store import blocks, config, prompts, resources, standing_rules
from memfs.store.blocks import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from memfs.core.brief_layout import Recalled
    from memfs.store.standing_rules import StandingRule

RULES = 1500  # UTF-16 units that standing rules take at most
_READ = ("memory_read", "core_memory_read")  # the first that is listed
_PAGE_IN, _PAGE_OUT = "memory_page_in", "memory_page_out"
# Kinds that stand under a heading of their own, and UTF-16 units that they take at most.
_APART = (("team", brief_layout.TEAMED, 3000), ("source", brief_layout.SOURCED, 1200))
_UNITS = 4  # of UTF-16 for a token, where a budget in tokens is first tried


def compose_brief(
    place: Place,
    *,
    tools: "bool | Collection[str]" = False,
    budget: int = brief_layout.BUDGET,
    host: str = "",
) -> tuple[str, dict[str, str]]:
    """Return the whole brief, and the texts of its blocks (`tier:label` to text).

    It holds guidance, pinned blocks, the names of the others, and the tools: those of the MCP
    server if the assistant has `tools`, those that are named, or the command line. `budget` is in
    UTF-16 units. The guidance is that of a `host`, where a store has such.
    """
    guidance = prompts.read(place, "guidance", host)
    found = blocks.load(place)
    texts = {labels.qualify(block.tier, block.label): block.raw for block in found}
    return brief_layout.brief(found, guidance, names(place, tools=tools), budget), texts


def unwritten_rules(place: Place, texts: "Iterable[str]") -> "list[StandingRule]":
    """Return the certain rules of users that no block of `texts` holds; none if turned off."""
    if config.load(place).get("hooks.rules") != "auto":
        return []
    known = [rule for rule in standing_rules.read(place.home) if rule.certain]
    return standing_rules.unwritten(known, texts)


def offer_rules(place: Place, rules: "Sequence[StandingRule]") -> str:
    """Return the person's notice on rules in no block, "" for none; each rule is noticed once."""
    new = standing_rules.take_untold(place.home, rules)
    if not new:
        return ""
    what = "1 rule you stated is" if len(new) == 1 else f"{len(new)} rules you stated are"
    return f"memfs: {what} not saved in a block yet (run memfs review)"


def compose_within(place: Place, room: int, *, tools: "bool | Collection[str]") -> str:
    """Return the brief in about `room` tokens; cuts are marked in it."""
    from memfs.core.tokens import estimate  # for small windows alone

    units = room * _UNITS
    while True:
        brief = compose_brief(place, tools=tools, budget=units)[0]
        if estimate(brief) <= room or units < room:
            return brief
        units = units * 9 // 10


def format_updates(
    now: dict[str, str],
    shown: dict[str, str],
    recalled: "Sequence[Recalled]",
    recall_budget: int,
    *,
    place: Place | None = None,
    tools: bool = False,
) -> str:
    """Return the blocks (`tier:label` to text) in which `now` differs, then what was recalled."""
    changed = [key for key, raw in now.items() if shown.get(key) != raw]
    gone = [key for key in shown if key not in now]
    pairs = [(_make_block(shown, key), _make_block(now, key)) for key in [*changed, *gone]]
    reminder = _format_recalled(recalled, recall_budget) if recalled else ""
    room = brief_layout.BUDGET - brief_layout.units(reminder) - 1
    changes = brief_layout.render_changes(pairs, names(place, tools=tools), room)
    return "\n".join(part for part in (changes, reminder) if part)


def _format_recalled(recalled: "Sequence[Recalled]", budget: int) -> str:
    """Return what is recalled, below it what comes from a team, and from data sources."""
    kinds = {kind for kind, _, _ in _APART}
    parts = [brief_layout.hits([hit for hit in recalled if hit.kind not in kinds], budget)]
    for kind, heading, room in _APART:
        parts.append(
            brief_layout.hits([hit for hit in recalled if hit.kind == kind], room, heading)
        )
    return "".join(parts)


def create_scratch_block(place: Place) -> None:
    """Give a session its scratch block."""
    if place.project is None or not place.session:
        return
    path = blocks.path_of(place, labels.SESSION, labels.WORKING)
    if not files.is_file(path):
        files.make_folder(os.path.dirname(path), private=True, durable=False)
        text = resources.render(config.load(place), labels.WORKING)
        atomic.write(path, text, private=True, durable=False)


def names(place: Place | None, *, tools: "bool | Collection[str]") -> Names:
    """Return the names of an assistant's tools: ours, those given, or commands; none removed."""
    if tools is False:
        return commands(program())
    removed = config.load(place).get("tools.remove") if place else None
    lacking = removed if isinstance(removed, list) else []
    shown = [name for name in (SMALL if tools is True else tools) if name not in lacking]
    line = f"Memory tools: {', '.join(shown)}" if shown else ""
    listed = set(shown)
    if place and tools is True and config.load(place).get("tools.profile") == FULL:
        listed.update({*_READ, _PAGE_IN}.difference(lacking))  # it names the most useful ones
    page_in = f"{_PAGE_OUT} with back: true" if _PAGE_OUT in listed else ""
    page_in = f"{_PAGE_IN} LABEL" if _PAGE_IN in listed else page_in
    return Names(next((name for name in _READ if name in listed), ""), line, page_in)


def commands(program: str) -> Names:
    """Return the names of the command line's tools; `program` is the command of memfs."""
    return Names(
        f"{program} show LABEL",
        f"Memory tools: {program} edit LABEL --append TEXT | --replace OLD NEW | --remove TEXT, "
        f"{program} create LABEL TEXT --description WHAT, {program} archive add TEXT, "
        f"{program} search QUERY",
        f"{program} page in LABEL",
    )


def program() -> str:
    """Return the command that starts memfs in a shell: its name if it is on PATH, else its path."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder and os.path.exists(f"{folder}/memfs"):
            return "memfs"
    beside = os.path.join(os.path.dirname(sys.executable), "memfs")
    return beside if os.path.exists(beside) else "memfs"


def _make_block(texts: dict[str, str], key: str) -> Block | None:
    raw = texts.get(key)
    tier, _, label = key.partition(":")
    return None if raw is None else blocks.make(tier, label, "", raw)
