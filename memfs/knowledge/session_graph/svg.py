"""Drawing of the turns of a session or a topic as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from memfs.core.escaping import make_plain
from memfs.knowledge.session_graph.records import Flow
from memfs.knowledge.session_graph.turns import FAILED, WORKED

_WIDTH, _ROW, _TOP, _LEFT = 960, 92, 56, 150
_BOX = 560
_COLOURS = {WORKED: "#2e7d32", FAILED: "#c62828", 0: "#607d8b"}
_LETTERS, _TOPICS = 70, 27  # of a line in a box, and beside it
_MOST_STEPS = 14


def svg(title: str, flows: Sequence[Flow], topics: Mapping[int, Sequence[str]]) -> str:
    """Return an SVG with a connected box for each turn: time, intent, prompt, steps, outcome."""
    height = _TOP + _ROW * max(1, len(flows)) + 24
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
            f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="13">'
        ),
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="20" y="32" font-size="17" font-weight="bold">{_escape(title, 100)}</text>',
    ]
    for place, flow in enumerate(flows):
        y = _TOP + place * _ROW
        if place:
            parts.append(_render_line(y - _ROW + 64, y))
        parts += _render_box(flow, y, topics.get(flow.id, ()))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _render_line(start: int, end: int) -> str:
    x = _LEFT + 24
    return f'<line x1="{x}" y1="{start}" x2="{x}" y2="{end}" stroke="#90a4ae" stroke-width="2"/>'


def _render_box(flow: Flow, y: int, topics: Sequence[str]) -> list[str]:
    colour = _COLOURS[flow.outcome]
    steps = " \u2192 ".join(flow.steps[:_MOST_STEPS])
    steps += " \u2026" if len(flow.steps) > _MOST_STEPS else ""
    when = flow.at[:16].replace("T", " ")
    return [
        f'<text x="20" y="{y + 20}" fill="#546e7a">{_escape(when, 20)}</text>',
        f'<text x="20" y="{y + 40}" fill="#546e7a">{_escape(flow.intent, 16)}</text>',
        (
            f'<rect x="{_LEFT}" y="{y}" width="{_BOX}" height="64" rx="6" fill="#f5f7f8" '
            f'stroke="{colour}" stroke-width="2"/>'
        ),
        f'<text x="{_LEFT + 12}" y="{y + 20}">{_escape(flow.prompt, _LETTERS)}</text>',
        f'<text x="{_LEFT + 12}" y="{y + 38}" fill="#455a64">{_escape(steps, _LETTERS)}</text>',
        f'<text x="{_LEFT + 12}" y="{y + 56}" fill="{colour}">{_escape(flow.why, 60)}</text>',
        (
            f'<text x="{_LEFT + _BOX + 16}" y="{y + 20}" fill="#37474f">'
            f"{_escape(', '.join(topics), _TOPICS)}</text>"
        ),
    ]


def _escape(text: str, most: int) -> str:
    flat = " ".join(make_plain(text).split())
    return escape(flat if len(flat) <= most else flat[: most - 1] + "\u2026")
