"""`memfs model`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs.cli import context, screen
from memfs.core.quoting import flatten_text
from memfs.ops import model as op

if TYPE_CHECKING:
    from memfs.ops.model import Coverage

_DONE = {
    "made": "; all documents have its vectors",
    "behind": "; its vectors are made in the background, see memfs model",
    "removed": "; the vectors there were are removed",
    "": "",
}


@click.group("model", invoke_without_command=True)
@context.json_option
@click.pass_context
def command(called: click.Context, as_json: bool) -> None:
    """Show the embedding model: which, where from, and how much of the index has its vectors."""
    if called.invoked_subcommand:
        return
    found = op.look(context.place())
    if as_json:
        screen.as_json(asdict(found))
        return
    for name, value in _facts(found):
        screen.styled(f"{screen.style(f'{name:<10}', 'bright_black')} {flatten_text(value)}")
    if found.problem:
        screen.error(found.problem, found.hint)
        screen.refuse()


@command.command("use")
@click.argument("model", metavar="NAME")
@click.option("--background", is_flag=True, help="Do not wait for the vectors to be made.")
def use(model: str, background: bool) -> None:
    """Take another model: bundled, none, a folder, or a name of the hub (owner/name).

    It is written into your own configuration, and all documents here get its vectors; until they
    have them, those of the former model are searched. With none, search goes by words alone, and
    the vectors that are there are removed.
    """
    with screen.stages() as stage:
        taken = op.use(context.place(), model, stage, background=background)
    screen.done(f"embedding: {taken.model} in {taken.path}{_DONE[taken.state]}")
    if taken.overruled:
        screen.talk(f"! it does not count here: {taken.overruled}")


@command.command("fetch")
@click.argument("name", required=False, default="", metavar="[OWNER/NAME]")
def fetch(name: str) -> None:
    """Download a model from the Hugging Face hub: the one named, or the one that is configured.

    Nothing else is ever downloaded.
    """
    screen.done(f"the model is in {op.fetch(context.place(), name)}")


def _facts(found: Coverage) -> list[tuple[str, str]]:
    said = f" ({found.said})" if found.said else ""
    facts = [("model", f"{found.model}{said}")]
    if found.off and found.bytes:
        kept = f"{screen.size(found.bytes)} of vectors are kept; memfs model use none removes them"
        return [*facts, ("index", kept)]
    if found.source:
        facts += [
            ("from", found.source),
            ("dimensions", f"{found.dimensions:,}"),
            ("vocabulary", f"{found.vocabulary:,} tokens"),
        ]
    if not found.off:
        facts.append(("index", f"{found.line()}, {screen.size(found.bytes)}"))
    if found.former:
        what = "is being made" if found.running else "goes on with the next search or ingest"
        facts.append(("meanwhile", f"{found.former} is searched; the rest {what}"))
    if found.failure:
        facts.append(("failed", found.failure))
    return facts
