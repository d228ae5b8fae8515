"""`memfs status`."""

from __future__ import annotations

import click

from memfs import hosts
from memfs.cli import console, layout, options
from memfs.cli.layout import format_size
from memfs.core import label as labels
from memfs.core import parts
from memfs.core.errors import UsageError
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count, format_time
from memfs.ipc.service_status import ServiceStatus
from memfs.ops import review, status
from memfs.ops.status import SourceStatus, Status
from memfs.store import config, data_sources
from memfs.store.blocks import Place

_VALUES = 15  # cells before a value
_PAUSES = {"battery": "the machine runs on its battery", "load": "the machine is busy"}


@click.command("status")
@click.option(
    "--window", is_flag=True, help="Show what the memory takes of the assistant's context."
)
@options.number_option("--tokens", help="With --window: of a window of so many tokens.")
@options.session_option
@options.json_option
def command(window: bool, tokens: int | None, session: str, as_json: bool) -> None:
    """Show the state of the memory here: blocks, recall, archive, and who is wired to it."""
    if window:
        _show_window(options.place(session), tokens or 0, as_json=as_json)
        return
    place = options.place(session, untrusted=True)
    found = status.run(place, options.home())
    if options.hides_content(place):
        own = tuple(each for each in found.blocks if each.block.tier == labels.USER)
        found = found._replace(blocks=own, refused=(), sources=(), to_decide={})
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
        sources = [each._asdict() for each in found.sources]
        service = found.service.build_record() if found.service else None
        record = found._asdict() | {"blocks": states, "sources": sources, "service": service}
        console.as_json(record)
        return
    rows = _render_rows(found)
    sessions = format_count(found.sessions, "session")
    messages = f"{format_count(found.messages, 'message')} in {sessions}"
    facts = [("turned off", f"{found.off} says enabled: false")] if found.off else []
    facts += [
        ("project store", _format_project(found)),
        ("user store", found.user or "none: memfs init makes one"),
        ("recall", f"{messages}, {format_size(found.recall_bytes)}"),
        ("archive", format_count(found.passages, "passage")),
        ("index", format_size(found.index_bytes)),
        ("embedding", found.embedding),
        *(_describe_source(each) for each in found.sources),
    ]
    if found.waiting:
        facts.append(("waiting", f"{found.waiting} transcripts for the next search or ingest"))
    if found.by_words:
        of = f"{found.by_words} of the last {format_count(found.prompts, 'prompt')}"
        facts.append(("prompts", f"{of} searched by words alone; memfs last says why"))
    facts += [("team", found.team)] if found.team else []
    facts += [("service", line) for line in of_service(found.service)]
    agent = parts.find("agent.configured_model") if config.names_model() else None
    if agent and (model := agent.format_model()):
        facts.append(("model", model))
    for name, path in found.wired:
        ran = found.ran.get(name)
        last = f", last hook {format_time(ran[1])}, {ran[2]:,.0f} ms" if ran else ""
        facts.append((hosts.get(name).TITLE, f"wired in {path}{last}"))
    facts += [(hosts.get(name).TITLE, line) for name, line in found.own_memories]
    if found.to_decide:
        counts = (
            format_count(count, review.NOUNS[kind]) for kind, count in found.to_decide.items()
        )
        facts.append(("to decide", f"{', '.join(counts)}: memfs review"))
    facts += [("refused", line) for line in found.refused]
    if found.trusted or not found.project:
        facts.append(("in the prompt", _format_share(place, found)))
    if not found.wired:
        facts.append(("assistants", "none is wired: memfs install"))
    for name, value in facts:
        first, *rest = layout.wrap(flatten_text(value), _VALUES).lstrip().split("\n")
        console.echo("\n".join([f"{console.style(f'{name:<14}', 'bright_black')} {first}", *rest]))
    console.echo("")
    console.echo(layout.table(rows, right=(3, 4)))


