"""The edit engine: applies each operation to a body, or refuses it. Pure."""

import difflib
import re
from dataclasses import dataclass, field

from memfs.core import headings, text_folding, tokens
from memfs.core.errors import Remedy
from memfs.core.merge_lines import set_eol
from memfs.core.privacy import excerpt, public
from memfs.secrets import find_secrets


@dataclass(frozen=True)
class Append:
    """Add `text` on a new line at the end, unless the section there has its lines already."""

    label: str
    text: str


@dataclass(frozen=True)
class Replace:
    """Replace `old`, which must occur exactly once unless `every` is set."""

    label: str
    old: str
    new: str
    every: bool = False


@dataclass(frozen=True)
class Remove:
    """Remove `text`, with the same exactness as `Replace`."""

    label: str
    text: str
    every: bool = False


@dataclass(frozen=True)
class Insert:
    """Insert `text` after line `line`; 0 is before the first line, -1 at the end."""

    label: str
    line: int
    text: str


@dataclass(frozen=True)
class Rethink:
    """Replace the whole body."""

    label: str
    text: str


@dataclass(frozen=True)
class Create:
    """Make a new block; `limit` 0 is the default of the configuration."""

    label: str
    description: str = ""
    value: str = ""
    limit: int = 0
    pinned: bool = True
    tags: tuple[str, ...] = ()
    priority: int = 0


@dataclass(frozen=True)
class Delete:
    """Delete a block; its text stays in the journal."""

    label: str


@dataclass(frozen=True)
class Rename:
    """Give a block another label in the same tier."""

    label: str
    new: str


@dataclass(frozen=True)
class Describe:
    """Set front matter keys; a value of None removes its key."""

    label: str
    changes: dict[str, object] = field(default_factory=dict)


BodyEdit = Append | Replace | Remove | Insert | Rethink
Edit = BodyEdit | Create | Delete | Rename | Describe


@dataclass(frozen=True)
class Rejected:
    """A refused edit: the reason, and a hint on what to do. Nothing was changed."""

    message: str
    hint: str = ""


_VERBS = {  # operations, as a message has them before the name of a block
    "append": "append to",
    "insert": "insert into",
    "remove": "remove text from",
    "replace": "replace text in",
    "rethink": "rewrite",
}


def operation(edit: Edit) -> str:
    """Return the name the journal and the tools use for an edit."""
    return type(edit).__name__.lower()


def apply(edit: BodyEdit, body: str, eol: str) -> str | Rejected:
    """Return the new body, or a refusal. `body` keeps its line ends, `eol` is for new lines."""
    verb, (old, new) = operation(edit), _get_texts(edit)
    for numbered in filter(None, map(_find_prefix, (old, new))):
        return Rejected(
            f"{word_refusal(verb, edit.label)}: the text contains line numbers ({numbered!r})",
            "pass the text without the line numbers",
        )
    new = public(new)
    if refusal := check_text(verb, edit.label, new):
        return refusal
    old, new = set_eol(old, eol), set_eol(new, eol)
    match edit:
        case Append():
            return _append(body, new, eol, edit.label)
        case Replace() | Remove():
            return _replace(edit.label, body, old, new, every=edit.every, verb=verb)
        case Insert():
            return _insert(edit, body, new, eol)
        case Rethink():
            text = new.rstrip("\r\n")
            return text + eol if text else ""


def _get_texts(edit: BodyEdit) -> tuple[str, str]:
    """Return the text that an edit takes out, and the one that it puts in."""
    match edit:
        case Replace():
            return edit.old, edit.new
        case Remove():
            return edit.text, ""
        case Append() | Insert() | Rethink():
            return "", edit.text


def word_refusal(verb: str, label: str) -> str:
    """Return the beginning of a refusal: "cannot append to 'human'"."""
    name = label if label.startswith(("a ", "the ")) else f"'{label}'"
    return f"cannot {_VERBS.get(verb, verb)} {name}"


