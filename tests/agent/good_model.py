"""A model that manages memory well: it makes the calls of `good_model.yaml`."""

from pathlib import Path

from ruamel.yaml import YAML

from memfs.agent import conversations
from tests.agent.scripted_endpoint import Asked, Say, Tool

CALLS = YAML(typ="safe").load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
_NAMES = {each.turns[0]: each.name for each in conversations.load()}


def append(label: str, content: str) -> Tool:
    return Tool("core_memory_append", {"label": label, "content": content})


def answer(asked: Asked) -> Say:
    """Make the calls that are due at this step, then say something."""
    here = [_NAMES[asked.said[0]], asked.turn, asked.step]
    due = tuple(Tool(tool, given) for *where, tool, given in CALLS if where == here)
    return Say("", due) if due else Say("Done.")
