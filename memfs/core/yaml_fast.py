"""A strict reader for the small part of YAML that front matter and config usually are.

Hot path: ruamel.yaml costs more than the whole prompt hook. Whatever this reader is not certain
about makes `read` return None, and the caller falls back to ruamel.yaml. What it does return is
what a YAML 1.2 reader returns, except that timestamps stay text.
"""

Value = str | int | float | bool | list[object] | dict[str, object] | None

_KEY = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
_LONGEST_KEY = 256  # YAML's own limit is 1024
_LONGEST_NUMBER = 18  # digits; Python itself refuses more than 4300
_NOT_FIRST = frozenset("&*!|>%@`{}[],?:-#=<\"'")
# What YAML allows in a text and `str.isprintable` does not: odd spaces, joiners of emoji.
_ALSO_PRINTABLE = dict.fromkeys((0xA0, 0x2009, 0x200C, 0x200D, 0x202F, 0x3000))
_WORDS: dict[str, Value] = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    "null": None,
    "Null": None,
    "NULL": None,
    "~": None,
    "": None,
}


class _UncertainError(Exception):
    """The text may mean something this reader does not know."""


def read(text: str) -> dict[str, object] | None:
    """Read a block mapping. None: not certain, ask a full YAML reader."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if not line.isprintable() and not line.translate(_ALSO_PRINTABLE).isprintable():
            return None  # tabs, other line ends, what YAML forbids
        stripped = line.lstrip(" ")
        if stripped and stripped[0] != "#":
            lines.append((len(line) - len(stripped), stripped.rstrip(" ")))
    try:
        value, end = _parse_mapping(lines, 0, 0)
    except (_UncertainError, IndexError, RecursionError):
        return None
    return value if end == len(lines) else None


def _parse_mapping(
    lines: list[tuple[int, str]], start: int, indent: int
) -> tuple[dict[str, object], int]:
    found: dict[str, object] = {}
    index = start
    while index < len(lines):
        depth, line = lines[index]
        if depth < indent:
            break
        key, colon, rest = line.partition(":")
        if depth > indent or not colon or not key or not _KEY.issuperset(key) or key in found:
            raise _UncertainError
        if key[0] in "-." or key in _WORDS or _parse_number(key) is not None:
            raise _UncertainError
        if (rest and rest[0] != " ") or len(key) > _LONGEST_KEY:
            raise _UncertainError
        index += 1
        text = _strip_comment(rest)
        if text:
            if index < len(lines) and lines[index][0] > indent:
                raise _UncertainError  # a scalar that goes on in the next line
            found[key] = _parse_scalar(text)
        else:
            found[key], index = _parse_nested(lines, index, indent)
    return found, index


def _parse_nested(lines: list[tuple[int, str]], index: int, indent: int) -> tuple[object, int]:
    if index >= len(lines):
        return None, index
    depth, line = lines[index]
    if line.startswith("- ") and depth >= indent:
        return _parse_sequence(lines, index, depth)
    if depth > indent:
        return _parse_mapping(lines, index, depth)
    return None, index


def _parse_sequence(
    lines: list[tuple[int, str]], index: int, indent: int
) -> tuple[list[object], int]:
    items: list[object] = []
    while index < len(lines) and lines[index][0] == indent and lines[index][1].startswith("- "):
        text = _strip_comment(lines[index][1][1:])
        if ": " in text or text.endswith(":"):
            raise _UncertainError
        items.append(_parse_scalar(text))
        index += 1
    if index < len(lines) and lines[index][0] > indent:
        raise _UncertainError
    return items, index


def _strip_comment(text: str) -> str:
    text = text.strip(" ")
    if text.startswith("#"):
        return ""
    if "#" not in text:
        return text
    if text[0] in "\"'":
        end = text.find(text[0], 1)
        after = text[end + 1 :].lstrip(" ")
        if end > 0 and (not after or after.startswith("#")):
            return text[: end + 1]
        raise _UncertainError
    return text.split(" #", 1)[0].rstrip(" ")


def _parse_scalar(text: str) -> object:
    first = text[0]
    if first in "\"'":
        return _parse_quoted(text, first)
    if first == "[":
        return _parse_flow(text)
    if first in _NOT_FIRST and not (first == "-" and _parse_number(text) is not None):
        raise _UncertainError
    if ": " in text or text.endswith(":"):
        raise _UncertainError
    if text in _WORDS:
        return _WORDS[text]
    number = _parse_number(text)
    return text if number is None else number


def _parse_quoted(text: str, quote: str) -> str:
    inner = text[1:-1]
    if len(text) < 2 or text[-1] != quote or quote in inner or "\\" in inner:
        raise _UncertainError
    return inner


def _parse_flow(text: str) -> list[object]:
    inner = text[1:-1].strip(" ")
    if text[-1] != "]" or any(mark in inner for mark in "[]{}#"):
        raise _UncertainError
    return [_parse_scalar(item.strip(" ")) for item in inner.split(",")] if inner else []


def _parse_number(text: str) -> int | float | None:
    """Read plain decimal numbers; raise for forms on which YAML readers disagree."""
    digits = text[1:] if text[0] in "+-" else text
    if digits.isdigit() and digits.isascii():
        if (len(digits) > 1 and digits[0] == "0") or len(digits) > _LONGEST_NUMBER:
            raise _UncertainError
        return int(text)
    whole, dot, fraction = digits.partition(".")
    if dot and whole.isdigit() and fraction.isdigit() and digits.isascii():
        return float(text)
    if digits[:1].isdigit() or digits[:1] == ".":
        _refuse_odd_number(digits)
    return None


def _refuse_odd_number(digits: str) -> None:
    """Accept texts that merely begin like a number (dates, `3rd party`); raise for the rest."""
    if len(digits) >= 10 and digits[4:5] == "-" and digits[7:8] == "-":
        return
    if any(mark in "xXoObBeE_.:" for mark in digits) and " " not in digits:
        raise _UncertainError
