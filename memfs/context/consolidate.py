"""Consolidates a cluttered block without a model.

Equal headings are joined. Lines are duplicates if they say the same in nearly the same words
(`statements`); the first one stays. Under different headings a text may be about two things: there
it is a duplicate only where it stands under a heading above as well, and is a statement rather than
a key or a word or two. Of two values for one key (`Editor: vim`, later `Editor: helix`) the later
one stays only where the section holds nothing but keys and no other key repeats: else they may be
about two people. A line that ends an earlier one ("Changed jobs to Beta Inc") gives it its value.
Where none of this is clear, both lines stay. Headings that become empty are removed, but for
underlined ones, which may be text before a rule; so are repeated blank lines.
"""

from __future__ import annotations

import re

from memfs.context import heading_groups, line_keys, page_scores, statements
from memfs.context.page_scores import BlockPart
from memfs.context.statements import Statement
from memfs.core import headings

_FEWEST = 3  # words of what says the same under a heading and under one below it
_CODE = re.compile(r"\s*(?:```|~~~)")
_INDENTED = re.compile(r"[ \t]+\S")  # a line that belongs to the one before it
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*(?:\n|\Z)")  # text before it is a heading
_TWO = 2


def consolidate_text(body: str) -> str:
    """Return the consolidated body, or the same one if nothing is to be done. LF line ends."""
    body = body.replace("\r\n", "\n")
    text = _consolidate_once(body)
    while text != body:  # what goes may make more of the rest equal
        body, text = text, _consolidate_once(text)
    return text


def _consolidate_once(body: str) -> str:
    text = heading_groups.group_headings(body)
    found = _list_parts(text)
    stays: dict[int, str] = {part.start: part.text for part in found}  # "" for what goes
    code = _list_code(text)
    movable = {
        part.start
        for part in found
        if part.text[:1] not in " \t"
        and part.start not in code
        and line_keys.is_plain(part.text)
        and not _INDENTED.match(text, part.end)
    }
    sections = _split_sections(text, found)
    for section in sections:
        if all(part.start in movable for part in section):
            _keep_latest(section, stays)
        _replace_ended([part for part in section if part.start in movable], stays)
    movable -= _list_disputed(found, stays)
    whole = [each for each in sections if not line_keys.find_records(p.text for p in each)]
    _drop_repetitions(whole, movable, _list_scopes(text, found), stays)
    out, at = [], 0
    for part in found:
        out += [text[at : part.start], stays[part.start]]
        at = part.end
    after = "".join([*out, text[at:]])
    return body if after == body else _tidy_layout(text, after)


def _list_parts(text: str) -> list[BlockPart]:
    """Return the parts of a text but for the lines right above an underline: they are a heading."""
    headed: set[int] = set()  # where its lines begin
    at, above, below = len(text), False, ""
    for line in reversed(text.splitlines(keepends=True)):
        at -= len(line)
        above = bool(line.strip()) and (above or bool(_UNDERLINE.fullmatch(below)))
        if above:
            headed.add(at)
        below = line
    return [part for part in page_scores.split_parts(text) if part.start not in headed]


def _list_code(text: str) -> set[int]:
    """Return where the lines of code begin."""
    at, found = 0, set()
    for line, code in headings.mark_code_lines(text):
        if code:
            found.add(at)
        at += len(line)
    return found


def _tidy_layout(before: str, after: str) -> str:
    """Return a text without the headings that became empty, and without repeated blank lines."""
    pairs = list(zip(headings.split_markdown(before), headings.split_markdown(after), strict=True))
    kept: list[str] = []
    below, following = 0, 0  # levels of the next heading, before and now; 0: none
    for old, new in reversed(pairs):
        was_empty = not old.body.strip() and below <= old.level
        underlined = not new.line.lstrip().startswith("#")
        if was_empty or underlined or new.body.strip() or following > new.level:
            kept.append(new.line + new.body)
            following = new.level
        below = old.level
    lines: list[str] = []
    blank = False
    for line, code in headings.mark_code_lines("".join(reversed(kept))):
        if code or line.strip() or not blank:
            lines.append(line)
        blank = not code and not line.strip()
    text = "".join(lines).strip("\n")
    return f"{text}\n" if text else ""


def _split_sections(body: str, found: list[BlockPart]) -> list[list[BlockPart]]:
    """Group parts into sections, separated by a heading, code, a rule or a label."""
    sections: list[list[BlockPart]] = []
    end = 0
    for at, part in enumerate(found):
        if not sections or body[end : part.start].strip() or _is_label(body, found, at):
            sections.append([])
        sections[-1].append(part)
        end = part.end
    return sections


