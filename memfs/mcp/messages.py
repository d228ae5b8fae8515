"""Messages of the Model Context Protocol: JSON-RPC 2.0, a line each. Hot path.

Every session of an assistant starts a server and waits for it: what it imports before the tools are
listed costs more than its work. The modules `json` and `re` alone would take half of that, so the C
functions behind `json` are used, and `re` for rare lines.
"""

import _json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR, UNSUPPORTED_VERSION = -32602, -32603, -32022
RESOURCE_NOT_FOUND = -32002  # until 2025-11-25; then it is INVALID_PARAMS
_NO_ANSWER = "notifications/"  # the prefix of methods without an answer, whatever their id
_SPACE = " \t\r\n"


class ProtocolError(Exception):
    """An error that answers a request; `ident` is the request's id where it is not known."""

    def __init__(
        self, code: int, message: str, data: object = None, ident: str | int | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.ident = ident

    def format(self, ident: str | int | None) -> dict[str, object]:
        """Return the answer to the request with that id."""
        error: dict[str, object] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return {"jsonrpc": "2.0", "id": ident, "error": error}


class Message:
    """A request, or a notification (`id` is None). A cancelled request is not answered."""

    __slots__ = ("cancelled", "id", "method", "params")

    def __init__(
        self, ident: str | int | None, method: str, params: "Mapping[str, object] | None" = None
    ) -> None:
        self.id = ident
        self.method = method
        self.params = params or {}
        self.cancelled = False

    def get_text(self, name: str, *, required: bool = True) -> str:
        """Return a parameter that is a text. Raises `ProtocolError` for another value."""
        value = self.params.get(name)
        if isinstance(value, str):
            return value
        if value is None and not required:
            return ""
        raise ProtocolError(INVALID_PARAMS, f"{self.method}: {name} must be a string")

    def get_object(self, name: str, *, required: bool = False) -> dict[str, object]:
        """Return a parameter that is an object. Raises `ProtocolError` for another value."""
        value = self.params.get(name)
        if isinstance(value, dict):
            return value
        if value is None and not required:
            return {}
        raise ProtocolError(INVALID_PARAMS, f"{self.method}: {name} must be an object")


def parse(line: bytes) -> Message | None:
    """Return the message of a line; None for one that asks nothing.

    Raises `ProtocolError` for what is no message and wants an answer. Half of a surrogate pair
    becomes U+FFFD.
    """
    text = replace_halves(line).decode("utf-8", "replace").strip(_SPACE)
    if not text:
        return None
    code, wrong = INVALID_REQUEST, "the line is not a JSON-RPC 2.0 message"
    try:
        value = _decode(text)
        found: dict[str, object] = value if isinstance(value, dict) else {}
    except ValueError:
        found = {"jsonrpc": None, **_scan_fields(text)}
        code, wrong = PARSE_ERROR, "the line is not JSON"
    method, ident, params = found.get("method"), found.get("id"), found.get("params")
    named = isinstance(ident, int | str) and not isinstance(ident, bool)
    if isinstance(method, str):
        valid = code == INVALID_REQUEST and found.get("jsonrpc") == "2.0"
        valid = valid and (params is None or isinstance(params, dict))
        if valid and (named or "id" not in found):
            return Message(ident, method, params)  # type: ignore[arg-type]
        if "id" not in found or (method.startswith(_NO_ANSWER)):
            return None
        wrong = "the id must be a string or a whole number" if valid else wrong
    elif "method" not in found and ("result" in found or "error" in found):
        return None
    raise ProtocolError(code, wrong, ident=ident if named else None)  # type: ignore[arg-type]


def encode(value: object) -> bytes:
    """Return a value as JSON. What is not UTF-8 in its texts becomes a question mark."""
    return "".join(_write(value, 0)).encode("utf-8", "replace")


def replace_halves(line: bytes) -> bytes:
    """Return a line with U+FFFD in the place of each half of a surrogate pair."""
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    import re  # for a rare line

    escape = re.compile(_ESCAPE, re.DOTALL)
    return escape.sub(lambda found: b"\\ufffd" if found[1] else found[0], line)


_ESCAPE = (
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)
_PART = r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]|[^\s\[\]{}:,"]+'


def _scan_fields(text: str) -> dict[str, object]:
    """Return the fields of an object, however deep or broken their values are.

    The value of an object or a list, and one that is broken, is None.
    """
    import re  # for a broken line

    found: dict[str, object] = {}
    depth, name = 0, ""
    for match in re.finditer(_PART, text, re.DOTALL):
        token = match[0]
        if token in ("]", "}"):
            depth -= 1
            name = "" if depth == 1 else name
            continue
        if depth == 1 and name:
            found.setdefault(name, _parse_token(token))
            name = ""
        elif depth == 1 and token[0] == '"':
            name = token[1:-1]
        if token in ("[", "{"):
            depth += 1
    return found


def _parse_token(token: str) -> object:
    try:
        return _decode(token)
    except ValueError:
        return None


def _decode(text: str) -> object:
    """Return the value of a JSON text. Raises `ValueError`."""
    try:
        value, end = _scan(text, 0)
    except (StopIteration, RecursionError, SystemError) as error:
        raise ValueError(text) from error  # until 3.11 a SystemError, where `json` is not loaded
    if end < len(text):
        raise ValueError(text)
    return value


def _refuse_constant(name: str) -> object:
    raise ValueError(name)  # NaN and the infinities are no JSON


class _Scanning:
    """How JSON is read: strictly."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    parse_constant = staticmethod(_refuse_constant)


def _refuse_value(value: object) -> object:
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


_scan = _json.make_scanner(_Scanning)  # type: ignore[arg-type]  # any object with these names
_write = _json.make_encoder(
    None, _refuse_value, _json.encode_basestring, None, ":", ",", False, False, False
)
