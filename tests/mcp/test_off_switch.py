"""Where memory is turned off, a real MCP server has nothing to offer."""

from __future__ import annotations

from pathlib import Path

from memfs.store.blocks import Place
from tests.mcp.test_server import client, run


async def list_names(repo: Path) -> list[str]:
    async with client(repo) as server:
        return [tool.name for tool in (await server.list_tools()).tools]


def test_no_tool_is_listed_until_memory_is_on_again(place: Place, repo: Path) -> None:
    assert place.project
    path = Path(place.project.root, "config.yaml")

    async def test() -> None:
        path.write_text("memfs: 1\nenabled: false\n")
        assert await list_names(repo) == []
        path.write_text("memfs: 1\n")
        assert "core_memory_append" in await list_names(repo)

    run(test)
