"""Split a block file into front matter and body, and read the front matter. Hot path.

Texts are decoded with `surrogateescape`, so that any bytes survive a round trip.
"""

from memfs.core import yaml_fast

BOM = "\ufeff"
_FENCE = "---"
MOST = 10_000  # characters of front matter: ruamel.yaml takes up to 0.17 s for so many


def split(raw: str) -> tuple[str, str]:
    """Split `raw` into (head, body); head + body == raw.

    The head holds the byte order mark, both fences and the line end behind the second one. A text
    without two fences, or with something between them that is no mapping, is all body (a byte
    order mark still belongs to the head).
    """
    mark = len(BOM) if raw.startswith(BOM) else 0
    first_end = raw.find("\n", mark)
    if first_end < 0 or raw[mark:first_end].rstrip(" \t\r") != _FENCE:
        return raw[:mark], raw[mark:]
    position = first_end + 1
    while position < len(raw):
        line_end = raw.find("\n", position)
        end = len(raw) if line_end < 0 else line_end + 1
        if raw.startswith(_FENCE, position) and raw[position:end].rstrip(" \t\r\n") == _FENCE:
            if _looks_like_mapping(raw[first_end + 1 : position]):
                return raw[:end], raw[end:]
            break
        position = end
    return raw[:mark], raw[mark:]


def strip_fences(head: str) -> str:
    """Return the lines between the fences of a head made by `split`, "" if it has none."""
    start = head.find("\n") + 1
    end = head.rstrip(" \t\r\n").rfind("\n") + 1
    return head[start:end] if 0 < start <= end else ""


def has_fences(head: str) -> bool:
    """Tell whether a head holds front matter, and not a lone byte order mark."""
    return len(head) > len(BOM)


def read(head: str) -> dict[str, object] | None:
    """Read the front matter strictly. None: ask a full YAML reader (`memfs.core.yaml_edit`)."""
    return yaml_fast.read(strip_fences(head))


def line_end(raw: str) -> str:
    """Return the line end a file uses: CR LF if its first line has it, else LF."""
    first = raw.find("\n")
    return "\r\n" if first > 0 and raw[first - 1] == "\r" else "\n"


def _looks_like_mapping(text: str) -> bool:
    """Tell front matter from prose between two horizontal rules: its first line decides."""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            key, colon, rest = stripped.partition(":")
            known = stripped.startswith(("<<<<<<<", "{"))
            return known or bool(colon and len(key) <= 64 and rest[:1] in ("", " ", "\t"))
    return True
