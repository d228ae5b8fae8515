"""Who may read the page and change memory: only the browser that brought the ticket.

A page on this machine can be asked by every program of every user, and by every web page that the
browser shows. Neither the address nor the port keeps them out, and a cookie of 127.0.0.1 goes to
whoever listens on any other port. So the cookie is sent to one folder of addresses alone, whose
name nobody else knows; and both are wanted.
"""

import base64
import hmac
import os
import secrets
import time
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from markupsafe import Markup
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ADDRESS = "127.0.0.1"  # no name: it could lead to another listener
OPEN = "/open"  # the address that takes the ticket
FORM_FIELD = "form_token"
FORM = "form"  # of a scope: the fields that were sent
TICKET = "ticket"  # the field
LIFE = 600.0  # seconds in which a ticket is good
LARGEST = 2 << 20  # bytes of a request
_CHANGING = "POST"
_READING = ("GET", "HEAD")
_ASKERS = ("same-origin", "none")  # sites: the page itself, and a person
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # without any, browsers send forms with no origin
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_PLAIN = Markup(
    '<!doctype html><html lang="en"><head><meta charset="utf-8">{}<title>memfs</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,"></head><body>'
    "<main><h1>memfs</h1>{}</main>{}</body></html>"
)
_ASKING = Markup(
    '<p>{}</p><form method="post" action="{}"><label>Code <input name="{}" autocomplete="off" '
    'spellcheck="false" required></label> <button>Open the page</button></form>'
    "<p>The terminal that runs memfs web shows the code. The code works once, within ten minutes. "
    "For a new code, run <code>memfs web</code> again.</p>"
)
_SENDING = Markup(
    '<form method="post" action="{}"><input type="hidden" name="{}" value="{}">'
    "<button>Open the page</button></form><p>To use another browser, open {} there and enter the "
    "code <code>{}</code>.</p>"
)
_SENT = Markup("<script>document.forms[0].submit()</script>")
_GOING = Markup('<meta http-equiv="refresh" content="0;url={}/">')
_GONE = Markup('<p><a href="{}/">Continue to the page</a></p>')


def _make_ticket() -> str:
    """Make a ticket that can be typed: sixteen letters and digits that are no other's likeness."""
    drawn = base64.b32encode(secrets.token_bytes(10)).decode()
    return "-".join(drawn[at : at + 4] for at in range(0, len(drawn), 4))


@dataclass
class Access:
    """The secrets of one start. The ticket is good for one browser, once, for a while.

    What the browser gets for it is the cookie and the folder of addresses, `root`, that it is sent
    to. With `read_only` nothing can be changed.
    """

    port: int
    read_only: bool = False
    ticket: str = field(default_factory=_make_ticket)
    until: float = field(default_factory=lambda: time.monotonic() + LIFE)
    root: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(16)}")
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    form_token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def cookie_name(self) -> str:
        """The name of the cookie: that of another port is another one."""
        return f"memfs_{self.port}"

    @property
    def host(self) -> str:
        """The only Host header that names this page: any other may be somebody's domain."""
        return f"{ADDRESS}:{self.port}".removesuffix(":80")

    @property
    def address(self) -> str:
        """Where a browser asks for the page; it holds nothing secret."""
        return f"http://{self.host}/"

    def write_opener(self, folder: str) -> str:
        """Write a file, for its user alone, that brings a browser with the ticket; return its path.

        What starts a browser shows every user of the machine the name of this file, and no more.
        """
        path = os.path.join(folder, "open.html")
        send_to = f"http://{self.host}{OPEN}"
        body = _SENDING.format(send_to, TICKET, self.ticket, self.address, self.ticket)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
            file.write(_PLAIN.format("", body, _SENT))
        return path

    def take_ticket(self, given: str) -> bool:
        """Tell whether this is the ticket, which is good once."""
        typed = "".join(given.split()).upper()
        if not self.ticket or time.monotonic() > self.until or not _is_same(typed, self.ticket):
            return False
        self.ticket = ""
        return True


