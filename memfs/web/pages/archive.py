"""Archive: passages and static texts, and imports that can be taken back."""

from urllib.parse import urlencode

from starlette.responses import Response

from memfs.core import parts
from memfs.core.errors import MemfsError, UsageError
from memfs.core.formats import format_count
from memfs.knowledge.kinds import static
from memfs.ops import archive
from memfs.ops.archive import StoredPassage
from memfs.web.rendering import Visit, explain, get, make_origin, post

_PAGE = 50  # passages


def _list_archive(visit: Visit) -> Response:
    names = ("q", "tag", "source", "tier")
    given = {name: visit.query.get(name, "").strip() for name in names}
    project = visit.project
    place = project.find_place()
    found = archive.list_passages(
        place,
        (given["tag"],) if given["tag"] else (),
        text=given["q"],
        source=given["source"],
        tier=given["tier"],
        cache=project.passages,
    )
    passages, number, pages = visit.cut_page(found, _PAGE)
    return visit.render(
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


def _show_passage(visit: Visit) -> Response:
    found = archive.find_passage(visit.place, visit.path["passage"])
    return _render_passage(visit, found, "")


def _render_passage(
    visit: Visit, found: StoredPassage, refusal: str, form: dict[str, str] | None = None
) -> Response:
    passage = found.passage
    return visit.render(
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


def _save_passage(visit: Visit) -> Response:
    form = visit.form
    place = visit.place
    found = archive.find_passage(place, visit.path["passage"])
    importance = form.get("importance", "")
    given = {name: form.get(name, "") for name in ("text", "tags", "importance")}
    try:
        if not importance.isdecimal():
            raise UsageError(f"the importance is {importance!r}, expected a number from 1 to 10")
        done = archive.edit(
            place,
            found.passage.id,
            make_origin(),
            text=given["text"].replace("\r\n", "\n"),
            importance=int(importance[:3]),
            tags=tuple(filter(None, map(str.strip, given["tags"].split(",")))),
        )
    except MemfsError as error:
        return _render_passage(visit, found, explain(error), given)
    visit.say("nothing was changed" if done.duplicate else "the passage is saved")
    visit.say(done.note, "refused")
    return visit.redirect(f"archive/{found.passage.id}")


def _remove_passage(visit: Visit) -> Response:
    place = visit.place
    done = archive.remove_passage(place, visit.path["passage"], make_origin())
    visit.say(f"removed the passage {done.id}")
    visit.say(done.note, "refused")
    return visit.redirect("archive")


def _add_passage(visit: Visit) -> Response:
    form = visit.form
    done = archive.run(
        visit.place,
        form.get("text", "").replace("\r\n", "\n"),
        importance=5,
        tags=tuple(filter(None, map(str.strip, form.get("tags", "").split(",")))),
        origin=make_origin(),
    )
    visit.say(
        "the passage is already in the archive" if done.duplicate else "the passage is stored"
    )
    visit.say(done.note, "refused")
    return visit.redirect(f"archive/{done.id}")


def _show_static(visit: Visit) -> Response:
    key, tier = visit.path["key"], visit.query.get("tier", "")
    found = static.get(visit.place, key, tier)
    return visit.render("static.html", "archive", found.entry.key, found=found)


def _remove_static(visit: Visit) -> Response:
    key, tier = visit.path["key"], visit.form.get("tier", "")
    done = static.remove(visit.place, key, tier)
    visit.say(f"removed the reference text '{done.entry.key}'")
    return visit.redirect("archive")


def _undo_import(visit: Visit) -> Response:
    place = visit.place
    done = parts.load("importers.undo").run(place, visit.path["ident"], make_origin())
    counts = ", ".join(format_count(number, noun) for noun, number in done.removed.items())
    visit.say(f"undid the import from {done.source}; removed {counts or 'nothing'}")
    for name, why in done.kept:
        visit.say(f"kept '{name}': {why}", "refused")
    visit.say(done.note, "refused")
    return visit.redirect("archive")


ROUTES = [
    get("/archive", _list_archive),
    post("/archive", _add_passage),
    get("/archive/static/{key:path}", _show_static),
    post("/archive/static/{key:path}", _remove_static),
    post("/archive/imports/{ident}/undo", _undo_import),
    get("/archive/{passage}", _show_passage),
    post("/archive/{passage}", _save_passage),
    post("/archive/{passage}/remove", _remove_passage),
]
