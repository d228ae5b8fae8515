"""The simple commands in a shell line, by its form: nothing is run or expanded. Hot path.

For rules that people write for an assistant, and no lock: a shell has other ways.
"""

_MOST = 20_000  # characters of a line that are looked at, without here-documents
_COMMANDS, _LONGEST = 200, 2000  # commands that are returned, and characters of each
_DEEPEST = 3  # lines in a line that are split
_NESTED = 30  # quotes and substitutions in each other
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh"))
# Words before a command that run it, or that open what holds commands. Numbers and options follow.
_BEFORE = frozenset(
    "sudo command exec nohup time builtin env timeout nice xargs "
    "then do else elif if while until ! { }".split()
)
_DOCUMENT = r"(?<!<)<<(?!<)-?[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([^\s;|&()<>'\"\\]+))"
_ENDS = frozenset(";|&()\n")
_BLANK = frozenset(" \t\r")
_REDIRECTS = "<>&"  # `&`: what is left of it is of a redirection
_OF_REDIRECTION = "0123456789<>&"


def list_commands(line: str, depth: int = 0) -> list[str]:
    """Return the simple commands of a line, without quotes, variables, and `sudo` and the like."""
    commands, inner = _read(_drop_documents(line)[:_MOST])
    found = []
    for words in commands:
        start = 0
        while start < len(words) and _is_before_command(words[start], start):
            start += 1
        if words[start:]:
            found.append(" ".join(words[start:])[:_LONGEST])
            inner.append(_find_inner_line(words[start:]))
    if depth < _DEEPEST:
        found += [each for text in inner if text for each in list_commands(text, depth + 1)]
    return found[:_COMMANDS]


def list_words(line: str) -> list[str]:
    """Return the words of the commands of a line that can be the names of files."""
    commands, _ = _read(_drop_documents(line)[:_MOST])
    words = [word for words in commands for word in words if word and word[0] != "-"]
    return words[:_COMMANDS]


def _is_before_command(word: str, at: int) -> bool:
    name, sign, _ = word.partition("=")
    is_option = at > 0 and (word[:1] == "-" or word.rstrip("smhd").isdecimal())
    return word in _BEFORE or is_option or (bool(sign) and name.isidentifier())


def _find_inner_line(words: list[str]) -> str:
    """Return the line that a shell is given (`sh -c LINE`, `eval LINE`), "" for none."""
    name = words[0].rpartition("/")[2]
    if name == "eval":
        return " ".join(words[1:])
    for at, word in enumerate(words[1:-1], 1):
        if name in _SHELLS and word[:1] == "-" and word[:2] != "--" and word.endswith("c"):
            return words[at + 1]
    return ""


def _drop_documents(text: str) -> str:
    """Return a text without the bodies of its here-documents; one that does not end has none."""
    if "<<" not in text:
        return text
    import re  # few lines have such a document

    lines, kept = text.split("\n"), []
    places: dict[str, list[int]] = {}  # of each line, the last one first
    for at in range(len(lines) - 1, -1, -1):
        places.setdefault(lines[at].strip("\t\r"), []).append(at)
    at = 0
    while at < len(lines):
        kept.append(lines[at])
        at += 1
        for quoted in re.findall(_DOCUMENT, kept[-1]):
            ends = places.get("".join(quoted), [])
            while ends and ends[-1] < at:
                ends.pop()
            at = ends[-1] + 1 if ends else at
    return "\n".join(kept)


def _read(line: str) -> tuple[list[list[str]], list[str]]:
    """Return the words of each simple command, and the lines of substitutions."""
    commands: list[list[str]] = [[]]
    inner: list[str] = []
    word: str | None = None
    at = 0
    while at < len(line):
        character = line[at]
        end = at + 1
        if character in _BLANK or (character in _ENDS and not _is_of_redirection(line, at)):
            if word is not None:
                commands[-1].append(word)
            word = None
            if character in _ENDS:
                commands.append([])
        elif character == "#" and word is None:
            end = line.find("\n", at)
            end = len(line) if end < 0 else end
        elif character == "\\":
            end = at + 2
            if line[at + 1 : end] != "\n":
                word = (word or "") + line[at + 1 : end]
        elif character in "'\"`" or line.startswith("$(", at):
            end = _find_end(line, at, 0)
            quoted = line[at + 1 : end - 1]
            if character == "'":
                word = (word or "") + quoted
            else:
                inner += [quoted] if character == "`" else _list_substitutions(line[at:end])
                quoted = quoted if character == '"' else line[at:end]
                word = (word or "") + quoted.replace('\\"', '"')
        else:
            if character in _REDIRECTS and word is not None and word.strip(_OF_REDIRECTION):
                commands[-1].append(word)
                word = None
            word = (word or "") + character
        at = end
    if word is not None:
        commands[-1].append(word)
    return [words for words in commands if words], inner


def _is_of_redirection(line: str, at: int) -> bool:
    """Tell whether the sign at a place is that of `2>&1` or `&>file`."""
    return line[at] == "&" and (line[at - 1 : at] in ("<", ">") or line[at + 1 : at + 2] == ">")


def _find_end(line: str, at: int, depth: int) -> int:
    opened = line[at]
    if opened in "'`":
        end = line.find(opened, at + 1)
        return end + 1 if end >= 0 else len(line)
    closes = '"' if opened == '"' else ")"
    at += 1 if opened == '"' else 2
    level = 0
    while at < len(line):
        character = line[at]
        if character == closes and not level:
            return at + 1
        if character == "\\":
            at += 2
        elif depth < _NESTED and (
            line.startswith("$(", at) or (character in "'\"`" and closes == ")")
        ):
            at = _find_end(line, at, depth + 1)
        else:
            level += (closes == ")") * ((character == "(") - (character == ")"))
            at += 1
    return len(line)


def _list_substitutions(text: str) -> list[str]:
    """Return the lines of the substitutions in a text, the outermost ones."""
    found = []
    at = 0
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith("$(", at) or text[at] == "`":
            end = _find_end(text, at, 0)
            found.append(text[at + (1 if text[at] == "`" else 2) : end - 1])
            at = end
        else:
            at += 1
    return found
