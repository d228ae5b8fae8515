"""Messages to the MCP server, and the arguments of its tools and hooks."""

import json

from memfs.mcp import messages, stdio
from memfs.tools import calls, registry
from memfs.tools.tool_context import ToolContext
from tests.e2e import ways
from tests.fuzz.running import Case, Target
from tests.fuzz.world import World


def begin(world: World) -> Target:
    context = ToolContext(str(world.repo))
    tools = registry.offer_tools(context).tools
    payload = {
        "host": "claude",
        "session_id": "s1",
        "hook_event_name": "UserPromptSubmit",
        "cwd": str(world.repo),
        "prompt": ways.PROMPT,
    }

    def run(case: Case) -> None:
        try:
            message = messages.parse(case.data)
        except messages.ProtocolError as error:
            json.loads(messages.encode(error.format(error.ident)))
            return
        params = message.params if message else {}
        name, given = params.get("name"), params.get("arguments")
        if name == stdio.TOOL and isinstance(given, dict):
            stdio.answer_hook(given)
        elif isinstance(name, str):
            result = calls.run(context, tools, calls.ToolCall(name, given))
            assert isinstance(result.text, str)

    asked = [
        ("core_memory_append", {"label": "rules", "content": "x"}),
        ("core_memory_replace", {"label": "rules", "old_content": "plain", "new_content": "x"}),
        ("memory_create", {"label": "made", "description": "d", "limit": 100}),
        ("memory_insert", {"label": "rules", "line": 1, "content": "x"}),
        ("archival_memory_search", {"query": "gophers", "tags": ["a"], "limit": 3}),
        ("conversation_search_date", {"start_date": "2026-01-01", "end_date": "2026-12-31"}),
        ("memory", {"command": "view", "path": "/memories/rules.md", "view_range": [1, 2]}),
        ("memory_status", {}),
        (stdio.TOOL, payload),
    ]
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": n, "arguments": a}}
        for n, a in asked
    ]
    lines.append(
        {"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {"capabilities": {}}}
    )
    return Target([Case("line", json.dumps(each).encode()) for each in lines], run)
