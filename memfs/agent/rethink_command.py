"""`memfs rethink`."""

from __future__ import annotations

from dataclasses import asdict

import click

from memfs.agent import configured_model
from memfs.agent import rethink as agent
from memfs.cli import console, options
from memfs.cli.completion import LABEL
from memfs.cli.edit_output import report
from memfs.cli.layout import print_diff as show
from memfs.core import changes
from memfs.core.body_edits import Rethink
from memfs.core.errors import MemfsError
from memfs.ops import edit
from memfs.store import config


@click.command("rethink")
@click.argument("label", type=LABEL)
@click.option("--apply", "applied", is_flag=True, help="Write it, as an edit that can be undone.")
@click.option(
    "--no-model", is_flag=True, help="Only remove duplicate lines, also if a model is configured."
)
@options.reason_option
@options.session_option
@options.json_option
def command(
    label: str, applied: bool, no_model: bool, reason: str, session: str, as_json: bool
) -> None:
    """Propose a tidier text for a cluttered block, as a diff.

    The model of `llm` in your own configuration writes it, if there is one. Without a model only
    duplicate lines go: what is said twice comes once. Nothing is written without --apply.
    """
    place = options.place(session)
    model = None if no_model or not config.names_model() else configured_model.load_model()
    try:
        found = agent.propose_text(place, label, model)
    finally:
        if model is not None:
            model.close()
    if as_json:
        console.as_json(asdict(found))
    elif found.before == found.after:
        tidy = "is tidy as it is" if model is not None else "has no duplicate lines"
        console.talk(f"'{found.label}' {tidy}")
    else:
        name = found.label
        show(changes.format_diff(f"{found.before}\n", f"{found.after}\n", f"a/{name}", f"b/{name}"))
    if found.note:
        console.talk(f"! {found.note}")
    if found.before == found.after:
        return
    if not applied:
        console.talk(f"written by {found.by}; memfs rethink {found.label} --apply takes it")
        return
    if model is not None and found.by != model.name:
        raise MemfsError(found.note, "try again; --no-model takes what rules propose")
    edits = [Rethink(label, found.after)]
    report(edit.run(place, list(edits), options.get_origin(reason, session), [found.version]))
