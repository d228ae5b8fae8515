"""The user's own words in a prompt: what is quoted, pasted or attached is of others. Hot path.

In doubt a text is not the user's own: what is missed can be said again, what others say would be
obeyed. A quotation within a user's own rule stays, if it states nothing by itself.
"""

from memfs.core.snippet import split_words
from memfs.recall.rule_recognition import is_rule
from memfs.recall.sentences import split_line

_LONGEST = 2000  # characters of own words; more of them are a document
_PASTE = 20_000  # characters of a prompt; with more of them no part is clearly the user's
_SPAN = 1000  # characters of a quotation
_WORDS = 3  # of a quotation that is a name or a term
_MARK = 0xF0000  # the characters from here on stand for what was cut out
_CLOSING = {
    '"': '"', "\uff02": "\uff02", "\u201c": "\u201d", "\u201e": '\u201c\u201d"',
    "\u201f": "\u201d", "\u201d": "\u201d", "\u00ab": "\u00bb", "\u00bb": "\u00ab",
    "\u2039": "\u203a", "\u203a": "\u2039", "\u2018": "\u2019'", "\u201a": "\u2018\u2019",
    "\u2019": "\u2019", "'": "'\u2019", "\u201b": "\u2019", "\u300c": "\u300d", "\u300e": "\u300f",
    "\uff62": "\uff63", "\u300a": "\u300b", "\u3008": "\u3009", "\u301d": "\u301e\u301f",
    "\u275d": "\u275e", "\u275b": "\u275c", "`": "`'", "\u00b4": "\u00b4",
}  # fmt: skip
_ALWAYS_OPEN = frozenset("\u201c\u201e\u00ab\u300c\u300e\uff62\u300a\u3008\u301d\u275d")
_UNCERTAIN = "'\u2019\u2018`\u00b4\u2039\u203a\u00bb\u3008"  # marks of other things, too
_TRIES = 40  # signs that may close a quotation
_ENDS = ".!?\u2026\u3002\uff01\uff1f"

_DOCUMENTS = frozenset("""
    issue issues ticket tickets doc docs documentation document documents log logs readme file
    files page pages article spec specification pr mr email mail mails message messages comment
    comments thread threads post changelog error output guide manual wiki policy template prompt
    slack trace traceback stacktrace blog tweet website site chat transcript bot ci linter compiler
    reviewer review text snippet paste quote report description book faq announcement notice memo
    letter contract gist answer reply response copilot claude chatgpt gpt gemini codex cursor model
    assistant ai customer client jira github stackoverflow discord teams notion confluence config
    contributing.md readme.md agents.md claude.md content contents note notes excerpt section
    paragraph task story requirement requirements instructions discussion conversation dump
    result results diff patch commit stack
""".split())  # fmt: skip
_LABELS = frozenset("""
    issue ticket log logs readme email mail message comment error output slack trace traceback
    stacktrace paste pasted quote quoted context attachment attached transcript from subject title
    body description summary user assistant human system customer reviewer author reporter bot ai
    model content contents text input prompt result response reply forwarded fwd spec report
""".split())  # fmt: skip
_SAYING = frozenset("""
    says said states stated reads read wrote writes written reports reported claims claimed
    mentions mentioned tells told posted commented replied answered notes noted suggests suggested
    prints printed quoting warns warned demands demanded asks asked explains explained
    complains complained adds added
""".split())  # fmt: skip
_POINTING = frozenset("this that following below above these attached pasted it here".split())
_OWN = frozenset("""
    i we my our me us mine ours you your rule rules remember now convention conventions preference
    preferences always never
""".split())  # fmt: skip
_WORKS = frozenset("""
    summarize summarise translate explain review proofread rewrite rephrase paraphrase analyze
    analyse shorten read quote check correct improve fix implement look handle resolve solve
    address see process parse
""".split())  # fmt: skip
_POLITE = frozenset("please pls can could you would and now ok so hey hi now just".split())
_LEVELS = (
    "ERROR", "WARN", "INFO", "DEBUG", "FATAL", "TRACE", "CRITICAL", "npm ERR!", "panic:", "fatal:",
    "error:", "warning:", "Traceback", "Caused by:", "Exception in ", "at ", "$ ", ">>> ", "E   ",
    "FAILED ", "PASSED ", 'File "', "goroutine ", "thread '",
)  # fmt: skip
_HUNK = (
    "diff --git ", "@@ ", "+++ ", "--- a/", "--- /dev", "index ", "new file mode",
    "deleted file mode", "rename ", "similarity index",
)  # fmt: skip
_MAIL = (
    "from:", "to:", "cc:", "subject:", "date:", "sent:", "von:", "betreff:", "reply-to:",
    "-----original", "---------- forwarded", "begin forwarded",
)  # fmt: skip
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LISTS = ("- ", "* ", "\u2022 ")


