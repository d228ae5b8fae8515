"""What the assistant sees: the brief as it is given, and what each prompt brought and why."""

from starlette.responses import Response

from memfs import hosts
from memfs.ops import recent_prompts, show, status
from memfs.tools.request_cost import measure_request
from memfs.web.rendering import Visit, get, post

_PROMPTS = 50  # the last ones that are listed


def _show_brief(visit: Visit) -> Response:
    place = visit.place
    wired = [name for name, _ in status.list_wired_files(place, visit.site.home)]
    host = visit.query.get("host", next(iter(wired), ""))
    host = host if host in hosts.NAMES else ""
    return visit.render(
        "brief.html",
        "brief",
        "What the assistant sees",
        brief=show.brief(place, host),
        cost=measure_request(place, visit.site.home, host),
        hosts=hosts.NAMES,
        host=host,
    )


def _list_prompts(visit: Visit) -> Response:
    found = recent_prompts.run(visit.place, _PROMPTS)
    dismissed = recent_prompts.list_dismissed(visit.place)
    title = "What memory adds to prompts"
    return visit.render("prompts.html", "prompts", title, prompts=found, dismissed=dismissed)


def _decide_item(visit: Visit) -> Response:
    ident = visit.path["ident"]
    if visit.form.get("to") == "right":
        recent_prompts.restore(visit.place, ident)
        visit.say("similar prompts can recall this text again")
    else:
        item = recent_prompts.dismiss(visit.place, ident)
        visit.say(f"dismissed for similar prompts: {item.source}")
    return visit.redirect("prompts")


ROUTES = [
    get("/brief", _show_brief),
    get("/prompts", _list_prompts),
    post("/prompts/{ident}", _decide_item),
]
