"""Texts cut into the tokens of a model as BERT's tokenizers cut them. Hot path.

`tokenizers` does the same, after 50 ms: a hook that searches by meaning has not got them.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "##"  # before a piece that goes on a word
LONGEST = 100  # characters of a word; a longer one is unknown
_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_CONTROL = ("Cc", "Cf", "Co")
_SPACES = "\t\n\r "
_ASCII: dict[int, str | None] = {
    **dict.fromkeys((*range(32), 127)),  # control characters
    **{ord(char): " " for char in _SPACES},
    **{ord(char): f" {char} " for char in _PUNCTUATION},
}
_CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def tokens(
    text: str, number: "Callable[[str], int]", longest: int, unknown: int, most: int = 0
) -> list[int]:
    """Return the first `most` tokens (0: all) of a text, `unknown` for a word that has none.

    `number` gives that of a token, -1 for none; no token has more than `longest` characters.
    """
    found: list[int] = []
    for word in words(text):
        found += _pieces(word, number, longest) or (unknown,)
        if 0 < most <= len(found):
            return found[:most]
    return found


def words(text: str) -> list[str]:
    """Return the words of a text: lower case, without accents, punctuation by itself."""
    if text.isascii():
        return text.translate(_ASCII).lower().split()
    return _cleaned(text).split()


def _pieces(word: str, number: "Callable[[str], int]", longest: int) -> list[int]:
    """Return the tokens of a word, always the longest piece that is one; [] if it has none."""
    if len(word) > LONGEST:
        return []
    found: list[int] = []
    start = 0
    while start < len(word):
        mark = MARK if start else ""
        for end in range(min(len(word), start + longest - len(mark)), start, -1):
            token = number(mark + word[start:end])
            if token >= 0:
                found.append(token)
                start = end
                break
        else:
            return []
    return found


def _cleaned(text: str) -> str:
    """Return a text with single spaces around its words, as `words` takes them."""
    import unicodedata

    category = unicodedata.category
    shown = []
    for char in text:
        if char not in _SPACES and (category(char) in _CONTROL or char == "\ufffd"):
            continue
        if char.isspace():
            shown.append(" ")
        else:
            shown.append(f" {char} " if _is_chinese(ord(char)) else char)
    bare = (c for c in unicodedata.normalize("NFD", "".join(shown)) if category(c) != "Mn")
    lower = "".join([char.lower() for char in bare])
    return "".join([f" {c} " if c in _PUNCTUATION or category(c)[0] == "P" else c for c in lower])


def _is_chinese(code: int) -> bool:
    return code >= 0x3400 and any(first <= code <= last for first, last in _CHINESE)
