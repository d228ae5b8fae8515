"""The command group: finds and runs a command, and prints errors in one place."""

from __future__ import annotations

import difflib
import os
import sys
import traceback
from importlib import import_module

import click

from memfs import __version__
from memfs.cli import console
from memfs.core import os_errors
from memfs.core.errors import BUG, STOPPED, MemfsError, find_refusal

COMMANDS = (
    "init", "install", "uninstall", "show", "blocks", "create", "edit", "delete", "rename",
    "search", "last", "archive", "ingest", "facts", "static", "graph", "outcome", "log", "diff",
    "blame", "undo", "restore", "apply", "tools", "sync", "context", "page", "rethink", "agent",
    "review", "reflect", "status", "daemon", "doctor", "model", "trust", "hook", "mcp",
    "export", "import", "merge-driver", "completion", "bench", "eval", "demo",
)  # fmt: skip


class LazyGroup(click.Group):
    """A group whose commands are modules of a package: imported when they are run or listed."""

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
        file = name.replace("-", "_") + "_" * (name == "import")  # a word of Python's
        found: click.Command = import_module(f"{self._package}.{file}").command
        return found

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the words name; suggest a similar name where there is none."""
        close = difflib.get_close_matches(args[0], self._names, 1) if args else []
        if close and args[0] not in self._names and not args[0].startswith("-"):
            context.fail(f"there is no command '{args[0]}'; did you mean '{close[0]}'?")
        return super().resolve_command(context, args)

    def invoke(self, context: click.Context) -> object:
        """Run the command that the words name."""
        try:
            return super().invoke(context)
        except BrokenPipeError as error:
            raise ClosedPipeError from error


def group() -> click.Group:
    """Return the group of all commands."""
    root = LazyGroup(
        "memfs",
        "memfs.cli.commands",
        COMMANDS,
        "Memory for coding assistants that is plain files, in your repository.",
    )
    root.context_settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
    return click.version_option(__version__, prog_name="memfs")(root)


class ClosedPipeError(Exception):
    """Whoever read what a command prints has gone. Click would end with exit code 1."""


def run(command: click.Group) -> int:
    """Run the command line; return its exit code: 0 done, 1 refused, 2 usage, 70 a bug of ours.

    Where whoever reads the output has gone, as in `memfs log | head -1`, it ends quietly with 0.
    """
    try:
        return _run(command)
    except (ClosedPipeError, BrokenPipeError):
        null = os.open(os.devnull, os.O_WRONLY)  # for what is still to be flushed
        for stream in (sys.stdout, sys.stderr):
            os.dup2(null, stream.fileno())
        console.exit_code()
        return 0


def _run(command: click.Group) -> int:
    try:
        code = command.main(standalone_mode=False)
    except MemfsError as error:
        console.error(error.message, error.hint)
        return error.code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        console.talk("stopped")
        return STOPPED
    except (ClosedPipeError, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - of the system, or a bug of ours: say which
        return _report_error(error)
    return console.exit_code() or (code if isinstance(code, int) else 0)


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
