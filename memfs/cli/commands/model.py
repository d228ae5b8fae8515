"""`memfs model`."""

import click

from memfs.cli import console, options, progress
from memfs.cli.group import CommandGroup
from memfs.cli.layout import format_size
from memfs.core.escaping import flatten_text
from memfs.ops import model as op
from memfs.ops.model import Coverage

_DONE = {
    "made": "; all documents are indexed with it",
    "behind": "; another process is indexing documents with it, see memfs model",
    "removed": "; the old vectors are removed",
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
    """Use another model: bundled, none, a folder, or a name of the hub (owner/name).

    It is written into your own configuration, and all documents here get its vectors. Until then,
    searches use the vectors of the former model. With none, search goes by words alone, and
    existing vectors are removed.
    """
    with progress.show_stages() as stage:
        taken = op.use_model(options.place(), model, stage)
    console.print_done(f"embedding: {taken.model} in {taken.path}{_DONE[taken.state]}")
    if taken.overruled:
        console.talk(f"! another setting overrides this here: {taken.overruled}")


@command.command("fetch")
@click.argument("name", required=False, default="", metavar="[OWNER/NAME]")
def fetch_command(name: str) -> None:
    """Download a model from the Hugging Face hub: the named one, or the configured one.

    No other command downloads.
    """
    console.print_done(f"the model is in {op.fetch(options.place(), name)}")


def _list_facts(found: Coverage) -> list[tuple[str, str]]:
    note = f" ({found.said})" if found.said else ""
    facts = [("model", f"{found.model}{note}")]
    if found.off and found.bytes:
        size = format_size(found.bytes)
        vectors = f"{size} of vectors are stored; memfs model use none removes them"
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
                f"{found.former} is used for searches; memfs ingest makes the missing vectors",
            )
        )
    return facts
