"""`memfs context`."""

from __future__ import annotations

from dataclasses import asdict

import click

from memfs.cli import context, screen
from memfs.core.quoting import plain
from memfs.ops import context as op


@click.command("context")
@click.option("--budget", type=click.IntRange(1), default=None, metavar="N",
              help="A window of so many tokens; context.max_tokens if not given.")  # fmt: skip
@context.session_option
@context.json_option
def command(budget: int | None, session: str, as_json: bool) -> None:
    """Show what the memory here takes of a context window, and what would be cut.

    Part of the window is kept free for the answer and for tool calls; blocks have a third of the
    rest at most. What is left is for messages, their summary, and what is found.
    """
    found = op.run(context.place(session), budget or 0)
    if as_json:
        screen.as_json({**asdict(found), "used": found.used, "left": found.left})
        return
    room = found.budget.room
    rows = [("SECTION", "TOKENS", "", "OF THE ROOM", "CUT")]
    rows += [
        (section.name, f"{section.shown:,}", screen.bar(section.shown / room),
         f"{section.shown / room:.0%}", f"{section.cut:,}" if section.cut > 0 else "-")
        for section in found.sections
    ]  # fmt: skip
    rows.append(
        ("left for the conversation", f"{found.left:,}", screen.bar(max(0, found.left) / room),
         f"{found.left / room:.0%}", "-")
    )  # fmt: skip
    screen.styled(screen.table(rows, right=(1, 3, 4)))
    kept = found.budget
    screen.talk(
        f"{kept.window:,} tokens, {kept.response:,} of them kept free for the answer, "
        f"{kept.tools:,} for tool calls; counted by {found.counter}"
    )
    for name in found.host:
        screen.talk(f"! an assistant's hooks take less than this: '{plain(name)}' is cut there")
