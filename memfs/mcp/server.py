"""The MCP server: maps requests of the protocol to tool calls, blocks, and prompts.

Only the SDK is loaded before the handshake is answered; the modules of a tool with its first call.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
)
from mcp.shared.exceptions import MCPError

from memfs import hosts
from memfs.core.errors import MemfsError
from memfs.core.privacy import excerpt
from memfs.core.records import Origin
from memfs.ipc import service_status
from memfs.mcp import resources, stdio
from memfs.mcp.stdio import StdioStreams
from memfs.store import blocks, host_sessions
from memfs.tools import calls, provider_formats, registry
from memfs.tools.calls import ToolCall
from memfs.tools.tool_context import ToolContext

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcp.server.context import ServerRequestContext

    from memfs.tools.definition import Tool

_EVERY = 1.0  # seconds between two polls of the watched blocks


def run(folder: str, session: str, version: str) -> None:
    """Serve the memory of a folder until standard input ends, or the client is gone."""
    try:
        anyio.run(_Served(folder, session, version).serve)
    except* (BrokenPipeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the client is gone


class _Served:
    """One client's server."""

    def __init__(self, folder: str, session: str, version: str) -> None:
        self._version = version
        self._session = session
        self._context = ToolContext(folder)  # of calls: its origin changes with each
        self._reader = ToolContext(folder, Origin("agent", "", session))  # of resources and prompts
        self._tools: dict[str, Tool] = {}
        self._lock = threading.Lock()  # calls run one after the other
        self._subscribed: set[str] = set()  # before 2026-07-28: resources/subscribe
        self._listening = 0  # since then: open streams of subscriptions/listen
        self._bus = InMemorySubscriptionBus()
        self._seen: dict[str, str] = {}
        self._client: Any = None

    async def serve(self) -> None:
        server: Server[Any] = Server(
            "memfs",
            version=self._version,
            instructions=resources.INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )
        options = server.create_initialization_options(NotificationOptions(resources_changed=True))
        wire = cast("anyio.AsyncFile[str]", StdioStreams())
        async with (
            anyio.create_task_group() as tasks,
            stdio_server(wire, wire) as (reading, writing),
        ):
            tasks.start_soon(self._watch)
            tasks.start_soon(
                anyio.to_thread.run_sync, service_status.wake_service, self._reader.folder
            )
            await server.run(reading, writing, options)
            tasks.cancel_scope.cancel()

    async def _list_tools(self, _context: Context, _params: object) -> types.ListToolsResult:
        found = provider_formats.definitions(self._get_tools(), "mcp")
        return types.ListToolsResult(
            tools=[types.Tool.model_validate(_clean_fields(each)) for each in found]
        )

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if params.name == stdio.TOOL:  # it is not listed: hosts call it, not models
            text = await anyio.to_thread.run_sync(stdio.answer_hook, params.arguments or {})
            return types.CallToolResult(content=[types.TextContent(type="text", text=text)])
        origin = self._identify(context)
        call = ToolCall(params.name, params.arguments or {})
        result = await anyio.to_thread.run_sync(self._run_call, origin, call)
        await self._notify_changes()
        content = [types.TextContent(type="text", text=_sanitize(result.text))]
        return types.CallToolResult(content=[*content], is_error=result.is_error)

    def _run_call(self, origin: Origin, call: ToolCall) -> calls.Result:
        with self._lock:
            self._context.origin = origin
            return calls.run(self._context, self._load_tools(), call)

    async def _list_resources(self, context: Context, _params: object) -> types.ListResourcesResult:
        self._identify(context)
        found = await anyio.to_thread.run_sync(resources.list_resources, self._reader)
        return types.ListResourcesResult(
            resources=[types.Resource.model_validate(_clean_fields(each)) for each in found]
        )

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        self._identify(context)
        uri = str(params.uri)
        text = await _read_memory(resources.read, self._reader, uri)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, text=text, mime_type=resources.TYPE)]
        )

    async def _subscribe(
        self, context: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        self._identify(context)
        await self._start_watching()
        self._subscribed.add(str(params.uri))
        return types.EmptyResult()

    async def _listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        self._identify(context)
        await self._start_watching()
        self._listening += 1
        try:
            return await ListenHandler(self._bus)(context, params)
        finally:
            self._listening -= 1

    async def _unsubscribe(
        self, _context: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        self._subscribed.discard(str(params.uri))
        return types.EmptyResult()

    async def _list_prompts(self, _context: Context, _params: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[types.Prompt.model_validate(each) for each in resources.list_prompts()]
        )

    async def _get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        self._identify(context)
        given = dict(params.arguments or {})
        text = await _read_memory(resources.render_prompt, self._reader, params.name, given)
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    def _identify(self, context: Context) -> Origin:
        """Return the origin of a request, its host and session; remember its client."""
        self._client = context.session
        params = context.session.client_params
        host = host_of(params.client_info.name if params else "")
        known = session_of(host, {**(context.meta or {})}, self._reader.folder, os.environ)
        session = self._session or known or self._reader.origin.session
        self._reader.origin = Origin("agent", host, session)
        return self._reader.origin

    async def _start_watching(self) -> None:
        """Record the current blocks, unless they are watched already."""
        if not self._is_watched():
            self._seen = await anyio.to_thread.run_sync(resources.signatures, self._reader)

    def _is_watched(self) -> bool:
        return bool(self._subscribed or self._listening)

    async def _watch(self) -> None:
        """Poll the watched blocks for edits by others."""
        while True:
            await anyio.sleep(_EVERY)
            await self._notify_changes()

    async def _notify_changes(self) -> None:
        """Notify the client of changed blocks, if it watches them.

        Neither unreadable blocks nor a client that is gone end the call or the server.
        """
        if not self._is_watched():
            return
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._send_changes()

    async def _send_changes(self) -> None:
        now = await anyio.to_thread.run_sync(resources.signatures, self._reader)
        before, self._seen = self._seen, now
        if now.keys() != before.keys():
            await self._bus.publish(ResourcesListChanged())
            if self._subscribed:
                await self._client.send_resource_list_changed()
        for uri in sorted(now.keys() | before.keys()):
            if now.get(uri) != before.get(uri):
                await self._bus.publish(ResourceUpdated(uri=uri))
                if uri in self._subscribed:
                    await self._client.send_resource_updated(uri)

    def _get_tools(self) -> list[Tool]:
        off = self._reader.find_off_switch()
        return [] if off else list(self._load_tools().values())

    def _load_tools(self) -> dict[str, Tool]:
        if not self._tools:
            offer = registry.offer_tools(self._context)
            self._tools = offer.tools
            for problem in offer.problems:
                sys.stderr.write(f"memfs: {problem}\n")
        return self._tools


async def _read_memory(function: Callable[..., str], *given: object) -> str:
    """Return the result of a function that reads memory; its errors become `MCPError`."""
    try:
        return _sanitize(await anyio.to_thread.run_sync(function, *given))
    except MemfsError as error:
        message = _sanitize(calls.format_error(error.message, error.hint))
        raise MCPError(types.INVALID_PARAMS, message) from error


def _sanitize(text: str) -> str:
    """Replace bytes that are not UTF-8: they would end the SDK's server."""
    return text.encode("utf-8", "replace").decode()


def _clean_fields(given: dict[str, object]) -> dict[str, object]:
    """Return a resource or tool with all of its texts encodable as UTF-8."""
    return {key: _sanitize(each) if isinstance(each, str) else each for key, each in given.items()}


if TYPE_CHECKING:
    Context = ServerRequestContext[Any]


# The beginning of a client's name, and the name of its host in memfs.
_HOSTS = (
    ("claude", "claude"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("copilot", "copilot"),
    ("github-copilot", "copilot"),
    ("opencode", "opencode"),
    ("cursor", "cursor"),
)


def host_of(client: str) -> str:
    """Return the host of a client, by the client's name."""
    folded = client.lower()
    return next((name for start, name in _HOSTS if folded.startswith(start)), excerpt(folded, 40))


def session_of(
    host: str, meta: Mapping[str, object], folder: str, environment: Mapping[str, str]
) -> str:
    """Return the id of the host's session, "" if it is unknown.

    Codex passes it with each call (`_meta`): it starts servers with hardly an environment, and
    several of its sessions may share one. Others pass it to hooks, which note it, or once to the
    server, which misses later changes (`/clear`).
    """
    ident = meta.get("sessionId")
    if ident and isinstance(ident, str):
        return ident
    noted = ""
    with suppress(MemfsError):  # a store that is broken: calls say so
        place = blocks.find_serving(folder, "")
        noted = host_sessions.session(place.home) if place else ""
    return noted or hosts.session_of(host, environment)