def own_words(prompt: str) -> str:
    """Return the user's own words of a prompt, or ""; `…` stands for a quotation in a sentence."""
    if len(prompt) > _PASTE:
        return ""
    cuts: list[str] = []
    if max(prompt, default="") >= chr(_MARK):  # of nobody's language
        prompt = "".join([each for each in prompt if each < chr(_MARK)])
    text = prompt.replace("\r\n", "\n").replace("\r", "\n")
    text = _cut_tags(_cut_fences(text, cuts), cuts)
    text = _cut_quotations(_cut_lines(text, cuts), cuts)
    kept = _select_sentences(text.split("\n"), cuts)
    return kept if len(kept) <= _LONGEST else ""


def _note_cut(content: str, cuts: list[str]) -> str:
    cuts.append(content)
    return chr(_MARK + len(cuts) - 1)


def _cut_fences(text: str, cuts: list[str]) -> str:
    for fence in ("```", "~~~"):
        first, *rest = text.split(fence)
        text = first
        for at, part in enumerate(rest):
            text += part if at % 2 else f"\n{_note_cut('', cuts)}\n"
    return text


def _cut_tags(text: str, cuts: list[str]) -> str:
    """Cut out the elements of HTML and XML, and what hosts write for what was pasted."""
    parts: list[str] = []
    at = 0
    while (start := _find_first(text, "<[", at)) >= 0:
        parts.append(text[at:start])
        end = _find_element_end(text, start) if text[start] == "<" else _find_paste_end(text, start)
        parts.append(_note_cut(text[start + 1 : end], cuts) if end else text[start])
        at = end or start + 1
    return "".join(parts) + text[at:]


def _find_first(text: str, signs: str, at: int) -> int:
    return min((found for sign in signs if (found := text.find(sign, at)) >= 0), default=-1)


def _find_element_end(text: str, start: int) -> int:
    """Return where an element ends, 0: none; an open one on its own line never ends."""
    if text.startswith("<!--", start):
        return (text.find("-->", start) + 3) if "-->" in text[start:] else len(text)
    close = text.find(">", start)
    tag = text[start + 1 : close] if close > 0 else ""
    if not (tag[:1].isalpha() or tag[:1] == "|") or "<" in tag or "\n\n" in tag:
        return 0
    if tag.endswith("/"):
        return close + 1
    name = tag.split()[0].strip("|")
    depth, at, folded = 1, close + 1, text.lower()
    opening, closing = f"<{name}".lower(), f"</{name}".lower()
    while depth:
        ends = folded.find(closing, at)
        if ends < 0:
            break
        depth += folded.count(opening, at, ends) - 1
        at = ends + len(closing)
    if not depth:
        return text.find(">", at) + 1 or len(text)
    alone = not text[text.rfind("\n", 0, start) + 1 : start].strip()
    return len(text) if alone and not text[close + 1 :].split("\n", maxsplit=1)[0].strip() else 0


def _find_paste_end(text: str, start: int) -> int:
    """Return where a host's sign for something pasted or attached ends; 0 for other brackets."""
    first = text[start + 1 : start + 40].lstrip().lower()
    if not first.startswith(("pasted", "attached", "image", "file:", "truncated", "...truncated")):
        return 0
    return text.find("]", start) + 1


def _cut_lines(text: str, cuts: list[str]) -> str:
    """Cut out the lines that nobody types: quoted ones, logs, stack traces, diffs, code."""
    kept: list[str] = []
    hunk = listed = False
    has_plus = any(line.startswith("+") for line in text.split("\n"))
    for line in text.split("\n"):
        bare = line.lstrip()
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        hunk = line.startswith(_HUNK) or (hunk and line[:1] in ("+", "-", " ", "\\"))
        item = bare.startswith(_LISTS) or (bare[:1].isdigit() and bare[1:3] in (". ", ") "))
        others = (
            hunk
            or bare.startswith((">", "|", "\uff1e", "+"))
            or (has_plus and line[:1] == "-")
            or (indent >= 4 and not (listed and item))
            or _is_logged(bare)
        )
        listed = (item or (listed and indent > 0)) and not others
        kept.append(_note_cut("", cuts) if others and bare else line)
    return "\n".join(kept)


