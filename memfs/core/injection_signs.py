"""Signs that a foreign text steers an assistant, or hides something: shown, and no protection."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# Format characters, blank letters, tags, and repeated variation selectors. A joiner between two
# emoji, and one selector behind a character, are ordinary text.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
    "|(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])"
    "|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
)
_DOUBTFUL = re.compile(r"([^\n\t -~])\1*")
_MOST = 64  # of one character in a row, above which their number stands
# This pattern and `_HIDDEN` are compiled where they are used: that takes a while.
# What Unicode counts as printable, and nobody sees: joiners, blank letters, variation selectors.
_BLANK = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)

_LONGEST = 2000  # characters of a line that are looked at
_SHOWN = 80

# Each with bounded gaps: a line is at most `_LONGEST` long, and no part repeats another.
_SIGNS = (
    (
        "asks to ignore rules",
        (
            r"\b(?:ignore|disregard|forget|override|bypass|do not follow|don't follow)\b.{0,40}"
            r"\b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|restrictions?|safety)\b"
        ),
    ),
    (
        "imitates a system prompt",
        (
            r"\byou are now\b|\bnew instructions?\b|\bsystem prompt\b|\bdeveloper mode\b"
            r"|<\s{0,3}/?\s{0,3}(?:system|assistant|instructions?)\b|\[\s{0,3}/?inst\s{0,3}\]"
        ),
    ),
    (
        "asks for secrecy",
        (
            r"\b(?:do not|don't|never|without)\b.{0,20}\b(?:tell|telling|mention|mentioning|"
            r"inform|informing|show|showing|ask|asking|reveal|notify|notifying)\b.{0,20}"
            r"\b(?:user|human|developer|anyone|person|them)\b"
            r"|(?:^|[.:;,!?>*-]\s{1,3}|\b(?:and|then|you|must|should|always|also)\s)"
            r"(?:silently|secretly|covertly|quietly)\s(?:add|append|change|collect|commit|copy|delete"
            r"|download|execute|forward|include|insert|install|log|open|push|read|remove|replace"
            r"|report|run|send|store|upload|write)\b"
        ),
    ),
    (
        "runs a command",
        (
            r"\b(?:curl|wget|iwr|invoke-webrequest)\b.{0,200}\|\s{0,5}(?:sudo\s)?\s{0,5}(?:ba|z|da)?sh\b"
            r"|\brm\s{1,5}-[a-z]{0,4}[rf]|\b(?:bash|sh|python3?|node|perl)\s{1,5}-[ce]\b"
            r"|\bbase64\s{1,5}(?:-d|--decode)\b|\beval\s{0,5}[(\"'$`]|\bchmod\s{1,5}\+x\b"
            r"|\bnc\s{1,5}-|/dev/tcp/|\b(?:run|execute)\b.{0,20}\b(?:command|script|following)\b"
        ),
    ),
    (
        "sends data elsewhere",
        (
            r"\b(?:send|post|upload|exfiltrate|forward|transmit|leak)\b.{0,60}"
            r"(?:https?://|\bto the (?:url|server|endpoint|webhook)\b|\bwebhook\b)"
            r"|\bcurl\b(?!.{0,60}(?:localhost|127\.0\.0\.1|\[::1\]))"
            r".{0,200}\s(?:-d|--data|-F|--form|-T|--upload-file)\b"
        ),
    ),
    (
        "names a file with secrets",
        (
            r"~/\.(?:ssh|aws|gnupg|netrc|kube|docker|npmrc|pypirc)\b|\bid_(?:rsa|ed25519|ecdsa)\b"
            r"|/etc/(?:passwd|shadow)\b|\.env\b.{0,40}\b(?:read|print|show|cat|send|copy)\b"
            r"|\b(?:read|print|show|cat|send|copy)\b.{0,40}\.env\b"
        ),
    ),
    ("skips permission checks", r"--dangerously|--no-verify\b|--yolo\b|bypasspermissions"),
    ("has an image that sends data", r"!\[.{0,200}\]\(\s{0,5}https?://.{0,300}[?&]"),
)
_HIDDEN = (  # compiled when a text is searched for signs
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0e\ufeff\U000e0000-\U000e01ef]"
)
_CONTROL = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
_ENCODED = r"[A-Za-z0-9+/]{160,}={0,2}"


class Sign(NamedTuple):
    """One suspicious line: its number (from 1), what it does, and a part of it."""

    line: int
    what: str
    text: str


def find_signs(text: str) -> list[Sign]:
    """Return the signs of injection in a text, at most one of a kind for each line."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        part = line[:_LONGEST]
        for what, pattern in _SIGNS:
            match = re.search(pattern, part, re.IGNORECASE)  # compiled once, and rarely needed
            if match:
                found.append(Sign(number, what, match.group()[:_SHOWN]))
        if re.search(_HIDDEN, part[number == 1 :]):
            found.append(Sign(number, "has invisible characters", ""))
        if re.search(_CONTROL, part):
            found.append(Sign(number, "has control characters", ""))
        if re.search(_ENCODED, part):
            found.append(Sign(number, "has encoded data", ""))
        if len(line) > _LONGEST:
            found.append(Sign(number, f"is {len(line):,} characters long", ""))
    return found


def reveal_hidden(text: str) -> str:
    r"""Return a text with invisible characters replaced by escapes such as `\u202e`."""
    if text.isascii():
        return text
    return _UNSEEN.sub(lambda found: ascii(found.group())[1:-1], text)


def split_visible(text: str) -> Iterator[tuple[str, bool]]:
    r"""Yield the pieces of a text of which nothing may stay unseen: (piece, is it an escape).

    Control characters, every space but the common one, bytes that are no UTF-8 (`\udc80`), marks
    without a look: each is an escape, so that somebody can decide on the text; of very many in a
    row, one with their number. Line ends and tabs stay.
    """
    start = 0
    for found in _DOUBTFUL.finditer(text):
        char, many = found[1], len(found[0])
        if char.isprintable() and not re.match(_BLANK, char):
            continue
        if start < found.start():
            yield text[start : found.start()], False
        shown = ascii(char)[1:-1]
        yield shown * many if many <= _MOST else f"{shown}{{{many}}}", True
        start = found.end()
    if start < len(text):
        yield text[start:], False
