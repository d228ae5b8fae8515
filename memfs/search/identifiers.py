"""Words inside words: the parts of identifiers, and pairs of characters in unspaced scripts."""

import re

# Each alternative begins at no letter or digit, and matches possessively: time is linear in the
# length of any text.
_NAME = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z0-9]++(?>(?:[_./:#@\\-]{1,3}+[A-Za-z0-9]++)+)"
    r"|(?=[A-Za-z0-9]{0,99}(?:[a-z][A-Z]|[A-Z]{2}[a-z]))[A-Za-z0-9]++)"
)
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")  # only for names, which are short
# Thai, Lao, Tibetan, Burmese, Khmer; Japanese, Chinese, Korean.
_UNSPACED = re.compile(
    "[\u0e01-\u0fff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]++"
)
_SPACED = bytes(high for high in range(0x30) if high not in (0x0E, 0x0F, 0x10, 0x17))
_LONGEST = 100  # characters of a name; longer ones are data
# Characters of names are kept; all others become spaces.
_WRITTEN = bytes(
    byte if re.match(r"[A-Za-z0-9_./:#@\\-]", chr(byte)) else ord(" ") for byte in range(256)
)
_BETWEEN = b"_./:#@\\-"  # separators of the words of a name
_REMEMBERED = 50_000


def extract_parts(text: str) -> list[str]:
    """Return the parts of the words of a text in lower case, once per occurrence."""
    found: list[str] = []
    for name in _NAME.findall(text):
        if len(name) > _LONGEST:
            continue
        found.append(name.lower())
        humps = _HUMP.findall(name)
        if len(humps) > 1:
            found += [hump.lower() for hump in humps if len(hump) > 1]
    return found if text.isascii() else [*found, *_list_pairs(text)]


def _list_pairs(text: str) -> list[str]:
    high = text.encode("utf-16-le", "surrogatepass")[1::2]  # the high bytes
    runs = _UNSPACED.findall(text) if high.translate(None, _SPACED) else ()
    return [run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))]


class _Inner(dict[bytes, str]):
    """A cache of the parts of each run of characters between spaces: most runs recur."""

    def __missing__(self, run: bytes) -> str:
        bare = run.strip(_BETWEEN)
        if bare.isalnum() and (bare.islower() or bare.isupper() or bare.istitle()):
            found = ""  # a plain word, as most are
        else:
            found = "".join([f"{part} " for part in extract_parts(run.decode("ascii"))])
        if len(run) <= _LONGEST:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[run] = found
        return found


_INNER = _Inner()


def join_parts(text: str) -> str:
    """Return the distinct parts of a text (see `extract_parts`), joined by spaces. Fast."""
    written = text.encode("latin-1", "replace").translate(_WRITTEN)
    found = "".join(set(map(_INNER.__getitem__, written.split())))
    return found if text.isascii() else found + " ".join(_list_pairs(text))


def names(text: str) -> list[str]:
    """Return the distinct identifiers, paths and codes of a text, as written."""
    return list(dict.fromkeys(n for n in _NAME.findall(text) if len(n) <= _LONGEST))


def is_path(name: str) -> bool:
    """Tell whether an identifier looks like a file: `src/x.py`, `x.py`; not `e.g` or `and/or`."""
    stem, _, suffix = name.rpartition(".")
    ends = bool(stem) and 1 <= len(suffix) <= 5 and suffix.isalpha()
    return (ends and len(stem) + len(suffix) > 2) or name.count("/") > 1


def contains_name(text: str, name: str) -> bool:
    """Tell whether a text contains a name as a whole word."""
    at = text.find(name)
    while at >= 0:
        if not (text[at - 1 : at].isalnum() or text[at + len(name) :][:1].isalnum()):
            return True
        at = text.find(name, at + 1)
    return False


def find_unspaced_runs(text: str) -> list[str]:
    """Return the runs of characters in scripts without spaces between words."""
    return _UNSPACED.findall(text)
