"""What the assistant sees: the brief as it is given, and what each prompt brought and why."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memfs import hosts
from memfs.context import window_usage
from memfs.ops import recent_prompts, show
from memfs.web.rendering import get_project, render, show_errors

_PROMPTS = 50  # the last ones that are listed


@show_errors
def show_brief(request: Request) -> Response:
    """Show the brief of a session that begins now, and what it takes of a window."""
    place = get_project(request).find_place()
    host = request.query_params.get("host", "")
    host = host if host in hosts.NAMES else ""
    usage = window_usage.measure_window(place, hosts.get(host).WINDOW if host else 0, host)
    return render(
        request,
        "brief.html",
        "brief",
        "What the assistant sees",
        brief=show.brief(place, host),
        usage=usage,
        hosts=hosts.NAMES,
        host=host,
    )


@show_errors
def list_prompts(request: Request) -> Response:
    """Show what the last prompts brought, why, and what stayed below the floor."""
    found = recent_prompts.run(get_project(request).find_place(), _PROMPTS)
    return render(request, "prompts.html", "brief", "What prompts brought", prompts=found)


ROUTES = [Route("/brief", show_brief), Route("/prompts", list_prompts)]
