"""Sessions: the list, one of them by pages, find in it, its outcome, and how it is forgotten."""

from __future__ import annotations

from starlette.responses import Response
from starlette.responses import Response as PlainResponse

from memfs.core.errors import NotFoundError
from memfs.ops import graph, sessions
from memfs.ops.sessions import RecordedSession, SessionMessage
from memfs.web.rendering import Visit, get, make_origin, post

_LISTED = 50  # sessions on a page
_PAGE = 200  # messages on a page
_PROMPTS = 400  # in the list of prompts
_FOUND = 200  # places of a word that are listed


def list_sessions(visit: Visit) -> Response:
    """Show the sessions, those that were written to last first."""
    number = visit.get_number()
    host = visit.query.get("host", "")
    place = visit.place
    found = sessions.list_latest(
        place, (number - 1) * _LISTED, _LISTED, sessions.SessionFilter(host=host)
    )
    return visit.render(
        "sessions.html",
        "sessions",
        "Sessions",
        found=found,
        host=host,
        number=number,
        pages=max(1, -(-found.total // _LISTED)),
    )


def show_session(visit: Visit) -> Response:
    """Show a page of a session's messages: one by number, or the one with a turn or message."""
    session, said = _open(visit)
    given = visit.query
    words = given.get("find", "").strip()
    at = _find_start(said, given.get("turn", ""), given.get("message", ""))
    number = visit.get_number() if "page" in given else at // _PAGE + 1
    pages = max(1, -(-len(said) // _PAGE))
    number = min(number, pages)
    prompts = [(place, each) for place, each in enumerate(said) if each.message.role == "user"]
    return visit.render(
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


def _open(visit: Visit) -> tuple[RecordedSession, list[SessionMessage]]:
    place = visit.place
    names = visit.path
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


def draw_flow(visit: Visit) -> Response:
    """Return the drawing of a session's turns as SVG."""
    place = visit.place
    drawing = graph.draw_graph(place, visit.path["session"])
    return PlainResponse(graph.draw_svg(drawing), media_type="image/svg+xml")


def show_flow(visit: Visit) -> Response:
    """Show how a session went: the turns with what was wanted, done and how each came out."""
    session, _ = _open(visit)
    try:
        drawing = graph.draw_graph(visit.place, session.id)
    except NotFoundError:
        drawing = None
    return visit.render("flow.html", "sessions", "How it went", session=session, drawing=drawing)


def set_outcome(visit: Visit) -> Response:
    """Say how a session came out."""
    session, _ = _open(visit)
    form = visit.form
    worked = form.get("how") == "worked"
    graph.set_outcome(visit.place, session.id, worked=worked, why=form.get("why", "").strip())
    visit.say(f"session {session.id[:8]}: {'worked' if worked else 'failed'}")
    return visit.redirect(f"sessions/{session.host}/{session.id}")


def forget_session(visit: Visit) -> Response:
    """Ask whether a session is to be forgotten; with a yes, forget it."""
    session, said = _open(visit)
    if "yes" not in visit.form:
        return visit.render(
            "forget.html", "sessions", "Forget a session", session=session, total=len(said)
        )
    done = sessions.forget_sessions(visit.place, [session], make_origin())
    visit.say(f"forgot {done.messages:,} messages and {done.facts:,} facts")
    return visit.redirect("sessions")


_ONE = "/sessions/{host}/{session}"
ROUTES = [
    get("/sessions", list_sessions),
    get(_ONE, show_session),
    get(f"{_ONE}/flow", show_flow),
    get(f"{_ONE}/flow.svg", draw_flow),
    post(f"{_ONE}/outcome", set_outcome),
    post(f"{_ONE}/forget", forget_session),
]
