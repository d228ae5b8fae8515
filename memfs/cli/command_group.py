"""A group of commands, whose help lists each with its whole first sentence."""

from __future__ import annotations

import difflib
from itertools import islice

import click


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
        close = difflib.get_close_matches(args[0], names, 1) if args else []
        if close and args[0] not in names and not args[0].startswith("-"):
            context.fail(f"there is no command '{args[0]}'; did you mean '{close[0]}'?")
        name, command, rest = super().resolve_command(context, args)
        if command is not None and not isinstance(command, click.Group):
            rest = set_texts_apart(command, rest)
        return name, command, rest


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
