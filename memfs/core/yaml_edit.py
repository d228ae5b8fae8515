"""Front matter where it is written, and where the strict reader gave up. Not for the hot path.

Values are replaced where ruamel.yaml says that they are, so that everything else keeps its bytes;
the result is then read again and must hold the new values and every other one unchanged.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node

from memfs.core import frontmatter, yaml_fast

_PLAIN_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_MOST_VALUES = 20_000  # aliases of aliases grow without end
_MOST_DIGITS = 18
_INDENT = 2  # spaces, where there is nothing to go by
_DEEPEST = 50
# Errors of ruamel.yaml for texts that are no YAML: `!!bool x` is a KeyError, for one.
_UNREADABLE = (
    YAMLError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    AssertionError,
    ArithmeticError,
    RecursionError,
)


class _Constructor(SafeConstructor):
    """Leaves timestamps as the text they are, as the strict reader does."""


_Constructor.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)


def read(text: str, most: int = frontmatter.MOST) -> tuple[dict[str, object], str]:
    """Read front matter with ruamel.yaml: (mapping, problem or "").

    Timestamps stay text, as with the strict reader. A text that is no mapping gives an empty one.
    A problem begins with its line, if that is known: "line 3: …".
    """
    if len(text) > most + 1:
        return {}, f"{len(text):,} characters, at most {most:,} are read as YAML"
    if _measure_depth(text) > _DEEPEST:  # ruamel.yaml takes quadratic time
        return {}, f"nested more than {_DEEPEST} levels deep"
    yaml = _make_yaml("safe")
    yaml.Constructor = _Constructor
    try:
        found = yaml.load(_replace_surrogates(text))
        if found is None:
            return {}, ""
        if not isinstance(found, dict):
            return {}, f"front matter is a {type(found).__name__}, not a mapping"
        room = [_MOST_VALUES]
        return {str(key): _convert_value(value, room) for key, value in found.items()}, ""
    except _UNREADABLE as error:
        return {}, _describe_error(error)


def write(head: str, changes: Mapping[str, object], eol: str) -> str:
    """Return `head` with the keys in `changes` set; a value of None removes its key.

    A head that cannot be read as YAML is returned unchanged: repairing it is `doctor`'s work.
    """
    if not frontmatter.has_fences(head):
        lines = [
            f"{key}: {scalar(value)}{eol}" for key, value in changes.items() if value is not None
        ]
        return f"{head}---{eol}{''.join(lines)}---{eol}"
    text = frontmatter.strip_fences(head)
    if len(text) > frontmatter.MOST:
        return head
    before, problem = _read_any(text)
    pending = {key: value for key, value in changes.items() if not _has_value(before, key, value)}
    if problem or not pending:
        return head
    start = head.index("\n") + 1
    for attempt in (_set_lines, _set, _rewrite):
        try:
            made = attempt(text, pending, eol)
        except _UNREADABLE:
            continue
        after, problem = _read_any(made)
        new = head[:start] + made + head[start + len(text) :]
        if not problem and _is_applied(before, after, pending) and frontmatter.split(new)[0] == new:
            return new
    return head


def set_keys(text: str, version: int, at: str, by: str, *, eol: str = "", **more: object) -> str:
    """Return a block's text, or its head alone, with the keys set that memfs manages.

    `more` are others of them, `eol` is the line end of the file, where the text may not show it.
    """
    head, body = frontmatter.split(text)
    managed = {**more, "version": version, "updated_at": at, "updated_by": by}
    return write(head, managed, eol or frontmatter.line_end(text)) + body


def write_entry(
    text: str, section: str, name: str, value: Mapping[str, object] | None, eol: str
) -> str:
    """Return a YAML text with an entry added to a section's mapping, or removed from it (None).

    Everything else keeps its bytes. Raises one of many errors where that cannot be done so.
    """
    root = _make_yaml("safe").compose(_replace_surrogates(text))
    tops: list[tuple[Node, Node]] = root.value if root is not None else []
    above = [pair for pair in tops if pair[0].value == section]
    mapping = above[0][1] if above else root
    pairs = mapping.value if above and isinstance(mapping, MappingNode) else []
    if value is None:
        key, old = next(pair for pair in pairs if pair[0].value == name)
        return _remove(text, *above[0]) if len(pairs) == 1 else _remove(text, key, old)
    column = pairs[0][0].start_mark.column if pairs else _INDENT
    lines = [f"{' ' * column}{name}:"]
    lines += [f"{' ' * (column + _INDENT)}{key}: {scalar(each)}" for key, each in value.items()]
    entry = eol.join([*lines, ""])
    if not above:
        return f"{text}{section}:{eol}{entry}"
    if isinstance(mapping, MappingNode) and pairs and mapping.flow_style:
        raise ValueError("a mapping in braces")
    if not isinstance(mapping, MappingNode) and not _is_empty(mapping):
        raise ValueError("no mapping")
    end = _find_end(text, *above[0])
    if not pairs:  # `section:`, or with empty braces
        colon = text.index(":", above[0][0].end_mark.index) + 1
        text, end = text[:colon] + text[end:], colon
    end = text.index("\n", end) + 1
    return text[:end] + entry + text[end:]


def scalar(value: object, *, plain: bool = True) -> str:
    """Write one value on one line; not `plain`: every text is quoted."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_write_item, value)) + "]"
    if isinstance(value, dict):
        pairs = (f"{_quote(str(key))}: {_write_item(each)}" for key, each in value.items())
        return "{" + ", ".join(pairs) + "}"
    if value is None:
        return "null"
    text = " ".join(str(value).split())
    safe = plain and text[:1] in _PLAIN_START and yaml_fast.read(f"k: {text}") == {"k": text}
    return text if safe or (plain and _TIMESTAMP.fullmatch(text)) else _quote(text)


