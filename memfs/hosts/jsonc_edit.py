"""JSON that people write: read with comments and trailing commas, changed where it has to be.

What is not changed keeps its bytes: comments, order, indentation, line ends.
"""

from __future__ import annotations

import json
import math
import re
from typing import NamedTuple

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_BESIDE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)?")  # a comment behind a value
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|(//[^\n]*|/\*.*?\*/)', re.DOTALL)  # one in no text
_REST = re.compile(r"[ \t]*\r?\n")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"', re.DOTALL)
_WORD = re.compile(r"[-+.\w]+")
_DEEPEST = 100
# What plain JSON has not.
EXTRAS = MARK, COMMENT, COMMA = "a byte order mark", "a comment", "a trailing comma"


_Pair = tuple["str | None", object]  # the name of a member, None of an item


class _Item(NamedTuple):
    """A member of an object or an item of an array; `comma` is where its comma is, or -1."""

    key: str
    start: int
    node: _Node
    comma: int


class _Node:
    """A value with the place it has in the text."""

    def __init__(
        self, start: int, end: int, value: object, items: list[_Item] | None = None
    ) -> None:
        self.start, self.end, self.value = start, end, value
        self.items = items or []


def loads(text: str) -> object:
    """Read a value. Raises `ValueError` with the problem and its line."""
    return _Reader(text).read_document().value


def blank(text: str) -> bool:
    """Return whether a text has only white space and comments."""
    found = _SPACE.match(text)
    return found is not None and found.end() == len(text)


def list_extras(text: str) -> list[str]:
    """List what a text that can be read has, and plain JSON has not."""
    bare = text.removeprefix("\ufeff")
    plain = _COMMENT.sub(lambda found: " " if found[1] else found[0], bare)
    extras = {MARK: bare != text, COMMENT: plain != bare, COMMA: False}
    try:
        json.loads(plain or "{}")
    except ValueError:
        extras[COMMA] = bool(plain.strip())
    return [name for name, there in extras.items() if there]


def find_containers(text: str, *, with_comments: bool = False) -> set[tuple[str, ...]]:
    """Return the key paths of objects and arrays; `with_comments`: only if they have one."""
    found: set[tuple[str, ...]] = set()
    waiting: list[tuple[tuple[str, ...], _Node]] = []
    if not blank(text):
        waiting.append(((), _Reader(text).read_document()))
    while waiting:
        where, node = waiting.pop()
        if isinstance(node.value, dict | list) and (not with_comments or _has_comment(text, node)):
            found.add(where)
        if isinstance(node.value, dict):
            waiting += [((*where, item.key), item.node) for item in node.items]
    return found


def _has_comment(text: str, node: _Node) -> bool:
    """Return whether an object or array has a comment itself, not only in its values."""
    ends = [node.start + 1, *(item.node.end for item in node.items)]
    starts = [*(item.node.start for item in node.items), node.end - 1]
    own = " ".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    return any(found[1] for found in _COMMENT.finditer(own))


def set_value(text: str, target: object) -> str:
    """Return the text with the value `target`; equal parts keep their bytes."""
    if blank(text):
        before = text if text.strip() else ""
        gap = "\n" if before and not before.endswith("\n") else ""
        made = json.dumps(target, indent=2, ensure_ascii=False) + "\n"
        return before + (gap + made).replace("\n", "\r\n" if "\r\n" in before else "\n")
    writer = _Writer(text)
    writer.change_value(_Reader(text).read_document(), target)
    return writer.apply()


class _Reader:
    """Reads a text once, from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text

    def read_document(self) -> _Node:
        node = self._read_value(self._skip_space(0), 0)
        if self._skip_space(node.end) != len(self._text):
            raise self._make_error(
                "unexpected text after the last bracket", self._skip_space(node.end)
            )
        return node

    def _read_value(self, at: int, depth: int) -> _Node:
        if depth > _DEEPEST:
            raise self._make_error(f"more than {_DEEPEST} nested levels", at)
        if self._text.startswith(("{", "["), at):
            return self._read_items(at, depth)
        found = _STRING.match(self._text, at) or _WORD.match(self._text, at)
        if not found:
            raise self._make_error("expected a value", at)
        try:
            value = json.loads(found[0], parse_constant=self._to_float, parse_float=self._to_float)
        except ValueError as error:
            raise self._make_error(str(error).partition(":")[0], at) from error
        return _Node(at, found.end(), value)

    def _read_items(self, start: int, depth: int) -> _Node:
        """Read an object or an array."""
        close = "}" if self._text[start] == "{" else "]"
        items: dict[str, _Item] = {}
        at = self._skip_space(start + 1)
        while not self._text.startswith(close, at):
            begin, key = at, str(len(items))
            if close == "}":
                key, at = self._read_key(at)
                if key in items:
                    raise self._make_error(f"the key {key!r} occurs twice", begin)
            node = self._read_value(at, depth + 1)
            at = self._skip_space(node.end)
            comma = at if self._text.startswith(",", at) else -1
            items[key] = _Item(key, begin, node, comma)
            if comma >= 0:
                at = self._skip_space(comma + 1)
            elif not self._text.startswith(close, at):
                raise self._make_error(f"expected a comma or {close}", at)
        values = {key: item.node.value for key, item in items.items()}
        value = values if close == "}" else list(values.values())
        return _Node(start, at + 1, value, list(items.values()))

    def _read_key(self, at: int) -> tuple[str, int]:
        """Return the name of a member, and where its value begins."""
        found = _STRING.match(self._text, at)
        if not found:
            raise self._make_error("expected a name in double quotes", at)
        colon = self._skip_space(found.end())
        if not self._text.startswith(":", colon):
            raise self._make_error("expected a colon", colon)
        return json.loads(found[0]), self._skip_space(colon + 1)

    def _skip_space(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    @staticmethod
    def _to_float(text: str) -> float:
        number = float(text)
        if not math.isfinite(number):
            raise ValueError(f"the number {text} is out of range")
        return number

    def _make_error(self, what: str, at: int) -> ValueError:
        return ValueError(f"{what} on line {self._text.count(chr(10), 0, at) + 1}")


class _Writer:
    """Collects changes of a text, and applies them at once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._unit = _detect_indent(text)
        self._changes: list[tuple[int, int, str]] = []

    def apply(self) -> str:
        made: list[str] = []
        at = 0
        for start, end, new in sorted(self._changes, key=lambda change: change[:2]):
            made += [self._text[at:start], new]
            at = max(at, end)
        return "".join([*made, self._text[at:]])

    def change_value(self, node: _Node, target: object) -> None:
        """Change a value to `target`; equal parts keep their bytes."""
        if _is_same(node.value, target):
            return
        holds = isinstance(target, type(node.value)) and isinstance(target, dict | list)
        if holds and target and node.items:
            self._arrange(node, target)
        elif holds and target and self._read_inner(node).strip():
            self._fill(node, target)
        elif holds and not target and _has_comment(self._text, node):
            for first, last in self._group_removed(node, []):
                self._remove_items(node, first, last)
        else:
            self._replace(node, target)

    def _replace(self, node: _Node, target: object) -> None:
        new = self._format(target, self._depth(node.start))
        self._changes.append((node.start, node.end, new))

    def _match(self, node: _Node, target: object) -> tuple[list[_Item], dict[int, list[_Pair]]]:
        """Change items in their places; return those that stay, and what is new before each."""
        kept: list[_Item] = []
        added: dict[int, list[_Pair]] = {}
        if isinstance(target, dict):
            kept = [item for item in node.items if item.key in target]
            for item in kept:
                self.change_value(item.node, target[item.key])
            names = {item.key for item in node.items}
            return kept, {len(kept): [pair for pair in _list_pairs(target) if pair[0] not in names]}
        from difflib import SequenceMatcher  # to change a list, which a reader does not

        new = _list_pairs(target)
        before = [_dump(item.node.value) for item in node.items]
        after = [_dump(value) for _, value in new]
        for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if kind == "replace" and b - a == d - c:
                for item, (_, value) in zip(node.items[a:b], new[c:d], strict=True):
                    self.change_value(item.node, value)
            if kind == "equal" or (kind == "replace" and b - a == d - c):
                kept += node.items[a:b]
            else:
                added.setdefault(len(kept), []).extend(new[c:d])
        return kept, added

    def _arrange(self, node: _Node, target: object) -> None:
        """Remove all items but those that stay; write new ones before them and at the end."""
        kept, added = self._match(node, target)
        if not kept:
            self._replace(node, target)
            return
        trailing = node.items[-1].comma >= 0
        for first, last in self._group_removed(node, kept):
            self._remove_items(node, first, last)
        depth = self._depth(node.start) + 1
        flat = "\n" not in self._text[node.start : node.end]
        gap = " " if flat else self._newline + self._unit * depth
        for place, pairs in added.items():
            texts = self._format_pairs(pairs, depth)
            if place < len(kept):
                new = "".join(f"{text},{gap}" for text in texts)
                self._changes.append((kept[place].start, kept[place].start, new))
            elif texts:
                self._append(kept[-1], texts, "" if flat else self._unit * depth, trailing=trailing)
        comma = kept[-1].comma
        if not added.get(len(kept)) and not trailing and comma >= 0:
            self._changes.append((comma, comma + 1, ""))

    def _read_inner(self, node: _Node) -> str:
        return self._text[node.start + 1 : node.end - 1]

    def _fill(self, node: _Node, target: object) -> None:
        """Write items into an object or array with comments only, behind them."""
        inner = self._read_inner(node)
        at = node.start + 1 + len(inner.rstrip())
        depth = self._depth(node.start) + 1
        gap = self._newline + self._unit * depth
        texts = self._format_pairs(_list_pairs(target), depth)
        has_end = "\n" in inner[len(inner.rstrip()) :]
        close = "" if has_end else self._newline + self._unit * (depth - 1)
        self._changes.append((at, at, gap + f",{gap}".join(texts) + close))

    def _append(self, last: _Item, texts: list[str], indent: str, *, trailing: bool) -> None:
        """Write items behind the last kept one, and behind a comment beside it."""
        end = last.node.end
        if last.comma < 0:
            self._changes.append((end, end, ","))
        else:
            end = last.comma + 1
        beside = _BESIDE.match(self._text, end)
        end = beside.end() if beside and beside[0].strip() else end
        line_end = self._text.find("\n", end)
        newline = "\r\n" if line_end > 0 and self._text[line_end - 1] == "\r" else "\n"
        gap = newline + indent if indent else " "
        new = ",".join(gap + text for text in texts)
        self._changes.append((end, end, new + ("," if trailing else "")))

    def _group_removed(self, node: _Node, kept: list[_Item]) -> list[tuple[int, int]]:
        """List (first, last) of runs of removed items with only white space between them."""
        runs: list[tuple[int, int]] = []
        for index, item in enumerate(node.items):
            if item in kept:
                continue
            if runs and runs[-1][1] == index - 1 and not self._read_gap(node, index).strip():
                runs[-1] = (runs[-1][0], index)
            else:
                runs.append((index, index))
        return runs

    def _read_gap(self, node: _Node, index: int) -> str:
        """Return the text between an item and the comma before it, or the beginning."""
        start = node.items[index - 1].comma if index else node.start
        return self._text[start + 1 : node.items[index].start]

    def _remove_items(self, node: _Node, first: int, last: int) -> None:
        """Remove items with their commas, and with their lines if nothing else is on these."""
        item, end = node.items[first], node.items[last].node.end
        end = node.items[last].comma + 1 if node.items[last].comma >= 0 else end
        before = self._read_gap(node, first)
        line = before.rstrip(" \t")
        rest = _REST.match(self._text, end)
        if not line.endswith("\n"):
            start = item.start - (len(before) - len(line) if first else 0)
        elif "//" not in line.rstrip("\r\n").rpartition("\n")[2]:
            start = item.start - len(before) + len(line.removesuffix("\n").removesuffix("\r"))
        elif rest:  # the line end before it ends a comment: that behind it goes
            start, end = item.start - (len(before) - len(line)), rest.end()
        else:
            start = item.start
        self._changes.append((start, end, ""))

    def _format(self, value: object, depth: int) -> str:
        text = json.dumps(value, indent=self._unit, ensure_ascii=False)
        if not text.isascii() and text != text.encode("utf-8", "replace").decode():
            text = json.dumps(value, indent=self._unit)  # half a surrogate pair can but be escaped
        return text.replace("\n", self._newline + self._unit * depth)

    def _format_pairs(self, pairs: list[_Pair], depth: int) -> list[str]:
        """Return the texts of members, or of items, which have no name."""
        texts = [self._format(value, depth) for _, value in pairs]
        return [
            f"{_dump(key)}: {text}" if key is not None else text
            for (key, _), text in zip(pairs, texts, strict=True)
        ]

    def _depth(self, at: int) -> int:
        """Return the indentation of the line at a place, in units."""
        start = self._text.rfind("\n", 0, at) + 1
        line = self._text[start:at]
        space = line[: len(line) - len(line.lstrip(" \t"))]
        return len(space) // max(len(self._unit), 1)


def _list_pairs(value: object) -> list[_Pair]:
    """Return the members of an object with their names, the items of an array with None."""
    if isinstance(value, dict):
        return list(value.items())
    return [(None, each) for each in value] if isinstance(value, list) else []


def _detect_indent(text: str) -> str:
    """Return the unit of indentation of a text: that of its first indented line."""
    for line in text.replace("\r", "").split("\n"):
        stripped = line.lstrip(" \t")
        if stripped and stripped != line and not stripped.startswith(("*", "//")):
            return line[0] if line[0] == "\t" else line[: len(line) - len(stripped)]
    return "  "


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_same(one: object, other: object) -> bool:
    """Return whether two values have the same JSON: 1 is neither 1.0 nor true."""
    return _dump(one) == _dump(other)
