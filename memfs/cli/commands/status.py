"""`memfs status`."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs import hosts
from memfs.cli import context, screen
from memfs.core.quoting import plain
from memfs.ops import status as op

if TYPE_CHECKING:
    from memfs.ops.status import Status


@click.command("status")
@context.session_option
@context.json_option
def command(session: str, as_json: bool) -> None:
    """Show the state of the memory here: blocks, recall, archive, and who is wired to it."""
    found = op.run(context.place(session), context.home())
    if as_json:
        states = [
            {"label": s.block.label, "tier": s.block.tier, "version": s.version,
             "content": s.content, "freshness": s.freshness, "sync": s.sync,
             "chars": s.block.chars, "limit": s.block.limit}
            for s in found.blocks
        ]  # fmt: skip
        screen.as_json({**asdict(found), "blocks": states})
        return
    rows = [("TIER", "LABEL", "USED", "", "VERSION", "CONTENT", "FRESHNESS", "GIT")]
    for state in found.blocks:
        share = state.block.chars / state.block.limit
        rows.append(
            (state.block.tier, state.block.label, screen.bar(share), f"{share:.0%}",
             str(state.version), state.content, state.freshness, state.sync or "-")
        )  # fmt: skip
    said = f"{screen.count(found.messages, 'message')} in {screen.count(found.sessions, 'session')}"
    facts = [
        ("project store", _project(found)),
        ("user store", found.user or "none: memfs init makes one"),
        ("recall", f"{said}, {screen.size(found.recall_bytes)}"),
        ("archive", f"{found.passages:,} passages"),
        ("index", screen.size(found.index_bytes)),
        ("embedding", plain(found.embedding)),
    ]
    if found.waiting:
        facts.append(("waiting", f"{found.waiting} transcripts for the next search or ingest"))
    for name, path in found.wired:
        ran = found.ran.get(name)
        last = f", last hook {_time(ran[1])}, {ran[2]:,.0f} ms" if ran else ""
        facts.append((hosts.get(name).TITLE, f"wired in {path}{last}"))
    if not found.wired:
        facts.append(("assistants", "none is wired: memfs install"))
    for name, value in facts:
        screen.styled(f"{screen.style(f'{name:<14}', 'bright_black')} {value}")
    screen.styled("")
    screen.styled(screen.table(rows, right=(3, 4)))


def _time(when: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))


def _project(found: Status) -> str:
    if not found.project:
        return "none: memfs init makes one"
    return found.project if found.trusted else f"{found.project} (not trusted: memfs trust)"
