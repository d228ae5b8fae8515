"""Sessions: the list, one of them by pages, find in it, its outcome, and how it is forgotten."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.responses import Response as PlainResponse
from starlette.routing import Route

from memfs.core.errors import NotFoundError
from memfs.ops import graph, sessions
from memfs.ops.sessions import RecordedSession, SessionMessage
from memfs.web.rendering import (
    get_form,
    get_project,
    get_site,
    make_origin,
    redirect,
    render,
    show_errors,
)

_LISTED = 50  # sessions on a page
_PAGE = 200  # messages on a page
_PROMPTS = 400  # in the list of prompts
_FOUND = 200  # places of a word that are listed


@show_errors
def list_sessions(request: Request) -> Response:
    """Show the sessions, those that were written to last first."""
    number = _parse_number(request.query_params.get("page", ""))
    host = request.query_params.get("host", "")
    place = get_project(request).find_place()
    found = sessions.list_latest(place, (number - 1) * _LISTED, _LISTED, host)
    return render(
        request,
        "sessions.html",
        "sessions",
        "Sessions",
        found=found,
        host=host,
        number=number,
        pages=max(1, -(-found.total // _LISTED)),
    )


@show_errors
def show_session(request: Request) -> Response:
    """Show a page of a session's messages: one by number, or the one with a turn or message."""
    session, said = _open(request)
    given = request.query_params
    words = given.get("find", "").strip()
    at = _find_start(said, given.get("turn", ""), given.get("message", ""))
    number = _parse_number(given.get("page", "")) if "page" in given else at // _PAGE + 1
    pages = max(1, -(-len(said) // _PAGE))
    number = min(number, pages)
    prompts = [(place, each) for place, each in enumerate(said) if each.message.role == "user"]
    return render(
        request,
        "session.html",
        "sessions",
        f"Session {session.id[:8]}",
        session=session,
        said=list(enumerate(said))[(number - 1) * _PAGE : number * _PAGE],
        total=len(said),
        number=number,
        pages=pages,
        size=_PAGE,
        prompts=prompts[:_PROMPTS],
        more_prompts=max(0, len(prompts) - _PROMPTS),
        words=words,
        found=_find_words(said, words) if words else [],
        target=given.get("message", ""),
    )


def _open(request: Request) -> tuple[RecordedSession, list[SessionMessage]]:
    place = get_project(request).find_place()
    names = request.path_params
    session, messages = sessions.open_session(place, names["host"], names["session"])
    return session, sessions.number_turns(messages)


def _find_start(said: list[SessionMessage], turn: str, message: str) -> int:
    """Return the place of the first message of a turn, or of the one with an id; else 0."""
    for place, each in enumerate(said):
        if (message and each.message.id == message) or (turn and str(each.turn) == turn):
            return place
    return 0


def _find_words(said: list[SessionMessage], words: str) -> list[tuple[int, SessionMessage]]:
    """Return the messages that contain the words as they are, in any case, with their places."""
    folded = words.casefold()
    found = (
        (place, each) for place, each in enumerate(said) if folded in each.message.text.casefold()
    )
    return [each for each, _ in zip(found, range(_FOUND), strict=False)]


@show_errors
def draw_flow(request: Request) -> Response:
    """Return the drawing of a session's turns as SVG."""
    place = get_project(request).find_place()
    drawing = graph.draw_graph(place, request.path_params["session"])
    return PlainResponse(graph.draw_svg(drawing), media_type="image/svg+xml")


@show_errors
def show_flow(request: Request) -> Response:
    """Show how a session went: the turns with what was wanted, done and how each came out."""
    session, _ = _open(request)
    try:
        drawing = graph.draw_graph(get_project(request).find_place(), session.id)
    except NotFoundError:
        drawing = None
    return render(request, "flow.html", "sessions", "How it went", session=session, drawing=drawing)


@show_errors
def set_outcome(request: Request) -> Response:
    """Say how a session came out."""
    session, _ = _open(request)
    form = get_form(request)
    worked = form.get("how") == "worked"
    graph.set_outcome(
        get_project(request).find_place(),
        session.id,
        worked=worked,
        why=form.get("why", "").strip(),
    )
    get_site(request).say(f"session {session.id[:8]}: {'worked' if worked else 'failed'}")
    return redirect(request, f"sessions/{session.host}/{session.id}")


@show_errors
def forget_session(request: Request) -> Response:
    """Ask whether a session is to be forgotten; with a yes, forget it."""
    session, said = _open(request)
    if "yes" not in get_form(request):
        return render(
            request, "forget.html", "sessions", "Forget a session", session=session, total=len(said)
        )
    done = sessions.forget_session(get_project(request).find_place(), session.id, make_origin())
    get_site(request).say(f"forgot {done.messages:,} messages and {done.facts:,} facts")
    return redirect(request, "sessions")


def _parse_number(text: str) -> int:
    return max(1, int(text)) if text.isdecimal() and len(text) < 9 else 1


_ONE = "/sessions/{host}/{session}"
ROUTES = [
    Route("/sessions", list_sessions),
    Route(_ONE, show_session),
    Route(f"{_ONE}/flow", show_flow),
    Route(f"{_ONE}/flow.svg", draw_flow),
    Route(f"{_ONE}/outcome", set_outcome, methods=["POST"]),
    Route(f"{_ONE}/forget", forget_session, methods=["POST"]),
]