class Guard:
    """Refuses what does not come from the page itself, before any of it is looked at."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websocket: nothing here opens one
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        # It is read in any case: who is answered before the end of a form may see no answer.
        body = b"" if scope["method"] in _READING else await _read_body(receive)
        answer = self._refuse(scope, headers)
        if answer is None and scope["method"] == _CHANGING:
            form = scope[FORM] = _parse_form(body)
            answer = self._let_in(form) if _is_door(scope) else self._refuse_form(form)
        await (answer or self._app)(scope, receive, send_guarded)

    def _refuse(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """Refuse what the page's own browser does not send: each header has to be there."""
        access, method = self._access, scope["method"]
        if headers.get("host", "").lower() != access.host:
            return PlainTextResponse(f"wrong address: open {access.address} instead", 421)
        if method not in (*_READING, _CHANGING):
            return PlainTextResponse("the page accepts only GET, HEAD and POST", 405)
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        own = f"http://{access.host}"
        if _is_door(scope):  # the file that was opened is of no site
            return None if origin in (own, "null") else _refuse_sender("form")
        if method == _CHANGING and (origin != own or site not in (None, "same-origin")):
            return _refuse_sender("form")
        if method != _CHANGING and (origin not in (None, own) or site not in _ASKERS):
            return _refuse_sender("request")
        known = _list_cookies(headers.get("cookie", ""), access.cookie_name)
        inside = f"{scope['path']}/".startswith(f"{access.root}/")
        if not inside or not any(_is_same(each, access.cookie) for each in known):
            return _ask_for_code("This browser has no access yet. Enter the code.")
        if method == _CHANGING and access.read_only:
            return PlainTextResponse(
                "this page is read-only; to edit, start memfs web without --read-only", 403
            )
        return None

    def _let_in(self, form: dict[str, str] | None) -> Response:
        """Swap the ticket for the cookie.

        The page is the next question of this answer, not a redirection: that would still be a
        question of the file, with which no cookie is sent.
        """
        access = self._access
        if not access.take_ticket((form or {}).get(TICKET, "")):
            return _ask_for_code("This code is wrong, expired, or already used.")
        page = _PLAIN.format(_GOING.format(access.root), _GONE.format(access.root), "")
        response = HTMLResponse(page)
        response.set_cookie(
            access.cookie_name, access.cookie, path=access.root, httponly=True, samesite="strict"
        )
        return response

    def _refuse_form(self, form: dict[str, str] | None) -> Response | None:
        if form is None:
            return PlainTextResponse(f"this form is larger than {LARGEST >> 20} MB", 413)
        if not _is_same(form.get(FORM_FIELD, ""), self._access.form_token):
            return PlainTextResponse(
                "this form is from an earlier run of memfs web; reload the page", 403
            )
        return None


def _is_door(scope: Scope) -> bool:
    return bool(scope["path"] == OPEN and scope["method"] == _CHANGING)


def _refuse_sender(what: str) -> Response:
    return PlainTextResponse(
        f"refused: the browser did not confirm that this {what} comes from this page", 403
    )


def _ask_for_code(why: str) -> Response:
    return HTMLResponse(_PLAIN.format("", _ASKING.format(why, OPEN, TICKET), ""), 403)


def _is_same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _list_cookies(header: str, name: str) -> list[str]:
    """List the values of a cookie: other ports may set one of the same name."""
    pairs = (each.strip().partition("=") for each in header.split(";"))
    return [value for key, _, value in pairs if key == name]


async def _read_body(receive: Receive) -> bytes | None:
    """Read a request whole; None for one that is too large."""
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if len(body) > LARGEST:
            return None
        if not message.get("more_body"):
            return body


def _parse_form(body: bytes | None) -> dict[str, str] | None:
    """Return the fields of a form, of one with several values the last; None for none."""
    if body is None:
        return None
    try:
        found = parse_qs(
            body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=1000
        )
    except ValueError:
        return {}
    return {name: values[-1] for name, values in found.items()}
