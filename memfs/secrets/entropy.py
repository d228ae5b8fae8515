"""Secrets that are detected by their randomness, and by the text before them on the line."""

from __future__ import annotations

import base64
import binascii
import itertools
import re
from collections.abc import Iterator

from memfs.secrets.encodings import decode_text
from memfs.secrets.heuristics import (
    entropy,
    is_hex,
    is_key_like,
    is_placeholder,
    is_random_looking,
    is_slug,
    is_uuid,
    is_wordy,
)
from memfs.secrets.prefilter import TextFeatures
from memfs.secrets.service_names import SERVICES, UUID_SERVICES

_CANDIDATE = re.compile(r"[A-Za-z0-9+/_%-]{16,2000}+={0,2}")
_PADDING = 2  # of these signs at the end
_ESCAPE = re.compile("%[0-9A-F]{2}")
_DIGIT = re.compile("[0-9]")
_VAULT = re.compile(r"(?<![A-Za-z0-9_.\])])[sbr]\.\Z")
# The names of things that are random without being secret: hashes, revisions, public halves, data.
_HARMLESS = re.compile(
    r"(?:(?:sha|md)[0-9]{0,3}[-:=~ ]|\bh1|integrity|commit|hash|checksum|digest|revision|\brev|etag"
    r"|\bnonce|version|signature|fingerprint|cursor|ur[il]|path|file|name|uuid|guid|public|cert"
    r"|model|\btag|image|src|href|class|style|blob|tree|data|content|body|session|request|trace"
    r"|span|parent|state|event|\bruns?|build|index|page|project|issue|[_-]id|\bid|Id|ID|serial|version|resolved)"
    r"s?[\"'`]?[ ]{0,4}(?:=>|[:=#@])?[ ]{0,4}[\"'`(]?\Z"
    r"|[/@#?&$.\\]\Z|base64,\Z|ssh-[a-z0-9-]{2,20} \Z|ecdsa-[a-z0-9-]{2,30} \Z",
    re.IGNORECASE,
)
_NEAR = 40  # characters: nothing harmless is longer
# The prefixes of ids that services give to what is no secret: files, messages, calls, customers.
_ID = re.compile(
    r"(?:file|msg|message|toolu|srvtoolu|req|request|call|run|thread|asst|batch|evt|event|cus|sub|pi|ch|prod"
    r"|price|acct|org|user|usr|proj|project|wrkspc|sess|session|conv|resp|chatcmpl|item|step|vs|ft"
    r"|job|task|doc|page|node|img|trace|span|container|skill|id)[_-]"
)
_ASSIGNED = re.compile(
    r"[A-Za-z_][A-Za-z0-9_.-]{0,40}[\"'`]?[ ]{0,4}(?:=>|[:=]{1,2})[ ]{0,4}[\"'`]?\Z"
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_GAP = re.compile(
    r"[A-Za-z0-9_-]{0,40}[\"'`]?[\s:=>\"'`(,*-]{1,12}(?:[A-Za-z_-]{1,24}[\"'`]?[\s:=>\"'`(,*-]{1,12}){0,3}\Z"
)
_TIE = re.compile(r"[\"'`]?[\s:=>\"'`(,*-]{1,12}\Z")
# The parts of a service's prefix that say what follows them: acme_live_…, acme-pat-….
_HINTED = re.compile(
    r"(?:[A-Za-z0-9]{1,12}[_-]){0,2}(?:key|tok|token|secret|sec|pat|live|test|prod|api|auth|priv|svc"
    r"|refresh|access|pw|admin|sk)[_-](?P<body>[A-Za-z0-9]{24,})=*\Z"
)
_NUMBERED = re.compile(r"[0-9]{1,4}-(?P<body>[A-Za-z0-9]{64})\Z")
_ARGUMENT = re.compile(r"[A-Za-z_]\([\"']\Z")
_BODY = re.compile(r"[A-Za-z0-9+/]{60,76}={0,2}\Z")
_SHORT = re.compile(r"[A-Za-z0-9+/]{20,76}={0,2}\Z")
_LEFT = frozenset(" \t\r\n\"'`")
_RIGHT = frozenset(("", '"', "'", "\\", "`"))
# What may stand before the last line of a key: an indent, a number of a line, a time, a comment.
_MARGIN = re.compile(r"[\s0-9.:#*+>/|\"'`T-]*\Z")
_BREAK = re.compile(r"\\{1,4}[nr](?:\\{1,4}[nr])?(?=\\{0,3}[\"'`])")  # of a line, in a string
_LINE_END = re.compile(r"\\{0,3}[\"'`,;]{0,2}\s*(?:\n|\Z)")


def names_service(before: str, services: frozenset[str] = SERVICES) -> bool:
    """Tell whether `before`, the text left of a value, names the service it is a key of."""
    gap = _GAP if services is SERVICES else _TIE
    for found in _NAME.finditer(before):
        if not gap.match(before, found.end()):
            continue
        parts = [part.lower() for part in _WORD.findall(found[0])]
        names = {found[0].lower(), *parts, *map("".join, itertools.pairwise(parts))}
        if names & services:
            return True
    return False


def _is_harmless(before: str) -> bool:
    return bool(_HARMLESS.search(before, max(0, len(before) - _NEAR)))


def _is_key_in_line(text: str, value: str, start: int) -> bool:
    """Tell whether `value` is a key, given the text before it on its line."""
    if "%" in value and is_wordy(_ESCAPE.sub(" ", value)):  # words in an address
        return False
    if "/" in value and (len(value) < 40 or entropy(value) < 4.4):
        return False
    before = text[max(0, start - 64) : start].rpartition("\n")[2]
    vault = before.endswith(".") and _VAULT.search(before)
    if vault and 24 <= len(value) <= 200 and is_random_looking(value):
        return True
    if _ID.match(value) or value.startswith("//") or is_slug(value):
        return False
    if is_uuid(value):  # an id, unless its own key says otherwise
        return names_service(before, UUID_SERVICES)
    digits = is_hex(value)
    if digits or len(value) < 20:  # an id, unless it is beside the name of a service
        named = (len(value) >= 20 or not digits) and names_service(before) and is_key_like(value)
        return named and not _is_harmless(before)
    return _is_key_form(value, before) and not _is_harmless(before)


def _is_key_form(value: str, before: str) -> bool:
    hinted = _HINTED.match(value)
    if hinted and (is_hex(hinted["body"]) or is_random_looking(hinted["body"])):
        return True
    numbered = _NUMBERED.match(value)
    if numbered and is_random_looking(numbered["body"]):
        return True
    if is_random_looking(value) and (_ASSIGNED.search(before) or _ARGUMENT.search(before)):
        return True
    return is_key_like(value) and names_service(before)


def _find_key_line(text: str, start: int, end: int) -> int:
    """Return the start of a line of a base64 key, -1 if there is none."""
    before = text[start - 1 : start]
    if before == "\\" and text[start] in "nr":  # the escape of a line break
        start, before = start + 1, "\n"
    elif text[start] == "-" and before in {"", "\n"}:  # a line that a diff takes away
        start += 1
    size = end - start
    if size < 24 or (before and before not in _LEFT) or text[end : end + 1].strip() not in _RIGHT:
        return -1
    value = text[start:end]
    if not (re.search("[A-Z]", value) and re.search("[a-z]", value)):
        return -1
    if size >= 60:
        found = bool(_BODY.match(value)) and entropy(value) >= 4.7
    else:
        found = _is_last_key_line(text, value, start, end)
    return start if found else -1


def _is_last_key_line(text: str, value: str, start: int, end: int) -> bool:
    """Tell whether `value` is a short line of a key: in a string with a break, or with padding."""
    if not _SHORT.match(value):
        return False
    if _BREAK.match(text, end):
        return is_random_looking(value.rstrip("="))
    padded = value[-1] == "="
    if not (padded or "+" in value or "/" in value) or not _LINE_END.match(text, end):
        return False
    if not (is_key_like(value) if padded else is_random_looking(value)):
        return False
    margin = text[max(0, start - 40) : start].rpartition("\n")[2]
    return len(margin) < 40 and bool(_MARGIN.match(margin)) and not _is_text(value)


def _is_text(value: str) -> bool:
    """Tell whether `value` is base64 of printable text, or no base64 at all."""
    try:
        base64.b64decode(value, validate=True)
    except binascii.Error:
        return True
    return bool(decode_text(value))


def _find_candidates(text: str, places: TextFeatures) -> Iterator[re.Match[str]]:
    for start, end in places.runs:
        yield from _CANDIDATE.finditer(text, start, end + _PADDING)


def random_tokens(text: str, places: TextFeatures) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of keys detected by their randomness and context."""
    for found in _find_candidates(text, places):
        value, (start, end) = found[0], found.span()
        if not _DIGIT.search(value) and not (value.isalpha() and len(value) >= 20):
            continue
        if (line := _find_key_line(text, start, end)) >= 0:
            yield "key-material", line, end
        elif _is_key_in_line(text, value, start) and not is_placeholder(value):
            yield "api-key", start, end
