"""A team's server in small: one table of messages, of which the last writer wins."""

import json
from typing import Any

import msgspec

from memfs.team.protocol import TeamHit
from tests.team.small_server import MEMBER, Answer, ok

AWAY: Answer = (503, {}, b'{"error": "the database is away", "hint": ""}')
Row = dict[str, Any]


def make_hit(text: str, member: str = "ana", **more: Any) -> TeamHit:
    """Return a hit as a server finds it."""
    found = {
        "id": text,
        "text": text,
        "snippet": text,
        "why": ["words"],
        "margin": 1.0,
        "at": "2026-05-03T10:00:00Z",
        "role": "user",
        "host": "claude",
        "session": "theirs",
        "project": "shop",
    }
    return TeamHit(**{**found, "member": member, **more})


class TeamTable:
    """The messages by id, those taken back with them. `faults` are of the next changes.

    A fault is "before" (nothing comes of the request) or "after" (its answer is lost). What a
    search finds is what `hits` says.
    """

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.gone: dict[tuple[str, str], int] = {}  # stamps of sessions that were taken back
        self.titles: dict[tuple[str, str], str] = {}
        self.faults: list[str] = []
        self.refused: set[str] = set()  # texts that are
        self.pushes: list[int] = []  # how many messages each had
        self.hits: list[TeamHit] = []
        self.searches: list[dict[str, Any]] = []
        self.member: dict[str, Any] = json.loads(json.dumps(MEMBER))

    def answer(self, path: str, body: dict[str, Any], _headers: dict[str, str]) -> Answer:
        fault = self.faults.pop(0) if self.faults and not path.endswith("/me") else ""
        if fault == "before":
            return AWAY
        done = getattr(self, path.rpartition("/")[2])(body)
        return AWAY if fault else ok(done)

    def me(self, _body: dict[str, Any]) -> object:
        return self.member

    def push(self, body: dict[str, Any]) -> object:
        counts = {"stored": 0, "known": 0, "retracted": 0}
        refused = []
        self.pushes.append(len(body["messages"]))
        for each in body["sessions"]:
            self.titles[each["host"], each["session"]] = each["title"]
        for message in body["messages"]:
            session = body["sessions"][message["of"]]
            name = session["host"], session["session"]
            before = self.rows.get(message["id"])
            if message["text"] in self.refused:
                refused.append({"id": message["id"], "why": "a secret"})
            elif body["stamp"] < max(
                self.gone.get(name, 0), before["stamp"] if before and before["gone"] else 0
            ):
                counts["retracted"] += 1
            else:
                counts["known" if before and not before["gone"] else "stored"] += 1
                row = {**message, "name": name, "stamp": body["stamp"], "gone": False}
                self.rows[message["id"]] = row
        return {**counts, "refused": refused}

    def retract(self, body: dict[str, Any]) -> object:
        name = body["host"], body["session"]
        if not body["ids"]:
            self.gone[name] = max(self.gone.get(name, 0), body["stamp"])
        ids = body["ids"] or [ident for ident, row in self.rows.items() if row["name"] == name]
        count = 0
        for ident in ids:
            row = self.rows.setdefault(ident, {"name": name, "stamp": 0, "gone": True})
            if row["stamp"] <= body["stamp"]:
                count += not row["gone"]
                row |= {"stamp": body["stamp"], "gone": True}
        return {"removed": count}

    def purge(self, _body: dict[str, Any]) -> object:
        rows = self.list_rows()
        self.rows.clear()
        return {"sessions": len({row["name"] for row in rows}), "messages": len(rows)}

    def search(self, body: dict[str, Any]) -> object:
        self.searches.append(body)
        return {"hits": msgspec.to_builtins(self.hits[: body["limit"]])}

    def list_rows(self) -> list[Row]:
        """Return the messages that a search would find."""
        return [row for row in self.rows.values() if not row["gone"]]

    def list_texts(self, session: str = "") -> list[str]:
        rows = [row for row in self.list_rows() if session in ("", row["name"][1])]
        return [row["text"] for row in sorted(rows, key=lambda row: (row["name"], row["ordinal"]))]
