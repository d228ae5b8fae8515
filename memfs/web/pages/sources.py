"""Data sources: what of each is searched, what is left out and why."""

import shlex
from collections.abc import Callable

from starlette.responses import Response

from memfs.core.errors import UsageError
from memfs.core.formats import format_count
from memfs.ops import source
from memfs.web.rendering import Visit, get, make_origin, post


def _list_sources(visit: Visit) -> Response:
    found, refused = source.list_sources(visit.place)
    return visit.render("sources.html", "sources", "Sources", found=found, refused=refused)


def _show_source(visit: Visit) -> Response:
    found = source.find_source(visit.place, visit.path["name"])
    return visit.render("source.html", "sources", f"Source {found.source.name}", found=found)


def _add_source(visit: Visit) -> Response:
    form = visit.form
    try:
        paths = shlex.split(form.get("paths", ""))
    except ValueError as error:
        raise UsageError(
            f"the paths cannot be read: {error}", "close each quotation mark"
        ) from None
    if not paths:
        raise UsageError("no folder or file was given", "enter paths, for example docs ~/notes")
    user = form.get("tier") == "user"
    done = source.add(
        visit.place, form.get("name", ""), paths, make_origin(), _ignore,
        globs=form.get("globs", "").split(), excludes=form.get("excludes", "").split(), user=user,
    )  # fmt: skip
    visit.say(f"added the source '{done.name}' to {done.path}")
    return visit.redirect(f"sources/{'user:' if user else ''}{done.name}")


def _sync_source(visit: Visit) -> Response:
    (done,) = source.sync(visit.place, visit.path["name"], _ignore)
    count = done.state.files if done.state else 0
    visit.say(f"indexed {format_count(count, 'file')} from the source '{done.source.name}'")
    return visit.redirect(f"sources/{visit.path['name']}")


def _remove_source(visit: Visit) -> Response:
    place = visit.place
    done = source.remove(place, visit.path["name"], make_origin())
    visit.say(f"removed the source '{done.name}'; its files stay")
    return visit.redirect("sources")


def _ignore(_name: str, _length: int) -> Callable[[int], object]:
    return lambda _more: None


ROUTES = [
    get("/sources", _list_sources),
    post("/sources", _add_source),
    get("/sources/{name}", _show_source),
    post("/sources/{name}/sync", _sync_source),
    post("/sources/{name}/remove", _remove_source),
]
