"""`memfs status`."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs import hosts
from memfs.agent import chosen
from memfs.cli import context, screen
from memfs.core.quoting import flatten_text
from memfs.ops import status as op

if TYPE_CHECKING:
    from memfs.ops.status import Status
    from memfs.store.daemon import Service


@click.command("status")
@context.session_option
@context.json_option
def command(session: str, as_json: bool) -> None:
    """Show the state of the memory here: blocks, recall, archive, and who is wired to it."""
    found = op.run(context.place(session, untrusted=True), context.home())
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
        ("embedding", found.embedding),
    ]
    if found.waiting:
        facts.append(("waiting", f"{found.waiting} transcripts for the next search or ingest"))
    facts += [("service", line) for line in of_service(found.service)]
    model = chosen.told()
    if model:
        facts.append(("model", model))
    for name, path in found.wired:
        ran = found.ran.get(name)
        last = f", last hook {_time(ran[1])}, {ran[2]:,.0f} ms" if ran else ""
        facts.append((hosts.get(name).TITLE, f"wired in {path}{last}"))
    for label, one, other in found.contradictions:
        facts.append(("contradiction", f"{label}: {one} and {other} of one thing; keep one"))
    if not found.wired:
        facts.append(("assistants", "none is wired: memfs install"))
    for name, value in facts:
        screen.styled(f"{screen.style(f'{name:<14}', 'bright_black')} {flatten_text(value)}")
    screen.styled("")
    screen.styled(screen.table(rows, right=(3, 4)))


def _time(when: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))


def of_service(found: Service | None) -> list[str]:
    """Return the lines that say how the service is."""
    if found is None:
        return ["not running: hooks and searches do their own work"]
    parts = [f"process {found.process}", screen.count(len(found.stores), "store")]
    if found.bytes:
        parts.append(screen.size(found.bytes))
    lines = [", ".join(parts)]
    for work in found.work:
        far = f" {work.done:,}" if work.done else ""
        of = f" of {work.total:,}" if work.total else ""
        waits = f" (waits: {found.waits})" if found.waits else ""
        lines.append(f"{work.stage}{far}{of} for {flatten_text(work.store)}{waits}")
    if found.polling:
        lines.append("too many folders to watch: some are looked at every two seconds")
    return lines


def _project(found: Status) -> str:
    if not found.project:
        return "none: memfs init makes one"
    return found.project if found.trusted else f"{found.project} (not trusted: memfs trust)"
