"""Front matter of which one fence (`---`) is missing, or that is there twice.

A file is taken for one only where its keys are clearly ours: two of them at least, from the top
on. Lines are split at LF alone, as everywhere.
"""

from memfs.core import frontmatter, yaml_lenient

OPENING, CLOSING = "opening", "closing"


def missing(text: str) -> tuple[str, int] | None:
    """Return (which fence is missing, before which line it belongs, from 0 on), or None."""
    if frontmatter.has_fences(frontmatter.split(text)[0]):
        return None
    lines = text.removeprefix(frontmatter.BOM).split("\n")
    opened = _is_fence(lines[0])
    count, end, closed = _scan_keys(lines, 1 if opened else 0, blanks=not opened)
    if count < 2 or opened == closed:
        return None
    return (CLOSING, end) if opened else (OPENING, 0)


def with_missing(text: str) -> str:
    """Return `text` with the missing fence put in."""
    found = missing(text)
    if found is None:
        return text
    mark = frontmatter.BOM if text.startswith(frontmatter.BOM) else ""
    lines = text.removeprefix(mark).split("\n")
    eol = frontmatter.line_end(text)
    if found[1] == len(lines):  # the last line of the file is a key without a line end
        return f"{text}{eol}---{eol}"
    lines.insert(found[1], "---" + eol[:-1])
    return mark + "\n".join(lines)


def keys(text: str) -> dict[str, object]:
    """Return the known keys of front matter of which a fence is missing."""
    found = missing(text)
    if found is None:
        return {}
    head = frontmatter.split(with_missing(text))[0]
    return yaml_lenient.read(frontmatter.strip_fences(head))


def find_second_head(body: str) -> int:
    """Return the line of a body (from 0 on) where a second front matter begins, or -1."""
    lines = body.split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    if first == len(lines) or not _is_fence(lines[first]):
        return -1
    count, _, closed = _scan_keys(lines, first + 1, blanks=True)
    return first if count and closed else -1


def _scan_keys(lines: list[str], start: int, *, blanks: bool) -> tuple[int, int, bool]:
    """Scan the lines from `start` on: (known keys, line behind the last, whether a fence follows).

    The scan ends at the first line that cannot be front matter; `blanks`: a blank line can.
    """
    seen: set[str] = set()
    end, within = start, False  # within: what is indented here belongs to a known key
    for at in range(start, len(lines)):
        line = lines[at].rstrip("\r")
        if _is_fence(line):
            return len(seen), end, True
        key = yaml_lenient.key_of(line)
        if key:
            seen.add(key)
            end, within = at + 1, True
        elif not line.strip():
            if not blanks:
                break
        elif line[0] in " \t-":
            end = at + 1 if within else end
        elif line[0] == "#" or _is_key_like(line):
            within = False
        else:
            break
    return len(seen), end, False


def _is_key_like(line: str) -> bool:
    name, colon, rest = line.partition(":")
    return (
        bool(colon) and len(name) <= 64 and " " not in name.strip() and rest[:1] in ("", " ", "\t")
    )


def _is_fence(line: str) -> bool:
    return line.rstrip(" \t\r") == "---"
