"""Split a block file into front matter and body, and read front matter strictly. Hot path.

The reader knows the small part of YAML that front matter and config usually are: ruamel.yaml costs
more than the whole prompt hook. What it is not certain about is left to `memfs.core.yaml_edit`.
"""

BOM = "\ufeff"
_FENCE = "---"
MOST = 10_000  # characters of front matter: ruamel.yaml takes up to 0.17 s for so many
_KEY = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
_LONGEST_KEY = 256  # YAML's own limit is 1024
_LONGEST_NUMBER = 18  # digits; Python itself refuses more than 4300
_NOT_FIRST = frozenset("&*!|>%@`{}[],?:-#=<\"'")
# What YAML allows in a text and `str.isprintable` does not: odd spaces, joiners of emoji.
ALSO_PRINTABLE = dict.fromkeys((0xA0, 0x2009, 0x200C, 0x200D, 0x202F, 0x3000))
_WORDS: dict[str, object] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", "")),
}


class _UncertainError(Exception):
    """The text may mean something this reader does not know."""


def split(raw: str) -> tuple[str, str]:
    """Split `raw` into (head, body); head + body == raw.

    The head holds the byte order mark, both fences and the line end behind the second one. A text
    without two fences, or with something between them that is no mapping, is all body (a byte
    order mark still belongs to the head).
    """
    mark = len(BOM) if raw.startswith(BOM) else 0
    first_end = raw.find("\n", mark)
    if first_end < 0 or raw[mark:first_end].rstrip(" \t\r") != _FENCE:
        return raw[:mark], raw[mark:]
    position = first_end + 1
    while position < len(raw):
        line_end = raw.find("\n", position)
        end = len(raw) if line_end < 0 else line_end + 1
        if raw.startswith(_FENCE, position) and raw[position:end].rstrip(" \t\r\n") == _FENCE:
            if _looks_like_mapping(raw[first_end + 1 : position]):
                return raw[:end], raw[end:]
            break
        position = end
    return raw[:mark], raw[mark:]


def strip_fences(head: str) -> str:
    """Return the lines between the fences of a head made by `split`, "" if it has none."""
    start = head.find("\n") + 1
    end = head.rstrip(" \t\r\n").rfind("\n") + 1
    return head[start:end] if 0 < start <= end else ""


def has_fences(head: str) -> bool:
    """Tell whether a head holds front matter, and not a lone byte order mark."""
    return len(head) > len(BOM)


def line_end(raw: str) -> str:
    """Return the line end a file uses: CR LF if its first line has it, else LF."""
    first = raw.find("\n")
    return "\r\n" if first > 0 and raw[first - 1] == "\r" else "\n"


def _looks_like_mapping(text: str) -> bool:
    """Tell front matter from prose between two horizontal rules: its first line decides."""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            key, colon, rest = stripped.partition(":")
            known = stripped.startswith(("<<<<<<<", "{"))
            return known or bool(colon and len(key) <= 64 and rest[:1] in ("", " ", "\t"))
    return True


def read(text: str) -> dict[str, object] | None:
    """Read a mapping, between fences or not. None: not certain, ask `yaml_edit.read`."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if not line.isprintable() and not line.translate(ALSO_PRINTABLE).isprintable():
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
    if text[-1] != "]" or any(mark in inner for mark in "[]#"):
        raise _UncertainError
    items = [item.strip(" ") for item in _split_items(inner)] if inner else []
    if any(item[:1] not in ("'", '"') and ("{" in item or "}" in item) for item in items):
        raise _UncertainError
    return [_parse_scalar(item) for item in items]


def _split_items(inner: str) -> list[str]:
    found, quote = [""], ""
    for character in inner:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and not found[-1].strip(" "):
            quote = character
        if character == "," and not quote:
            found.append("")
        else:
            found[-1] += character
    return found


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
    if (digits[:1].isdigit() or digits[:1] == ".") and " " not in digits:
        date = len(digits) >= 10 and digits[4:5] == "-" and digits[7:8] == "-"
        if not date and any(mark in "xXoObBeE_.:" for mark in digits):
            raise _UncertainError
    return None
