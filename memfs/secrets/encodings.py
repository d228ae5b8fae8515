"""Base64 of text: what it says is looked through like any other text."""

import base64
import re
from urllib.parse import unquote

# How twelve characters of ASCII begin: one in ten thousand of other values does.
_START = re.compile(
    r"(?:[CDI-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){4}"
)
_NEXT_LINE = re.compile(
    r"[\"']?(?:\r?\n|\\{1,3}n)[ \t>|*#]{0,40}[\"']?([A-Za-z0-9+/_-]+={0,2})(?![A-Za-z0-9+/_=-])"
)
_WIDTH = 40  # characters: no shorter line goes on in the next
_STANDARD = str.maketrans("-_", "+/")


def decode_text(value: str) -> str:
    """Return what `value` is the base64 of, cut off or not, in either alphabet; "" for no text."""
    if not _START.match(value):
        return ""
    bare = unquote(value).rstrip("=").translate(_STANDARD)
    bare = bare[: len(bare) - (len(bare) % 4 == 1)]
    try:
        data = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except ValueError:
        return ""
    text = data.decode("utf-8", "replace")
    return text if text.count("\ufffd") * 20 <= len(text) else ""


def decode_runs(
    text: str, runs: list[tuple[int, int]]
) -> tuple[list[tuple[str, int, int]], list[tuple[int, int]]]:
    """Return `(decoded, start, end)` of what is text in base64, and the runs that are not."""
    found: list[tuple[str, int, int]] = []
    others: list[tuple[int, int]] = []
    done, says = 0, False
    for start, end in runs:
        first = start + (text[start - 1 : start] == "\\" and text[start] in "nr")  # a line break
        if first >= done and _START.match(text, first):
            lines, done = _read_lines(text, first, end)
            decoded = decode_text("".join(lines)) or decode_text("".join(lines[:-1]))
            says = len(decoded.split()) > 1
            if decoded:
                found.append((decoded, first, done))
        if first >= done or not says:
            others.append((start, end))
    return found, others


def _read_lines(text: str, start: int, end: int) -> tuple[list[str], int]:
    """Return the lines of a value whose first is at `start` to `end`, and where the last ends."""
    lines = [text[start:end]]
    end += text.startswith("=", end) + text.startswith("==", end)
    width = len(lines[0])
    while width >= _WIDTH and len(lines[-1]) == width:
        found = _NEXT_LINE.match(text, end)
        if not found or len(found[1]) > width:
            break
        lines.append(found[1])
        end = found.end()
    return lines, end
