"""Splitting text into sentences, and counting their exact names, without a model. Hot path."""

_ENDS = ".!?:;。！？"  # noqa: RUF001 - of Chinese and Japanese, too
_LAST = frozenset(_ENDS + ")\"'*`")  # the last characters that a sentence can have
_CLOSE = "。！？"  # noqa: RUF001 - no space follows these
_SHORTEST = 25  # characters; a shorter sentence goes with the one before it
_LONGEST = 220  # characters; a longer one is cut at its commas
_CLAUSE = 160  # characters that clauses may have together
_EDGES = ".,;:!?()\"'`"
_MOST_WORDS = 1 << 14  # of which it is remembered whether they are exact names
_DIGITS = frozenset("0123456789")
_INSIDE = frozenset("_./:-#@=")  # signs inside names, paths, times and flags


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, each on one line; long ones in clauses."""
    found: list[str] = []
    if not text.isascii():
        for end in _CLOSE:
            text = text.replace(end, f"{end} ")
    for line in text.split("\n"):
        for sentence in split_line(line.split()):
            if found and len(found[-1]) < _SHORTEST:
                found[-1] = f"{found[-1]} {sentence}"
            elif len(sentence) > _LONGEST:
                found.extend(_split_clauses(sentence))
            else:
                found.append(sentence)
    return found


def split_line(words: list[str]) -> list[str]:
    """Return the sentences in the words of a line."""
    found = []
    start = 0
    for at in [at for at, word in enumerate(words, 1) if word[-1] in _LAST]:
        word = words[at - 1]
        if word[-1] in _ENDS or (len(word) > 1 and word[-2] in _ENDS):
            found.append(" ".join(words[start:at]))
            start = at
    if start < len(words):
        found.append(" ".join(words[start:]))
    return found


def _split_clauses(sentence: str) -> list[str]:
    found: list[str] = []
    for part in sentence.split(", "):
        joined = f"{found[-1]}, {part}" if found else part
        if found and len(joined) <= max(_CLAUSE, 2 * _SHORTEST):
            found[-1] = joined
        else:
            found.append(part)
    return found


def count_specifics(sentence: str) -> int:
    """Return how many words are exact names: with digits, code, inner signs or capitals."""
    return sum(map(is_specific, sentence.split()))


def _is_specific(word: str) -> bool:
    if word.isalpha():  # most are
        return len(word) > 1 and not word[1:].islower()
    bare = word.strip(_EDGES)
    inner = bare[1:]
    return (
        "`" in word
        or inner != inner.lower()
        or not _INSIDE.isdisjoint(inner[:-1])
        or not _DIGITS.isdisjoint(bare)
    )


class _WordMemo(dict[str, bool]):
    """Whether words are exact names; the same few thousand make up most texts."""

    def __missing__(self, word: str) -> bool:
        if len(self) >= _MOST_WORDS:
            self.clear()
        found = _is_specific(word)
        if len(word) <= _CLAUSE:
            self[word] = found
        return found


is_specific = _WordMemo().__getitem__
