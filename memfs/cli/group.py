"""The commands and their groups: finds and runs one, and prints errors in one place."""

import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import islice

import click

from memfs import __version__
from memfs.cli import console
from memfs.cli.console import columns, fold
from memfs.core import os_errors, parts
from memfs.core.errors import BUG, STOPPED, MemfsError, find_refusal, is_stop
from memfs.files import account
from memfs.store import resources


class CommandGroup(click.Group):
    """A group that wraps the summaries of its commands, and suggests a similar name."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their order, none of their summaries cut off."""
        rows = []
        for name in self.list_commands(context):
            command = self.get_command(context, name)
            if command is not None and not command.hidden:
                rows.append((name, command.get_short_help_str(limit=1000)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names of the commands, in the order in which they were added."""
        return list(self.commands)

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the words name; suggest a similar name where there is none."""
        names = self.list_commands(context)
        if args and args[0] not in names and not args[0].startswith("-"):
            import difflib  # for what is mistyped

            if close := difflib.get_close_matches(args[0], names, 1):
                context.fail(f"no such command '{args[0]}'; did you mean '{close[0]}'?")
        name, command, rest = super().resolve_command(context, args)
        if command is not None and not isinstance(command, click.Group):
            if not any(each.name == _QUIET for each in command.params):
                command.params.append(_make_quiet_option())
            rest = set_texts_apart(command, rest)
        return name, command, rest


_QUIET = "said_quiet"  # the name of the option -q behind a command


def _make_quiet_option() -> click.Option:

    def silence(_context: click.Context, _option: click.Parameter, quiet: bool) -> None:
        if quiet:
            console.set_quiet(True)

    names = ["-q", "--quiet", _QUIET]
    return click.Option(
        names,
        is_flag=True,
        hidden=True,
        expose_value=False,
        callback=silence,
        help="Print only data and errors.",
    )


def set_texts_apart(command: click.Command, args: list[str]) -> list[str]:
    """Return a command's words, with -- before its texts where one of them begins with a hyphen.

    That is a text, and no option, if a space or a line end is in it before any =.
    """
    if "--" in args or not any(map(_is_text, args)):
        return args
    values = {
        name: each.nargs
        for each in command.params
        if isinstance(each, click.Option) and not (each.is_flag or each.count)
        for name in (*each.opts, *each.secondary_opts)
    }
    options: list[str] = []
    texts: list[str] = []
    words = iter(args)
    for word in words:
        if _is_text(word) or not word.startswith("-") or word == "-":
            texts.append(word)
        else:
            options += [word, *islice(words, values.get(word, 0))]
    return [*options, "--", *texts]


def _is_text(word: str) -> bool:
    return word.startswith("-") and any(map(str.isspace, word.partition("=")[0]))


GROUPS = {
    "start": (
        ("init", "create a store for this project, and your own"),
        ("install uninstall", "wire assistants to the memory, or unwire them"),
        ("status doctor check", "see the state of the memory, and problems"),
        ("trust", "let assistants use a cloned project's memory"),
        ("demo", "see memfs at work in a temporary project"),
    ),
    "blocks": (
        ("show", "print a block, or the text a session starts with"),
        ("create edit delete", "create, change or delete a block"),
        ("page", "move parts of a block out of context, and back"),
        ("rename rethink", "rename a block, or tidy up its text"),
        ("log diff blame", "see who changed a block, when, how and why"),
        ("undo restore", "undo an edit, or restore an earlier version"),
    ),
    "find": (
        ("search", "search sessions, archive, blocks and facts"),
        ("recall", "print the context a model would get for a task"),
        ("web last", "open memory in a browser; see recalled texts"),
        ("archive static", "store passages and reference texts"),
        ("source", "include folders of documents in searches"),
        ("facts graph", "see facts, and the course of past sessions"),
    ),
    "sessions": (
        ("ingest", "read the transcripts of assistants"),
        ("session handoff", "manage sessions; hand one over to the next"),
        ("review", "decide on proposed rules, facts and changes"),
    ),
    "share": (
        ("sync", "update files like AGENTS.md; sync machines"),
        ("team", "share sessions with your team, or unshare them"),
        ("export import", "export memory to a file; import it from files"),
    ),
    "models": (
        ("model", "see or change the embedding model"),
        ("agent", "talk with a model that manages this memory"),
        ("service", "see, start or stop the background process"),
    ),
}
PLUMBING = (
    ("hook mcp", "called by assistants: events and tools"),
    ("merge-driver", "called by git to merge blocks"),
    ("apply tools", "run a model's tool calls; list the tools"),
    ("eval", "measure how well a model uses memory"),
    ("completion", "print the completion script for a shell"),
    ("help", "show help for a command or a topic"),
)
TOPICS = ("configuration", "privacy", "recall", "trust")
COMMANDS = tuple(
    name for rows in (*GROUPS.values(), PLUMBING) for names, _ in rows for name in names.split()
)
# The modules that hold several commands, by command; any other one has a module of its own.
MODULES = {
    **dict.fromkeys(("create", "delete", "rename"), "edit"),
    **dict.fromkeys(("log", "diff", "blame"), "history"),
    "restore": "undo",
    "handoff": "last",
    "recall": "search",
    **dict.fromkeys(("hook", "mcp", "merge-driver"), "programs"),
    "apply": "tools",
    "completion": "help",
    **dict.fromkeys(("init", "uninstall"), "install"),
    "service": "status",
}
# The commands of parts that can be left out (see `core.parts`): the part, and the module.
PARTS = {
    "agent": ("agent", "memfs.agent.commands"),
    "eval": ("agent", "memfs.agent.evaluation"),
    "rethink": ("agent", "memfs.agent.rethink"),
    "import": ("importers", "memfs.importers.commands"),
    "export": ("importers", "memfs.importers.commands"),
    "team": ("team", "memfs.team.commands"),
    "web": ("web", "memfs.web.commands"),
}


_MOST = 3  # of one command

_ABOUT = "Memory for coding assistants: plain files in your repository."
_FOOT = (
    "-C DIR: work in DIR. -q: print only data and errors. -V: print the version. More: memfs help "
    f"COMMAND, memfs help plumbing, or memfs help TOPIC: {', '.join(TOPICS)}."
)
_ANY = {"ignore_unknown_options": True, "allow_extra_args": True}
_HEADING, _NAMES = 10, 22  # cells of the columns of `memfs --help`


class RootGroup(CommandGroup):
    """`memfs` itself: its help lists the commands by what people do, on one screen.

    The modules of commands are imported when they are run or listed.
    """

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names of the commands, in the order in which help lists them."""
        return list(COMMANDS)

    def format_help(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the screen of `memfs --help`."""
        lines = ["Usage: memfs [-C DIR] [-q] COMMAND ...", "", *fold(_ABOUT, _get_room())]
        for heading, rows in GROUPS.items():
            lines.append("")
            lines += format_rows(rows, heading)
        lines += ["", *fold(_FOOT, _get_room())]
        formatter.write("\n".join(lines) + "\n")

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Return a command by its name with examples below its help, None if there is none."""
        if name not in COMMANDS:
            return None
        file = name.replace("-", "_")
        part, path = PARTS.get(name, ("", f"memfs.cli.commands.{MODULES.get(name, file)}"))
        if part and not parts.is_installed(part):
            return click.Command(name, _ANY, lambda: parts.load(part), add_help_option=False)
        module = import_module(path)
        found: click.Command = getattr(module, f"{file}_command", None) or module.command
        _add_examples(found, f"memfs {name}")
        return found

    def invoke(self, context: click.Context) -> object:
        """Run the command that the words name."""
        try:
            return super().invoke(context)
        except BrokenPipeError as error:
            raise ClosedPipeError from error


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
    examples = list_examples(path, group=isinstance(command, click.Group))
    if examples:
        command.epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in examples)
    for name, each in command.commands.items() if isinstance(command, click.Group) else ():
        _add_examples(each, f"{path} {name}")


def _start(folder: str | None, *, quiet: bool) -> None:
    console.set_quiet(quiet)
    account.clean_environment()
    if folder is not None:
        os.chdir(folder)
        account.clean_environment()


def group() -> click.Group:
    """Return the group of all commands."""
    root = RootGroup("memfs", help=_ABOUT)
    root.context_settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
    root.callback = _start
    folder = click.Path(exists=True, file_okay=False)
    root.params = [
        click.Option(["-C", "folder"], type=folder, metavar="DIR", help="Work in DIR."),
        click.Option(["-q", "--quiet"], is_flag=True, help="Print only data and errors."),
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
    except (ClosedPipeError, BrokenPipeError):
        raise
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - of the system, or a bug of ours: say which
        if isinstance(error, click.Abort) or is_stop(error):
            console.talk("stopped")
            return STOPPED
        return report_error(error)
    return console.exit_code() or (code if isinstance(code, int) else 0)


def _report_usage(error: click.ClickException) -> int:
    message = error.format_message()
    context = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        console.data(message)
        return error.exit_code
    hint = f"run {context.command_path} --help" if context else ""
    if found := re.search("'([^']*)' is not one of (.*)", message):
        import difflib  # for what is mistyped

        if near := difflib.get_close_matches(found[1], re.findall("'([^']*)'", found[2]), 1):
            hint = f"did you mean '{near[0]}'? {hint}"
    message = re.sub("is not a valid (integer|float)( range)?", "is not a number", message)
    if isinstance(error, click.NoSuchOption):
        hint += "; write '--' before a text that begins with '-'"
    console.error(message[:1].lower() + message[1:].rstrip("."), hint)
    return error.exit_code


def report_error(error: BaseException) -> int:
    """Print what the system refused, or that there is a bug, and how to report it."""
    if os.environ.get("MEMFS_DEBUG"):
        import traceback  # for those who look for a bug

        traceback.print_exc()
    refusal = error if isinstance(error, OSError) else find_refusal(error)
    if refusal:
        told = os_errors.describe_refusal(refusal)
        console.error(told.message, told.hint)
        return told.code
    console.error(
        f"a bug in memfs ({type(error).__name__}: {error})",
        "run the command again with MEMFS_DEBUG=1, and report its output",
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
