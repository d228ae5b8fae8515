"""`memfs completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from memfs.cli import console
from memfs.cli.group import group


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for a shell: eval "$(memfs completion bash)"."""
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    console.data(found(group(), {}, "memfs", "_MEMFS_COMPLETE").source())
