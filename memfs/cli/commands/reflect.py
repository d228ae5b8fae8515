"""`memfs reflect`."""

from __future__ import annotations

import click

from memfs.agent import configured_model
from memfs.agent import reflect as agent
from memfs.cli import console, options
from memfs.cli.commands.review import show_proposal
from memfs.core.escaping import flatten_text
from memfs.ops import reflect as op
from memfs.store import config


@click.command("reflect")
@options.number_option(
    "--sessions", "most", help="Look over so many sessions at most.", default=agent.MOST
)
@click.option("--again", is_flag=True, help="The latest ones, also if they were looked at before.")
@click.option("--apply", "applied", is_flag=True, help="Take what is proposed without asking.")
def command(most: int, again: bool, applied: bool) -> None:
    """Have the configured model look over past sessions, and propose what memory should say.

    It works in a draft of the store (a git worktree, where there is git), so that nothing changes
    before you have seen it: the diff is shown, memfs review --accept takes it. With --apply, or
    review.apply in your own configuration, it is taken at once.
    """
    place = options.place()
    model = configured_model.load_model()
    try:
        count = len(agent.list_sessions(place, most, again=again))
        with console.progress(count, f"asking {flatten_text(model.name)}") as tick:
            found = agent.run(place, model, most, tick, again=again)
    finally:
        model.close()
    console.talk(model.format_spent())
    if found is None:
        console.print_done("memory is up to date: nothing is proposed")
        return
    show_proposal(found)
    if applied or config.load(place).get("review.apply") is True:
        done = op.accept(place, found.id, agent.get_origin())
        changed = console.format_count(len(done.entries), "block")
        console.print_done(f"taken: {changed}, {console.format_count(done.passages, 'passage')}")
        return
    console.talk(f"memfs review --accept {found.id} takes it, --reject {found.id} drops it")
