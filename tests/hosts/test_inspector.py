"""The memory server as the MCP inspector's command line sees it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import cast

import pytest

from memfs.tools import registry
from memfs.tools.tool_context import ToolContext
from tests.hosts.installed import INSPECTOR
from tests.hosts.project import Project, mcp_entry
from tests.hosts.script import Json

pytestmark = pytest.mark.host

# One that writes, one that reads, one with a number; tests/mcp/test_server.py calls every one.
GIVEN = {
    "core_memory_append": {"label": "human", "content": "Name: Alice"},
    "memory_search": {"query": "Alice", "limit": "3"},
    "memory_read": {},
}


def inspect(project: Project, method: str, *words: str) -> Json:
    node = shutil.which("node")
    assert node, "the inspector needs node 20 or newer on the PATH"
    entry = mcp_entry()
    server = [entry.command, *entry.args, "--method", method]
    done = subprocess.run(
        [node, str(INSPECTOR.require()), "--cli", *server, *words],
        cwd=project.repo,
        env={"PATH": "/usr/bin:/bin", "HOME": str(project.home)},
        capture_output=True,
        check=True,
        timeout=60,
    )
    return cast("Json", json.loads(done.stdout))


def test_it_lists_every_tool_and_can_call_some(tmp_path: Path) -> None:
    project = Project(tmp_path)
    listed = inspect(project, "tools/list")["tools"]
    assert isinstance(listed, list)
    assert [tool["name"] for tool in listed] == [
        t.name for t in registry.offer_tools(ToolContext(str(tmp_path))).listed
    ]
    for name, given in GIVEN.items():
        words = [part for pair in given.items() for part in ("--tool-arg", "=".join(pair))]
        told = inspect(project, "tools/call", "--tool-name", name, *words)
        assert told.get("isError") is not True, (name, told)
        assert told["content"]
    assert inspect(project, "resources/list")["resources"]
    assert inspect(project, "prompts/list")["prompts"]
