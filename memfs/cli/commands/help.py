"""`memfs help` and `completion`."""

import textwrap
from typing import Any

import click
from click.shell_completion import get_completion_class

from memfs.cli import console
from memfs.cli.console import paged
from memfs.cli.group import PLUMBING, TOPICS, format_rows, group
from memfs.core import settings
from memfs.store import resources

_INDENTS: dict[str, Any] = {"initial_indent": "    ", "subsequent_indent": "    "}


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]... | [TOPIC]")
@click.pass_context
@paged
def help_command(called: click.Context, words: tuple[str, ...]) -> None:
    """Show help for a command, a topic, or the commands that programs call (plumbing).

    Topics are configuration, privacy, recall and trust.
    """
    if words == ("plumbing",):
        console.echo("\n".join(["Commands that programs call:", "", *format_rows(PLUMBING)]))
    elif len(words) == 1 and words[0] in TOPICS:
        console.data(resources.read_text("templates", "help", f"{words[0]}.txt").rstrip("\n"))
        if words[0] == "configuration":
            console.data(_format_settings())
    else:
        console.echo(_find_context(called, words).get_help())


def _format_settings() -> str:
    lines = []
    for each in settings.SETTINGS:
        default = f": {each.format_default()}" if each.format_default() else ""
        values = f" ({each.values})" if each.values else ""
        lines += ["", f"  {each.name}{default}{values}"]
        lines.append(textwrap.fill(each.text, 76, **_INDENTS))
    return "\n".join(lines)


def _find_context(called: click.Context, words: tuple[str, ...]) -> click.Context:
    """Return the context of the command that the words name. Raises click's error of none."""
    context = called.find_root()
    for word in words:
        if not isinstance(context.command, click.Group):
            context.fail(f"{context.command_path} has no subcommands")
        name, found, _ = context.command.resolve_command(context, [word])
        if found is None:
            context.fail(f"no such command '{word}'")
        context = found.context_class(found, parent=context, info_name=name)
    return context


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the completion script for a shell. To load it, run eval "$(memfs completion bash)"."""
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"there is no completion script for {shell}")
    console.data(found(group(), {}, "memfs", "_MEMFS_COMPLETE").source())
