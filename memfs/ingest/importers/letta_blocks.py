"""Blocks as Letta has them: their values, and the names of those that several agents have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from memfs.core import label as labels
from memfs.core.block import DEFAULT_LIMIT
from memfs.hosts.jsonl import tags
from memfs.ingest.importers.items import ToolBlock

INJECTED = tags("system-reminder", "system-alert")  # what its programs put before what was said
PINNED = "system/"  # the folder of what is always in the prompt
DERIVED = f"{PINNED}memory_filesystem"  # a list of the others, which its program writes
GENERATED = "which its program makes of the others"
NO_MEMORY = "which are no memory"
_HUMAN = "human"
_LARGEST = 10**15  # a larger limit is a mistake


def make_block(
    label: str,
    value: str,
    *,
    pinned: bool,
    limit: object = 0,
    read_only: object = False,
    description: str = "",
    tags: Iterable[str] = (),
    head: str = "",
    own: bool = False,
) -> ToolBlock:
    """Make a block that loses nothing; what is about the user is for their own store.

    One that is over its limit, or is always in the prompt and has none, gets its size as limit.
    """
    most = limit if isinstance(limit, int) and not isinstance(limit, bool) else 0
    most = most if 0 < most < _LARGEST else 0
    if most or (pinned and len(value) > DEFAULT_LIMIT):
        most = max(most, len(value))
    name = labels.normalise(label)
    return ToolBlock(
        label=label,
        noun="block",
        text=value,
        description=description,
        limit=most,
        read_only=read_only is True,
        pinned=pinned,
        tags=tuple(tags),
        head=head,
        own=own,
        private=name == _HUMAN or name.startswith(f"{_HUMAN}/"),
    )


def name_blocks(found: Iterable[tuple[str, ToolBlock]]) -> Iterator[ToolBlock]:
    """Yield the blocks of (agent, block) once; one whose label others have is named by its agent.

    The same block of several agents is one, and keeps its label.
    """
    blocks: dict[ToolBlock, str] = {}
    for agent, block in found:
        blocks.setdefault(block, agent)
    agents: dict[str, set[str]] = {}
    for block, agent in blocks.items():
        if agent:
            agents.setdefault(labels.normalise(block.label), set()).add(agent)
    for block, agent in blocks.items():
        shared = agent and len(agents[labels.normalise(block.label)]) > 1
        yield replace(block, label=f"{agent}/{block.label}") if shared else block
