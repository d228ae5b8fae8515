"""What a block is like: options that `memfs create` and `memfs edit` share."""

from __future__ import annotations

from collections.abc import Callable

import click

from memfs.cli import options

_OPTIONS = (
    click.option("--description", metavar="TEXT", help="Say what belongs into the block."),
    options.number_option("--limit", help="Characters at most."),
    click.option(
        "--pin/--no-pin",
        "pinned",
        default=None,
        help="Show it in the brief, or there its name alone: it is read on demand.",
    ),
    click.option("-t", "--tag", "tags", multiple=True, metavar="TAG", help="A tag; repeatable."),
    click.option(
        "--priority", type=int, metavar="N", help="Order in the brief, and what is cut last."
    ),
)


def block_options(function: Callable[..., object]) -> Callable[..., object]:
    """Add `--description`, `--limit`, `--pin`, `--tag` and `--priority`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
