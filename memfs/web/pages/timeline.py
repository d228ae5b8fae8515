"""Timeline: what happened on which day, how memory grew, what it costs, how quick its hooks are."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memfs.ops import timeline
from memfs.web import charts
from memfs.web.rendering import get_project, render, show_errors

_COSTS = 20  # sessions that are listed


@show_errors
def show_timeline(request: Request) -> Response:
    """Show the last year."""
    found = timeline.run(get_project(request).open_index())
    days = [
        (each.day, each.messages + each.edits,
         f"{each.day}: {each.messages:,} messages, {each.edits:,} edits")
        for each in found.days
    ]  # fmt: skip
    messages, edits = (
        sum(getattr(each, name) for each in found.days) for name in ("messages", "edits")
    )
    return render(
        request,
        "timeline.html",
        "timeline",
        "Timeline",
        found=found,
        heat=charts.draw_heat_map(days, f"{messages:,} messages and {edits:,} edits in a year"),
        growth=charts.draw_line(found.growth, "Characters in blocks"),
        messages=messages,
        edits=edits,
        busy=[each for each in reversed(found.days) if each.messages or each.edits],
        costs=found.costs[:_COSTS],
        hooks=[
            (each, datetime.fromtimestamp(each.last, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
            for each in found.hooks
        ],
    )


ROUTES = [Route("/timeline", show_timeline)]
