"""Frames on the socket of the service, in both directions."""

import socket
from types import SimpleNamespace

import msgspec

from memfs.ipc import client
from memfs.ipc.service_query import ServiceQuery
from memfs.search.request import Filter, SearchRequest
from memfs.service import app, server
from memfs.team.background import TeamBackground
from tests.fuzz.running import Case, Target
from tests.fuzz.world import World

_WAIT = 0.5  # seconds


def begin(world: World) -> Target:
    stores = app.StorePool(lambda _: None, lambda _: None)
    serving = server.Server.__new__(server.Server)
    serving.__dict__.update(
        _environment=client.encode_environment().decode(),
        _leave="",
        _used=0.0,
        _listener=SimpleNamespace(wake=lambda: None),
    )
    warm = app.Service.__new__(app.Service)
    lanes = SimpleNamespace(add=lambda *_: None, is_busy=lambda _: False, describe_jobs=list)
    team = TeamBackground()
    told = app.RequestHandlers(stores, lanes, team, lambda _: None)  # type: ignore[arg-type]
    warm.__dict__.update(
        stores=stores, _answers=told, _began=0.0, _work=lanes, _watch=SimpleNamespace(polling=False)
    )
    serving.service = warm

    def run(case: Case) -> None:
        here, there = socket.socketpair()
        try:
            there.sendall(case.data[: 60 << 10] + client.TAKEN)
            there.shutdown(socket.SHUT_WR)
            line = client.Connection(here, _WAIT)
            if case.name == "answer":
                client.exchange_frames(line, b"question", lambda _: None)
            else:
                serving._answer(line)
        finally:
            here.close()
            there.close()

    return Target(_samples(world), run)


def _samples(world: World) -> list[Case]:
    payload = {
        "session_id": "s1",
        "hook_event_name": "UserPromptSubmit",
        "cwd": str(world.repo),
        "prompt": "where do gophers dig tunnels?",
    }
    stop = payload | {"hook_event_name": "Stop", "transcript_path": str(world.repo / "said.jsonl")}
    user = str(world.home / ".agent-memory")
    wanted = SearchRequest("gophers", "text", Filter(), 5, 1)

    def ask(kind: str, *arguments: object) -> bytes:
        query = ServiceQuery(str(world.store), user, "s1", [*arguments])
        return client.format_question("query", [kind], msgspec.json.encode(query))

    questions = [
        client.format_question("hook", ["0.5", "claude"], msgspec.json.encode(payload)),
        client.format_question("hook", ["0.5", "auto", "mcp"], msgspec.json.encode(stop)),
        ask("search", "hits", wanted),
        ask("search", "sessions", wanted),
        ask("context", "where do gophers dig?", 0, None),
        ask("graph", "similar", "gophers", 5),
        client.format_question("hold", [str(world.repo)], b""),
        client.format_question("status", [], b""),
    ]
    framed = [Case("question", len(each).to_bytes(4, "big") + each) for each in questions]
    return [*framed, Case("answer", b"\0\0\0\5+text")]