def _write_item(value: object) -> str:
    return _quote(value) if isinstance(value, str) else scalar(value, plain=False)


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else _escape(ord(c)) for c in escaped) + '"'


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _make_yaml(kind: str) -> YAML:
    yaml = YAML(typ=kind, pure=True)
    yaml.composer.warn_double_anchors = False  # a hook has nobody to warn
    return yaml


def _replace_surrogates(text: str) -> str:
    """Replace each lone surrogate by one `?`: lengths and places stay the same."""
    return text.encode("utf-8", "replace").decode()


def _set_lines(text: str, changes: Mapping[str, object], eol: str) -> str:
    """Set values that are one word on the line of their key, and add keys; else a `LookupError`.

    That is most edits, and ruamel.yaml takes most of an edit's time. In what the strict reader is
    certain of, a line that begins with a key is that key's.
    """
    before = yaml_fast.read(text)
    if before is None or None in changes.values():
        raise LookupError
    for key, value in changes.items():
        if key not in before:
            text += f"{key}: {scalar(value)}{eol}"
            continue
        line = re.search(rf"(?am)^{re.escape(key)}: +([\w.:+-]+)(?= *(?: #.*)?\r?$)", text)
        if line is None:
            raise LookupError
        text = text[: line.start(1)] + scalar(value) + text[line.end(1) :]
    return text


def _set(text: str, changes: Mapping[str, object], eol: str) -> str:
    for key, value in changes.items():
        text = _set_one(text, key, value, eol)
    return text


def _set_one(text: str, key: str, value: object, eol: str) -> str:
    root = _make_yaml("safe").compose(_replace_surrogates(text))
    flow = isinstance(root, MappingNode) and bool(root.flow_style)
    pairs: list[tuple[Node, Node]] = root.value if isinstance(root, MappingNode) else []
    for name, old in pairs:
        if name.value == key:
            if value is not None:
                return _replace(text, name, old, scalar(value, plain=not flow))
            return text if flow else _remove(text, name, old)
    if value is None:
        return text
    line = f"{key}: {scalar(value, plain=not flow)}"
    if flow:
        end = _find_end(text, *pairs[-1]) if pairs else root.start_mark.index + 1
        return text[:end] + (", " if pairs else "") + line + text[end:]
    return text + " " * (pairs[0][0].start_mark.column if pairs else 0) + line + eol


