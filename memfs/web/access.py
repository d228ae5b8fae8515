"""Who may read the page and change memory: only the browser that was opened with the token.

A page on this machine can be asked by every program of every user, and by every web page that the
browser shows. Neither the address nor the port keeps them out.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN = "/open"  # the address that takes the token
FORM_FIELD = "form_token"
FORM = "form"  # of a scope: the fields that were sent
LARGEST = 2 << 20  # bytes of a request
_NAMES = ("127.0.0.1", "localhost", "[::1]")
_CHANGING = "POST"
_READING = ("GET", "HEAD")
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


@dataclass
class Access:
    """The secrets of one start. `token` is good for one browser; the cookie is what it gets for it.

    With `read_only` nothing can be changed.
    """

    port: int
    read_only: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    form_token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def cookie_name(self) -> str:
        """The name of the cookie: a browser sends cookies of this address to every port."""
        return f"memfs-{self.port}"

    @property
    def address(self) -> str:
        """Where a browser is let in."""
        return f"http://127.0.0.1:{self.port}{OPEN}?token={self.token}"

    def is_host(self, host: str) -> bool:
        """Tell whether a Host header names this page: any other may be somebody's domain."""
        return host.lower() in {f"{name}:{self.port}" for name in _NAMES}

    def is_origin(self, origin: str) -> bool:
        """Tell whether an Origin header names this page."""
        return origin.startswith("http://") and self.is_host(origin.removeprefix("http://"))

    def take_token(self, given: str) -> bool:
        """Tell whether this is the token, which is good once."""
        if not self.token or not _is_same(given, self.token):
            return False
        self.token = ""
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
        refusal = self._refuse(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        if scope["method"] == _CHANGING:
            body = await _read_body(receive)
            form = _parse_form(body)
            refusal = self._refuse_form(form)
            if refusal is not None:
                await refusal(scope, receive, send_guarded)
                return
            scope[FORM] = form
        await self._app(scope, receive, send_guarded)

    def _refuse(
        self, scope: Scope, headers: dict[str, str]
    ) -> PlainTextResponse | RedirectResponse | None:
        access = self._access
        if not access.is_host(headers.get("host", "")):
            return PlainTextResponse("this address is not the page's", 421)
        if scope["method"] not in (*_READING, _CHANGING):
            return PlainTextResponse("the page takes GET, HEAD and POST", 405)
        if scope["path"] == OPEN and scope["method"] == "GET":
            return self._let_in(scope)
        if not _is_same(_read_cookie(headers.get("cookie", ""), access.cookie_name), access.cookie):
            return PlainTextResponse(
                "open the page by the address that memfs web printed; it is good for one browser, "
                "and memfs web makes a new one",
                403,
            )
        if scope["method"] != _CHANGING:
            return None
        if access.read_only:
            return PlainTextResponse(
                "this page only reads: start memfs web without --read-only", 403
            )
        site = headers.get("sec-fetch-site")
        origin = headers.get("origin")
        if (site is None and origin is None) or site not in (None, "same-origin"):
            return PlainTextResponse("another page sent this form", 403)
        if origin is not None and not access.is_origin(origin):
            return PlainTextResponse("another page sent this form", 403)
        return None

    def _let_in(self, scope: Scope) -> PlainTextResponse | RedirectResponse:
        """Swap the token for the cookie, on an address that does not hold the token."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if not self._access.take_token(given):
            return PlainTextResponse("this address was used before: start memfs web again", 403)
        response = RedirectResponse("/", 303)
        response.set_cookie(
            self._access.cookie_name, self._access.cookie, httponly=True, samesite="strict"
        )
        return response

    def _refuse_form(self, form: dict[str, str] | None) -> PlainTextResponse | None:
        if form is None:
            return PlainTextResponse(f"a form has at most {LARGEST >> 20} MB", 413)
        if not _is_same(form.get(FORM_FIELD, ""), self._access.form_token):
            return PlainTextResponse("this form is of an earlier start: load its page again", 403)
        return None


def _is_same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _read_cookie(header: str, name: str) -> str:
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


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
