"""JSON-RPC on the standard streams of an assistant, a message a line: one session, several prompts.

The Agent Client Protocol, which editors speak, is that; Codex has its own (`codex app-server`).
"""

import json
import subprocess
from itertools import count
from typing import cast

from tests.hosts.script import Json, objects


class Peer:
    """A running assistant at the other end."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._ids = count(1)
        self.heard: list[Json] = []  # notifications, until they are taken

    def call(self, method: str, **params: object) -> Json:
        """Return the result of a call; RuntimeError if it is refused or the assistant ends."""
        ident = next(self._ids)
        self._send({"id": ident, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == ident and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return cast("Json", message.get("result") or {})
            self._note(message)

    def wait(self, method: str) -> Json:
        """Return the parameters of the next notification of that name."""
        while True:
            for index, message in enumerate(self.heard):
                if message["method"] == method:
                    del self.heard[: index + 1]
                    return cast("Json", message["params"])
            self._note(self._next())

    def notify(self, method: str) -> None:
        """Tell something that has no answer."""
        self._send({"method": method})

    def _note(self, message: Json) -> None:
        """Keep a notification; allow what we are asked for leave of."""
        if "method" not in message:
            return
        if "id" not in message:
            self.heard.append(message)
            return
        options = objects(cast("Json", message["params"]).get("options"))
        chosen = [each["optionId"] for each in options if "allow" in str(each.get("kind"))]
        outcome = {"outcome": "selected", "optionId": chosen[0]} if chosen else {}
        self._send({"id": message["id"], "result": {"outcome": outcome}})

    def _send(self, message: Json) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def _next(self) -> Json:
        assert self._process.stdout
        for line in self._process.stdout:
            if line.startswith(b"{"):
                return cast("Json", json.loads(line))
        raise RuntimeError("the assistant ended in the middle of a turn")


class Acp:
    """A session over the Agent Client Protocol."""

    def __init__(self, process: subprocess.Popen[bytes], cwd: str) -> None:
        self._peer = Peer(process)
        files = {"readTextFile": False, "writeTextFile": False}
        self._peer.call("initialize", protocolVersion=1, clientCapabilities={"fs": files})
        self._session = self._peer.call("session/new", cwd=cwd, mcpServers=[])["sessionId"]

    def say(self, prompt: str) -> str:
        """Give a prompt, and return the answer when the turn has ended."""
        self._peer.heard.clear()
        content = [{"type": "text", "text": prompt}]
        self._peer.call("session/prompt", sessionId=self._session, prompt=content)
        updates = [
            cast("Json", cast("Json", each["params"]).get("update", {}))
            for each in self._peer.heard
        ]
        chunks = [u["content"] for u in updates if u.get("sessionUpdate") == "agent_message_chunk"]
        return "".join(str(cast("Json", chunk).get("text", "")) for chunk in chunks)
