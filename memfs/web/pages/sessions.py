"""Sessions: the list, one of them by pages, find in it, stars and titles, and forgetting."""

from collections import Counter
from datetime import timedelta
from itertools import groupby
from urllib.parse import quote, unquote, urlencode

from starlette.responses import Response
from starlette.responses import Response as PlainResponse

from memfs.core import formats
from memfs.core.errors import NotFoundError, UsageError
from memfs.core.formats import format_count
from memfs.ops import graph, search, sessions
from memfs.ops.sessions import RecordedSession, SessionFilter, SessionMessage
from memfs.secrets import redact
from memfs.store import clock
from memfs.web.rendering import Visit, explain, get, make_origin, post

_LISTED = 50  # sessions on a page
_NAMED = 200  # sessions that are named before they are forgotten
_PAGE = 200  # messages on a page
_PROMPTS = 400  # in the list of prompts
_FOUND = 200  # places of a word that are listed
_CONDITIONS = ("q", "since", "until", "host", "outcome", "starred")


def _list_sessions(visit: Visit) -> Response:
    given = {name: visit.query.get(name, "").strip() for name in _CONDITIONS}
    found, refusal = _select(visit)
    shown, number, pages = visit.cut_page(found, _LISTED)
    counts = Counter(_name_period(each) for each in found)
    every = sessions.list_sessions(visit.place, cache=visit.project.sessions)
    return visit.render(
        "sessions.html",
        "sessions",
        "Sessions",
        periods=[
            (
                name,
                counts[name],
                [(each, sessions.count_messages(visit.place, each)) for each in some],
            )
            for name, some in groupby(shown, _name_period)
        ],
        total=len(found),
        hosts=sorted({each.host for each in every}),
        given=given,
        filters=urlencode({name: text for name, text in given.items() if text}),
        here=visit.filters,
        selected=visit.query.get("selected") == "all",
        refusal=refusal,
        number=number,
        pages=pages,
    )


def _select(visit: Visit) -> tuple[list[RecordedSession], str]:
    """Return the sessions that the address asks for, and why it cannot be answered, or ""."""
    given = visit.query
    try:
        only = SessionFilter(
            given.get("q", "").strip(),
            search.parse_day(given["since"], end=False) if given.get("since") else None,
            search.parse_day(given["until"], end=True) if given.get("until") else None,
            given.get("host", ""),
            outcome=given.get("outcome", ""),
            starred=bool(given.get("starred")),
        )
    except UsageError as error:
        return [], explain(error)
    found = sessions.list_sessions(visit.place, only=only, cache=visit.project.sessions)
    period = given.get("period", "")
    return [each for each in found if period in ("", _name_period(each))], ""


def _name_period(session: RecordedSession) -> str:
    """Return the name of the time in which a session ended, as people call it now."""
    moment = formats.parse(session.ended)
    if moment is None:
        return "Date unknown"
    day, today = moment.date(), clock.moment().astimezone().date()
    week = today - timedelta(days=today.weekday())
    for name, first in (
        ("Today", today),
        ("Yesterday", today - timedelta(days=1)),
        ("This week", week),
        ("Last week", week - timedelta(days=7)),
    ):
        if day >= first:
            return name
    return f"{day:%B %Y}"


def _list_picked(visit: Visit) -> list[RecordedSession]:
    """Return the sessions that a form names, those that are still there."""
    found = []
    for name in [*visit.list_picked(), *visit.form.get("sessions", "").split()]:
        host, _, ident = name.partition("/")
        try:
            found.append(sessions.load_session(visit.place, host, unquote(ident)))
        except NotFoundError:
            continue  # another page forgot it
    return found


def _change_selected(visit: Visit) -> Response:
    picked, what = _list_picked(visit), visit.form.get("to", "")
    if what == "forget" and picked:
        return _ask_to_forget(visit, picked)
    if what in ("star", "unstar") and picked:
        sessions.star_sessions(visit.place, picked, starred=what == "star")
        done = "starred" if what == "star" else "star removed"
        title = picked[0].title if len(picked) == 1 else ""
        visit.say(f"{done}: {title or format_count(len(picked), 'session')}")
    if not picked:
        visit.say("no session is selected", "refused")
    return visit.redirect(f"sessions?{visit.filters}" if visit.filters else "sessions")


def _preview_forgetting(visit: Visit) -> Response:
    found, refusal = _select(visit)
    if refusal:
        raise UsageError(refusal)
    going = [each for each in found if not each.starred]
    return _ask_to_forget(visit, going, starred=len(found) - len(going))


def _ask_to_forget(visit: Visit, going: list[RecordedSession], *, starred: int = 0) -> Response:
    return visit.render(
        "forget.html",
        "sessions",
        "Forget sessions",
        going=going[:_NAMED],
        total=len(going),
        starred=starred,
        names=" ".join(f"{each.host}/{quote(each.id, safe='')}" for each in going),
    )


def _forget_sessions(visit: Visit) -> Response:
    done = sessions.forget_sessions(visit.place, _list_picked(visit), make_origin())
    what = ", ".join(map(format_count, (done.messages, done.facts), ("message", "fact")))
    visit.say(f"forgot {format_count(done.sessions, 'session')}: {what}")
    return visit.redirect("sessions")


def _rename_session(visit: Visit) -> Response:
    session, _ = _open(visit)
    title = sessions.rename_session(visit.place, session, visit.form.get("title", ""))
    visit.say(f"the title is now '{title}'")
    return visit.redirect(f"sessions/{session.host}/{quote(session.id, safe='')}")


def _show_session(visit: Visit) -> Response:
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
        redact(session.title) or f"Session {session.id[:8]}",
        session=session,
        name=f"{session.host}/{quote(session.id, safe='')}",
        as_text=bool(given.get("text")),
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
    for place, each in enumerate(said):
        if (message and each.message.id == message) or (turn and str(each.turn) == turn):
            return place
    return 0


def _find_words(said: list[SessionMessage], words: str) -> list[tuple[int, SessionMessage]]:
    folded = words.casefold()
    found = (
        (place, each) for place, each in enumerate(said) if folded in each.message.text.casefold()
    )
    return [each for each, _ in zip(found, range(_FOUND), strict=False)]


def _draw_flow(visit: Visit) -> Response:
    place = visit.place
    drawing = graph.draw_graph(place, visit.path["session"])
    return PlainResponse(graph.draw_svg(drawing), media_type="image/svg+xml")


def _show_flow(visit: Visit) -> Response:
    session, _ = _open(visit)
    try:
        drawing = graph.draw_graph(visit.place, session.id)
    except NotFoundError:
        drawing = None
    return visit.render(
        "flow.html", "sessions", "How the session went", session=session, drawing=drawing
    )


def _set_outcome(visit: Visit) -> Response:
    session, _ = _open(visit)
    form = visit.form
    worked = form.get("how") == "worked"
    graph.set_outcome(visit.place, session.id, worked=worked, why=form.get("why", "").strip())
    visit.say(f"marked session {session.id[:8]} as {'worked' if worked else 'failed'}")
    return visit.redirect(f"sessions/{session.host}/{quote(session.id, safe='')}")


_ONE = "/sessions/{host}/{session}"
ROUTES = [
    get("/sessions", _list_sessions),
    post("/sessions", _change_selected),
    get("/sessions/forget", _preview_forgetting),
    post("/sessions/forget", _forget_sessions),
    get(_ONE, _show_session),
    post(_ONE, _rename_session),
    get(f"{_ONE}/flow", _show_flow),
    get(f"{_ONE}/flow.svg", _draw_flow),
    post(f"{_ONE}/outcome", _set_outcome),
]
