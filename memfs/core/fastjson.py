"""JSON for the hot path: the C scanner of the standard library without the `json` package.

`import json` pulls in `re` and costs as much as the rest of the prompt hook. An interpreter
without the C accelerator gets the ordinary package, at the ordinary price.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    quote: Callable[[str], str]
    scanner: Callable[[object], Callable[[str, int], tuple[object, int]]] | None

try:
    import _json
except ImportError:
    from json.encoder import py_encode_basestring_ascii as quote

    scanner = None
else:
    quote = _json.encode_basestring_ascii
    scanner = _json.make_scanner  # type: ignore[assignment]


class _Context:
    """The attributes that the C scanner reads from its context."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def loads(text: str) -> object:
    """Parse one JSON document; raises ValueError for anything else."""
    start = len(text) - len(text.lstrip(" \t\r\n"))
    try:
        if scanner is None:
            import json

            return json.loads(text)
        value, end = scanner(_Context)(text, start)
    except (StopIteration, SystemError) as error:
        # The scanner wants its error from the `json` package, and fails where that is not loaded.
        raise ValueError("not JSON") from error
    except RecursionError as error:
        raise ValueError("JSON nested too deeply") from error
    if text[end:].strip(" \t\r\n"):
        raise ValueError("text behind the JSON document")
    return value


def dumps(value: object) -> str:
    """Write str, int, bool, None, lists and dicts with text keys as ASCII JSON."""
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join([dumps(item) for item in value]) + "]"
    if isinstance(value, dict):
        pairs = [f"{quote(key)}: {dumps(item)}" for key, item in value.items()]
        return "{" + ", ".join(pairs) + "}"
    raise TypeError(f"cannot write {type(value).__name__} as JSON")
