"""Archive: passages and static texts, and imports that can be taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from memfs.core.errors import MemfsError, NotFoundError, UsageError
from memfs.ops import archive, import_undo
from memfs.store import static
from memfs.web.rendering import get_form, get_project, get_site, redirect, render, show_errors
from memfs.web.site import make_origin

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from memfs.ops.archive import StoredPassage

_PAGE = 50  # passages


@show_errors
def list_archive(request: Request) -> Response:
    """Show the passages that have the words, tag and tier of the address, the newest first."""
    given = request.query_params
    words, tag, tier = (given.get(name, "").strip() for name in ("q", "tag", "tier"))
    number = int(given["page"]) if given.get("page", "").isdecimal() else 1
    place = get_project(request).find_place()
    found = [
        each
        for each in archive.list_passages(place, (tag,) if tag else ())
        if tier in ("", each.tier) and _has_words(each, words)
    ]
    pages = max(1, -(-len(found) // _PAGE))
    number = min(max(1, number), pages)
    return render(
        request,
        "archive.html",
        "archive",
        "Archive",
        passages=found[(number - 1) * _PAGE : number * _PAGE],
        total=len(found),
        words=words,
        tag=tag,
        tier=tier,
        number=number,
        pages=pages,
        entries=[
            (name, entry)
            for name, store in place.list_lasting_tiers()
            for entry in static.list_entries(store)
        ],
        imports=import_undo.list_imports(place),
    )


def _has_words(found: StoredPassage, words: str) -> bool:
    passage = found.passage
    text = f"{passage.text} {passage.source} {' '.join(passage.tags)}".casefold()
    return all(word in text for word in words.casefold().split())


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
        return _render_passage(request, found, error.message, given)
    get_site(request).say("nothing is changed" if done.duplicate else "the passage is saved")
    return redirect(request, f"archive/{found.passage.id}")


@show_errors
def remove_passage(request: Request) -> Response:
    """Remove a passage."""
    place = get_project(request).find_place()
    done = archive.remove_passage(place, request.path_params["passage"], make_origin())
    get_site(request).say(f"the passage {done.id} is removed")
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
    return redirect(request, f"archive/{done.id}")


@show_errors
def show_static(request: Request) -> Response:
    """Show a static text."""
    key = request.path_params["key"]
    for tier, store in get_project(request).find_place().list_lasting_tiers():
        for entry in static.list_entries(store):
            if entry.key == key:
                return render(request, "static.html", "archive", key, entry=entry, tier=tier)
    raise NotFoundError(
        f"there is no static text '{key}'", "the archive lists those that there are"
    )


@show_errors
def undo_import(request: Request) -> Response:
    """Take an import back, and tell what stays."""
    place = get_project(request).find_place()
    done = import_undo.run(place, request.path_params["ident"], make_origin())
    counts = ", ".join(f"{number:,} {noun}" for noun, number in done.removed.items())
    get_site(request).say(
        f"the import from {done.source} is taken back: {counts or 'nothing'} removed"
    )
    for name, why in done.kept:
        get_site(request).say(f"{name} stays: {why}", "refused")
    return redirect(request, "archive")


ROUTES = [
    Route("/archive", list_archive, methods=["GET"]),
    Route("/archive", add_passage, methods=["POST"]),
    Route("/archive/static/{key:path}", show_static),
    Route("/archive/imports/{ident}/undo", undo_import, methods=["POST"]),
    Route("/archive/{passage}", show_passage, methods=["GET"]),
    Route("/archive/{passage}", save_passage, methods=["POST"]),
    Route("/archive/{passage}/remove", remove_passage, methods=["POST"]),
]
