"""Finds the tokens of the table in `token_formats`: long words, anchors in them, then the row."""

import functools
import re
from collections.abc import Iterable, Iterator

from memfs.secrets.heuristics import is_wordy
from memfs.secrets.prefilter import TextFeatures
from memfs.secrets.token_formats import INSIDE, RUN, STARTING, Format

# No token is shorter, or written with other characters up to the end of its anchor. Prose, which
# has no such words, costs this one expression.
_LONG = re.compile(r"[A-Za-z0-9_.~+/=%|:$!?&@{}-]{13,}+")
_LONGER = 18

# A row of x is somebody's way of not writing a token, but for those whose services print it so.
_FILLER = re.compile("[xX]{12}|[*]{4}|[.]{4}|0{20}")
_DIGIT = re.compile("[0-9]")
_FILLED = frozenset({"twilio-key", "artifactory-token"})

# No word has more tokens; one that seems to is made to keep the expressions busy.
_TRIES = 50
# The middle of something in base64, where any letters may stand; it has no other signs.
_BLOB = re.compile(r"[A-Za-z0-9+/]{23}[+/]")

_HEX = "[0-9A-Fa-f]"
_ESCAPES = (r"\\[nrt]", rf"\\u{_HEX}{{4}}", rf"\\x{_HEX}{{2}}", rf"%{_HEX}{{2}}", r"[0-9\[][mK]")
_ESCAPED = "|".join(f"(?<={escape})" for escape in _ESCAPES)

_RUN = re.compile(rf"[A-Za-z0-9_-]{{{RUN}}}")
_SPACE = re.compile(r"[ \n]")

_compiled = functools.cache(re.compile)


def any_of(literals: Iterable[str]) -> str:
    """Return an expression for one of `literals` that looks at each character once."""
    after: dict[str, list[str]] = {}
    for literal in sorted(literals):
        after.setdefault(literal[:1], []).append(literal[1:])
    if "" in after:  # a shorter literal is all of a longer one that matters here
        return ""
    branches = [re.escape(first) + any_of(rests) for first, rests in after.items()]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


_INNER = any_of({form.anchor for form in INSIDE})


@functools.cache
def _compile_starts() -> tuple[re.Pattern[str], dict[str, list[Format]], tuple[int, ...]]:
    """Return a pattern for anchors at word starts, their formats, and the anchor lengths."""
    rows: dict[str, list[Format]] = {}
    for form in STARTING:
        rows.setdefault(form.anchor, []).append(form)
    # A word also starts behind an escape: of a line break, a character, a colour.
    pattern = rf"(?:(?<![A-Za-z0-9])|{_ESCAPED})(?={any_of(rows)})"
    return re.compile(pattern), rows, tuple(sorted({len(anchor) for anchor in rows}))


def _check_match(form: Format, found: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    group = 1 if found.re.groups else 0
    token = found[group]
    if _FILLER.search(token) and form.type not in _FILLED:
        return
    body = token[len(form.anchor) :]
    if not _DIGIT.search(body) and len(set(body)) >= 8 and is_wordy(body):
        return  # a name in some program, or words for what to put there
    yield form.type, *found.span(group)


def _match_starts(text: str, first: int, last: int) -> Iterator[tuple[str, int, int]]:
    starts, rows, lengths = _compile_starts()
    done = tries = 0
    for start in starts.finditer(text, first, last):
        at = start.start()
        if at < done:
            continue
        forms = [form for length in lengths for form in rows.get(text[at : at + length], ())]
        if _BLOB.match(text, max(0, at - 24)):
            forms = [form for form in forms if not form.anchor.isalnum()]
        if not forms:
            continue
        tries += 1
        if tries > _TRIES:
            return
        for form in forms:
            if found := _compiled(form.pattern).match(text, at):
                done = max(done, found.end())
                yield from _check_match(form, found)


def _match_words(text: str, first: int, last: int) -> Iterator[tuple[str, int, int]]:
    inside = _compiled(_INNER)
    for long in _LONG.finditer(text, first, last):
        start, end = long.span()
        yield from _match_starts(text, start, end)
        if end - start < _LONGER or not inside.search(text, start, end):
            continue
        for form in INSIDE:
            if form.anchor in long[0]:
                for found in _compiled(form.pattern).finditer(text, start, end):
                    yield from _check_match(form, found)


def matches(text: str, places: TextFeatures) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of every token in `text` that has a format of the table."""
    spots = [*places.at.get("anchor", ())]
    spots += [start for start, end in places.runs if _RUN.search(text, start, end)]
    spots.sort()
    done = 0
    for at in spots:
        if at < done:
            continue
        # No long word goes on behind a space or a line break.
        first = max(done, text.rfind(" ", done, at) + 1, text.rfind("\n", done, at) + 1)
        space = _SPACE.search(text, at)
        done = space.start() if space else len(text)
        yield from _match_words(text, first, done)
