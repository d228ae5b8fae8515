"""Block files that are not UTF-8: detection and decoding. Imported for odd texts alone."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE

_MARKS = (  # UTF-32 first: its little-endian mark begins like that of UTF-16
    (BOM_UTF32_LE, "utf-32-le"),
    (BOM_UTF32_BE, "utf-32-be"),
    (BOM_UTF16_LE, "utf-16-le"),
    (BOM_UTF16_BE, "utf-16-be"),
)
_LOOKED_AT = 4096  # bytes


def codec(raw: str) -> str:
    """Return the encoding of a text that is not UTF-8, by its mark or NUL bytes; "" for UTF-8."""
    data = _to_bytes(raw[:_LOOKED_AT])
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    size = len(data) // 2
    if size >= 4:
        even, odd = data[0::2].count(0), data[1::2].count(0)
        if odd * 2 >= size and even * 20 <= odd:
            return "utf-16-le"
        if even * 2 >= size and odd * 20 <= even:
            return "utf-16-be"
    return ""


def decode(raw: str, name: str) -> str:
    """Decode the bytes of `raw` with the encoding `name`; invalid ones become U+FFFD."""
    text = _to_bytes(raw).decode(name, "replace")
    return text.removeprefix("\ufeff")


def _to_bytes(raw: str) -> bytes:
    return raw.encode("utf-8", "surrogateescape")
