"""Timeline: what happened on which day, how memory grew, what it costs, how quick its hooks are."""

from datetime import UTC, date, datetime

from starlette.responses import Response

from memfs.ops import timeline
from memfs.web.rendering import Visit, get

_COSTS = 20  # sessions that are listed
_COST_DAYS = 60  # that are drawn
_PLOTTED = 3  # a plot has so many points at least


def _show_timeline(visit: Visit) -> Response:
    found = timeline.run(visit.project.open_index())
    days = [
        {"day": each.day, "number": number, "count": each.messages + each.edits,
         "text": f"{each.day}: {each.messages:,} messages, {each.edits:,} edits"}
        for number, each in enumerate(found.days)
    ]  # fmt: skip
    dates = [date.fromisoformat(day).toordinal() for day, _ in found.growth]
    return visit.render(
        "timeline.html",
        "timeline",
        "Timeline",
        found=found,
        days=days,
        first=date.fromisoformat(found.days[0].day).weekday() if days else 0,
        growth=[
            {"day": day, "value": size, "number": at - dates[0]}
            for at, (day, size) in zip(dates, found.growth, strict=True)
        ],
        messages=sum(each.messages for each in found.days),
        edits=sum(each.edits for each in found.days),
        busy=[each for each in reversed(found.days) if each.messages or each.edits],
        costs=found.costs[:_COSTS],
        session_bars=[
            (f"{each.host} {each.session[:8]}", each.tokens)
            for each in reversed(found.costs[:_COSTS])
        ],
        day_bars=[(each.day, each.tokens) for each in found.day_costs[-_COST_DAYS:]],
        plotted=_PLOTTED,
        hooks=[
            (each, datetime.fromtimestamp(each.last, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
            for each in found.hooks
        ],
    )


ROUTES = [get("/timeline", _show_timeline)]
