"""Archive: passages and static texts, and imports that can be taken back."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memfs.core import parts
from memfs.core.errors import MemfsError, UsageError
from memfs.core.formats import format_count
from memfs.knowledge.kinds import static
from memfs.ops import archive
from memfs.ops.archive import ArchivedPassage, StoredPassage
from memfs.web.rendering import (
    cut_page,
    get_form,
    get_project,
    get_site,
    make_origin,
    redirect,
    render,
    show_errors,
)

_PAGE = 50  # passages


@show_errors
def list_archive(request: Request) -> Response:
    """Show the passages that match the address, the newest first; static texts and imports."""
    names = ("q", "tag", "source", "tier")
    given = {name: request.query_params.get(name, "").strip() for name in names}
    project = get_project(request)
    place = project.find_place()
    found = archive.list_passages(
        place,
        (given["tag"],) if given["tag"] else (),
        text=given["q"],
        source=given["source"],
        tier=given["tier"],
        cache=project.passages,
    )
    passages, number, pages = cut_page(request, found, _PAGE)
    return render(
        request,
        "archive.html",
        "archive",
        "Archive",
        passages=passages,
        total=len(found),
        given=given,
        filters=urlencode({name: text for name, text in given.items() if text}),
        number=number,
        pages=pages,
        entries=static.find(place),
        imports=undo.list_imports(place) if (undo := parts.find("importers.undo")) else [],
    )


@show_errors
def show_passage(request: Request) -> Response:
    """Show a passage."""
    found = archive.find_passage(get_project(request).find_place(), request.path_params["passage"])
    return _render_passage(request, found, "")


def _render_passage(
    request: Request, found: StoredPassage, refusal: str, form: dict[str, str] | None = None
) -> Response:
    passage = found.passage
    return render(
        request,
        "passage.html",
        "archive",
        f"Passage {passage.id[-8:]}",
        found=found,
        refusal=refusal,
        form=form
        or {
            "text": passage.text,
            "tags": ", ".join(passage.tags),
            "importance": str(passage.importance),
        },
        status=400 if refusal else 200,
    )


@show_errors
def save_passage(request: Request) -> Response:
    """Save a passage's text, tags and importance."""
    form = get_form(request)
    place = get_project(request).find_place()
    found = archive.find_passage(place, request.path_params["passage"])
    importance = form.get("importance", "")
    given = {name: form.get(name, "") for name in ("text", "tags", "importance")}
    try:
        if not importance.isdecimal():
            raise UsageError(f"importance is {importance!r}, expected 1 to 10")
        done = archive.edit(
            place,
            found.passage.id,
            make_origin(),
            text=given["text"].replace("\r\n", "\n"),
            importance=int(importance[:3]),
            tags=tuple(filter(None, map(str.strip, given["tags"].split(",")))),
        )
    except MemfsError as error:
        refusal = f"{error.message} ({error.hint})" if error.hint else error.message
        return _render_passage(request, found, refusal, given)
    get_site(request).say("nothing is changed" if done.duplicate else "the passage is saved")
    _tell_failed_commit(request, done)
    return redirect(request, f"archive/{found.passage.id}")


@show_errors
def remove_passage(request: Request) -> Response:
    """Remove a passage."""
    place = get_project(request).find_place()
    done = archive.remove_passage(place, request.path_params["passage"], make_origin())
    get_site(request).say(f"the passage {done.id} is removed")
    _tell_failed_commit(request, done)
    return redirect(request, "archive")


@show_errors
def add_passage(request: Request) -> Response:
    """Keep a new passage in the project's archive."""
    form = get_form(request)
    done = archive.run(
        get_project(request).find_place(),
        form.get("text", "").replace("\r\n", "\n"),
        importance=5,
        tags=tuple(filter(None, map(str.strip, form.get("tags", "").split(",")))),
        origin=make_origin(),
    )
    get_site(request).say("it is in the archive already" if done.duplicate else "it is kept")
    _tell_failed_commit(request, done)
    return redirect(request, f"archive/{done.id}")


@show_errors
def show_static(request: Request) -> Response:
    """Show a static text."""
    key, tier = request.path_params["key"], request.query_params.get("tier", "")
    found = static.get(get_project(request).find_place(), key, tier)
    return render(request, "static.html", "archive", found.entry.key, found=found)


@show_errors
def remove_static(request: Request) -> Response:
    """Remove a static text."""
    key, tier = request.path_params["key"], get_form(request).get("tier", "")
    done = static.remove(get_project(request).find_place(), key, tier)
    get_site(request).say(f"'{done.entry.key}' is removed")
    return redirect(request, "archive")


@show_errors
def undo_import(request: Request) -> Response:
    """Take an import back, and tell what stays."""
    place = get_project(request).find_place()
    done = parts.load("importers.undo").run(place, request.path_params["ident"], make_origin())
    counts = ", ".join(format_count(number, noun) for noun, number in done.removed.items())
    get_site(request).say(
        f"the import from {done.source} is taken back: {counts or 'nothing'} removed"
    )
    for name, why in done.kept:
        get_site(request).say(f"{name} stays: {why}", "refused")
    if done.note:
        get_site(request).say(done.note, "refused")
    return redirect(request, "archive")


def _tell_failed_commit(request: Request, done: ArchivedPassage) -> None:
    if done.note:
        get_site(request).say(done.note, "refused")


ROUTES = [
    Route("/archive", list_archive, methods=["GET"]),
    Route("/archive", add_passage, methods=["POST"]),
    Route("/archive/static/{key:path}", show_static, methods=["GET"]),
    Route("/archive/static/{key:path}", remove_static, methods=["POST"]),
    Route("/archive/imports/{ident}/undo", undo_import, methods=["POST"]),
    Route("/archive/{passage}", show_passage, methods=["GET"]),
    Route("/archive/{passage}", save_passage, methods=["POST"]),
    Route("/archive/{passage}/remove", remove_passage, methods=["POST"]),
]
