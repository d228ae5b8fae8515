"""A group of commands, whose help lists each with its whole first sentence."""

from __future__ import annotations

import difflib

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
        return super().resolve_command(context, args)