def check_secret(verb: str, label: str, after: str, before: str = "") -> Rejected | None:
    """Return a refusal if `after` holds a secret that `before` does not, else None."""
    for found in find_secrets(after):
        if after[found.start : found.end] not in before:
            line = after.count("\n", 0, found.start) + 1
            return Rejected(
                f"{word_refusal(verb, label)}: line {line} looks like a secret ({found.type})",
                "instead, write where the secret is stored; memory is committed and "
                "shown to assistants",
            )
    return None


def check_text(verb: str, label: str, *texts: str) -> Rejected | None:
    """Return a refusal if a text holds control characters or bytes that are not UTF-8."""
    for text in texts:
        for character in text:
            if (
                character < " " and not "\t" <= character <= "\r"
            ) or "\ud800" <= character <= "\udfff":
                what = "bytes that are not UTF-8" if character > " " else "control characters"
                return Rejected(
                    f"{word_refusal(verb, label)}: the text contains {what}",
                    "pass plain UTF-8 text",
                )
    return None


def check_metadata(what: str, text: str) -> Rejected | None:
    """Check metadata of a text (tags) by the rules for the text itself."""
    return check_text("save", what, text) or check_secret("save", what, text)


def check_limit(
    label: str, before: str, after: str, limit: int, cap: int | None
) -> Rejected | None:
    """Return a refusal if a value is over its limit, unless the edit made it shorter."""
    if len(after) > limit and len(after) >= len(before):
        return Rejected(
            f"cannot write '{label}': {len(after):,} characters, the limit is {limit:,}",
            Remedy(
                "shorten the text by {over:,} characters ({rewrite}), move details to the archive "
                "({archive}), or create another block ({create})",
                label,
                over=len(after) - limit,
            ),
        )
    if cap is not None:
        count = tokens.estimate(after)
        if count > cap and count >= tokens.estimate(before):
            return Rejected(
                f"cannot write '{label}': about {count:,} tokens, the limit is {cap:,}",
                Remedy("shorten the text, or move details to the archive ({archive})"),
            )
    return None


def _append(body: str, text: str, eol: str, label: str) -> str | Rejected:
    text = text.rstrip("\r\n")
    if not text.strip():
        return Rejected(f"cannot append to '{label}': the text is empty")
    return body if _is_in_last_section(body, text) else _add_line(body, text, eol)


def _add_line(body: str, text: str, eol: str) -> str:
    return body + text + eol if not body or body.endswith("\n") else body + eol + text


def _is_in_last_section(body: str, text: str) -> bool:
    """Return whether the lines of a text stand, one after the other, where it would be appended.

    That is below the last heading; of an indented text also below the last line that it could
    belong to. Code is another thing than the same words outside it.
    """
    lines, wanted = list(headings.mark_code_lines(body)), _mark_bare_lines(text)
    count = len(wanted)
    if not any(map(str.isalnum, text)) or _mark_bare_lines(f"{body}\n{text}")[-count:] != wanted:
        return False  # the latter: a fence of code is open
    deep = headings.count_indent(text.lstrip("\r\n"))
    starts = [
        at
        for at, (line, is_code) in enumerate(lines)
        if not is_code
        and line.strip()
        and (headings.begins_section(line) or headings.count_indent(line) < deep)
    ]
    there = _mark_bare_lines(body)
    first = starts[-1] if starts else 0
    return any(there[at : at + count] == wanted for at in range(first, len(there) - count + 1))


def _mark_bare_lines(text: str) -> list[tuple[str, bool]]:
    """Return the lines and whether they are code; prose without what is no part of its words.

    That is the mark of an item, a capital at the beginning, and a period at the end.
    """
    marked = [(line.rstrip(), is_code) for line, is_code in headings.mark_code_lines(text)]
    return [(line if is_code else _strip_line(line), is_code) for line, is_code in marked]


def _strip_line(line: str) -> str:
    bare = line.removeprefix("- ")
    if " " in bare:  # one word may be a name
        bare = bare[:1].lower() + bare[1:]
    return bare[:-1] if bare.endswith(".") and bare[-2:-1].isalnum() else bare


