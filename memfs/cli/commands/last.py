"""`memfs last` and `memfs handoff`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs.cli import console, layout, options
from memfs.cli.console import paged
from memfs.core.escaping import flatten_text, make_plain
from memfs.core.formats import format_time
from memfs.ops import recent_prompts as op
from memfs.ops.recent_prompts import BroughtItem, RecentPrompt
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.ops.handoff import LastSession

_PROMPT = 200  # characters of a prompt that are shown
_UNKNOWN = "(text unknown: the session is not in recall yet)"


@click.command("last")
@click.argument("number", type=click.IntRange(1), default=1, required=False)
@click.option("--wrong", metavar="ID", help="Do not recall this item for similar prompts again.")
@click.option("--right", metavar="ID", help="Allow memfs to recall a dismissed item again.")
@click.option("--dismissed", is_flag=True, help="List dismissed items.")
@click.option("--session", is_flag=True, help="Show where the last session stopped.")
@options.json_option
@paged
def last_command(
    number: int, wrong: str, right: str, dismissed: bool, session: bool, as_json: bool
) -> None:
    """Show what was recalled for the last NUMBER prompts, from which sources, and why.

    The list includes what was recalled for files opened since then.

    It also shows how close the closest past exchange was, and how close it had to be.

    For --wrong, a prompt is similar if it shares at least half of its words with the prompt that
    the item was recalled for. Words such as "fix" or "the" do not count.
    """
    if sum(map(bool, (wrong, right, dismissed, session))) > 1:
        raise click.UsageError("use only one of --wrong, --right, --dismissed and --session")
    place = options.place()
    if session:
        from memfs.ops import handoff  # with the index

        _show_last(handoff.find(place), as_json=as_json)
    elif wrong:
        item = op.dismiss(place, wrong)
        console.print_done(f"dismissed for similar prompts: {flatten_text(item.source)}")
        console.talk(f"to undo: memfs last --right {item.id}")
    elif right:
        op.restore(place, right)
        console.print_done(f"item {right} can be recalled for similar prompts again")
    elif dismissed:
        _list_dismissed(place, as_json=as_json)
    else:
        _list_prompts(place, number, as_json=as_json)


@click.command("handoff")
@click.option("--drop", is_flag=True, help="Delete the session's note.")
@options.json_option
def handoff_command(drop: bool, as_json: bool) -> None:
    """Give the next session a note about how the last session ended, and print the note.

    The next session of any assistant gets the note once: the last request, the closing message,
    open items, edited files, and the last command if it failed. memfs does this automatically, for
    seven days if an item is open, otherwise for one day. This command reads new sessions, then
    gives the note again, however old it is. To turn notes off, set hooks.handoff in config.yaml.
    """
    from memfs.cli.progress import stoppable_stages  # which `last` needs not
    from memfs.ops import handoff  # likewise, with the index

    place = options.place()
    if drop:
        _show_last(handoff.drop(place), as_json=as_json)
        return
    with stoppable_stages(
        lambda: "no note was handed over; run the command again", ("reading",)
    ) as stage:
        found = handoff.hand_over(place, options.home(), stage)
    _show_last(found, as_json=as_json)


def _show_last(found: LastSession | None, *, as_json: bool) -> None:
    if as_json:
        console.as_json(found._asdict() if found else None)
    elif found is None:
        console.talk(
            "no session here has a note to hand over; to read new sessions, run memfs ingest"
        )
        console.talk(
            "A session with one prompt has a note only if it edited a file, left a task open, or "
            "ended with a failed command."
        )
    else:
        console.echo(make_plain(found.text).rstrip())
        console.talk(found.describe_state())


def _list_prompts(place: Place, number: int, *, as_json: bool) -> None:
    found = op.run(place, number)
    if as_json:
        console.as_json([asdict(each) for each in found])
        return
    if not found:
        console.talk("memfs has received no prompts here yet; to find out why, run memfs doctor")
    for each in found:
        _show(each)
    if any(each.items for each in found):
        console.talk("to stop recalling an item for similar prompts: memfs last --wrong ID")


def _list_dismissed(place: Place, *, as_json: bool) -> None:
    found = op.list_dismissed(place)
    if as_json:
        console.as_json([asdict(each) for each in found])
        return
    if not found:
        console.talk("no dismissed items here")
    for each in found:
        head = f"{each.id}  {format_time(each.at)}  {flatten_text(each.source)}"
        console.echo(layout.format_head(head))
        console.echo(f"not recalled for prompts like: {_format_prompt(each.prompt)}")


def _show(found: RecentPrompt) -> None:
    head = f"{format_time(found.at)}  {found.host}  session {found.session}"
    console.echo(layout.format_head(head))
    said = f"opened: {flatten_text(found.opened)}"
    console.echo(said if found.opened else f"prompt: {_format_prompt(found.prompt)}")
    if found.by_words:
        console.echo(f"searched by words alone: {found.by_words}")
    if found.text:
        console.echo(f"given, {len(found.text):,} characters:")
        console.echo("\n".join(f"  {line}" for line in make_plain(found.text).rstrip().split("\n")))
        for item in found.items:
            console.echo(_format_item(item))
    else:
        console.echo("given: nothing")
    if found.nearest:
        short = f" ({found.lack:.2f} short)" if found.lack >= 0.005 else ""
        measure = (
            f"similarity of the closest exchange: {found.about:.2f}, needed: "
            f"{found.floor:.2f}{short}"
        )
        console.echo(console.style(f"{measure}: {flatten_text(found.nearest)}", "bright_black"))


def _format_item(item: BroughtItem) -> str:
    why = f"{item.source}, {item.characters:,} characters, {item.why}"
    return f"{item.id}  {flatten_text(why)}{' (dismissed)' if item.dismissed else ''}"


def _format_prompt(prompt: str) -> str:
    return flatten_text(prompt)[:_PROMPT] or _UNKNOWN
