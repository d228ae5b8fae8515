"""A tidier text for a block: written by the configured model, else without duplicate lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memfs.agent.model import Model, ModelError, ModelRequest, UserPrompt
from memfs.context import consolidate
from memfs.ops import show
from memfs.store import resources
from memfs.store.blocks import Place

_FENCE = re.compile(r"\A```[a-z]*\n(.*?)\n?```\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class RethinkProposal:
    """The text of a block, and a proposed one. `by` wrote it; `version` is the block's."""

    label: str
    before: str
    after: str
    by: str
    version: int
    note: str = ""


def propose_text(place: Place, label: str, model: Model | None) -> RethinkProposal:
    """Propose a consolidated text; without a model, duplicate lines go. Raises `NotFoundError`.

    A model that cannot be asked, or whose text is empty or too long for the block, is done without.
    """
    shown = show.run(place, label)
    block = shown.block
    note = ""
    if model is not None and block.value.strip():
        try:
            after = _ask_model(model, block.label, block.value, block.limit)
        except ModelError as error:
            note = error.message
        else:
            if after and len(after) <= block.limit:
                return RethinkProposal(block.label, block.value, after, model.name, shown.version)
            note = f"{model.name} wrote nothing that fits the block"
    after = consolidate.consolidate_text(f"{block.value}\n").rstrip("\n")
    return RethinkProposal(block.label, block.value, after, "rules, no model", shown.version, note)


def _ask_model(model: Model, label: str, value: str, limit: int) -> str:
    system = resources.read_text("templates", "prompts", "consolidate.md")
    system = system.replace("{limit}", f"{limit:,}")
    answer = model.ask(ModelRequest(system, [UserPrompt(f"The block {label}:\n\n{value}")]))
    text = answer.text.strip()
    fenced = _FENCE.match(text)
    return fenced.group(1) if fenced else text