def _replace(
    label: str, body: str, old: str, new: str, *, every: bool, verb: str
) -> str | Rejected:
    if not old:
        return Rejected(
            f"{word_refusal(verb, label)}: the text to {verb} is empty",
            Remedy("to add text, use {add}; to replace the whole text, use {rewrite}", label),
        )
    count = body.count(old)
    if count == 0 and (place := text_folding.find_once(body, old)):
        return body[: place[0]] + new + body[place[1] :]
    if count == 0:
        return Rejected(
            f"{word_refusal(verb, label)}: {_quote(old)} is not in the block", _hint(body, old)
        )
    if count > 1 and not every:
        return Rejected(
            f"{word_refusal(verb, label)}: {_quote(old)} occurs {count} times "
            f"({_format_lines(body, old)})",
            Remedy(
                "pass more of the surrounding text, or {every} to {verb} every occurrence",
                verb=verb,
            ),
        )
    return body.replace(old, new) if new else _remove_all(body, old)


def _remove_all(body: str, old: str) -> str:
    """Remove every `old`; a line that holds nothing else is removed as a whole."""
    if old.endswith("\n"):
        return body.replace(old, "")
    pieces = body.split(old)
    out = pieces[0]
    for index, piece in enumerate(pieces[1:], 1):
        whole = not out or out.endswith("\n")
        if whole and piece.startswith(("\r\n", "\n")):
            out += piece[piece.index("\n") + 1 :]
        elif whole and index == len(pieces) - 1 and not piece:
            out = out.removesuffix("\n").removesuffix("\r")
        else:
            out += piece
    return out


def _insert(edit: Insert, body: str, text: str, eol: str) -> str | Rejected:
    lines = body.split("\n")
    count = len(lines) - body.endswith("\n") if body else 0
    if not -1 <= edit.line <= count:
        size = "1 line" if count == 1 else f"{count} lines"
        return Rejected(
            f"cannot insert into '{edit.label}' after line {edit.line}: the block has {size}",
            "use 0 for the beginning of the block, -1 for the end",
        )
    text = text.rstrip("\r\n")
    if not text.strip():
        return Rejected(f"cannot insert into '{edit.label}': the text is empty")
    if edit.line in (-1, count):
        return _add_line(body, text, eol)
    lines.insert(edit.line, text + eol.removesuffix("\n"))
    return "\n".join(lines)


_MOST_LINES = 20
_NUMBERED = re.compile(r"^[ \t]*(?:Line )?(\d{1,6})(?:\t|→|: | ?\| )")


def _find_prefix(text: str) -> str:
    """Return the first prefix of a text that was copied with line numbers, or an empty string.

    One line is enough where the mark is a tab or an arrow (nobody writes those); colons and bars
    need two lines with numbers that follow each other (`10: standup` is a line people write).
    """
    lines = [line for line in text.splitlines() if line.strip()]
    found = [_NUMBERED.match(line) for line in lines]
    if not found or not all(found):
        return ""
    prefixes = [match.group(0) for match in found if match]
    numbers = [int(match.group(1)) for match in found if match]
    if prefixes[0].endswith(("\t", "→")) or prefixes[0].lstrip().startswith("Line "):
        return prefixes[0]
    follows = len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return prefixes[0] if follows else ""


def _format_lines(body: str, text: str) -> str:
    """List the numbers of the lines on which `text` begins, at most 20."""
    numbers: list[str] = []
    line, start = 1, 0
    at = body.find(text)
    while at >= 0 and len(numbers) <= _MOST_LINES:
        line += body.count("\n", start, at)
        if str(line) not in numbers[-1:]:
            numbers.append(str(line))
        start = at
        at = body.find(text, at + len(text))
    if len(numbers) > _MOST_LINES:
        numbers[-1] = "…"
    return ("line " if len(numbers) == 1 else "lines ") + ", ".join(numbers)


def _quote(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= 60 else excerpt(flat, 57) + "...")


def _hint(body: str, text: str) -> str:
    lines = [line.strip() for line in body.splitlines()[:2000] if line.strip()]
    first = text.strip().splitlines()[0].strip()[:200] if text.strip() else text
    folded = [line for line in lines if first.casefold() in line.casefold()]
    close = folded or difflib.get_close_matches(first, lines, 1, 0.5)
    if close:
        return f"match the text exactly; the closest line is {_quote(close[0])}"
    return Remedy("match the text exactly; read the block with {look}")
