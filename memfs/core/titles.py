"""The title of a session: the first sentence of its first prompt, short enough for a list."""

import re
from collections.abc import Iterator

_LONGEST = 80  # characters
_SHORTEST = 12  # characters of a sentence; "Hi." goes with the next one
_READ = 4_000  # characters of a prompt that are looked at
_LINE = 400  # characters of a line that are looked at
_FENCE = ("```", "~~~")
_ATTACHED = re.compile(r"\[(?:Pasted|Image|Attached)[^\]]*\]")  # what assistants write for files
# Lines that a program wrote: elements, quotations, logs, diffs.
_PROGRAM = re.compile(
    r"\s*(?:[<>|$]|File \"|Traceback|(?:[A-Z]{4,}|\w{1,40}Error|error|warning)[:\]]"
    r"|(?<=\s)at |\[?\d{2,4}[-/:.]\d\d|[-=+*_]{3,}\s*$"
    r"|(?:diff --git|index [0-9a-f]{7}\S*|@@|\+\+\+|---) )"
)
_SIGNS = re.compile(r"\s*(?:#{1,6}|[-*+]|\d+[.)])\s+")
_PATH = re.compile(r"@?(?:~|\.{1,2}|[A-Za-z]:)?[/\\].+[/\\]?|.*[/\\].*(?:[/\\]|\.\w{1,5}\W*)")
_MARKED = re.compile(r"[/\\`*]")
_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")  # noqa: RUF001 - of Chinese


def make_title(prompt: str) -> str:
    """Return the first sentence of a prompt without what was pasted; "" gives ""."""
    introduction = ""
    for line in _list_own_lines(prompt[:_READ]):
        if not line.endswith(":"):
            return _shorten_title(line)
        introduction = introduction or line  # of what is pasted below it
    return _shorten_title(introduction or prompt[:_READ])


def _list_own_lines(prompt: str) -> Iterator[str]:
    """Yield the lines that have words, without code and without what programs wrote."""
    is_code = False
    for line in prompt.splitlines():
        is_fence = line.lstrip().startswith(_FENCE)
        is_code ^= is_fence
        if not (is_code or is_fence or _PROGRAM.match(line)):
            words = _ATTACHED.sub("", _SIGNS.sub("", line[:_LINE], 1)).split()
            plain = " ".join(map(_shorten_word, words) if _MARKED.search(line) else words)
            if sum(map(str.isalpha, plain[:_LONGEST])) > 2:
                yield plain


def _shorten_word(word: str) -> str:
    """Return a word without the folders of a path, and without the signs of Markdown."""
    word = word.replace("`", "").replace("**", "")
    if ("://" in word or _PATH.fullmatch(word)) and word.count("/") + word.count("\\") > (
        word.startswith("/")  # /init is a command
    ):
        return re.split(r"[/\\]", word.rstrip("/\\"))[-1] or word
    return word


def _shorten_title(text: str) -> str:
    title = ""
    for sentence in _END.split(" ".join(text.split())):
        title = f"{title} {sentence}".strip()
        if len(title) >= _SHORTEST:
            break
    if len(title) <= _LONGEST:
        return title.rstrip(".: ")
    space = title.rfind(" ", _LONGEST // 2, _LONGEST)
    return title[: space if space > 0 else _LONGEST - 1].rstrip(",;: ") + "…"
