"""Files of a data source as chunks: each form of file is cut along its own structure.

A function for each form returns the file's sections; all forms are cut by them alike.
"""

import os
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from memfs import files
from memfs.core import encodings, headings
from memfs.core.headings import NumberedPart
from memfs.core.parts import name_extra
from memfs.core.privacy import public
from memfs.ingest.cutting.text_forms import FileContent
from memfs.ingest.source_files import LARGE, LARGEST, LARGEST_PDF, PDF
from memfs.search.catalog import LeftOutError
from memfs.secrets import find_secrets

BINARY = "binary"
ENCODING = "encoded in neither UTF-8 nor UTF-16"
SECRET = "contains a secret"  # noqa: S105 - a reason
_SNIFFED = 8192  # bytes
_GAP = re.compile(r"\n[ \t]*(?:\n[ \t]*)+\n")
_FORMS = {
    "text_forms.read_markdown": ".md .markdown .mdx .mkd .qmd .rmd",
    "text_forms.read_restructured": ".rst",
    "text_forms.read_html": ".html .htm .xhtml",
    "text_forms.read_notebook": ".ipynb",
    "text_forms.read_pdf": PDF,
    "program_code.read_python": ".py .pyi .pyw",
    "program_code.read_program": """
        .bash .c .cc .cjs .clj .cpp .cs .css .cxx .dart .el .erl .ex .exs .fs .go .groovy .h .hh
        .hpp .hs .java .jl .js .jsx .kt .kts .lisp .lua .m .mjs .ml .mm .nim .php .pl .pm .proto
        .ps1 .pyx .r .rb .rs .scala .scss .sh .sql .swift .tf .ts .tsx .vb .vue .zig .zsh
    """,
}
_READERS = {suffix: name for name, suffixes in _FORMS.items() for suffix in suffixes.split()}


class FileChunk(NamedTuple):
    """A part of a file: its text, the headings that it stands below, its first and last line.

    Of a PDF the numbers are pages, of a notebook cells.
    """

    text: str
    headings: tuple[str, ...]
    first: int
    last: int


def cut_file(path: str, name: str, size: int, overlap: int) -> list[FileChunk]:
    """Return the chunks of a file: each of at most `size` characters without its headings.

    Raises `LeftOutError` for a file that is left out, `OSError` for one that cannot be read.
    """
    suffix = os.path.splitext(name)[1].lower()
    if suffix == PDF and not can_read_pdf():
        raise LeftOutError(f"reading PDF files needs a further package: {name_extra('pdf')}")
    data = _read_bytes(path, LARGEST_PDF if suffix == PDF else LARGEST)
    text = "" if suffix == PDF else decode(data)
    if suffix != ".ipynb":  # what its cells printed does not count
        _check_secrets(text)
    module, _, function = _READERS.get(suffix, "text_forms.read_text").partition(".")
    read = getattr(import_module(f"{__name__}.{module}"), function)
    try:
        content: FileContent = read(data if suffix == PDF else text, suffix)
    except LeftOutError:
        raise
    except Exception as error:  # libraries raise all kinds for what is malformed
        raise LeftOutError(f"malformed ({type(error).__name__})") from error
    _check_secrets("".join(each.line + each.body for each in content.sections))
    if find_secrets(name):
        raise LeftOutError(SECRET)
    parts = headings.split_sections(content.sections, size - overlap)
    return list(_build_chunks(parts, overlap, content.numbers))


def can_read_pdf() -> bool:
    """Tell whether the library for PDF files is installed."""
    return find_spec("pypdf") is not None


def decode(data: bytes) -> str:
    """Return the text of a file with line feeds alone, without its private parts.

    Lines keep their numbers. Raises `LeftOutError`.
    """
    codec = encodings.codec(files.decode(data[:_SNIFFED])) or "utf-8-sig"
    if codec == "utf-8-sig" and b"\0" in data[:_SNIFFED]:
        raise LeftOutError(BINARY)
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        raise LeftOutError(ENCODING) from None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return public(text, lines=True)


def _read_bytes(path: str, most: int) -> bytes:
    handle, status = files.open_file(path)
    data = files.read_bytes(handle, status.st_size, most, most + 1)
    if len(data) > most:
        raise LeftOutError(LARGE)
    return data


def _check_secrets(text: str) -> None:
    if find_secrets(text):
        raise LeftOutError(SECRET)


def _build_chunks(
    parts: list[NumberedPart], overlap: int, numbers: list[int] | None
) -> Iterator[FileChunk]:
    before: NumberedPart | None = None
    for part in parts:
        text, first, last = part.text, part.first, part.last
        if part.goes_on and overlap and before:
            again = _get_end(before.text, overlap)
            if again:
                text = f"{again}\n{text}"
                first = before.last - again.count("\n")  # empty lines may stand between them
        before = part
        if not part.text.strip():
            continue
        if numbers:
            first, last = (numbers[min(each, len(numbers)) - 1] for each in (first, last))
        yield FileChunk(_GAP.sub("\n\n", text), part.path, max(1, first), last)


def _get_end(text: str, most: int) -> str:
    """Return the end of a text, whole lines or words of it, and less than `most` characters."""
    end = text[1 - most :] if most > 1 else ""
    if len(end) == len(text):
        return text
    for mark in "\n ":
        if mark in end:
            return end.partition(mark)[2].strip("\n")
    return end
