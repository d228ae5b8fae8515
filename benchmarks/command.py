"""A measurement as a command of its own: `python -m benchmarks.NAME`."""

import sys
from collections.abc import Callable
from typing import NoReturn

import click

from benchmarks import scratch_store
from memfs.cli import group
from memfs.core.errors import UsageError


class Measurement(click.Command):
    """A command that leaves the user's own store alone."""

    def invoke(self, context: click.Context) -> object:
        """Measure with an empty store in the user's place."""
        with scratch_store.home():
            return super().invoke(context)


def run(command: click.Command) -> NoReturn:
    """Run a measurement with the words of the command line; exit as commands of memfs do."""
    sys.exit(group.run(command, f"python -m benchmarks.{command.name}"))


def plot_option(function: Callable[..., object]) -> Callable[..., object]:
    """Add `--plot FILE.svg` to a command."""
    return click.option(
        "--plot",
        "plot",
        type=click.Path(dir_okay=False),
        metavar="FILE.svg",
        default="",
        help="Draw the figures into an SVG file, too.",
    )(function)


def write_plot(path: str, svg: str) -> None:
    """Write a drawing to a file, if one is wanted. Raises `MemfsError` if it cannot."""
    if path:
        try:
            with open(path, "w", encoding="utf-8") as handle:
                handle.write(svg)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error
