"""`memfs rethink`: a tidier text for a block, by the configured model, else without duplicates."""

import re
from dataclasses import asdict, dataclass

import click

from memfs.agent import configured_model
from memfs.agent.model import Model, ModelError, ModelRequest, UserPrompt
from memfs.cli import console, layout, options
from memfs.cli.edit_output import report
from memfs.cli.options import LABEL
from memfs.context import consolidate
from memfs.core import changes
from memfs.core.body_edits import Rethink
from memfs.core.errors import MemfsError
from memfs.ops import edit, show
from memfs.store import config, resources
from memfs.store.blocks import Place

_FENCE = re.compile(r"\A```[a-z]*\n(.*?)\n?```\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class RethinkProposal:
    """The text of a block, and a proposed one. `by` wrote it; `version` is the block's."""

    label: str
    before: str
    after: str
    by: str
    version: int
    note: str = ""


def propose_text(place: Place, label: str, model: Model | None) -> RethinkProposal:
    """Propose a consolidated text; without a model, duplicate lines go. Raises `NotFoundError`.

    A model that cannot be asked, or whose text is empty or too long for the block, is done without.
    """
    shown = show.run(place, label)
    block = shown.block
    note = ""
    if model is not None and block.value.strip():
        try:
            after = _ask_model(model, block.label, block.value, block.limit)
        except ModelError as error:
            note = error.message
        else:
            if after and len(after) <= block.limit:
                return RethinkProposal(block.label, block.value, after, model.name, shown.version)
            note = f"{model.name} did not write a text that fits into the block"
    after = consolidate.consolidate_text(f"{block.value}\n").rstrip("\n")
    return RethinkProposal(block.label, block.value, after, "rules, no model", shown.version, note)


def _ask_model(model: Model, label: str, value: str, limit: int) -> str:
    system = resources.read_text("templates", "prompts", "consolidate.md")
    system = system.replace("{limit}", f"{limit:,}")
    answer = model.ask(ModelRequest(system, [UserPrompt(f"The block {label}:\n\n{value}")]))
    text = answer.text.strip()
    fenced = _FENCE.match(text)
    return fenced.group(1) if fenced else text


@click.command("rethink")
@click.argument("label", type=LABEL)
@click.option(
    "--apply", "applied", is_flag=True, help="Save the proposed text; memfs undo reverts the edit."
)
@click.option(
    "--no-model", is_flag=True, help="Only remove duplicate lines, even if a model is configured."
)
@options.reason_option
@options.session_option
@options.json_option
def command(
    label: str, applied: bool, no_model: bool, reason: str, session: str, as_json: bool
) -> None:
    """Propose a tidier text for a cluttered block, as a diff.

    If your own configuration names a model (`llm`), the model writes the text. Otherwise only
    duplicate lines are removed. Without --apply, the command only shows the diff.
    """
    place = options.place(session)
    model = None if no_model or not config.names_model() else configured_model.load_model()
    try:
        found = propose_text(place, label, model)
    finally:
        if model is not None:
            model.close()
    if as_json:
        console.as_json(asdict(found))
    elif found.before == found.after:
        alone = "has no duplicate lines; to let a model rewrite it, set 'llm' in your configuration"
        tidy = "is already tidy" if model is not None else alone
        console.talk(f"'{found.label}' {tidy}")
    else:
        name = found.label
        layout.print_diff(
            changes.format_diff(f"{found.before}\n", f"{found.after}\n", f"a/{name}", f"b/{name}")
        )
    if found.note:
        console.talk(f"! {found.note}")
    if found.before == found.after:
        return
    if not applied:
        console.talk(f"proposed by {found.by}; to save: memfs rethink {found.label} --apply")
        return
    if model is not None and found.by != model.name:
        raise MemfsError(found.note, "run the command again, or add --no-model")
    edits = [Rethink(label, found.after)]
    report(edit.run(place, list(edits), options.get_origin(reason, session), [found.version]))