def _is_logged(line: str) -> bool:
    if line.lstrip("[").startswith(_LEVELS):
        return True
    head = line.lstrip("[(").split(" ")[0].strip("])")
    digits = sum(each.isdigit() for each in head)
    dated = digits >= 4 and digits + sum(each in "-:./,TZ+" for each in head) == len(head)
    name = head.rstrip(":").rpartition(".")[2]
    raised = head.endswith(":") and name.endswith(("Error", "Exception", "Warning"))
    return (dated and len(head) > 4) or raised or (
        line[:3].lower() in _MONTHS and line[4:6].strip().isdigit() and ":" in line[6:16]
    )  # fmt: skip


def _cut_quotations(text: str, cuts: list[str]) -> str:
    parts: list[str] = []
    at = copied = 0
    while at < len(text):
        end = _find_closing(text, at) if text[at] in _CLOSING else 0
        if not end:
            at += 1
            continue
        content = text[at:end]
        behind = text[end:].lstrip(" ")[:1] if len(text) - end < _SPAN else text[end : end + 2]
        ends = content.rstrip(content[-1]).rstrip()[-1:] in _ENDS
        stop = "." if ends and (not behind.strip() or behind.strip()[0].isupper()) else ""
        parts += text[copied:at], " " * (text[at - 1 : at] == ":"), _note_cut(content, cuts), stop
        at = copied = end
    return "".join(parts) + text[copied:]


def _find_closing(text: str, at: int) -> int:
    """Return where a quotation ends (an open one with its paragraph), 0 if none does."""
    sign, before = text[at], text[at - 1 : at]
    if sign not in _ALWAYS_OPEN and (before.isalnum() or not text[at + 1 : at + 2].strip()):
        return 0
    limit = min(len(text), at + _SPAN)
    paragraph = text.find("\n\n", at, limit)
    limit = limit if paragraph < 0 else paragraph
    window = text[at:limit]
    run = len(window) - len(window.lstrip(sign)) if sign in "`'" else 1
    place = run
    for _ in range(_TRIES):
        place = _find_first(window, _CLOSING[sign], place)
        if place < 0:
            break
        if sign in _ALWAYS_OPEN or not text[at + place + run : at + place + run + 1].isalnum():
            return at + place + run
        place += 1
    return 0 if sign in _UNCERTAIN else limit


def _select_sentences(lines: list[str], cuts: list[str]) -> str:
    kept: list[str] = []
    for number, line in enumerate(lines):
        if _starts_document(line, lines[number + 1 : number + 3]):
            break
        own: list[str] = []
        pieces = split_line(line.split())
        introduced = False
        for at, piece in enumerate(pieces):
            if introduced and _starts_cut(piece):
                introduced = False
                continue
            behind = pieces[at + 1] if at + 1 < len(pieces) else ""
            behind = behind or next((each for each in lines[number + 1 :] if each.strip()), "")
            if _is_introduction(piece, last=at + 1 == len(pieces)):
                if not behind:
                    own.append(piece)
                elif not _starts_cut(behind):
                    return _drop_pasted(kept, own)
                introduced = True
            elif not _is_report(piece):
                own.append(_restore(piece, cuts))
        kept.append(" ".join(filter(None, own)))
    return _drop_pasted(kept, [])


def _drop_pasted(kept: list[str], own: list[str]) -> str:
    lines = [*kept, " ".join(filter(None, own))]
    while lines and not lines[-1].strip():
        lines.pop()
    last = split_words(lines[-1]) if lines else []
    text = " ".join(last)
    points = (
        "the above" in text
        or last[-1:] == ["above"]
        or any(
            f"what {verb} {it}" in text for verb in ("does", "do", "is") for it in ("this", "that")
        )
    )
    if points or (_is_work(last) and not _POINTING.isdisjoint(last[:6])):
        return ""
    return "\n".join(lines)


