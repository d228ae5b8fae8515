"""The conversations of `memfs agent`: one JSON object a line, as `agent.queue` writes them.

The first line is `{"memfs_queue": 1, session, project, at}`; a message is `{id, at, role, text}`,
with `calls` where the model made some, and `tool` where it is a tool's result. What our own tools
answered (`ours`) is in memory anyway, and what `system` says is ours.
"""

import json
from collections.abc import Iterable, Iterator

import msgspec

from memfs import hosts
from memfs.core.records import Identity, Message
from memfs.hosts.jsonl import Reader, cap, text_of, time_of

_ROLES = ("user", "assistant", "tool")


class _Line(msgspec.Struct, gc=False):
    memfs_queue: object = None
    session: object = None
    project: object = None
    id: object = None
    at: object = None
    role: object = None
    text: object = None
    calls: object = None
    tool: object = None
    ours: object = None


class _AgentReader(Reader[_Line]):
    """The agent notes each in the spool as it is written: none are listed.

    A message's id is its number in the conversation.
    """

    def identify(self, lines: Iterable[bytes], path: str) -> Identity | None:  # noqa: ARG002 - as all
        line = next(self.first(lines), None)
        session = text_of(line.session) if line and line.memfs_queue == 1 else ""
        return Identity(session, "", text_of(line.project)) if line and session else None

    def list_roots(self, home: str) -> list[str]:  # noqa: ARG002 - as all
        return []


def _parse_line(line: _Line, identity: Identity, _offset: int) -> Iterator[Message]:
    role = text_of(line.role)
    if role not in _ROLES or not isinstance(line.id, int) or line.ours is True:
        return
    parts = [(f"{line.id}", role, text_of(line.text), text_of(line.tool))]
    calls = line.calls if isinstance(line.calls, list) else []
    for number, call in enumerate(calls):
        if isinstance(call, dict):
            name = text_of(call.get("name"))
            arguments = json.dumps(call.get("arguments"), ensure_ascii=False)
            parts.append((f"{line.id}.{number}", "tool", f"{name} {arguments}", name))
    for ident, who, text, tool in parts:
        if text.strip():
            said = cap(text) if who == "tool" else text
            yield identity.make_message(hosts.OWN, ident, time_of(line.at), who, said, tool)


READER = _AgentReader(_Line, _parse_line)
