"""Front matter where it is written, and where the strict reader gave up. Not for the hot path.

Values are replaced in place: everything else keeps its bytes, which is verified.
"""

import re
from collections.abc import Mapping
from operator import itemgetter

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node
from ruamel.yaml.tokens import AliasToken

from memfs.core import frontmatter
from memfs.core.block import OUTDATED
from memfs.core.errors import UNREADABLE

_OUTDATED_LINES = tuple(f"{key}:" for key in OUTDATED)
_PLAIN_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_ALIAS = re.compile(r"\s*(\*[^\s,}]+)")
_DOCUMENT_END = re.compile(r"^\.\.\.(?=\s)", re.MULTILINE)
_Edit = tuple[int, int, str]  # what is to be at a place of a text
_MOST_VALUES = 20_000  # aliases of aliases grow without end
_MOST_DIGITS = 18
_INDENT = 2  # spaces, where there is nothing to go by
_DEEPEST = 50
# Errors of ruamel.yaml for texts that are no YAML: `!!bool x` is a KeyError, for one.
_NO_YAML = (YAMLError, *UNREADABLE, AssertionError, ArithmeticError)


class _Constructor(SafeConstructor):
    """Leaves timestamps as the text they are, as the strict reader does."""


_Constructor.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)


def read(text: str, most: int = frontmatter.MOST) -> tuple[dict[str, object], str]:
    """Read front matter, strictly or with ruamel.yaml: (mapping, problem or "").

    Timestamps stay text. A text that is no mapping gives an empty one, and so does one that is
    longer than `most` and not of the strict form. A problem begins with its line, if that is known:
    "line 3: …".
    """
    strict = frontmatter.read(text)
    if strict is not None:
        return strict, ""
    if len(text) > most + 1:
        return {}, f"{len(text):,} characters, the limit is {most:,}"
    if _measure_depth(text) > _DEEPEST:  # ruamel.yaml takes quadratic time
        return {}, f"nested more than {_DEEPEST} levels deep"
    yaml = _make_yaml()
    yaml.Constructor = _Constructor
    try:
        found = yaml.load(_replace_surrogates(text))
        if found is None:
            return {}, ""
        if not isinstance(found, dict):
            return {}, "expected keys with values"
        room = [_MOST_VALUES]
        return {str(key): _convert_value(value, room) for key, value in found.items()}, ""
    except _NO_YAML as error:
        return {}, _describe_error(error)


def write(head: str, changes: Mapping[str, object], eol: str) -> str:
    """Return `head` with keys set (None: removed); one that is no YAML is returned unchanged."""
    new = {key: value for key, value in changes.items() if value is not None}
    if not frontmatter.has_fences(head):
        if not new:
            return head
        lines = [f"{key}: {scalar(value)}{eol}" for key, value in new.items()]
        return f"{head}---{eol}{''.join(lines)}---{eol}"
    text = frontmatter.strip_fences(head)
    if len(text) > frontmatter.MOST:
        return head
    before, problem = read(text)
    wanted = {key: value for key, value in before.items() if key not in changes}
    wanted |= {key: as_read(value) for key, value in new.items()}
    pending = {
        key: value
        for key, value in changes.items()
        if not is_equal(before.get(key, ...), wanted.get(key, ...))
    }
    if problem or not pending:
        return head
    try:
        made = _set(text, pending, eol)
    except _NO_YAML:
        return head
    start = head.index("\n") + 1
    done = head[:start] + made + head[start + len(text) :]
    after, problem = read(made)
    held = not problem and is_equal(after, wanted) and frontmatter.split(done)[0] == done
    return done if held else head


def is_outdated(line: str) -> bool:
    """Tell whether a line of front matter sets a key that the journal knows better."""
    return line.startswith(_OUTDATED_LINES)


def drop_outdated(text: str) -> str:
    """Return a block's text, or its head alone, without the keys that the journal knows better."""
    head, body = frontmatter.split(text)
    if not any(key in head for key in OUTDATED):
        return text
    lines = frontmatter.strip_fences(head).splitlines()
    if not body.startswith("---") and all(map(is_outdated, lines)):
        return head[: head.startswith(frontmatter.BOM)] + body  # they were all that it had
    return write(head, dict.fromkeys(OUTDATED), frontmatter.line_end(text)) + body


def write_entry(
    text: str, section: str, name: str, value: Mapping[str, object] | None, eol: str
) -> str:
    """Add an entry to a section's mapping, or remove it (None). Raises one of many errors."""
    above = [pair for pair in _list_pairs(_compose(text)) if pair[0].value == section]
    mapping = above[0][1] if above else None
    pairs = _list_pairs(mapping)
    if value is None:
        gone = next(pair for pair in pairs if pair[0].value == name)
        return _apply(text, [_cut_lines(text, *(above[0] if len(pairs) == 1 else gone))])
    column = pairs[0][0].start_mark.column if pairs else _INDENT
    lines = [f"{' ' * column}{name}:"]
    lines += [f"{' ' * (column + _INDENT)}{key}: {scalar(each)}" for key, each in value.items()]
    entry = eol.join([*lines, ""])
    if mapping is None:
        return f"{text}{section}:{eol}{entry}"
    if _is_flow(mapping) if pairs else not (isinstance(mapping, MappingNode) or _is_empty(mapping)):
        raise ValueError("each line of the section has to be one 'key: value' pair")
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
    safe = plain and text[:1] in _PLAIN_START and frontmatter.read(f"k: {text}") == {"k": text}
    return text if safe or (plain and _TIMESTAMP.fullmatch(text)) else _quote(text)


