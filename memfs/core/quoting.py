"""Text that is put into a frame, and must not imitate it. Hot path.

What a block or a hit says is data: it may not look like a heading of the brief, close or swallow
what follows, or hold control characters.
"""

_CONTROLS = {code: None for code in (*range(32), *range(127, 160)) if code not in (9, 10)}
_LEAD = " >*_+-"  # what Markdown may have before a heading
_HASHES = "#\ufe5f\u266f"
_BRACKETS = ("[", "\\[", "\u3010")
_FRAME = ("core memory", "recalled from", "other memory:", "memory tools:")
_HOST_TAGS = ("system-reminder", "hook_context", "hook_prompt", "session_context")
_MARKERS = "-*+0123456789.) "  # what a list item may have before a code fence
# What a line looks like: odd spaces are spaces, full-width letters letters, the invisible is not.
_LOOKS: dict[int, int | None] = {
    **dict.fromkeys((9, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), 0x20),
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((
        0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164,
        *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF, 0xFFA0,
        *range(0xFE00, 0xFE10), *range(0xE0000, 0xE01F0),
    )),
}  # fmt: skip


def defuse(text: str) -> str:
    """Break tags with which hosts frame what they add to a prompt: a text may not close them."""
    if "<" not in text:
        return text
    folded = text.lower()
    for tag in _HOST_TAGS:
        at = folded.find(tag)
        while at >= 0:
            start = at - (2 if folded[at - 1 : at] == "/" else 1)
            if start >= 0 and folded[start] == "<":
                text = f"{text[: start + 1]}\\{text[start + 1 :]}"
                folded = text.lower()
                at += 1
            at = folded.find(tag, at + 1)
    return text


def plain(text: str) -> str:
    """Return text with LF line ends alone, no control characters and no lone surrogates."""
    if not text.isprintable():
        text = "\n".join(text.splitlines()).translate(_CONTROLS)
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def quote(value: str) -> str:
    """Return a block's text so that it cannot imitate the frame around it.

    Lines that would read as a heading of the brief get a backslash, and a code fence that is left
    open is closed.
    """
    text = "\n".join([escape(line) for line in plain(value).split("\n")])
    return f"{text}\n{closing(text)}".removesuffix("\n")


def escape(line: str) -> str:
    """Put a backslash before a line that would read as a part of the frame."""
    seen = (line if line.isascii() and "\t" not in line else line.translate(_LOOKS)).lstrip(_LEAD)
    bare = seen.lstrip(_HASHES + _LEAD).lower()
    hashed = seen[:1] in _HASHES and bool(seen)
    if (hashed and bare.startswith(_BRACKETS)) or bare.startswith(_FRAME) or _is_note(bare):
        line = "\\" + line
    return defuse(line)


def _is_note(bare: str) -> bool:
    return bare.startswith(("…", "...")) and (" more chars" in bare or " more blocks" in bare)


def closing(text: str) -> str:
    """Return the line, with its end, that closes the code fence `text` leaves open, or "".

    Fences in a quotation are closed by its end; those in a list item are closed at their indent.
    """
    if "```" not in text and "~~~" not in text:
        return ""
    fence, indent = "", 0
    for line in text.split("\n"):
        bare = line.lstrip(" " if fence else _MARKERS)
        if bare[:3] not in ("```", "~~~"):
            continue
        rest = bare.lstrip(bare[0])
        run = bare[: len(bare) - len(rest)]
        width = len(line) - len(bare)
        if fence:
            if run.startswith(fence) and not rest.strip() and width <= indent + 3:
                fence = ""
        elif "`" in rest or line[width - 1 : width].strip():
            continue  # code within a line
        elif width < 4 or line.strip(" ")[0] != bare[0]:
            fence, indent = run, width
    return f"{' ' * indent}{fence}\n" if fence else ""
