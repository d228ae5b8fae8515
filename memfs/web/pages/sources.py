"""Data sources: what of each is searched, what is left out and why."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memfs.core.errors import UsageError
from memfs.ops import source
from memfs.web.rendering import (
    get_form,
    get_project,
    get_site,
    make_origin,
    redirect,
    render,
    show_errors,
)


@show_errors
def list_sources(request: Request) -> Response:
    """Show the sources of the project and its user, and what is refused."""
    found, refused = source.list_sources(get_project(request).find_place())
    return render(request, "sources.html", "sources", "Sources", found=found, refused=refused)


@show_errors
def show_source(request: Request) -> Response:
    """Show what is in a source, what is not, and why."""
    found = source.find_source(get_project(request).find_place(), request.path_params["name"])
    return render(request, "source.html", "sources", f"Source {found.source.name}", found=found)


@show_errors
def add_source(request: Request) -> Response:
    """Add a source, and index it."""
    form = get_form(request)
    try:
        paths = shlex.split(form.get("paths", ""))
    except ValueError as error:
        raise UsageError(
            f"the paths cannot be read: {error}", "close each quotation mark"
        ) from None
    if not paths:
        raise UsageError("which folders or files?", "for example: docs ~/notes")
    user = form.get("tier") == "user"
    done = source.add(
        get_project(request).find_place(), form.get("name", ""), paths, make_origin(), _ignore,
        globs=form.get("globs", "").split(), excludes=form.get("excludes", "").split(), user=user,
    )  # fmt: skip
    get_site(request).say(f"{done.name} is searched now: {done.path} says so")
    return redirect(request, f"sources/{'user:' if user else ''}{done.name}")


@show_errors
def sync_source(request: Request) -> Response:
    """Index what has changed in a source."""
    (done,) = source.sync(get_project(request).find_place(), request.path_params["name"], _ignore)
    count = done.state.files if done.state else 0
    get_site(request).say(f"{done.source.name}: {count:,} files are in")
    return redirect(request, f"sources/{request.path_params['name']}")


@show_errors
def remove_source(request: Request) -> Response:
    """Remove a source and its index; its files stay."""
    place = get_project(request).find_place()
    done = source.remove(place, request.path_params["name"], make_origin())
    get_site(request).say(f"{done.name} is searched no more; its files stay")
    return redirect(request, "sources")


def _ignore(_name: str, _length: int) -> Callable[[int], object]:
    return lambda _more: None


ROUTES = [
    Route("/sources", list_sources, methods=["GET"]),
    Route("/sources", add_source, methods=["POST"]),
    Route("/sources/{name}", show_source, methods=["GET"]),
    Route("/sources/{name}/sync", sync_source, methods=["POST"]),
    Route("/sources/{name}/remove", remove_source, methods=["POST"]),
]
