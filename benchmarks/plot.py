"""Figures as SVG, written by hand: they follow the light or dark of whatever shows them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 860, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 230, 64, 56
_ROW = 30  # of a bar
_LABEL = 15  # between two labels
# Light and dark: distinct for colour-blind readers too, readable on white and on black.
_PALETTE = (
    ("#0b62a3", "#6cb6ff"),
    ("#b3460e", "#f0883e"),
    ("#2b7a3d", "#56d364"),
    ("#8a3fb0", "#d2a8ff"),
    ("#8a6a00", "#e3b341"),
    ("#b01c53", "#ff7eb6"),
)
_STYLE = """
svg { color-scheme: light dark; }
text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #24292f; }
.title { font-size: 16px; font-weight: 600; }
.soft { fill: #57606a; font-size: 12px; }
.ground { fill: #ffffff; }
.grid { stroke: #d8dee4; stroke-width: 1; }
.line { fill: none; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round; }
.floor { stroke-dasharray: 5 5; stroke-width: 1.75; }
"""
_DARK = """
text { fill: #e6edf3; } .soft { fill: #9da7b3; } .ground { fill: #0d1117; }
.grid { stroke: #30363d; }
"""


@dataclass(frozen=True)
class PlotLine:
    """Points (x, y) above zero, left to right. A `floor` is dashed: it is there to compare with."""

    name: str
    points: Sequence[tuple[float, float]]
    floor: bool = False


@dataclass(frozen=True)
class Bar:
    """A value, and how it is written beside its bar."""

    name: str
    value: float
    written: str
    floor: bool = False


def lines(title: str, axes: tuple[str, str], drawn: Sequence[PlotLine]) -> str:
    """Draw lines over two logarithmic axes, each with its name at its end; `axes` names x and y."""
    visible = [line for line in drawn if line.points]
    across = _Scale([x for line in visible for x, _ in line.points], _LEFT, WIDTH - _RIGHT)
    up = _Scale([y for line in visible for _, y in line.points], HEIGHT - _BOTTOM, _TOP)
    parts = [_draw(24, 32, title, "title")]
    for value in up.ticks():
        at = up(value)
        parts.append(f'<path class="grid" d="M{_LEFT} {at:.1f}H{WIDTH - _RIGHT}"/>')
        parts.append(_draw(_LEFT - 8, at + 4, _format(value), "soft", "end"))
    for value in across.ticks():
        at = across(value)
        parts.append(f'<path class="grid" d="M{at:.1f} {_TOP}V{HEIGHT - _BOTTOM}"/>')
        parts.append(_draw(at, HEIGHT - _BOTTOM + 20, _format(value), "soft", "middle"))
    parts.append(_draw(_LEFT, _TOP - 12, axes[1], "soft"))
    parts.append(_draw(WIDTH - _RIGHT, HEIGHT - 14, axes[0], "soft", "end"))
    ends = _spread_labels([up(line.points[-1][1]) for line in visible])
    for number, (line, end) in enumerate(zip(visible, ends, strict=True)):
        kind = f"c{number % len(_PALETTE)}"
        path = " L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in line.points)
        floor = " floor" if line.floor else ""
        parts.append(f'<path class="line {kind}{floor}" d="M{path}"/>')
        parts.extend(
            f'<circle class="dot {kind}" cx="{across(x):.1f}" cy="{up(y):.1f}" r="3.2"/>'
            for x, y in line.points
        )
        parts.append(_draw(across(line.points[-1][0]) + 12, end + 4, line.name, f"name {kind}"))
    return _render_svg(title, HEIGHT, parts)


def bars(title: str, note: str, drawn: Sequence[Bar]) -> str:
    """Draw horizontal bars from zero, one below the other; `note` is the measure."""
    most = max((bar.value for bar in drawn), default=0.0) or 1.0
    left, room = 330, WIDTH - 330 - 130
    parts = [_draw(24, 32, title, "title"), _draw(24, 54, note, "soft")]
    for number, bar in enumerate(drawn):
        at = 74 + number * _ROW
        kind = "c1" if bar.floor else "c0"
        size = max(1.0, bar.value / most * room)
        parts.append(_draw(left - 12, at + 15, bar.name, "", "end"))
        parts.append(
            f'<rect class="dot {kind}" x="{left}" y="{at}" width="{size:.1f}" height="20" rx="3"/>'
        )
        parts.append(_draw(left + size + 8, at + 15, bar.written, "soft"))
    return _render_svg(title, 74 + len(drawn) * _ROW + 16, parts)


class _Scale:
    """A logarithmic axis from pixel `first` to `last`, from power of ten to power of ten."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        some = [math.log10(value) for value in values if value > 0] or [0.0]
        self._low = math.floor(min(some) + 1e-9)
        self._high = max(math.ceil(max(some) - 1e-9), self._low + 1)
        self._first, self._last = first, last

    def __call__(self, value: float) -> float:
        share = (math.log10(max(value, 1e-12)) - self._low) / (self._high - self._low)
        return self._first + max(0.0, share) * (self._last - self._first)

    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self._low, self._high + 1)]


def _spread_labels(places: list[float]) -> list[float]:
    """Move labels that would overlap apart, as little as possible."""
    order = sorted(range(len(places)), key=places.__getitem__)
    groups: list[tuple[list[int], float]] = []  # members, and the mean of their places
    for index in order:
        members, middle = [index], places[index]
        while groups and middle - groups[-1][1] < _LABEL * (len(members) + len(groups[-1][0])) / 2:
            before, place = groups.pop()
            count = len(before) + len(members)
            middle = (place * len(before) + middle * len(members)) / count
            members = before + members
        groups.append((members, middle))
    found = list(places)
    for members, middle in groups:
        for number, index in enumerate(members):
            found[index] = middle + (number - (len(members) - 1) / 2) * _LABEL
    return found


def _format(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _draw(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<text{attribute} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _render_svg(title: str, height: int, parts: list[str]) -> str:
    light, dark = (_render_colours([pair[side] for pair in _PALETTE]) for side in (0, 1))
    style = f"{_STYLE}{light}@media (prefers-color-scheme: dark) {{{_DARK}{dark}}}\n"
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title)}">\n'
        f"<style>{style}</style>\n"
        f'<rect class="ground" width="{WIDTH}" height="{height}" rx="8"/>\n{body}\n</svg>\n'
    )


def _render_colours(side: Sequence[str]) -> str:
    return "\n".join(
        f".line.c{n} {{ stroke: {colour}; }} .dot.c{n}, .name.c{n} {{ fill: {colour}; }}"
        for n, colour in enumerate(side)
    )
