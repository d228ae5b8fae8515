"""Texts that are not UTF-8 are told from those that are, and read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core import encodings
from tests.core.samples import block

TEXT = "---\ndescription: Größe\nlimit: 70\n---\nZeile 😀\n"


def as_read(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_what_is_not_utf8_is_read(codec: str, mark: str) -> None:
    if codec.startswith("utf-32") and not mark:
        return
    found = block("a", as_read((mark + TEXT).encode(codec)))
    assert (found.codec, found.value, found.limit) == (codec, "Zeile 😀", 70)
    assert found.problem == f"the file is {codec[:6].upper()}, not UTF-8"
    assert found.raw == as_read((mark + TEXT).encode(codec))


@given(st.text(st.characters(codec="ascii", exclude_characters="\0"), min_size=4))
def test_plain_text_in_utf16_is_known_without_a_mark(text: str) -> None:
    for codec in ("utf-16-le", "utf-16-be"):
        assert encodings.codec(as_read(text.encode(codec))) == codec


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_utf8_is_left_alone(text: str) -> None:
    assert encodings.codec(text) == ""
    assert encodings.codec(f"some words\0{text}\0 and a NUL or two") == ""


@given(st.binary())
def test_any_bytes_can_be_read(data: bytes) -> None:
    raw = as_read(data)
    name = encodings.codec(raw)
    if name:
        encodings.decode(raw, name).encode()
    assert block("a", raw).raw == raw


def test_a_byte_that_is_missing_is_one_character_less() -> None:
    found = block("a", as_read(("\ufeff" + TEXT).encode("utf-16-le")[:-1]))
    assert found.value == "Zeile 😀\ufffd"


def test_a_few_nul_bytes_are_no_other_encoding() -> None:
    found = block("a", "---\nlimit: 9\0\ndescription: x\n---\na\0b\n")
    assert (found.codec, found.value, found.limit) == ("", "a\0b", 9)
