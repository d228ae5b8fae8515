"""`memfs`: finds the command, runs it, prints what went wrong in one place."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

COMMANDS = (
    "init", "install", "uninstall", "show", "blocks", "create", "edit", "delete", "rename",
    "search", "last", "archive", "ingest", "facts", "static", "graph", "outcome", "log", "diff",
    "blame", "undo", "restore", "apply", "tools", "sync", "context", "page", "rethink", "agent",
    "review", "reflect", "status", "daemon", "doctor", "model", "trust", "hook", "mcp",
    "export", "import", "merge-driver", "completion", "bench", "eval", "demo",
)  # fmt: skip


def main() -> int:
    """Run the command line and return the exit code: 0 done, 1 refused, 2 usage, 70 a bug."""
    _speak_utf8()
    if sys.argv[1:2] == ["hook"] and len(sys.argv) in (3, 4) and sys.argv[2][:1] != "-":
        from memfs.hook.main import main as hook  # a host waits: without click
        from memfs.ipc.client import HookCall

        return hook(HookCall(sys.argv[2:]))
    return _run(group())


def _speak_utf8() -> None:
    """Take arguments as UTF-8 whatever the locale says, and print what a terminal can show."""
    if sys.getfilesystemencoding() != "utf-8":
        import os

        sys.argv = [os.fsencode(word).decode("utf-8", "surrogateescape") for word in sys.argv]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def group() -> click.Group:
    """Return the command group; its commands are imported when they are run or listed."""
    import click

    from memfs import __version__

    class Lazy(click.Group):
        def list_commands(self, _context: click.Context) -> list[str]:
            return list(COMMANDS)

        def get_command(self, _context: click.Context, name: str) -> click.Command | None:
            if name not in COMMANDS:
                return None
            file = name.replace("-", "_") + "_" * (name == "import")  # a word of Python's
            module = __import__(f"memfs.cli.commands.{file}", fromlist=["command"])
            found: click.Command = module.command
            return found

        def resolve_command(
            self, context: click.Context, args: list[str]
        ) -> tuple[str | None, click.Command | None, list[str]]:
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, 1) if args else []
            if close and args[0] not in COMMANDS and not args[0].startswith("-"):
                context.fail(f"there is no command '{args[0]}'; did you mean '{close[0]}'?")
            return super().resolve_command(context, args)

    made = Lazy(
        "memfs",
        help="Memory for coding assistants that is plain files, in your repository.",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    return click.version_option(__version__, prog_name="memfs")(made)


def _run(command: click.Group) -> int:
    import click

    from memfs.cli import console
    from memfs.core.errors import BUG, MemfsError

    try:
        command.main(standalone_mode=False)
    except MemfsError as error:
        console.error(error.message, error.hint)
        return error.code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        console.talk("stopped")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        console.error(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "))
        return 1
    except Exception as error:  # noqa: BLE001 - a bug of ours: say so, and how to report it
        import os
        import traceback

        if os.environ.get("MEMFS_DEBUG"):
            traceback.print_exc()
        console.error(
            f"a bug in memfs: {type(error).__name__}: {error}",
            "MEMFS_DEBUG=1 shows where it happened",
        )
        return BUG
    return console.exit_code()


if __name__ == "__main__":
    sys.exit(main())
