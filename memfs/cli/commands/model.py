"""`memfs model`."""

import click

from memfs.cli import console, options, progress
from memfs.cli.group import CommandGroup
from memfs.cli.layout import format_size
from memfs.core.escaping import flatten_text
from memfs.ops import model as op
from memfs.ops.model import Coverage

_DONE = {
    "made": "; all documents are indexed with this model",
    "behind": "; another process is indexing the documents; to see its progress, run memfs model",
    "removed": "; the old vectors were removed",
    "": "",
}


@click.group("model", cls=CommandGroup, invoke_without_command=True)
@options.json_option
@click.pass_context
def command(called: click.Context, as_json: bool) -> None:
    """Show the embedding model: its name, source, and share of the index."""
    if called.invoked_subcommand:
        return
    found = op.load_status(options.place())
    if as_json:
        console.as_json(found._asdict())
        return
    for name, value in _list_facts(found):
        console.echo(f"{console.style(f'{name:<10}', 'bright_black')} {flatten_text(value)}")
    if found.problem:
        console.error(found.problem, found.hint)
        console.refuse()


@command.command("use")
@click.argument("model", metavar="NAME")
def use_command(model: str) -> None:
    """Use another model: bundled, none, a folder, or owner/name from the Hugging Face hub.

    The setting goes into your own configuration, and all documents here are indexed again. Until
    the new index is complete, searches use the previous model. With none, memfs searches by words
    alone, and removes existing vectors.
    """
    with progress.show_stages() as stage:
        taken = op.use_model(options.place(), model, stage)
    console.print_done(f"embedding model: {taken.model}, set in {taken.path}{_DONE[taken.state]}")
    if taken.overruled:
        console.talk(f"! in this project another setting overrides this one: {taken.overruled}")


@command.command("fetch")
@click.argument("name", required=False, default="", metavar="[OWNER/NAME]")
def fetch_command(name: str) -> None:
    """Download a model from the Hugging Face hub: OWNER/NAME, or the configured model.

    No other command downloads models.
    """
    console.print_done(f"the model is in {op.fetch(options.place(), name)}")


def _list_facts(found: Coverage) -> list[tuple[str, str]]:
    note = f" ({found.said})" if found.said else ""
    facts = [("model", f"{found.model}{note}")]
    if found.off and found.bytes:
        size = format_size(found.bytes)
        vectors = f"{size} of vectors are stored; to remove them, run memfs model use none"
        return [*facts, ("index", vectors)]
    if found.source:
        facts += [
            ("from", found.source),
            ("dimensions", f"{found.dimensions:,}"),
            ("vocabulary", f"{found.vocabulary:,} tokens"),
        ]
    if not found.off:
        facts.append(("index", f"{found.format_line()}, {format_size(found.bytes)}"))
    if found.former:
        facts.append(
            (
                "meanwhile",
                f"searches use {found.former}; to make the missing vectors, run memfs ingest",
            )
        )
    return facts
