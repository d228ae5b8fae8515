"""Problems in the text of a block file: where they are, and their mending."""

from collections.abc import Iterator
from dataclasses import dataclass

from memfs.core import encodings, front_matter_lines, frontmatter, merge, yaml_edit
from memfs.core.block import read_front_matter
from memfs.core.formats import format_count

ENCODING, CONFLICT, FENCE, HEAD = "encoding", "conflict", "fence", "head"
_ROUNDS = 4  # one step may uncover a problem for another

_MARKS = ("<<<<<<< ", ">>>>>>> ")
_BY_HAND = "fix the file in an editor"


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
    _, done = mend(raw)
    found = []
    name = encodings.codec(raw)
    text = encodings.decode(raw, name) if name else raw
    if name:
        found.append(Fault(1, f"the file is {name[:6].upper()}, not UTF-8", mendable=True))
    found += _find_bad_bytes(text)
    found += _find_conflict(text, mendable=CONFLICT in done)
    head, body = frontmatter.split(text)
    missing = front_matter_lines.find_missing_fence(text)
    if missing:
        what = f"the {missing[0]} '---' line of the front matter is missing"
        found.append(Fault(missing[1] + 1, what, "add the line", mendable=FENCE in done))
    elif not frontmatter.has_fences(head) and _opens_front_matter(text):
        what = "front matter begins here but does not end, so the file is read as text"
        hint = "add a line '---' after the keys, or remove the '---' in line 1"
        found.append(Fault(1, what, hint, grave=False))
    problem = front_matter(text)
    if problem:
        line, what = _split_line_number(problem)
        found.append(Fault(line, f"front matter: {what}", mendable=HEAD in done))
    again = front_matter_lines.find_second_head(body) if frontmatter.has_fences(head) else -1
    if again >= 0:
        what = "the second front matter is read as text"
        hint = "move its keys into the first front matter, then remove the second"
        found.append(Fault(head.count("\n") + again + 1, what, hint, grave=False))
    return found


def _find_bad_bytes(text: str) -> list[Fault]:
    found = []
    count = text.count("\0")
    if count:
        line = text.count("\n", 0, text.index("\0")) + 1
        what = f"{format_count(count, 'NUL byte')} in the text"
        found.append(Fault(line, what, "remove the NUL bytes (most editors do not show them)"))
    odd = [at for at, character in enumerate(text) if "\udc80" <= character <= "\udcff"]
    if odd:
        line = text.count("\n", 0, odd[0]) + 1
        what = f"{format_count(len(odd), 'byte')} not in UTF-8"
        found.append(Fault(line, what, "save the file as UTF-8"))
    return found


def _find_conflict(text: str, *, mendable: bool) -> list[Fault]:
    lines = text.split("\n")
    marked = [at for at, line in enumerate(lines) if line.startswith(_MARKS)]
    if not mendable and len({lines[at][:7] for at in marked}) < 2:
        return []
    line = marked[0] + 1 if marked else 1
    hint = (
        "resolve the conflict in an editor: a conflict marker is missing, or there is one too many"
    )
    return [Fault(line, "merge conflict markers", hint, mendable=mendable)]


def _opens_front_matter(text: str) -> bool:
    """Tell whether a text begins like front matter: a fence, then a key of ours."""
    first, _, rest = text.removeprefix(frontmatter.BOM).partition("\n")
    return first.rstrip() == "---" and bool(front_matter_lines.key_of(rest.partition("\n")[0]))


def _split_line_number(problem: str) -> tuple[int, str]:
    """Split a problem of the front matter into (line, description); line 1 if it names none."""
    where, colon, what = problem.partition(": ")
    number = where.removeprefix("line ")
    return (int(number), what) if colon and number.isdigit() else (1, problem)


def mend(raw: str) -> tuple[str, dict[str, str]]:
    """Return the mended text, and the changes by kind; no changes if there is nothing to mend."""
    done: dict[str, str] = {}
    text = raw
    for _ in range(_ROUNDS):
        before = text
        for step in (_convert_encoding, _resolve_conflict, _add_fence, _mend_head):
            made, kind, what = step(text)
            if made != text:
                done.setdefault(kind, what)
                text = made
        if text == before:
            break
    return text, done