def _replace(text: str, name: Node, old: Node, value: str) -> str:
    """Put `value` where the value `old` of the key `name` is; comments beside it stay."""
    colon = text.index(":", name.end_mark.index) + 1
    if _is_empty(old):
        return f"{text[:colon]} {value}{text[colon:]}"
    start, end = old.start_mark.index, _find_end(text, name, old)
    if start < colon:
        return text  # an alias: its node is where the anchor is
    first, below, _ = text[colon:start].partition("\n")
    if below:
        return f"{text[:colon]} {value}{first.rstrip()}{text[end:]}"
    return text[:start] + value + text[end:]


def _remove(text: str, name: Node, old: Node) -> str:
    """Take out the lines of a key and its value."""
    start = text.rfind("\n", 0, name.start_mark.index) + 1
    end = text.find("\n", max(_find_end(text, name, old), name.end_mark.index)) + 1
    return text[:start] + text[end:]


def _find_end(text: str, name: Node, node: Node) -> int:
    """Return the end of a value; ruamel's end marks of block values lie too far behind."""
    if _is_empty(node):
        return text.index(":", name.end_mark.index) + 1
    start = node.start_mark.index
    end = node.end_mark.index
    if isinstance(node, CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        key, leaf = last if isinstance(last, tuple) else (last, last)
        if leaf.start_mark.index >= start and not (key is leaf and _is_empty(leaf)):
            end = _find_end(text, key, leaf)
    return int(start + len(text[start:end].rstrip()))


def _is_empty(node: Node) -> bool:
    return bool(node.start_mark.index == node.end_mark.index)


def _rewrite(text: str, changes: Mapping[str, object], eol: str) -> str:
    """Fall back to a ruamel round trip, for heads in which lines are not keys (flow mappings)."""
    yaml = _make_yaml("rt")
    yaml.preserve_quotes = True
    yaml.width = 10**6
    document = yaml.load(_replace_surrogates(text.replace("\r\n", "\n")))
    for key, value in changes.items():
        if value is None:
            document.pop(key, None)
        else:
            document[key] = list(value) if isinstance(value, tuple) else value
    out = io.StringIO()
    yaml.dump(document, out)
    return out.getvalue().replace("\n", eol)


def _read_any(text: str) -> tuple[dict[str, object], str]:
    found = yaml_fast.read(text)
    return (found, "") if found is not None else read(text)


def _has_value(found: Mapping[str, object], key: str, value: object) -> bool:
    """Tell whether `key` has `value` as it reads once it is written."""
    if value is None:
        return key not in found
    expected = value
    if isinstance(value, list | tuple):
        expected = [str(item) for item in value]
    elif not isinstance(value, int | float):
        expected = " ".join(str(value).split())
    return key in found and type(found[key]) is type(expected) and found[key] == expected


def _is_applied(
    before: Mapping[str, object], after: Mapping[str, object], changes: Mapping[str, object]
) -> bool:
    kept = {key: value for key, value in before.items() if key not in changes}
    now = {key: value for key, value in after.items() if key not in changes}
    return kept == now and all(_has_value(after, key, value) for key, value in changes.items())


def _convert_value(value: object, room: list[int]) -> object:
    room[0] -= 1
    if room[0] < 0:
        raise ValueError("front matter holds too many values")
    if isinstance(value, dict):
        return {str(key): _convert_value(item, room) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_convert_value(item, room) for item in value]
    if isinstance(value, int) and abs(value) >= 10**_MOST_DIGITS:
        raise ValueError("front matter holds a number that is too long")
    return value


def _measure_depth(text: str) -> int:
    """Return the depth of nested brackets in a text; those in quotes count too."""
    deepest = depth = 0
    for character in text:
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}" and depth:
            depth -= 1
    return deepest


def _describe_error(error: Exception) -> str:
    """Return an error in one line, with the line number first."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return _get_first_line(error)
    if str(getattr(error, "context", "")).endswith("a simple key"):  # its end is a line below
        mark = getattr(error, "context_mark", None) or mark
    parts = [getattr(error, name, None) for name in ("context", "problem")]
    what = ", ".join(str(part) for part in parts if part)
    return f"line {mark.line + 1}: {' '.join(what.split())}"[:200]


def _get_first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2])[:200] or type(error).__name__
