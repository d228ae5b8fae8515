"""`memfs bench`: a module for each benchmark, imported when it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memfs.cli.group import LazyGroup
from memfs.core.errors import UsageError
from memfs.store import scratch_store

if TYPE_CHECKING:
    from collections.abc import Callable


class _BenchGroup(LazyGroup):
    def invoke(self, context: click.Context) -> object:
        context.with_resource(scratch_store.home())
        return super().invoke(context)


command = _BenchGroup(
    "bench",
    __name__,
    ("hook", "retrieval", "recall", "precision", "ingest", "search", "web", "team"),
    "Measure memfs on this machine, each figure against its floor in the same run.",
)


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
