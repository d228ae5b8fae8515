"""`memfs status`."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs import hosts
from memfs.agent import configured_model
from memfs.cli import console, options
from memfs.core.escaping import flatten_text
from memfs.ops import status as op

if TYPE_CHECKING:
    from memfs.ipc.service_status import ServiceStatus
    from memfs.ops.status import Status


@click.command("status")
@options.session_option
@options.json_option
def command(session: str, as_json: bool) -> None:
    """Show the state of the memory here: blocks, recall, archive, and who is wired to it."""
    found = op.run(options.place(session, untrusted=True), options.home())
    if as_json:
        states = [
            {
                "label": s.block.label,
                "tier": s.block.tier,
                "version": s.version,
                "content": s.content,
                "freshness": s.freshness,
                "sync": s.sync,
                "chars": s.block.chars,
                "limit": s.block.limit,
            }
            for s in found.blocks
        ]
        console.as_json({**asdict(found), "blocks": states})
        return
    rows = _render_rows(found)
    sessions = console.format_count(found.sessions, "session")
    messages = f"{console.format_count(found.messages, 'message')} in {sessions}"
    facts = [
        ("project store", _format_project(found)),
        ("user store", found.user or "none: memfs init makes one"),
        ("recall", f"{messages}, {console.format_size(found.recall_bytes)}"),
        ("archive", f"{found.passages:,} passages"),
        ("index", console.format_size(found.index_bytes)),
        ("embedding", found.embedding),
    ]
    if found.waiting:
        facts.append(("waiting", f"{found.waiting} transcripts for the next search or ingest"))
    facts += [("service", line) for line in of_service(found.service)]
    model = configured_model.format_model()
    if model:
        facts.append(("model", model))
    for name, path in found.wired:
        ran = found.ran.get(name)
        last = f", last hook {_format_time(ran[1])}, {ran[2]:,.0f} ms" if ran else ""
        facts.append((hosts.get(name).TITLE, f"wired in {path}{last}"))
    for label, one, other in found.contradictions:
        facts.append(("contradiction", f"{label}: {one} and {other} of one thing; keep one"))
    if not found.wired:
        facts.append(("assistants", "none is wired: memfs install"))
    for name, value in facts:
        console.echo(f"{console.style(f'{name:<14}', 'bright_black')} {flatten_text(value)}")
    console.echo("")
    console.echo(console.table(rows, right=(3, 4)))


def _format_time(when: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))


def of_service(found: ServiceStatus | None) -> list[str]:
    """Return lines about the state of the service."""
    if found is None:
        return ["not running: hooks and searches do their own work"]
    parts = [f"process {found.process}", console.format_count(len(found.stores), "store")]
    if found.bytes:
        parts.append(console.format_size(found.bytes))
    lines = [", ".join(parts)]
    for work in found.work:
        far = f" {work.done:,}" if work.done else ""
        of = f" of {work.total:,}" if work.total else ""
        waits = f" (waits: {found.waits})" if found.waits else ""
        lines.append(f"{work.stage}{far}{of} for {flatten_text(work.store)}{waits}")
    if found.polling:
        lines.append("too many folders to watch: some are looked at every two seconds")
    return lines


def _render_rows(found: Status) -> list[tuple[str, ...]]:
    """Return the rows of the table of blocks, its head first."""
    rows: list[tuple[str, ...]] = [
        ("TIER", "LABEL", "USED", "", "VERSION", "CONTENT", "FRESHNESS", "GIT")
    ]
    for state in found.blocks:
        share = state.block.chars / state.block.limit
        rows.append(
            (
                state.block.tier,
                state.block.label,
                console.bar(share),
                f"{share:.0%}",
                str(state.version),
                state.content,
                state.freshness,
                state.sync or "-",
            )
        )
    return rows


def _format_project(found: Status) -> str:
    if not found.project:
        return "none: memfs init makes one"
    return found.project if found.trusted else f"{found.project} (not trusted: memfs trust)"
