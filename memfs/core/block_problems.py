"""Problems in the text of a block file: where, and whether they can be mended."""

from __future__ import annotations

from dataclasses import dataclass

from memfs.core import block_repair, encodings, frontmatter, frontmatter_fences, yaml_lenient

_MARKS = ("<<<<<<< ", ">>>>>>> ")
_BY_HAND = "mend it in an editor"


@dataclass(frozen=True)
class Fault:
    """One problem; `line` counts from 1, `mendable`: `doctor --fix` mends it."""

    line: int
    what: str
    hint: str = _BY_HAND
    mendable: bool = False
    grave: bool = True


def find(raw: str) -> list[Fault]:
    """Return the problems of a block's text, in the order in which they are mended."""
    _, done = block_repair.mend(raw)
    found = []
    name = encodings.codec(raw)
    text = encodings.decode(raw, name) if name else raw
    if name:
        found.append(Fault(1, f"it is {name[:6].upper()}, not UTF-8", mendable=True))
    found += _find_bad_bytes(text)
    found += _find_conflict(text, mendable=block_repair.CONFLICT in done)
    missing = frontmatter_fences.missing(text)
    if missing:
        found.append(
            Fault(
                missing[1] + 1,
                f"the {missing[0]} line --- of the front matter is missing",
                "put it in",
                mendable=block_repair.FENCE in done,
            )
        )
    problem = block_repair.front_matter(text)
    if problem:
        line, what = _split_line_number(problem)
        found.append(Fault(line, f"front matter: {what}", mendable=block_repair.HEAD in done))
    head, body = frontmatter.split(text)
    if not head.removeprefix(frontmatter.BOM) and not missing and _opens_front_matter(text):
        found.append(
            Fault(
                1,
                "front matter begins here and does not end: all is text",
                "put a line --- behind its keys, or something else on line 1",
                grave=False,
            )
        )
    again = frontmatter_fences.find_second_head(body) if frontmatter.has_fences(head) else -1
    if again >= 0:
        found.append(
            Fault(
                head.count("\n") + again + 1,
                "a second front matter: it counts as text",
                "move what is to count into the first, and remove the second",
                grave=False,
            )
        )
    return found


def _find_bad_bytes(text: str) -> list[Fault]:
    found = []
    count = text.count("\0")
    if count:
        line = text.count("\n", 0, text.index("\0")) + 1
        found.append(Fault(line, f"{count:,} NUL bytes: they are not shown", "remove them"))
    odd = [at for at, character in enumerate(text) if "\udc80" <= character <= "\udcff"]
    if odd:
        line = text.count("\n", 0, odd[0]) + 1
        found.append(Fault(line, f"{len(odd):,} bytes that are not UTF-8", "save it as UTF-8"))
    return found


def _find_conflict(text: str, *, mendable: bool) -> list[Fault]:
    lines = text.split("\n")
    marked = [at for at, line in enumerate(lines) if line.startswith(_MARKS)]
    if not mendable and len({lines[at][:7] for at in marked}) < 2:
        return []
    line = marked[0] + 1 if marked else 1
    hint = "resolve them in an editor: a marker is missing, or one too many"
    return [Fault(line, "merge conflict markers", hint, mendable=mendable)]


def _opens_front_matter(text: str) -> bool:
    """Tell whether a text begins like front matter: a fence, then a key of ours."""
    first, _, rest = text.removeprefix(frontmatter.BOM).partition("\n")
    return first.rstrip() == "---" and bool(yaml_lenient.key_of(rest.partition("\n")[0]))


def _split_line_number(problem: str) -> tuple[int, str]:
    """Split a problem of the front matter into (line, description); line 1 if it names none."""
    where, colon, what = problem.partition(": ")
    number = where.removeprefix("line ")
    return (int(number), what) if colon and number.isdigit() else (1, problem)
