"""Frames on the socket of the service, in both directions."""

from __future__ import annotations

import socket
from types import SimpleNamespace

import msgspec

from memfs.ops import search
from memfs.search.engine import Filter
from memfs.service import answers, held, server, warmth
from memfs.store import asking, service
from tests.fuzz.running import Case, Target
from tests.fuzz.world import World

_WAIT = 0.5  # seconds


def begin(world: World) -> Target:
    stores = held.Stores(lambda _: None, lambda _: None)
    serving = server.Server.__new__(server.Server)
    serving.__dict__.update(
        _environment=service.environment().decode(), _leave="", _used=0.0,
        _listener=SimpleNamespace(admits=lambda token: token == asking.NO_TOKEN, wake=lambda: None),
    )  # fmt: skip
    warm = warmth.Warmth.__new__(warmth.Warmth)
    lanes = SimpleNamespace(add=lambda *_: None, busy=lambda _: False, said=list)
    told = answers.Answers(stores, lanes, lambda _: None)  # type: ignore[arg-type]
    warm.__dict__.update(
        stores=stores, _answers=told, _began=0.0, _work=lanes,
        _watch=SimpleNamespace(polling=False),
    )  # fmt: skip
    serving.warmth = warm

    def run(case: Case) -> None:
        here, there = socket.socketpair()
        try:
            there.sendall(case.data[: 60 << 10] + asking.TAKEN)
            there.shutdown(socket.SHUT_WR)
            line = asking.Line(here, _WAIT)
            if case.name == "answer":
                asking.exchange(line, b"question", lambda _: None)
            else:
                serving._answer(line)
        finally:
            here.close()
            there.close()

    return Target(_samples(world), run)


def _samples(world: World) -> list[Case]:
    payload = {
        "session_id": "s1", "hook_event_name": "UserPromptSubmit", "cwd": str(world.repo),
        "prompt": "where do gophers dig tunnels?",
    }  # fmt: skip
    stop = payload | {"hook_event_name": "Stop", "transcript_path": str(world.repo / "said.jsonl")}
    root = str(world.store)
    asked = search.Asked(root, str(world.home / ".agent-memory"), "gophers", "text", Filter(), 5, 1)
    questions = [
        service.question("hook", ["0.5", "claude"], msgspec.json.encode(payload)),
        service.question("hook", ["0.5", "auto", "mcp"], msgspec.json.encode(stop)),
        service.question("search", ["hits"], msgspec.json.encode(asked)),
        service.question("search", ["sessions"], msgspec.json.encode(asked)),
        service.question("hold", [str(world.repo)], b""), service.question("status", [], b""),
    ]  # fmt: skip
    framed = [Case("question", len(each).to_bytes(4, "big") + each) for each in questions]
    return [*framed, Case("answer", b"\0\0\0\5+text")]
