"""Blocks: their sizes, texts and history, and every edit of them."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memfs.core import changes
from memfs.core import label as labels
from memfs.core.body_edits import Create, Delete, Describe, Edit, Rejected, Rethink
from memfs.core.errors import NotFoundError, UsageError
from memfs.ops import edit, history, show, undo
from memfs.ops.show import ShownBlock
from memfs.store.blocks import Place
from memfs.web.rendering import (
    get_form,
    get_project,
    get_site,
    make_origin,
    redirect,
    render,
    show_errors,
)

_TIERS = (
    (labels.PROJECT, "This project", "committed with it, and reviewed in its pull requests"),
    (labels.USER, "Yours", "in every project on this machine, and in none of them"),
    (labels.SESSION, "Sessions", "the scratch blocks of running sessions"),
)
_ENTRIES = 50  # of a history, on a page


@show_errors
def list_blocks(request: Request) -> Response:
    """Show all blocks by tier."""
    place = get_project(request).find_place()
    shown = show.show_all(place)
    held = place.project is not None and not place.project.trusted
    tiers = [
        (name, about, [each for each in shown if each.block.tier == tier])
        for tier, name, about in _TIERS
    ]
    tiers = [each for each in tiers if each[2]] or tiers[:1]
    return render(request, "blocks.html", "blocks", "Blocks", tiers=tiers, held=held)


@show_errors
def show_block(request: Request) -> Response:
    """Show one block: its text, size, and who changed it last."""
    place = get_project(request).find_place()
    label = request.path_params["label"]
    shown = show.run(place, label)
    last = history.log(place, label, 5)
    return render(request, "block.html", "blocks", shown.block.label, shown=shown, last=last)


@show_errors
def edit_block(request: Request) -> Response:
    """Show the form that edits a block."""
    shown = show.run(get_project(request).find_place(), request.path_params["label"])
    return _render_form(request, shown, shown.block.value, "")


def _render_form(request: Request, shown: ShownBlock, text: str, refusal: str) -> Response:
    block = shown.block
    return render(
        request,
        "block_edit.html",
        "blocks",
        f"Edit {block.label}",
        shown=shown,
        text=text,
        refusal=refusal,
        diff="",
        reason="",
        status=400 if refusal else 200,
    )


@show_errors
def save_block(request: Request) -> Response:
    """Show what a change of a block's text would do; save it when that was seen."""
    place = get_project(request).find_place()
    label = request.path_params["label"]
    shown = show.run(place, label)
    form = get_form(request)
    text = form.get("text", "").replace("\r\n", "\n")
    reason = form.get("reason", "").strip()
    expected = _parse_number(form.get("version", ""), "version")
    if "save" not in form:
        diff = changes.format_diff(
            f"{shown.block.value}\n", f"{text.rstrip()}\n", f"{label} now", f"{label} then"
        )
        return render(
            request,
            "block_edit.html",
            "blocks",
            f"Edit {label}",
            shown=shown,
            text=text,
            refusal="" if diff else "nothing is changed",
            diff=diff,
            reason=reason,
        )
    refusal = _apply(request, place, [Rethink(label, text)], reason, expected)
    return _render_form(request, shown, text, refusal) if refusal else _return_to(request, label)


@show_errors
def set_keys(request: Request) -> Response:
    """Save a block's description, limit and whether it is pinned."""
    label = request.path_params["label"]
    form = get_form(request)
    limit = _parse_number(form.get("limit", ""), "limit")
    keys: dict[str, object] = {
        "description": form.get("description", "").strip(),
        "pinned": "pinned" in form,
    }
    if limit is not None:
        keys["limit"] = limit
    place = get_project(request).find_place()
    expected = _parse_number(form.get("version", ""), "version")
    refusal = _apply(request, place, [Describe(label, keys)], "", expected)
    if refusal:
        get_site(request).say(refusal, "refused")
    return _return_to(request, label)