def _is_label(body: str, found: list[BlockPart], at: int) -> bool:
    """Return whether a part names those after it, as plain text before list items may do."""
    part = found[at]
    if line_keys.is_label(part.text):
        return True
    if at + 1 == len(found) or body[part.end : found[at + 1].start].strip():
        return False
    item, following = (bool(statements.ITEM.sub("", p.text) != p.text) for p in found[at : at + 2])
    return following and not item


def _keep_latest(section: list[BlockPart], stays: dict[int, str]) -> None:
    names = [line_keys.read_key(part.text) for part in section]
    repeated = {name for name in names if names.count(name) > 1}
    if not all(names) or len(repeated) != 1 or repeated & line_keys.LABELS:
        return
    places = [n for n, name in enumerate(names) if name in repeated]
    values = {statements.fold_statement(section[place].text) for place in places}
    if len(values) > _TWO or any("\n" in section[place].text.rstrip("\n") for place in places):
        return  # a list of things rather than a value that changed
    stays[section[places[0]].start] = section[places[-1]].text
    for place in places[1:]:
        stays[section[place].start] = ""


def _replace_ended(section: list[BlockPart], stays: dict[int, str]) -> None:
    """Give a statement the values of the later ones, if all say that it holds no more."""
    if line_keys.find_records(stays[part.start] for part in section):
        return
    names = 0  # what follows a name may be about somebody else
    groups: dict[tuple[int, tuple[str, str]], list[tuple[int, Statement]]] = {}
    for at, part in enumerate(section):
        names += line_keys.is_name(part.text)
        if statement := statements.read_statement(stays[part.start]):
            groups.setdefault((names, statement.about), []).append((at, statement))
    for (first, old), *later in groups.values():
        near = not later or later[-1][0] - first == len(later)
        if old.changes or not all(new.changes and (near or not new.corrects) for _, new in later):
            continue
        for at, new in later:
            line = stays[section[first].start]
            stays[section[first].start] = statements.replace_value(line, new)
            stays[section[at].start] = ""


def _list_disputed(found: list[BlockPart], stays: dict[int, str]) -> set[int]:
    """Return the statements about what some line says has changed: their order counts."""
    said = {part.start: statements.read_statement(stays[part.start]) for part in found}
    changed = {each.about for each in said.values() if each and each.changes}
    return {start for start, each in said.items() if each and each.about in changed}


def _list_scopes(body: str, found: list[BlockPart]) -> dict[int, tuple[str, ...]]:
    """Map the start of each part to the headings above it, the highest first.

    Equal headings that `heading_groups` does not join are two. What follows a rule, or a label, has
    a scope of its own, and so has what comes before code: it says what the code is.
    """
    scopes: dict[int, tuple[str, ...]] = {}
    above: list[tuple[int, str]] = []
    own, end = "", 0
    for at, part in enumerate(found):
        fenced = False
        for line in body[end : part.start].split("\n"):
            text = line.strip()
            level = len(text) - len(text.lstrip("#"))
            if text.startswith(("```", "~~~")):
                fenced = not fenced
            elif text and not fenced and not level:
                own = f"{text} {part.start}"
            elif text and not fenced:
                above = [each for each in above if each[0] < level] + [
                    (level, f"{text} {part.start}")
                ]
                own = ""
        if _is_label(body, found, at):
            own = f"{part.text} {part.start}"
        alone = str(part.start) if _CODE.match(body, part.end) else own
        scopes[part.start] = (alone,) if alone else tuple(text for _, text in above)
        end = part.end
    return scopes


def _drop_repetitions(
    sections: list[list[BlockPart]],
    movable: set[int],
    scopes: dict[int, tuple[str, ...]],
    stays: dict[int, str],
) -> None:
    """Drop the parts that repeat an earlier one of their section, or of their scope."""
    seen: dict[str, list[tuple[int, int, str, tuple[str, ...]]]] = {}
    names = 0
    for number, section in enumerate(sections):
        for part in section:
            names += line_keys.is_name(part.text)
            subject, words = statements.fold_statement(stays[part.start])
            scope = scopes[part.start]
            about = names if statements.is_verb(words.partition(" ")[0]) else 0
            before = [
                (other, wide)
                for other, same, who, wide in seen.setdefault(words, [])
                if about == same and (who == subject or not who or not subject)
            ]
            near = any(number == other for other, _ in before)
            covered = near or any(_is_covered(part, words, scope, wide) for _, wide in before)
            if words and part.start in movable and covered:
                stays[part.start] = ""
            else:
                seen[words].append((number, about, subject, scope))


def _is_covered(part: BlockPart, words: str, scope: tuple[str, ...], wide: tuple[str, ...]) -> bool:
    """Tell whether a part that was said in the scope `wide` needs not be said in `scope`."""
    if line_keys.read_key(part.text):
        return False
    return scope == wide or (scope[: len(wide)] == wide and len(words.split()) >= _FEWEST)
