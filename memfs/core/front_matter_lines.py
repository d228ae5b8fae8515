"""Front matter by its lines: what is no YAML, what its author wrote, a fence that is missing."""

from memfs.core import frontmatter

_SET_BY_MEMFS = ("version", "updated_at", "updated_by", "tokens")
KNOWN = frozenset((*_SET_BY_MEMFS, *"description limit read_only pinned priority tags ttl".split()))
_BLOCK_SCALAR = ("|", ">")
_MARKED = "\"'|>&!*[{#%@`"  # a value that begins so is no plain text


def read(text: str) -> dict[str, object]:
    """Return the known keys whose values can be parsed: the last of each, any true `read_only`."""
    found: dict[str, object] = {}
    protected = False
    for key, lines in _list_entries(text):
        value = _parse_value(key, lines)
        if value is not None:
            found[key] = value
        protected = protected or (key == "read_only" and value is True)
    if protected:
        found["read_only"] = True
    return restore_words(found, text)


def restore_words(meta: dict[str, object], text: str) -> dict[str, object]:
    """Return front matter with description and tags as written: YAML reads 3.10 as 3.1."""
    found = dict(meta)
    for key, lines in _list_entries(text):
        rest = lines[0].partition(":")[2].strip(" ")
        below = [line.strip(" ") for line in lines[1:] if line.strip(" ")]
        if key == "description" and rest and rest[0] not in _MARKED:
            if not below or " #" in rest:  # no line goes on with what a comment ends
                found[key] = rest
        elif key == "tags":
            listed = rest[1:-1].split(",") if rest[:1] == "[" and rest[-1:] == "]" else []
            listed = listed or [line[2:] for line in below if line.startswith("- ")]
            words = [each.strip(" ") for each in listed]
            values = found.get(key)
            if isinstance(values, list) and len(words) == len(values):
                pairs = zip(words, values, strict=True)
                found[key] = [value if isinstance(value, str) else word for word, value in pairs]
    return found


def _list_entries(text: str) -> list[tuple[str, list[str]]]:
    """List (key, its lines) of the known keys, in order."""
    found: list[tuple[str, list[str]]] = []
    lines: list[str] | None = None
    below = False  # whether the value of the last key stands in the lines below it
    for line in text.replace("\r", "\n").split("\n"):
        clean = _clean(line)
        bare = clean.strip(" ")
        indented = clean[:1] == " "
        key = key_of(bare)
        if key and not (indented and below):
            lines, below = [bare], _opens_value(bare)
            found.append((key, lines))
        elif not bare or bare[0] == "#" or indented or bare.startswith("- "):
            if lines is not None:
                lines.append(clean)
        else:
            lines, below = None, ":" in bare and _opens_value(bare)
    return found


def key_of(line: str) -> str:
    """Return the known key that a line sets, or an empty string."""
    name, colon, rest = line.partition(":")
    name = name.strip(" \"'")
    return name if colon and name in KNOWN and rest[:1] in ("", " ", "\t", "\r") else ""


def split_keys(inner: str) -> list[tuple[str, str]]:
    """Cut front matter into keys with their lines, and the comment and blank lines between ("")."""
    parts: list[tuple[str, str]] = []
    last = -1  # the part of the last key
    for line in inner.split("\n")[:-1]:
        if line[:1] in ("", "#", "\r"):
            parts.append(("", line + "\n"))
        elif line[0] in " \t-]}" and last >= 0:
            text = "".join(text for _, text in parts[last:])
            parts[last:] = [(parts[last][0], f"{text}{line}\n")]
        else:
            key = line.partition(":")[0].strip()
            quoted = len(key) > 2 and key[0] == key[-1] and key[0] in "\"'"
            last = len(parts)
            parts.append((key[1:-1] if quoted else key, line + "\n"))
    return parts


def find_missing_fence(text: str) -> tuple[str, int, str] | None:
    """Return (which fence is missing, before which line it belongs, the text with it), or None.

    A file is taken for front matter only where its keys are clearly ours: two of them at least,
    from the top on.
    """
    if frontmatter.has_fences(frontmatter.split(text)[0]):
        return None
    mark = frontmatter.BOM if text.startswith(frontmatter.BOM) else ""
    lines = text.removeprefix(mark).split("\n")
    opened = _is_fence(lines[0])
    count, at, closed = _scan_keys(lines, 1 if opened else 0, blanks=not opened)
    if count < 2 or opened == closed:
        return None
    eol = frontmatter.line_end(text)
    if not opened:
        return "opening", 0, f"{mark}---{eol}{text.removeprefix(mark)}"
    if at == len(lines):  # the last line of the file is a key without a line end
        return "closing", at, f"{text}{eol}---{eol}"
    return "closing", at, mark + "\n".join([*lines[:at], "---" + eol[:-1], *lines[at:]])


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
        key = key_of(line)
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


def _clean(line: str) -> str:
    """Return a line with spaces for tabs and without what YAML does not allow."""
    if line.isprintable():
        return line.rstrip(" ")
    line = line.replace("\t", " ").encode("utf-8", "replace").decode("utf-8")
    kept = (c for c in line if c.isprintable() or ord(c) in frontmatter.ALSO_PRINTABLE)
    return "".join(kept).rstrip(" ")


def _opens_value(line: str) -> bool:
    """Tell whether the value of a key may stand in the lines below it."""
    rest = line.partition(":")[2].strip(" ")
    return not rest or rest[0] in "#|>"


def _parse_value(key: str, lines: list[str]) -> object:
    for text in ("\n".join(lines), lines[0]):
        found = frontmatter.read(text)
        if found is not None:
            return found.get(key)
    rest = lines[0].partition(":")[2].strip(" ")
    if key == "read_only":
        return True if rest.strip("\"'").lower().startswith("true") else None
    if key == "description":
        if rest.startswith(_BLOCK_SCALAR):
            rest = " ".join([line.strip(" ") for line in lines[1:]])
        return rest.strip(" \"'") or None
    first = rest.split(" ", 1)[0].rstrip(",;:")
    found = frontmatter.read(f"{key}: {first}") if first else None
    return found.get(key) if found else None
