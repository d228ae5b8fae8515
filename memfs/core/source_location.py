"""Where in a data source a chunk stands, as people and models read it. Hot path."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

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
