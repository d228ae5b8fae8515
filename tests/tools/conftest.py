from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.core.records import Origin
from memfs.store.blocks import Place
from memfs.tools import calls, registry
from memfs.tools.calls import Result, ToolCall
from memfs.tools.tool_context import ToolContext

TOOLS = registry.built_in()
Do = Callable[..., Result]


@pytest.fixture
def context(place: Place, repo: Path) -> ToolContext:
    return ToolContext(str(repo), Origin("agent"))


@pytest.fixture
def do(context: ToolContext) -> Do:
    """Do a call of a built-in tool."""

    def run(tool: str, /, **given: object) -> Result:
        return calls.run(context, TOOLS, ToolCall(tool, given))

    return run