def front_matter(text: str) -> str:
    """Return the problem of a text's front matter, with its line; "" if there is none."""
    head, _ = frontmatter.split(text)
    return read_front_matter(frontmatter.strip_fences(head), yaml_edit.read)[1]


def _convert_encoding(text: str) -> tuple[str, str, str]:
    name = encodings.codec(text)
    made = encodings.decode(text, name) if name else text
    return made, ENCODING, f"{name[:6].upper()} converted to UTF-8"


def _resolve_conflict(text: str) -> tuple[str, str, str]:
    return merge.resolve(text) or text, CONFLICT, "conflicts resolved"


def _add_fence(text: str) -> tuple[str, str, str]:
    found = front_matter_lines.find_missing_fence(text)
    if found is None:
        return text, FENCE, ""
    which, _, made = found
    full = frontmatter.has_fences(frontmatter.split(made)[0])
    return made if full else text, FENCE, f"the {which} '---' line of the front matter added"


def _mend_head(text: str) -> tuple[str, str, str]:
    """Mend tabs and double keys, if that makes the front matter readable and changes no value."""
    head, body = frontmatter.split(text)
    inner = frontmatter.strip_fences(head)
    if not inner or len(inner) > frontmatter.MOST or not front_matter(text):
        return text, HEAD, ""
    start = head.index("\n") + 1
    known = _fold_values(front_matter_lines.read(inner))
    for made, what in _generate_candidates(inner):
        new = head[:start] + made + head[start + len(inner) :] + body
        if front_matter(new) or frontmatter.split(new)[1] != body:
            continue
        now = _fold_values(yaml_edit.read(made)[0])
        if all(key in now and now[key] == value for key, value in known.items()):
            return new, HEAD, what
    return text, HEAD, ""


def _generate_candidates(inner: str) -> Iterator[tuple[str, str]]:
    """Yield (front matter that may be readable, description), the smallest change first."""
    for indent in ("  ", ""):
        spaced = _replace_tabs(inner, indent)
        tabs = "tabs in the front matter replaced with spaces" if spaced != inner else ""
        yield spaced, tabs
        single, dropped = _drop_double_keys(spaced)
        doubles = f"duplicate keys removed ({', '.join(dropped)})" if dropped else ""
        yield single, "; ".join(part for part in (tabs, doubles) if part)


def _fold_values(meta: dict[str, object]) -> dict[str, object]:
    return {k: " ".join(v.split()) if isinstance(v, str) else v for k, v in meta.items()}


def _replace_tabs(inner: str, indent: str) -> str:
    """Make spaces of the tabs behind keys and list marks, and `indent` of one before them."""
    lines = []
    for line in inner.split("\n"):
        end = "\r" if line.endswith("\r") else ""
        bare = line.removesuffix("\r").rstrip("\t ") if "\t" in line else line.removesuffix("\r")
        rest = bare.lstrip("\t ")
        lead = bare[: len(bare) - len(rest)].replace("\t", indent)
        name, colon, value = rest.partition(":")
        if colon and value[:1] in (" ", "\t"):
            rest = f"{name.rstrip()}: {value.lstrip()}" if "\t" in rest else rest
        elif rest.startswith("-\t"):
            rest = "- " + rest[1:].lstrip()
        lines.append(lead + rest + end)
    return "\n".join(lines)


def _drop_double_keys(inner: str) -> tuple[str, list[str]]:
    """Keep of each key that occurs twice the last; of `read_only` the one that is true."""
    parts = front_matter_lines.split_keys(inner)
    names = [name if ":" in text else "" for name, text in parts]
    last = {name: at for at, name in enumerate(names)}
    for at, (name, text) in enumerate(parts):
        if name == "read_only" and front_matter_lines.read(text).get(name) is True:
            last[name] = at
    kept = [text for at, (_, text) in enumerate(parts) if not names[at] or last[names[at]] == at]
    return "".join(kept), sorted(
        {name for at, name in enumerate(names) if name and last[name] != at}
    )
