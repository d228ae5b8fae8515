"""`memfs undo` and `memfs restore`."""

import click

from memfs.cli import console, options
from memfs.cli.edit_output import format_entry, format_remainder
from memfs.cli.options import LABEL, split_version
from memfs.ops import undo


@click.command("undo")
@click.argument("label", type=LABEL)
@options.reason_option
@options.session_option
def undo_command(label: str, reason: str, session: str) -> None:
    """Undo the last edit of a block; run the command again to undo the edit before it.

    The file is restored byte for byte. An undo is itself an edit: `memfs log` shows it, and `memfs
    restore` restores any version.
    """
    undone = undo.undo_edit(options.place(session), label, options.get_origin(reason, session))
    for entry in undone.entries:
        console.print_done(
            f"{format_entry(entry)} (undid {undone.undone.op}, version {undone.undone.version})"
        )
    format_remainder(undone.note)


@click.command("restore")
@click.argument("label", type=LABEL)
@click.argument("version", required=False, default="")
@options.reason_option
@options.session_option
def restore_command(label: str, version: str, reason: str, session: str) -> None:
    """Restore an earlier version of a block, as a new version.

    VERSION is a number or the id of a commit, as memfs log shows them. LABEL@VERSION works, too;
    LABEL@-1 is the version before the current one.
    """
    label, at = split_version(label)
    if bool(at) == bool(version):
        raise click.UsageError("give one version, as LABEL VERSION or LABEL@VERSION")
    version = at or version
    place = options.place(session)
    restored = undo.restore_version(place, label, version, options.get_origin(reason, session))
    for entry in restored.entries:
        console.print_done(format_entry(entry))
    format_remainder(restored.note)
    if not restored.entries:
        console.print_done(f"'{label}' already has the text of version {version}")
