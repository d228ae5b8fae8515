"""The option of benchmarks that draws their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memfs.core.errors import USAGE, MemfsError

if TYPE_CHECKING:
    from collections.abc import Callable


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
            raise MemfsError(f"cannot write {path}: {error.strerror}", "", USAGE) from error
