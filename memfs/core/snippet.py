"""The words of a text, and the snippet around those of a query. Hot path."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

EDGES = ".,;:!?()\"'`*"  # signs around words


def snippet(text: str, words: "list[str] | tuple[str, ...]", width: int = 240) -> str:
    """Return about `width` characters of `text`, white space folded, where most of `words` are."""
    flat = " ".join(text.split())
    if len(flat) <= width:
        return flat
    folded = flat.lower() if words else flat
    places: list[tuple[int, str]] = []
    for word in words:
        at = folded.find(word)
        while at >= 0 and len(places) < 200:
            places.append((at, word))
            at = folded.find(word, at + len(word))
    start = _find_best_window(sorted(places), width) if len(folded) == len(flat) else 0
    start = max(0, start - width // 6)
    if start:
        space = flat.find(" ", start)
        start = space + 1 if 0 <= space < start + 30 else start
    end = min(len(flat), start + width)
    if end < len(flat):
        space = flat.rfind(" ", start, end)
        end = space if space > end - 30 else end
    return ("… " if start else "") + flat[start:end] + (" …" if end < len(flat) else "")


def shorten(text: str) -> str:
    """Return the beginning of a text for a representation, in quotes."""
    return repr(snippet(text, (), 60))


def trim_heading(text: str, heading: object) -> str:
    """Return a text without the heading it begins with, which is shown beside it."""
    begins = isinstance(heading, str) and text.startswith(heading)
    rest = text[len(str(heading)) :].lstrip() if begins else ""
    return rest or text


def _find_best_window(places: list[tuple[int, str]], width: int) -> int:
    best, most = 0, 0
    for index, (at, _) in enumerate(places):
        inside = {word for other, word in places[index:] if other < at + width * 2 // 3}
        if len(inside) > most:
            best, most = at, len(inside)
    return best


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without the signs around them."""
    words = text.lower().replace("\u2019", "'").split()
    return [bare for word in words if (bare := word.strip(EDGES))]


_UNITS = {".pdf": ", page ", ".ipynb": ", cell "}  # of files without lines


def format_location(metadata: "Mapping[str, object]") -> str:
    """Return the file and line of a chunk's metadata: `docs/setup.md:12`, `guide.pdf, page 3`."""
    file = str(metadata.get("file", ""))
    return f"{file}{_UNITS.get(get_suffix(file), ':')}{metadata.get('line', '')}"


def has_lines(file: str) -> bool:
    """Tell whether the places in a file are lines of its text."""
    return get_suffix(file) not in _UNITS


def get_suffix(file: str) -> str:
    """Return the end of a file's name from its last dot on, in lower case."""
    return "." + file.rpartition(".")[2].lower()
