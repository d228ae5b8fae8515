"""Blocks: their sizes, texts and history, and every edit of them."""

from starlette.responses import Response

from memfs.core import changes
from memfs.core import label as labels
from memfs.core.body_edits import Create, Delete, Describe, Edit, Rejected, Rethink
from memfs.core.errors import NotFoundError, UsageError
from memfs.ops import edit, history, show, undo
from memfs.ops.show import ShownBlock
from memfs.web.rendering import Visit, explain, get, make_origin, post

_TIERS = (
    (
        labels.PROJECT,
        "This project",
        "committed with the project, and reviewed in its pull requests",
    ),
    (
        labels.USER,
        "Yours",
        "used in every project on this machine, and stored outside the projects",
    ),
    (labels.SESSION, "Sessions", "the scratch blocks of running sessions"),
)
_ENTRIES = 50  # of a history, on a page


def _list_blocks(visit: Visit) -> Response:
    place = visit.place
    shown = show.show_all(place)
    held = place.project is not None and not place.project.trusted
    tiers = [
        (name, about, [each for each in shown if each.block.tier == tier])
        for tier, name, about in _TIERS
    ]
    tiers = [each for each in tiers if each[2]] or tiers[:1]
    return visit.render("blocks.html", "blocks", "Blocks", tiers=tiers, held=held)


def _show_block(visit: Visit) -> Response:
    place = visit.place
    label = visit.path["label"]
    shown = show.run(place, label)
    last = history.log(place, label, 5)
    return visit.render("block.html", "blocks", shown.block.label, shown=shown, last=last)


def _edit_block(visit: Visit) -> Response:
    shown = show.run(visit.place, visit.path["label"])
    return _render_form(visit, shown, shown.block.value)


def _render_form(
    visit: Visit, shown: ShownBlock, text: str, status: int = 200, **more: str
) -> Response:
    values = {"refusal": "", "diff": "", "reason": "", **more}
    title = f"Edit {shown.block.label}"
    return visit.render(
        "block_edit.html", "blocks", title, shown=shown, text=text, status=status, **values
    )


def _save_block(visit: Visit) -> Response:
    label, form = visit.path["label"], visit.form
    shown = show.run(visit.place, label)
    text = form.get("text", "").replace("\r\n", "\n")
    reason = form.get("reason", "").strip()
    expected = _parse_number(form.get("version", ""), "version")
    if "save" not in form:
        diff = changes.format_diff(
            f"{shown.block.value}\n", f"{text.rstrip()}\n", f"{label} now", f"{label} then"
        )
        refusal = "" if diff else "nothing was changed"
        return _render_form(visit, shown, text, refusal=refusal, diff=diff, reason=reason)
    if refusal := _apply(visit, Rethink(label, text), reason, expected):
        return _render_form(visit, shown, text, refusal=refusal, status=400)
    return _return_to(visit, label)


def _set_keys(visit: Visit) -> Response:
    label = visit.path["label"]
    form = visit.form
    limit = _parse_number(form.get("limit", ""), "limit")
    keys: dict[str, object] = {
        "description": form.get("description", "").strip(),
        "pinned": "pinned" in form,
    }
    if limit is not None:
        keys["limit"] = limit
    expected = _parse_number(form.get("version", ""), "version")
    visit.say(_apply(visit, Describe(label, keys), "", expected), "refused")
    return _return_to(visit, label)


def _new_block(visit: Visit) -> Response:
    return _render_new(visit, {"label": "", "description": "", "text": ""}, "")


def _make_block(visit: Visit) -> Response:
    form = visit.form
    given = {
        key: form.get(key, "").replace("\r\n", "\n") for key in ("label", "description", "text")
    }
    tier = form.get("tier", "")
    prefix = f"{tier}:" if tier in (labels.USER, labels.PROJECT) else ""
    label = prefix + given["label"].strip()
    create = Create(label, given["description"].strip(), given["text"], pinned="pinned" in form)
    refusal = _apply(visit, create)
    return _render_new(visit, given, refusal) if refusal else _return_to(visit, label)


def _render_new(visit: Visit, given: dict[str, str], refusal: str) -> Response:
    return visit.render(
        "block_new.html",
        "blocks",
        "New block",
        given=given,
        refusal=refusal,
        status=400 if refusal else 200,
    )


def _delete_block(visit: Visit) -> Response:
    label = visit.path["label"]
    refusal = _apply(visit, Delete(label))
    if refusal:
        visit.say(refusal, "refused")
        return _return_to(visit, label)
    return visit.redirect(f"blocks/{label}/history")


def _show_history(visit: Visit) -> Response:
    place = visit.place
    label = visit.path["label"]
    found = history.log(place, label, _ENTRIES)
    if not found:
        raise NotFoundError(f"there is no block '{label}'", "open Blocks to see all blocks")
    entries = [
        (entry, changes.of_blocks(entry.before, entry.after, "before", "after")) for entry in found
    ]
    exists = found[0].after is not None
    return visit.render(
        "history.html", "blocks", f"History of {label}", label=label, entries=entries, exists=exists
    )


def _show_blame(visit: Visit) -> Response:
    label = visit.path["label"]
    found = history.blame(visit.place, label)
    return visit.render("blame.html", "blocks", f"Who wrote {label}", label=label, lines=found)


def _undo_edit(visit: Visit) -> Response:
    label = visit.path["label"]
    done = undo.undo_edit(visit.place, label, make_origin())
    visit.say(f"undid the last edit of '{label}': {done.undone.op}, version {done.undone.version}")
    return visit.redirect(f"blocks/{label}/history")


def _restore_version(visit: Visit) -> Response:
    label, version = visit.path["label"], visit.form.get("version", "")
    done = undo.restore_version(visit.place, label, version, make_origin())
    what = f"restored '{label}' to version {version}"
    if not done.entries:
        what = f"'{label}' is already the same as version {version}"
    visit.say(what)
    return visit.redirect(f"blocks/{label}/history")


def _apply(visit: Visit, change: Edit, reason: str = "", expected: int | None = None) -> str:
    """Apply an edit; return why it is refused, or ""."""
    outcome = edit.run(visit.place, [change], make_origin(reason), [expected])
    if isinstance(outcome, Rejected):
        return explain(outcome)
    if isinstance(outcome, edit.Unchanged):
        visit.say("nothing was changed")
    else:
        last = outcome.entries[-1]
        visit.say(f"saved version {last.version} of '{last.label}'")
    return ""


def _return_to(visit: Visit, label: str) -> Response:
    return visit.redirect(f"blocks/{label}")


def _parse_number(text: str, name: str) -> int | None:
    if not text.strip():
        return None
    if not text.strip().isdecimal() or len(text) > 12:
        raise UsageError(f"the {name} is {text[:40]!r}, expected a number")
    return int(text)


ROUTES = [
    get("/blocks", _list_blocks),
    get("/blocks/new", _new_block),
    post("/blocks/new", _make_block),
    get("/blocks/{label:path}/edit", _edit_block),
    post("/blocks/{label:path}/edit", _save_block),
    post("/blocks/{label:path}/keys", _set_keys),
    post("/blocks/{label:path}/delete", _delete_block),
    get("/blocks/{label:path}/history", _show_history),
    get("/blocks/{label:path}/blame", _show_blame),
    post("/blocks/{label:path}/undo", _undo_edit),
    post("/blocks/{label:path}/restore", _restore_version),
    get("/blocks/{label:path}", _show_block),
]
