"""Front matter that is no YAML, read line by line for the keys that memfs knows.

Every value that can be parsed counts: of keys that occur twice the last, but `read_only: true`
wherever it stands. Imported only for front matter that nothing else reads.
"""

from memfs.core import yaml_fast

_SET_BY_MEMFS = ("version", "updated_at", "updated_by", "tokens")
KNOWN = frozenset((*_SET_BY_MEMFS, *"description limit read_only pinned priority tags ttl".split()))
_BLOCK_SCALAR = ("|", ">")
_MARKED = "\"'|>&!*[{#%@`"  # a value that begins so is no plain text
_ALSO_KEPT = "\xa0\u2009\u200c\u200d\u202f\u3000"  # what YAML allows and is not printable


def read(text: str) -> dict[str, object]:
    """Return the known keys whose values can be parsed."""
    found: dict[str, object] = {}
    protected = False
    for key, lines in entries(text):
        value = _parse_value(key, lines)
        if value is not None:
            found[key] = value
        protected = protected or (key == "read_only" and value is True)
    if protected:
        found["read_only"] = True
    return restore_words(found, text)


def restore_words(meta: dict[str, object], text: str) -> dict[str, object]:
    """Return front matter whose description and tags are the words that its author wrote.

    YAML reads 3.10 as 3.1, no as false in places, and nothing behind a # after a space.
    """
    found = dict(meta)
    for key, lines in entries(text):
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


def entries(text: str) -> list[tuple[str, list[str]]]:
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


def _clean(line: str) -> str:
    """Return a line with spaces for tabs and without what YAML does not allow."""
    if line.isprintable():
        return line.rstrip(" ")
    line = line.replace("\t", " ").encode("utf-8", "replace").decode("utf-8")
    return "".join([c for c in line if c.isprintable() or c in _ALSO_KEPT]).rstrip(" ")


def _opens_value(line: str) -> bool:
    """Tell whether the value of a key may stand in the lines below it."""
    rest = line.partition(":")[2].strip(" ")
    return not rest or rest[0] in "#|>"


def _parse_value(key: str, lines: list[str]) -> object:
    """Return the value of one key; None if it cannot be parsed."""
    for text in ("\n".join(lines), lines[0]):
        found = yaml_fast.read(text)
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
    found = yaml_fast.read(f"{key}: {first}") if first else None
    return found.get(key) if found else None
