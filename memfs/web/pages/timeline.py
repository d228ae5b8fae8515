"""Timeline: what happened on which day, how memory grew, what it costs, how quick its hooks are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

from markupsafe import Markup
from starlette.responses import Response

from memfs.ops import timeline
from memfs.web.rendering import Visit, get

_CELL, _STEP, _TOP, _LEFT = 11, 14, 18, 30
_LEVELS = 4  # shades of a day that is not empty
_WIDE, _HIGH = 720, 160
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()

_COSTS = 20  # sessions that are listed
_COST_DAYS = 60  # that are drawn
_PLOTTED = 3  # a plot has so many points at least


def _show_timeline(visit: Visit) -> Response:
    found = timeline.run(visit.project.open_index())
    days = [
        (each.day, each.messages + each.edits,
         f"{each.day}: {each.messages:,} messages, {each.edits:,} edits")
        for each in found.days
    ]  # fmt: skip
    messages, edits = (
        sum(getattr(each, name) for each in found.days) for name in ("messages", "edits")
    )
    return visit.render(
        "timeline.html",
        "timeline",
        "Timeline",
        found=found,
        heat=draw_heat_map(days, f"{messages:,} messages and {edits:,} edits in a year"),
        growth=draw_line(found.growth, "Characters in blocks"),
        messages=messages,
        edits=edits,
        busy=[each for each in reversed(found.days) if each.messages or each.edits],
        costs=found.costs[:_COSTS],
        cost_plot=draw_bars(
            [
                (f"{each.host} {each.session[:8]}", each.tokens)
                for each in reversed(found.costs[:_COSTS])
            ],
            "Tokens given to prompts by session",
        ),
        day_plot=draw_bars(
            [(each.day, each.tokens) for each in found.day_costs[-_COST_DAYS:]],
            "Tokens given to prompts by day",
        ),
        plotted=_PLOTTED,
        hooks=[
            (each, datetime.fromtimestamp(each.last, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
            for each in found.hooks
        ],
    )


ROUTES = [get("/timeline", _show_timeline)]


def draw_heat_map(days: Sequence[tuple[str, int, str]], title: str) -> Markup:
    """Return a map of days, a column for each week; each is (day, count, what a pointer reads)."""
    most = max((count for _, count, _ in days), default=0)
    first = date.fromisoformat(days[0][0]).weekday() if days else 0
    cells, months = [], []
    for place, (day, count, text) in enumerate(days):
        column, row = divmod(place + first, 7)
        level = 0 if not count else 1 + min(_LEVELS - 1, int(_LEVELS * (count - 1) / most))
        x, y = _LEFT + column * _STEP, _TOP + row * _STEP
        cells.append(
            Markup('<rect class="heat{}" x="{}" y="{}" width="{}" height="{}" rx="2">').format(
                level, x, y, _CELL, _CELL
            )
            + Markup("<title>{}</title></rect>").format(text)
        )
        if day.endswith("-01"):
            months.append(
                Markup('<text x="{}" y="11">{}</text>').format(x, _MONTHS[int(day[5:7]) - 1])
            )
    for row, name in ((0, "Mon"), (2, "Wed"), (4, "Fri")):
        months.append(Markup('<text x="0" y="{}">{}</text>').format(_TOP + row * _STEP + 10, name))
    width = _LEFT + (len(days) + first + 6) // 7 * _STEP
    return _wrap(width, _TOP + 7 * _STEP, title, [*months, *cells])


def draw_line(points: Sequence[tuple[str, int]], title: str) -> Markup:
    """Return a line over days; each point is (day, value)."""
    if not points:
        return Markup()
    most = max(1, *(value for _, value in points))
    dates = [date.fromisoformat(day).toordinal() for day, _ in points]
    span = max(1, dates[-1] - dates[0])
    places = [
        (40 + (_WIDE - 60) * (at - dates[0]) / span, 20 + (_HIGH - 50) * (1 - value / most))
        for at, (_, value) in zip(dates, points, strict=True)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts = [
        Markup('<polyline class="line" points="{}"/>').format(line),
        *(
            Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="3"/>').format(*at)
            for at in places
        ),
        Markup('<text x="0" y="24">{:,}</text>').format(most),
        Markup('<text x="0" y="{}">0</text>').format(_HIGH - 30),
        Markup('<text x="40" y="{}">{}</text>').format(_HIGH - 6, points[0][0]),
    ]
    if len(points) > 1:
        last = Markup('<text class="end" x="{}" y="{}">{}</text>')
        parts.append(last.format(_WIDE - 20, _HIGH - 6, points[-1][0]))
    return _wrap(_WIDE, _HIGH, title, parts)


def draw_bars(points: Sequence[tuple[str, int]], title: str) -> Markup:
    """Return a bar for each (name, value), the highest one with its value."""
    if not points:
        return Markup()
    most = max(1, *(value for _, value in points))
    step = min(32.0, (_WIDE - 60) / len(points))
    parts = [
        Markup(
            '<rect class="dot" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">'
            "<title>{}: {:,}</title></rect>"
        ).format(40 + place * step, 20 + (_HIGH - 50) * (1 - value / most), step * 0.8,
                 (_HIGH - 50) * value / most, name, value)
        for place, (name, value) in enumerate(points)
    ]  # fmt: skip
    parts += [
        Markup('<text x="0" y="24">{:,}</text>').format(most),
        Markup('<text x="0" y="{}">0</text>').format(_HIGH - 30),
        Markup('<text x="40" y="{}">{}</text>').format(_HIGH - 6, points[0][0]),
        Markup('<text class="end" x="{:.1f}" y="{}">{}</text>').format(
            max(200.0, 40 + len(points) * step), _HIGH - 6, points[-1][0]
        ),
    ]
    return _wrap(int(max(220, 50 + len(points) * step)), _HIGH, title, parts)


def _wrap(width: int, height: int, title: str, parts: list[Markup]) -> Markup:
    head = Markup('<svg class="chart" viewBox="0 0 {} {}" width="{}" role="img"><title>{}</title>')
    return head.format(width, height, width, title) + Markup("").join(parts) + Markup("</svg>")
