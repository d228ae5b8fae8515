"""Escapes text that is put into the brief: it cannot imitate its frame. Hot path."""

_CONTROLS = {code: None for code in (*range(32), *range(127, 160)) if code not in (9, 10)}
_LEAD = " >*_+-"  # what Markdown may have before a heading
_HASHES = "#\ufe5f\u266f"
_BRACKETS = ("[", "\\[", "\u3010")
_FRAME = ("core memory", "recalled from", "other memory:", "memory tools:")
_MARKERS = "-*+0123456789.) "  # what a list item may have before a code fence
# The visible form of a line: odd spaces become spaces, full-width letters letters; invisible
# characters go (those of `core.invisible_characters`, joiners, and variation selectors).
_SHAPES = {
    **dict.fromkeys((9, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), 0x20),
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
}
_UNSEEN: dict[int, int | None] = dict.fromkeys((
    0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164,
    *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF, 0xFFA0,
    *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFFC), *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000),
))  # fmt: skip
_LOOKS = _UNSEEN | _SHAPES

# Names, without signs, of the tags with which hosts frame texts for a model or from a person.
_TAGS = (
    "systemreminder", "hookcontext", "hookprompt", "sessioncontext", "untrustedcontext",
    "environmentcontext", "goalcontext", "userinstructions", "permissionsinstructions",
    "userpromptsubmithook", "sessionstarthook", "tasknotification", "teammatemessage",
    "subagentnotification", "statesnapshot", "ideselection", "ideopenedfile", "localcommand",
    "commandname", "commandmessage", "commandargs", "bashinput", "bashstdout", "bashstderr",
    "usershellcommand", "userquery", "attachedfiles", "currentdatetime", "persistedoutput",
    "turnaborted", "corememory", "memoryblocks", "memfs", "codexinternalcontext", "useraction",
    "recommendedplugins", "functionresults", "functioncalls", "commandcontents",
    "system>", "skill>", "instructions>", "additionalcontext", "additionaldata", "loadedcontext",
    "extensioncontext", "projectcontext>", "globalcontext>", "editorcontext>", "environmentinfo>",
    "workspaceinfo>", "userrequest>", "reminder>", "reminderinstructions", "tooluseerror",
    "toolcall>", "toolresponse>", "collaborationmode", "skillsinstructions", "appsinstructions",
    "pluginsinstructions", "modelswitch", "openandrecentlyviewed", "startofturn", "endofturn",
)  # fmt: skip
# Tokens with which the templates of models part the turns of a chat, besides `<|name|>`: exactly
# these characters, so no other spelling of them matters.
_TOKENS = (
    "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CALLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_CONTENT]", "[ARGS]",
    "[IMG]", "[PREFIX]", "[SUFFIX]", "[MIDDLE]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<bos>",
    "<eos>", "<pad>", "<unk>",
)  # fmt: skip
_BARS = "|\uff5c"
_LONGEST_TAG = 24
_NEAR = 64  # characters in which a tag's name is found, unless it is padded
_OPENINGS = {ord(sign): "<" for sign in "\uff1c\ufe64\u2039\u2329\u27e8\u3008\u276e\u276c\u226e"}
# Signs that may stand between the letters of a tag: spaces, slashes (one over the opening sign,
# too), and hyphens.
_SIGNS = (
    " \n/-_\u0338\u2010\u2011\u2012\u2013\u2014\u2015\u203f\u2044\u2212\u2215\u29f8\ufe58\ufe63"
)
_BARE = (
    _UNSEEN
    | {code: None if chr(seen) in _SIGNS else seen for code, seen in _SHAPES.items()}
    | {ord(sign): None for sign in _SIGNS}
)


def defuse(text: str) -> str:
    """Put a backslash into tags with which hosts frame text, however spelled, and model tokens."""
    if "[" in text or "<" in text:
        for token in _TOKENS:
            if token in text:
                text = text.replace(token, f"{token[0]}\\{token[1:]}")
    seen = text if text.isascii() else text.translate(_OPENINGS)
    if "<" not in seen:
        return text
    first, *rest = seen.split("<")
    at = len(first)
    parts = [text[:at]]
    for part in rest:
        end = at + 1 + len(part)
        if _is_tag(part):
            parts += text[at], "\\", text[at + 1 : end]
        else:
            parts.append(text[at:end])
        at = end
    return "".join(parts)


def _is_tag(behind: str) -> bool:
    """Tell whether a tag's name is behind an opening sign, or the `|token|>` of a model."""
    if behind[:1] in _BARS:
        name, closed, _ = behind[1:_NEAR].replace("\uff5c", "|").partition("|>")
        return bool(closed and name) and not any(sign in name for sign in " \n|")
    name = _normalise_name(behind[:_NEAR])
    if len(name) < _LONGEST_TAG and len(behind) > _NEAR:  # padded with invisible characters
        name = _normalise_name(behind)
    return name[:_LONGEST_TAG].casefold().startswith(_TAGS)


def _normalise_name(text: str) -> str:
    """Return the letters of a tag's name, compatibility characters normalised (NFKC)."""
    text = text.translate(_BARE)
    if text.isascii():
        return text
    import unicodedata  # few names of tags are not ASCII

    return unicodedata.normalize("NFKC", text).translate(_BARE)


def flatten_text(text: str) -> str:
    """Return a foreign text as one line, line ends as spaces, with the tags of hosts escaped."""
    return defuse(make_plain(text).replace("\n", " "))


def quote_lines(text: str, lead: str = "> ") -> str:
    """Return a foreign text with `lead` before each line, so that none can pass for ours."""
    return "\n".join([lead + line for line in defuse(make_plain(text)).split("\n")])


def quote_turn(who: str, text: str) -> str:
    """Return a turn of a conversation: a line with the speaker, then the text, quoted."""
    return f"{flatten_text(who)}\n{quote_lines(text)}"


def make_plain(text: str) -> str:
    """Return text with LF line ends alone, no control characters and no lone surrogates."""
    if not text.isprintable():
        text = "\n".join(text.splitlines()).translate(_CONTROLS)
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def quote(value: str) -> str:
    """Return a block's text with imitated headings escaped, and an open code fence closed."""
    text = "\n".join([_escape(line) for line in defuse(make_plain(value)).split("\n")])
    return f"{text}\n{find_open_fence(text)}".removesuffix("\n")


def escape(line: str) -> str:
    """Put a backslash before a line that would read as a part of the brief's frame."""
    return _escape(defuse(line))


def _escape(line: str) -> str:
    seen = (line if line.isascii() and "\t" not in line else line.translate(_LOOKS)).lstrip(_LEAD)
    bare = seen.lstrip(_HASHES + _LEAD).lower()
    hashed = seen[:1] in _HASHES and bool(seen)
    if (hashed and bare.startswith(_BRACKETS)) or bare.startswith(_FRAME) or _is_note(bare):
        line = "\\" + line
    return line


def _is_note(bare: str) -> bool:
    return bare.startswith(("…", "...")) and (" more chars" in bare or " more blocks" in bare)


def find_open_fence(text: str) -> str:
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