@show_errors
def new_block(request: Request) -> Response:
    """Show the form for a new block, or make it."""
    values = {"label": "", "description": "", "text": "", "refusal": ""}
    if request.method == "GET":
        return render(request, "block_new.html", "blocks", "New block", **values)
    form = get_form(request)
    values = {
        key: form.get(key, "").replace("\r\n", "\n") for key in ("label", "description", "text")
    }
    prefix = f"{labels.USER}:" if form.get("tier") == labels.USER else ""
    label = prefix + values["label"].strip()
    create = Create(label, values["description"].strip(), values["text"], pinned="pinned" in form)
    refusal = _apply(request, get_project(request).find_place(), [create], "")
    if not refusal:
        return _return_to(request, label)
    values["refusal"] = refusal
    return render(request, "block_new.html", "blocks", "New block", status=400, **values)


@show_errors
def delete_block(request: Request) -> Response:
    """Delete a block; its history stays, and an undo brings it back."""
    label = request.path_params["label"]
    refusal = _apply(request, get_project(request).find_place(), [Delete(label)], "")
    if refusal:
        get_site(request).say(refusal, "refused")
        return _return_to(request, label)
    return redirect(request, f"blocks/{label}/history")


@show_errors
def show_history(request: Request) -> Response:
    """Show the entries of a block, each with what it changed."""
    place = get_project(request).find_place()
    label = request.path_params["label"]
    found = history.log(place, label, _ENTRIES)
    if not found:
        raise NotFoundError(f"there is no block '{label}'", "the list has those that there are")
    entries = [
        (entry, changes.of_blocks(entry.before, entry.after, "before", "after")) for entry in found
    ]
    exists = found[0].after is not None
    return render(
        request,
        "history.html",
        "blocks",
        f"History of {label}",
        label=label,
        entries=entries,
        exists=exists,
    )


@show_errors
def show_blame(request: Request) -> Response:
    """Show the lines of a block, each with the edit that it is from."""
    label = request.path_params["label"]
    found = history.blame(get_project(request).find_place(), label)
    return render(request, "blame.html", "blocks", f"Who wrote {label}", label=label, lines=found)


@show_errors
def undo_edit(request: Request) -> Response:
    """Undo the last edit of a block."""
    label = request.path_params["label"]
    done = undo.undo_edit(get_project(request).find_place(), label, make_origin())
    get_site(request).say(
        f"{label}: {done.undone.op}, version {done.undone.version}, is taken back"
    )
    return redirect(request, f"blocks/{label}/history")


@show_errors
def restore_version(request: Request) -> Response:
    """Make an earlier version of a block the current one."""
    label, version = request.path_params["label"], get_form(request).get("version", "")
    done = undo.restore_version(get_project(request).find_place(), label, version, make_origin())
    what = f"{label} is as it was at {version}" if done.entries else f"{label} is like that already"
    get_site(request).say(what)
    return redirect(request, f"blocks/{label}/history")


def _apply(
    request: Request, place: Place, edits: list[Edit], reason: str, expected: int | None = None
) -> str:
    """Apply edits of one block; return why they are refused, or ""."""
    outcome = edit.run(place, edits, make_origin(reason), [expected] * len(edits))
    if isinstance(outcome, Rejected):
        return f"{outcome.message} ({outcome.hint})" if outcome.hint else outcome.message
    if isinstance(outcome, edit.Unchanged):
        get_site(request).say("nothing is changed")
    else:
        last = outcome.entries[-1]
        get_site(request).say(f"{last.label}: version {last.version} is saved")
    return ""


def _return_to(request: Request, label: str) -> Response:
    return redirect(request, f"blocks/{label}")


def _parse_number(text: str, name: str) -> int | None:
    if not text.strip():
        return None
    if not text.strip().isdecimal() or len(text) > 12:
        raise UsageError(f"{name} is {text[:40]!r}, expected a number")
    return int(text)


ROUTES = [
    Route("/blocks", list_blocks),
    Route("/blocks/new", new_block, methods=["GET", "POST"]),
    Route("/blocks/{label:path}/edit", edit_block, methods=["GET"]),
    Route("/blocks/{label:path}/edit", save_block, methods=["POST"]),
    Route("/blocks/{label:path}/keys", set_keys, methods=["POST"]),
    Route("/blocks/{label:path}/delete", delete_block, methods=["POST"]),
    Route("/blocks/{label:path}/history", show_history),
    Route("/blocks/{label:path}/blame", show_blame),
    Route("/blocks/{label:path}/undo", undo_edit, methods=["POST"]),
    Route("/blocks/{label:path}/restore", restore_version, methods=["POST"]),
    Route("/blocks/{label:path}", show_block),
]