def _starts_cut(text: str) -> bool:
    return text.lstrip()[:1] > chr(_MARK - 1)


def _starts_document(line: str, behind: list[str]) -> bool:
    bare = line.strip().lower()
    ruled = bool(behind) and len(behind[0].strip()) > 2 and not behind[0].strip().strip("=-")
    if bare.startswith("#") and bare.lstrip("#").startswith(" "):
        return True
    if bare.startswith("---") or (ruled and bare) or bare.startswith(_MAIL):
        return True
    words = bare.split()
    timed = bool(words) and (words[-1] in ("am", "pm") or words[-1].endswith(("am]", "pm]")))
    return timed and len(words) <= 6 and any(":" in word for word in words)


def _is_introduction(piece: str, *, last: bool) -> bool:
    """Tell whether a piece says that a text of others comes: "the issue says:", "see below"."""
    words = split_words(piece)
    known = set(words)
    if not piece.endswith((":", "\uff1a")):
        bare = piece.rstrip(".,")
        return last and (
            bare.lower().endswith(("see below", "see attached", "as follows", "pasted below"))
            or (_is_work(words) and not _POINTING.isdisjoint(known) and len(words) <= 8)
        )
    if not words:
        return False
    first_person = not known.isdisjoint(("i", "we", "you", "me", "us"))
    if not known.isdisjoint(_SAYING) or "according" in known or known >= {"it", "says"}:
        return not first_person or not known.isdisjoint(_DOCUMENTS)
    if len(words) <= 3 and (words[0] in _LABELS or words[0].startswith("@")):
        return True
    names = not known.isdisjoint(_DOCUMENTS)
    if names and (_is_work(words) or not known.isdisjoint(("from", "here", "here's", "heres"))):
        return True
    if names and not known.isdisjoint(("this", "that", "these", "following")):
        return True
    if names and words[0] in ("the", "a", "an", "their"):
        return True
    if not known.isdisjoint(_OWN):
        return False
    return (
        _is_work(words) and not known.isdisjoint(_POINTING)
    ) or words[0] in ("here", "here's", "heres", "this", "below", "following") or (
        words[-1] in _POINTING
    )  # fmt: skip


def _is_work(words: list[str]) -> bool:
    asked = [word for word in words if word not in _POLITE]
    return bool(asked) and asked[0] in _WORKS


def _is_report(piece: str) -> bool:
    words = split_words(piece)
    if words[:2] in (["according", "to"], ["per", "the"], ["quoting", "the"]):
        return True
    for at, word in enumerate(words):
        name = word.endswith((".md", ".txt", ".rst", ".yml", ".yaml", ".json"))
        if not (word in _DOCUMENTS or name):
            continue
        near = words[at + 1 : at + 4]
        subject = name or (at > 0 and words[at - 1] not in ("in", "to", "every", "each"))
        if subject and (not _SAYING.isdisjoint(near) or near[:1] == ["say"]):
            return True
    return ["it", "says"] in (words[:2], words[-2:])


def _restore(piece: str, cuts: list[str]) -> str:
    """Return a sentence with its quotations, or with `…` for those that state something."""
    marks = [each for each in piece if each > chr(_MARK - 1)]
    if not marks:
        return piece
    bare = piece
    for mark in marks:
        bare = bare.replace(mark, " x" * min(_WORDS, len(cuts[ord(mark) - _MARK].split())) + " ")
    alone = not any(word != "x" for word in split_words(bare))
    own = is_rule(bare)
    if not own and not _SAYING.isdisjoint(split_words(bare)):
        return ""
    for mark in marks:
        content = cuts[ord(mark) - _MARK]
        whole = _states_nothing(content, own=own)
        whole = whole and (content[0] == "`" or not alone)
        piece = piece.replace(mark, content if whole else "\u2026")
    if not split_words(piece.replace("\u2026", "")):
        return ""
    return " ".join(piece.split())


def _states_nothing(quotation: str, *, own: bool) -> bool:
    """Tell whether a quotation is a name or a part of the user's own sentence."""
    inside = quotation[1:-1].strip(" `'")
    if not inside or "\n" in inside or is_rule(inside):
        return False
    if quotation[0] == "`":
        return True
    short = len(inside.split()) <= _WORDS
    return short or (own and not any(f"{end} " in inside for end in _ENDS))
