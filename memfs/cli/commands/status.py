"""`memfs status` and `memfs service`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memfs import hosts
from memfs.cli import console, layout, options
from memfs.cli.group import CommandGroup
from memfs.cli.layout import format_size
from memfs.core import label as labels
from memfs.core import parts
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_count, format_time
from memfs.ipc.service_status import ServiceStatus
from memfs.ops import review, service, status
from memfs.ops.status import SourceStatus, Status
from memfs.store import config, data_sources
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.tools.request_cost import RequestCost

_LINES = 40  # of the log
_VALUES = 15  # cells before a value
_PAUSES = {"battery": "the machine is on battery power", "load": "the machine is busy"}


@click.command("status")
@click.option(
    "--window",
    is_flag=True,
    help="Show the tokens that memfs adds to each request from the assistant.",
)
@options.number_option("--tokens", help="With --window: the size of the context window in tokens.")
@options.session_option
@options.json_option
def status_command(window: bool, tokens: int | None, session: str, as_json: bool) -> None:
    """Show the state of the memory here: blocks, recall, archive, and wired assistants."""
    if window:
        place = options.place(session)
        options.tell_untrusted(place)
        _show_window(place, tokens or 0, as_json=as_json)
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
    for name, value in _list_facts(place, found):
        first, *rest = layout.wrap(flatten_text(value), _VALUES).lstrip().split("\n")
        console.echo("\n".join([f"{console.style(f'{name:<14}', 'bright_black')} {first}", *rest]))
    console.echo("")
    console.echo(layout.table(_render_rows(found), right=(3, 4)))


def _list_facts(place: Place, found: Status) -> list[tuple[str, str]]:
    sessions = format_count(found.sessions, "session")
    messages = f"{format_count(found.messages, 'message')} in {sessions}"
    facts = [("turned off", f"by {found.off} (enabled: false)")] if found.off else []
    facts += [
        ("project store", _format_project(found)),
        ("user store", found.user or "no store yet: run memfs init"),
        *([("synced", found.synced)] if found.synced else []),
        ("recall", f"{messages}, {format_size(found.recall_bytes)}"),
        ("archive", format_count(found.passages, "passage")),
        ("index", format_size(found.index_bytes)),
        ("embedding", found.embedding),
        *(_describe_source(each) for each in found.sources),
    ]
    if found.waiting:
        transcripts = format_count(found.waiting, "transcript")
        facts.append(("waiting", f"{transcripts}; the next search reads them"))
    if found.by_words:
        of = f"{found.by_words} of the last {format_count(found.prompts, 'prompt')}"
        facts.append(("prompts", f"{of} searched by words alone; to see why, run memfs last"))
    facts += [("team", found.team)] if found.team else []
    facts += [("service", line) for line in _list_service(found.service)]
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
        facts.append(("to decide", f"{', '.join(counts)}; run memfs review"))
    facts += [("refused", line) for line in found.refused]
    if found.uncommitted:
        count = format_count(found.uncommitted, "block")
        what = "commit these changes, or they stay in your working folder when you switch branches"
        facts.append(("not committed", f"{count}: {what}"))
    if any("enforce" in each.block.meta for each in found.blocks):
        from memfs.ops.trust import describe_rules  # few blocks are enforced

        for key, what in () if options.hides_content(place) else describe_rules(place):
            facts.append(("not enforced", f"{key} ({what}); to enforce the rule, run memfs trust"))
    if found.trusted or not found.project:
        for name in dict.fromkeys(name for name, _ in found.wired):
            from memfs.tools.request_cost import measure_request  # where one is wired

            facts.append(("cost", _format_cost(measure_request(place, options.home(), name))))
    if not found.wired:
        facts.append(("assistants", "no assistant is wired: run memfs install"))
    return facts


def _show_window(place: Place, tokens: int, *, as_json: bool) -> None:
    home = options.home()
    wired = [] if tokens else status.list_wired_files(place, home)
    from memfs.tools.request_cost import measure_request  # of this view alone

    found = measure_request(place, home, wired[0][0] if wired else "", tokens)
    if as_json:
        parts = [each._asdict() for each in found.parts]
        console.as_json({**found._asdict(), "parts": parts, "used": found.used, "left": found.left})
        return
    rows = [("PART", "TOKENS", "", "OF THE WINDOW", "CUT")]
    shown = [(each.name, each.tokens, f"{each.cut:,}" if each.cut else "-") for each in found.parts]
    for name, taken, cut in [*shown, ("left for the conversation", found.left, "-")]:
        bar = layout.bar(max(0, taken) / found.window)
        rows.append((name, f"{taken:,}", bar, f"{taken / found.window:.1%}", cut))
    console.echo(layout.table(rows, right=(1, 3, 4)))
    free = found.window - found.room
    kept = f"; {free:,} tokens are reserved for the answer and tool calls" if free else ""
    console.talk(f"{_format_cost(found)}{kept}; counted by {found.counter}")
    for each in found.parts:
        if each.cut:
            console.talk(
                f"! the brief has no room for all of '{each.name}': shorten a block with memfs edit"
            )


def _describe_source(found: SourceStatus) -> tuple[str, str]:
    stale = "" if found.current else "; out of date until the next search"
    if found.kind == data_sources.COMMITS:
        return "history", f"{format_count(found.chunks, 'commit')}{stale}"
    files, chunks = format_count(found.files, "file"), format_count(found.chunks, "chunk")
    return "data source", f"{found.name}: {files}, {chunks}{stale}"


def _format_cost(found: RequestCost) -> str:
    whose = hosts.get(found.host).TITLE if found.host else "memfs agent"
    share = f"{found.used:,} of {found.window:,} tokens ({found.used / found.window:.1%})"
    more = f", and {found.added:,} more for each prompt on average" if found.added else ""
    return f"{share} in each request from {whose}{more}"


def _list_service(found: ServiceStatus | None) -> list[str]:
    if found is None:
        return ["not running; hooks and searches work without the service"]
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
        lines.append("too many folders to watch: some are checked every two seconds")
    return lines


def _render_rows(found: Status) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        ("TIER", "LABEL", "USED", "", "VERSION", "CONTENT", "FRESHNESS", "STATE")
    ]
    for state in found.blocks:
        block, share = state.block, state.block.chars / state.block.limit
        used = (layout.bar(share), f"{share:.0%}", str(state.version))
        rows.append((block.tier, block.label, *used, state.content, state.freshness, state.sync))
    return rows


def _format_project(found: Status) -> str:
    if not found.project:
        return "no store yet: run memfs init"
    return found.project if found.trusted else f"{found.project} (not trusted: run memfs trust)"


@click.group("service", cls=CommandGroup, invoke_without_command=True)
@options.json_option
@click.pass_context
def service_command(called: click.Context, as_json: bool) -> None:
    """Show the service, the background process that updates indexes and answers searches.

    Hooks and MCP servers start the service when they need it, and it stops after half an hour
    without a request. Without the service everything is slower, and prompts are searched by words
    alone.
    """
    if not called.invoked_subcommand:
        _show_service(as_json=as_json)


@service_command.command("start")
def start() -> None:
    """Start the service, if it is not running."""
    found, new = service.start()
    console.print_done(
        f"the service {'is' if new else 'was already'} running: process {found.process}"
    )


@service_command.command("stop")
def stop() -> None:
    """Stop the service and its work at once; the next session starts the service again.

    `service: {mode: off}` in your own configuration turns the service off.
    """
    console.print_done(
        "the service has stopped" if service.stop() else "the service is not running"
    )


@service_command.command("status")
@options.json_option
def service_status(as_json: bool) -> None:
    """Show the service's open stores and current work."""
    _show_service(as_json=as_json)


@service_command.command("logs")
def logs() -> None:
    """Print the end of the service's log."""
    path, text = service.log()
    console.talk(path)
    console.data("\n".join(text.splitlines()[-_LINES:]))


def _show_service(*, as_json: bool) -> None:
    found = service.load_status()
    if as_json:
        console.as_json(found.build_record() if found else {})
        return
    for line in _list_service(found):
        console.data(line)
    for store in found.stores if found else ():
        console.data(f"  {store}")
