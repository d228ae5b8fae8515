"""Files are cut along their own structure, and each chunk says where it stood."""

import json
import os
import textwrap
from itertools import pairwise
from pathlib import Path

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.ingest import cutting
from memfs.ingest.cutting import FileChunk, text_forms
from memfs.search.catalog import LeftOutError

KEY = "AKIA" + "IOSFODNN7EXAMPLF"


def cut_text(tmp_path: Path, name: str, text: str | bytes, size: int = 200) -> list[FileChunk]:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
    return cutting.cut_file(str(path), name, size, 0)


def places(chunks: list[FileChunk]) -> list[tuple[int, int, str]]:
    return [(each.first, each.last, " > ".join(each.headings)) for each in chunks]


LONG = "words " * 20
CASES = Path(__file__).parent / "cases"
RECORD = bool(os.environ.get("MEMFS_TEST_RECORD"))


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.glob("*.txt")))
def test_the_chunks_of_a_file_are_recorded(tmp_path: Path, case: str) -> None:
    """Cases are named by their chunks' size and what holds of them.

    `MEMFS_TEST_RECORD=1 python -m pytest tests/ingest/test_cutting.py -n 0` writes them anew.
    """
    size, _, name = case.removesuffix(".txt").partition(".")
    found = cut_text(tmp_path, name, (CASES / case).read_bytes(), int(size))
    text = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in found)
    recorded = CASES / f"{name}.jsonl"
    if RECORD:
        recorded.write_text(text, "utf-8")
    assert text == recorded.read_text("utf-8")


def test_a_notebook_is_its_cells_without_outputs(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Top\n", LONG]},
        {"cell_type": "code", "source": "", "outputs": []},
        {"cell_type": "code", "source": f"x = 1  # {LONG}", "outputs": [{"text": KEY}]},
        {"cell_type": "markdown", "source": f"## Sub\n<private>{KEY}</private>{LONG}"},
    ]
    found = cut_text(tmp_path, "a.ipynb", json.dumps({"cells": cells}))
    assert places(found) == [(1, 1, "Top"), (3, 3, "Top"), (4, 4, "Top > Sub")]
    assert found[1].text == f"```\nx = 1  # {LONG}\n```"


def test_python_that_cannot_be_parsed_is_read_by_its_tokens(tmp_path: Path) -> None:
    found = cut_text(tmp_path, "a.py", "# of two\ndef f(:\n    print 'x'\n    # inner\n")
    assert places(found) == [(1, 4, "def f(")]
    assert cut_text(tmp_path, "b.py", "(" * 5000) == []


def test_a_pdf_is_cut_by_pages(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter()
    for text in ("First page", "", "Third page"):
        page = writer.add_blank_page(200, 200)
        stream = pypdf.generic.StreamObject()
        stream.set_data(f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET".encode())
        font = pypdf.generic.DictionaryObject()
        font[pypdf.generic.NameObject("/Type")] = pypdf.generic.NameObject("/Font")
        font[pypdf.generic.NameObject("/Subtype")] = pypdf.generic.NameObject("/Type1")
        font[pypdf.generic.NameObject("/BaseFont")] = pypdf.generic.NameObject("/Helvetica")
        fonts = pypdf.generic.DictionaryObject({pypdf.generic.NameObject("/F1"): font})
        page[pypdf.generic.NameObject("/Resources")] = pypdf.generic.DictionaryObject(
            {pypdf.generic.NameObject("/Font"): fonts}
        )
        page[pypdf.generic.NameObject("/Contents")] = stream
    with (tmp_path / "a.pdf").open("wb") as file:
        writer.write(file)
    found = cutting.cut_file(str(tmp_path / "a.pdf"), "a.pdf", 200, 0)
    assert [(each.text.strip(), each.headings, each.first, each.last) for each in found] == [
        ("First page", ("page 1",), 1, 1),
        ("Third page", ("page 3",), 3, 3),
    ]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.md", b"\0\1\2", cutting.BINARY),
        ("a.md", b"caf\xe9", cutting.ENCODING),
        ("a.md", f"key = {KEY}".encode(), cutting.SECRET),
        ("a.html", f"<p>key = {KEY}".encode(), cutting.SECRET),
        (f"{KEY}.md", b"words", cutting.SECRET),
        ("a.ipynb", b"{}", "malformed (KeyError"),
        ("a.ipynb", b"[" * 100_000, "malformed (RecursionError"),
        ("a.pdf", b"%PDF-1.4 no", "malformed (Pdf"),
        ("a.js", b"var x = 1;" * 1000, "generated code (a line has more than 5,000 characters)"),
    ],
)  # fmt: skip
def test_files_are_left_out_with_a_reason(
    tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    with pytest.raises(LeftOutError) as raised:
        cut_text(tmp_path, name, data)
    assert str(raised.value).startswith(reason)


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_unicode_is_known_in_all_its_forms(tmp_path: Path, codec: str) -> None:
    [found] = cut_text(tmp_path, "a.txt", "Grüße aus Wien, many words\r\nand a line".encode(codec))
    assert found.text == "Grüße aus Wien, many words\nand a line"


def test_private_parts_are_taken_out_and_lines_keep_their_numbers(tmp_path: Path) -> None:
    text = f"# A\n{LONG}\n<private>\n{KEY}\n</private>\n# B\n{LONG}\n"
    found = cut_text(tmp_path, "a.md", text)
    assert places(found) == [(1, 2, "A"), (6, 7, "B")]
    assert KEY not in "".join(each.text for each in found)


def test_a_chunk_repeats_the_end_of_the_one_before_within_a_section(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(
        "# A\n" + "".join(f"line {n} has some words\n\n" for n in range(30)) + f"# B\n{LONG}\n"
    )
    found = cutting.cut_file(str(path), "a.md", 200, 60)
    assert all(len(each.text) <= 200 for each in found)
    for before, after in pairwise(found[:-1]):
        assert after.text.split("\n")[0] in before.text
        assert after.first <= before.last
    assert found[-1].text == LONG
    assert found[-1].headings == ("B",)


def test_what_is_repeated_is_counted_across_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(f"{'x' * 90}\n\n\n{'y' * 90}\n")
    first, second = cutting.cut_file(str(path), "a.md", 120, 20)
    assert (first.first, first.last) == (1, 1)
    assert second.text.startswith("x")
    assert (second.first, second.last) == (1, 4)


LINES = st.sampled_from(
    ["# One", "## Two", "Title", "-----", "=====", "", "words here", "    code", "```", "y" * 90]
)


@given(
    st.lists(LINES, max_size=40),
    st.integers(200, 400),
    st.integers(0, 100),
    st.sampled_from(["a.md", "a.rst", "a.txt", "a.py", "a.go", "a.html"]),
)
def test_no_chunk_is_too_long_and_each_is_where_it_says(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int, overlap: int, name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_text("\n".join(lines))
    for chunk in cutting.cut_file(str(path), name, size, overlap):
        assert len(chunk.text) <= size
        assert 1 <= chunk.first <= chunk.last <= max(1, len(lines)) + (name == "a.html")
        if name in ("a.md", "a.txt"):
            at = "\n".join(lines[chunk.first - 1 : chunk.last])
            assert "".join(chunk.text.split()) in "".join(at.split())


@pytest.mark.parametrize("name", ["a.html", "a.c"])
def test_a_file_that_takes_long_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Libraries take minutes for files that are made for it."""
    monkeypatch.setattr(text_forms, "_MOST", -1.0)
    with pytest.raises(LeftOutError) as raised:
        cut_text(tmp_path, name, "<p>words\n")
    assert str(raised.value) == text_forms.SLOW
