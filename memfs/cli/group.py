"""The command group: finds and runs a command, and prints errors in one place."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

import click

from memfs import __version__
from memfs.cli import console
from memfs.cli.command_group import CommandGroup
from memfs.cli.command_list import COMMANDS, GROUPS, MODULES, PARTS, TOPICS
from memfs.cli.folding import columns, fold
from memfs.core import os_errors, parts
from memfs.core.errors import BUG, STOPPED, MemfsError, find_refusal
from memfs.files import account
from memfs.store import resources

_MOST = 3  # of one command

_ABOUT = "Memory for coding assistants that is plain files, in your repository."
_FOOT = (
    "-C DIR: work in DIR. -q: print data and errors alone. -V: the version. More: memfs help "
    f"COMMAND, memfs help plumbing, or a topic: {', '.join(TOPICS)}."
)
_ANY = {"ignore_unknown_options": True, "allow_extra_args": True}
_HEADING, _NAMES = 10, 22  # cells of the columns of `memfs --help`


class LazyGroup(CommandGroup):
    """A group whose commands are in modules of a package: imported when they are run or listed."""

    def __init__(self, name: str, package: str, commands: tuple[str, ...], about: str) -> None:
        super().__init__(name, help=about)
        self._package, self._names = package, commands

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names of the commands, in the order in which help lists them."""
        return list(self._names)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Return a command by its name, None if there is none."""
        if name not in self._names:
            return None
        file = name.replace("-", "_")
        part, path = PARTS.get(name, ("", f"{self._package}.{MODULES.get(name, file)}"))
        if part and not parts.is_installed(part):
            return click.Command(name, _ANY, lambda: parts.load(part), add_help_option=False)
        module = import_module(path)
        found: click.Command = getattr(module, f"{file}_command", None) or module.command
        return found

    def invoke(self, context: click.Context) -> object:
        """Run the command that the words name."""
        try:
            return super().invoke(context)
        except BrokenPipeError as error:
            raise ClosedPipeError from error


class RootGroup(LazyGroup):
    """`memfs` itself: its help lists the commands by what people do, on one screen."""

    def format_help(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the screen of `memfs --help`."""
        lines = ["Usage: memfs [-C DIR] [-q] COMMAND ...", "", *fold(_ABOUT, _get_room())]
        for heading, rows in GROUPS.items():
            lines.append("")
            lines += format_rows(rows, heading)
        lines += ["", *fold(_FOOT, _get_room())]
        formatter.write("\n".join(lines) + "\n")

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a command with examples below its help."""
        found = super().get_command(context, name)
        if found:
            _add_examples(found, f"memfs {name}")
        return found


def format_rows(rows: Sequence[tuple[str, str]], heading: str | None = None) -> list[str]:
    """Return lines for commands and their summaries, wrapped to the terminal's width."""
    lines = []
    for number, (names, summary) in enumerate(rows):
        lead = "  " if heading is None else f"{heading if number == 0 else '':<{_HEADING}}"
        left = f"{lead}{', '.join(names.split()):<{_NAMES}}"
        first, *rest = fold(summary, _get_room() - len(left))
        lines += [left + first, *(" " * len(left) + line for line in rest)]
    return lines


def _get_room() -> int:
    return max(_HEADING + _NAMES + 20, min(columns(), 80))


def _add_examples(command: click.Command, path: str) -> None:
    """Put examples below the help of a command, and of those in its group."""
    examples = list_examples(path, group=isinstance(command, click.Group))
    if examples:
        command.epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in examples)
    for name, each in command.commands.items() if isinstance(command, click.Group) else ():
        _add_examples(each, f"{path} {name}")


def _start(folder: str | None, *, quiet: bool) -> None:
    """Take the options that stand before the command."""
    console.set_quiet(quiet)
    account.clean_environment()
    if folder is not None:
        os.chdir(folder)
        account.clean_environment()


def group() -> click.Group:
    """Return the group of all commands."""
    root = RootGroup("memfs", "memfs.cli.commands", COMMANDS, _ABOUT)
    root.context_settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
    root.callback = _start
    folder = click.Path(exists=True, file_okay=False)
    root.params = [
        click.Option(["-C", "folder"], type=folder, metavar="DIR", help="Work in DIR."),
        click.Option(["-q", "--quiet"], is_flag=True, help="Print data and errors alone."),
    ]
    return click.version_option(__version__, "-V", "--version", prog_name="memfs")(root)


class ClosedPipeError(Exception):
    """Whoever read what a command prints has gone. Click would end with exit code 1."""


def run(command: click.Command, name: str = "memfs") -> int:
    """Run the command line of a program and return its exit code.

    0: done, 1: refused, 2: usage, 70: a bug of ours.
    Where whoever reads the output has gone, as in `memfs log | head -1`, it ends quietly with 0.
    """
    try:
        return _run(command, name)
    except (ClosedPipeError, BrokenPipeError):
        null = os.open(os.devnull, os.O_WRONLY)  # for what is still to be flushed
        for stream in (sys.stdout, sys.stderr):
            os.dup2(null, stream.fileno())
        console.exit_code()
        return 0


def _run(command: click.Command, name: str) -> int:
    try:
        code = command.main(prog_name=name, standalone_mode=False)
    except MemfsError as error:
        console.error(error.message, error.hint)
        return error.code
    except click.ClickException as error:
        return _report_usage(error)
    except (click.Abort, KeyboardInterrupt):
        console.talk("stopped")
        return STOPPED
    except (ClosedPipeError, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - of the system, or a bug of ours: say which
        return _report_error(error)
    return console.exit_code() or (code if isinstance(code, int) else 0)


def _report_usage(error: click.ClickException) -> int:
    """Print an error of click in the form of ours."""
    message = error.format_message()
    context = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        console.data(message)
        return error.exit_code
    hint = f"{context.command_path} --help" if context else ""
    if isinstance(error, click.NoSuchOption):
        hint += "; what begins with - and is no option goes behind --"
    console.error(message[:1].lower() + message[1:].rstrip("."), hint)
    return error.exit_code


def _report_error(error: Exception) -> int:
    """Print what the system refused, or that there is a bug, and how to report it."""
    if os.environ.get("MEMFS_DEBUG"):
        traceback.print_exc()
    refusal = error if isinstance(error, OSError) else find_refusal(error)
    if refusal:
        told = os_errors.describe_refusal(refusal)
        console.error(told.message, told.hint)
        return told.code
    console.error(
        f"a bug in memfs: {type(error).__name__}: {error}", "MEMFS_DEBUG=1 shows where it happened"
    )
    return BUG


def list_examples(path: str, *, group: bool = False) -> list[str]:
    """Return the examples of a command, `memfs archive` or `memfs archive add`; at most three.

    Those of a group are of different commands in it.
    """
    words = path.split()
    lines = resources.read_text("templates", "help", "examples.txt").splitlines()
    found = [line for line in lines if line.split()[: len(words)] == words]
    if group:
        found = list({tuple(line.split()[: len(words) + 1]): line for line in found[::-1]}.values())
        found.reverse()
    return found[:_MOST]