def as_read(value: object) -> object:
    """Return what a value reads as once it is written: the white space of texts is folded."""
    if isinstance(value, list | tuple):
        return list(value)
    return value if isinstance(value, int | float | dict) else " ".join(str(value).split())


def is_equal(one: object, other: object) -> bool:
    """Tell whether two values are equal, types included: 1 is neither True nor 1.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_equal(one[key], other[key]) for key in one)
    return repr(one) == repr(other)


def _write_item(value: object) -> str:
    return _quote(value) if isinstance(value, str) else scalar(value, plain=False)


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    for character in {each for each in escaped if not each.isprintable()}:
        code = ord(character)
        escape = f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
        escaped = escaped.replace(character, escape)
    return f'"{escaped}"'


def _make_yaml() -> YAML:
    yaml = YAML(typ="safe", pure=True)
    yaml.composer.warn_double_anchors = False  # a hook has nobody to warn
    return yaml


def _replace_surrogates(text: str) -> str:
    """Replace each lone surrogate by one `?`: lengths and places stay the same."""
    return text.encode("utf-8", "replace").decode()


def _compose(text: str) -> Node | None:
    found: Node | None = _make_yaml().compose(_replace_surrogates(text))
    return found


def _list_pairs(node: Node | None) -> list[tuple[Node, Node]]:
    return node.value if isinstance(node, MappingNode) else []


def _is_flow(node: Node | None) -> bool:
    return isinstance(node, MappingNode) and bool(node.flow_style)


def _set(text: str, changes: Mapping[str, object], eol: str) -> str:
    root = _compose(text)
    pairs, flow = _list_pairs(root), _is_flow(root)
    if flow and len(changes) > 1:  # places in braces depend on each other
        for key, value in changes.items():
            text = _set(text, {key: value}, eol)
        return text
    places = {str(name.value): at for at, (name, _) in enumerate(pairs)}
    edits: list[_Edit] = []
    new = ""
    for key, value in changes.items():
        line = f"{key}: {scalar(value, plain=not flow)}"
        if key in places and value is not None:
            edits += _replace(text, *pairs[places[key]], line[len(key) + 2 :])
        elif key in places:
            edits.append((_cut_pair if flow else _cut_lines)(text, *pairs[places[key]]))
        elif root is not None and flow:
            at = _find_end(text, *pairs[-1]) if pairs else root.start_mark.index + 1
            edits.append((at, at, f", {line}" if pairs else line))
        else:
            new += " " * (pairs[0][0].start_mark.column if pairs else 0) + line + eol
    end = _DOCUMENT_END.search(text)
    at = end.start() if end else len(text)
    return _apply(text, [*edits, (at, at, new)])


def _replace(text: str, name: Node, old: Node, value: str) -> list[_Edit]:
    """Put `value` where the value `old` of the key `name` is; comments beside it stay."""
    colon = text.index(":", name.end_mark.index) + 1
    if _is_empty(old):
        return [(colon, colon, f" {value}")]
    start, end = old.start_mark.index, _find_end(text, name, old)
    alias = _ALIAS.match(text, colon)
    if alias:  # its node is where the anchor is
        return [(*alias.span(1), value)]
    edits = [(start, end, value)]
    first, below, _ = text[colon:start].partition("\n")
    if below:
        edits = [(colon, end, f" {value}{first.rstrip()}")]
    for token in _make_yaml().scan(_replace_surrogates(text)) if old.anchor else ():
        if isinstance(token, AliasToken) and token.value == old.anchor:
            at = token.start_mark.index  # the first alias of what goes takes it over
            return [*edits, (at, token.end_mark.index, text[start:end])]
    return edits


def _cut_lines(text: str, name: Node, old: Node) -> _Edit:
    start = text.rfind("\n", 0, name.start_mark.index) + 1
    return start, text.find("\n", max(_find_end(text, name, old), name.end_mark.index)) + 1, ""


def _cut_pair(text: str, name: Node, old: Node) -> _Edit:
    """Take a pair out of a mapping in braces, with one of the commas beside it."""
    start, end = name.start_mark.index, _find_end(text, name, old)
    comma = re.compile(r"\s*,[ \t]*").match(text, end)
    if comma:
        return start, comma.end(), ""
    return len(text[:start].rstrip().removesuffix(",")), end, ""


def _apply(text: str, edits: list[_Edit]) -> str:
    for start, end, new in sorted(edits, key=itemgetter(0), reverse=True):
        text = text[:start] + new + text[end:]
    return text


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


def _convert_value(value: object, room: list[int]) -> object:
    room[0] -= 1
    if room[0] < 0:
        raise ValueError("too many values")
    if isinstance(value, dict):
        return {str(key): _convert_value(item, room) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_convert_value(item, room) for item in value]
    if isinstance(value, int) and abs(value) >= 10**_MOST_DIGITS:
        raise ValueError("a number with too many digits")
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
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return " ".join(lines[:2])[:200] or type(error).__name__
    context = str(getattr(error, "context", None) or "")
    if context.endswith("a simple key"):  # its end is a line below
        mark = getattr(error, "context_mark", None) or mark
    what = ", ".join(filter(None, (context, str(getattr(error, "problem", None) or ""))))
    return f"line {mark.line + 1}: {' '.join(what.split())}"[:200]
