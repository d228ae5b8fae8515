"""The memory server in the real assistants: what each offers, calls, is told, and what is kept.

Each is wired by hand, in its own configuration, and then as `memfs install` does it. What it needs
so that an edit is made without a click in a headless run is what `wire` and `args` say beyond the
server itself.
"""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, cast

import pytest

from memfs.core import settings
from memfs.tools import registry
from memfs.tools.tool_context import ToolContext
from tests.hosts.codex_cli import CodexCli
from tests.hosts.copilot_cli import CopilotCli
from tests.hosts.gemini_cli import GeminiCli
from tests.hosts.installed import INSPECTOR
from tests.hosts.opencode_cli import OpencodeCli
from tests.hosts.program import Program
from tests.hosts.project import McpEntry, Project, mcp_entry
from tests.hosts.script import Json
from tests.hosts.scripted_model import ScriptedModel, ToolUse, results, tool_names

pytestmark = pytest.mark.host


class Host(NamedTuple):
    """An assistant: what starts it, how it is wired, and what it calls our tools.

    ``tells_session``: whether it tells its servers which session asks.
    """

    name: str
    program: type[Program]
    wire: Callable[[Project, McpEntry], None]
    prefix: str
    args: tuple[str, ...] = ()
    tells_session: bool = False

    def run(self, project: Project, model: ScriptedModel, *args: str) -> str:
        """Answer one prompt in a new session; return what was printed."""
        with self.program(project.home, project.repo, model.url) as program:
            done = program.run("go on", *args)
            assert done.code == 0, done.stderr
            return done.stdout

    def call(self, tool: str, **given: object) -> ToolUse:
        return ToolUse(self.prefix + tool, given)


def write(path: Path, config: Json) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(config))


def wire_codex(project: Project, entry: McpEntry) -> None:
    """Its approvals go by the tools' annotations: what destroys nothing is done."""
    config = project.home / ".codex/config.toml"
    config.parent.mkdir()
    config.write_text(
        f"[mcp_servers.memfs]\ncommand = {json.dumps(entry.command)}\nargs = {entry.args}\n"
    )


def wire_gemini(project: Project, entry: McpEntry, *, trust: bool = True) -> None:
    """Without `trust` (or `--approval-mode yolo`) a headless run does not offer the tools."""
    server = {"command": entry.command, "args": entry.args, "trust": trust}
    write(project.repo / ".gemini/settings.json", {"mcpServers": {"memfs": server}})


def wire_copilot(project: Project, entry: McpEntry) -> None:
    """Whether a server's tools are called without a click is said when it is started."""
    server = {"type": "local", "command": entry.command, "args": entry.args, "tools": ["*"]}
    write(project.home / ".copilot/mcp-config.json", {"mcpServers": {"memfs": server}})


def wire_opencode(project: Project, entry: McpEntry) -> None:
    """Tools of servers are allowed by default."""
    server = {"type": "local", "command": [entry.command, *entry.args]}
    write(project.repo / "opencode.json", {"mcp": {"memfs": server}})


CODEX = Host("codex", CodexCli, wire_codex, "mcp__memfs__", tells_session=True)
GEMINI = Host("gemini", GeminiCli, wire_gemini, "mcp_memfs_")
COPILOT = Host(
    "copilot", CopilotCli, wire_copilot, "memfs-", ("--allow-tool", "memfs"), tells_session=True
)
OPENCODE = Host("opencode", OpencodeCli, wire_opencode, "memfs_")
HOSTS = (CODEX, GEMINI, COPILOT, OPENCODE)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def given_back(request: Json) -> str:
    return "\n".join(results(request))


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_two_sessions_edit_a_block_and_see_what_the_other_wrote(
    project: Project, host: Host
) -> None:
    host.wire(project, mcp_entry())
    teal = host.call("core_memory_append", label="human", content="Favourite colour: teal")
    tabs = host.call("core_memory_append", label="human", content="Indents with tabs")
    read = host.call("memory_read", id="human")
    with ScriptedModel([teal, "Noted.", tabs, read, "Noted, too."]) as model:
        assert "Noted." in host.run(project, model, *host.args)
        first, after = model.requests
        assert {host.prefix + name for name in settings.SMALL} <= set(tool_names(first))
        assert "done: 'human' is at version 2" in given_back(after)
        assert "Favourite colour: teal" in project.memfs("show")
        assert "Noted, too." in host.run(project, model, *host.args)
        assert "done: 'human' is at version 3" in given_back(model.requests[3])
        assert "Favourite colour: teal\nIndents with tabs" in given_back(model.requests[4])
    assert not model.unknown
    block = (project.home / ".agent-memory/blocks/human.md").read_text()
    assert block.endswith("Favourite colour: teal\nIndents with tabs\n")
    entries = project.history("human")[1::-1]
    assert [(entry["actor"], entry["host"]) for entry in entries] == [("agent", host.name)] * 2
    first_session, second_session = host.program(project.home, project.repo, "").sessions()
    told = [first_session, second_session] if host.tells_session else ["", ""]
    assert [entry["session"] for entry in entries] == told


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_what_install_writes_for_a_user_is_a_server_that_the_host_calls(
    project: Project, host: Host
) -> None:
    project.memfs("install", host.name, "--user")
    teal = host.call("core_memory_append", label="human", content="Favourite colour: teal")
    with ScriptedModel([teal, "Noted."]) as model:
        host.run(project, model, *host.args)
    assert "done: 'human' is at version 2" in given_back(model.requests[1])
    assert [entry["host"] for entry in project.history("human")[:1]] == [host.name]


def test_codex_does_not_delete_a_block_unasked(project: Project) -> None:
    wire_codex(project, mcp_entry())
    with (project.home / ".agent-memory/config.yaml").open("a") as config:
        config.write("tools: full\n")
    delete = CODEX.call("memory_delete", label="persona")
    with ScriptedModel([delete, "It was not done."]) as model:
        CODEX.run(project, model, *CODEX.args)
    assert "approval" in given_back(model.requests[1])
    assert (project.repo / ".agent-memory/blocks/persona.md").exists()


def test_gemini_is_not_offered_the_tools_of_a_server_it_does_not_trust(project: Project) -> None:
    wire_gemini(project, mcp_entry(), trust=False)
    with ScriptedModel(["Nothing."]) as model:
        GEMINI.run(project, model)
    assert not [name for name in tool_names(model.requests[0]) if "memfs" in name]


def test_copilot_that_was_allowed_nothing_edits_nothing(project: Project) -> None:
    wire_copilot(project, mcp_entry())
    append = COPILOT.call("core_memory_append", label="human", content="Favourite colour: teal")
    with ScriptedModel([append, "It was not done."]) as model:
        COPILOT.run(project, model)
    assert "Permission denied" in given_back(model.requests[1])
    assert "teal" not in project.memfs("show")


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