def _show_window(place: Place, tokens: int, *, as_json: bool) -> None:
    """Print the sections of the brief with their shares of the window, and what is cut."""
    usage = status.load_usage(place, status.list_wired_files(place, options.home()), tokens)
    found = usage.window
    if as_json:
        sections = [each._asdict() for each in found.sections]
        values = found._asdict() | {"budget": found.budget._asdict(), "sections": sections}
        console.as_json({"host": usage.host, **values, "used": found.used, "left": found.left})
        return
    room = found.budget.room
    rows = [("SECTION", "TOKENS", "", "OF THE ROOM", "CUT")]
    shown = [
        (each.name, each.shown, f"{each.cut:,}" if each.cut > 0 else "-") for each in found.sections
    ]
    for name, taken, cut in [*shown, ("left for the conversation", found.left, "-")]:
        bar = layout.bar(max(0, taken) / room)
        rows.append((name, f"{taken:,}", bar, f"{taken / room:.0%}", cut))
    console.echo(layout.table(rows, right=(1, 3, 4)))
    budget = found.budget
    whose = f" of {hosts.get(usage.host).TITLE}" if usage.host else ""
    console.talk(
        f"{budget.window:,} tokens{whose}, {budget.response:,} of them kept free for the answer, "
        f"{budget.tools:,} for tool calls; counted by {found.counter}"
    )
    for name in found.host:
        console.talk(f"! an assistant's hooks take less than this: '{name}' is cut there")


def _describe_source(found: SourceStatus) -> tuple[str, str]:
    """Return the name and the value of the line about a source, or about the commits."""
    stale = "" if found.current else "; out of date: the next search reads what changed"
    if found.kind == data_sources.COMMITS:
        return "history", f"{format_count(found.chunks, 'commit')}{stale}"
    files, chunks = format_count(found.files, "file"), format_count(found.chunks, "chunk")
    return "data source", f"{found.name}: {files}, {chunks}{stale}"


def _format_share(place: Place, found: Status) -> str:
    """Return how much of an assistant's window the brief takes."""
    try:
        usage = status.load_usage(place, found.wired)
    except UsageError as error:  # the configured window is too small
        return error.message
    window, used = usage.window.budget.window, usage.window.used
    whose = f"of {hosts.get(usage.host).TITLE}'s" if usage.host else "of"
    return f"{used:,} tokens at a session's start, {used / window:.1%} {whose} {window:,}"


def of_service(found: ServiceStatus | None) -> list[str]:
    """Return lines about the state of the service."""
    if found is None:
        return ["not running: hooks and searches do their own work"]
    parts = [f"process {found.process}", format_count(len(found.stores), "store")]
    if found.bytes:
        parts.append(format_size(found.bytes))
    lines = [", ".join(parts)]
    for work in found.work:
        far = f" {work.done:,}" if work.done else ""
        of = f" of {work.total:,}" if work.total else ""
        why = _PAUSES.get(found.waits, found.waits)
        waits = f"; indexing is paused: {why}" if why else ""
        lines.append(f"{work.stage}{far}{of} for {flatten_text(work.store)}{waits}")
    if found.polling:
        lines.append("too many folders to watch: some are looked at every two seconds")
    return lines


def _render_rows(found: Status) -> list[tuple[str, ...]]:
    """Return the rows of the table of blocks, its head first."""
    rows: list[tuple[str, ...]] = [
        ("TIER", "LABEL", "USED", "", "VERSION", "CONTENT", "FRESHNESS", "STATE")
    ]
    for state in found.blocks:
        share = state.block.chars / state.block.limit
        rows.append(
            (
                state.block.tier,
                state.block.label,
                layout.bar(share),
                f"{share:.0%}",
                str(state.version),
                state.content,
                state.freshness,
                state.sync,
            )
        )
    return rows


def _format_project(found: Status) -> str:
    if not found.project:
        return "none: memfs init makes one"
    return found.project if found.trusted else f"{found.project} (not trusted: memfs trust)"
