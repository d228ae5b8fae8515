"""Secrets that are known by the key, header or flag that they are the value of."""

# ruff: noqa: E501, ERA001 - a regular expression is read whole.

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from memfs.core.secrets.values import (
    generic,
    is_hex,
    key_like,
    password_like,
    random_looking,
    reference,
    sequence,
    stand_in,
    worded,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEYWORD = re.compile(
    r"(?P<password>password|passwd|passphrase|passcode|passwort|kennwort|senha|contrase[nñ]a"
    r"|mot de passe|пароль|비밀번호|비번|密码|密碼|口令|パスワード"
    r"|(?:(?<![a-z])|(?<=db)|(?<=my)|(?<=ftp)|(?<=smtp)|(?<=sql)|(?<=user)|(?<=mail)|(?<=root)"
    r"|(?<=admin))pass(?![a-z]{2})|(?<![a-z])(?:pwd|psw|pw|pswd)(?![a-z])|(?<=db)pwd"
    r"|(?<![a-z])identified[ ]by(?![a-z]))"
    r"|(?P<key>secret|token|api[_ -]?key|access[_ -]?key|auth[_ -]?key|private[_ -]?key"
    r"|encryption[_ -]?key|signing[_ -]?key|account[_ -]?key|shared[_ -]?key|master[_ -]?key|pre-?shared[_ -]?key"
    r"|license[_ -]?key|app[_ -]?key|deploy[_ -]?key|stream[_ -]?key|service[_ -]?key"
    r"|user[_ -]?key|(?<![a-z])salt(?![a-z])|credentials?(?![a-z])|(?<![a-z])auth(?![a-z])"
    r"|authorization|(?<![a-z])bearer(?![a-z]))"
    r"|(?P<loose>(?<![a-z])key(?![a-z]))",
    re.IGNORECASE,
)
# What may follow the keyword in a key's name, and the names that are about a secret, not for one.
_SUFFIX = re.compile(r"s?(?:[_A-Z0-9-][A-Za-z0-9_-]*)?\Z")
_ABOUT = re.compile(
    r"(?:count|limit|ur[il]|path|file|name|type|ids?|hash|len|length|size|expir\w*|ttl|header"
    r"|field|env|policy|reset|hint|label|prefix|suffix|format|pattern|regex|version|model|usage"
    r"|budget|manager|provider|class|endpoint|arn|ref|index|offset|param|algorithm|scope|issuer"
    r"|exists|required|min|max|strength|reuse|lifetime|validity|validator|confirm\w*|salt_rounds)"
    r"s?\Z",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(
    r"(?P<suffix>[A-Za-z0-9_-]{0,32}+)"
    r"(?:(?P<call>\([ ]{0,4}(?=\\?[\"']))"
    r"|(?P<comma>\\?[\"'][ ]{0,4},[ \t]{0,8}(?=\\?[\"']))"
    r"|(?:\\{0,3}[\"'`\])*]){0,3}[ \t]{0,40}+(?:[:]?[ ]?(?:str|String|string)[ ]{0,2}(?==))?"
    r"(?P<assign>=>|:=|[:=]{1,3}|->)[ \t]{0,40}"
    r"|(?P<path>/)"
    r"|(?P<space>\\?[\"'`]?[ \t]{1,8}))"
)
_ELEMENT = re.compile(r"(?P<suffix>[A-Za-z0-9_-]{0,32}+)(?P<xml>(?:[ ][^<>\n]{0,60}+)?>)")
_VALUE = re.compile(
    r"(?:(?:bearer|basic|token|apikey|bot|key|digest)[ ]{1,4})?"
    r"(?:\\{0,3}(?P<quote>[\"'`])(?P<quoted>(?:[^\"'`\\\n]|\\[^\"'`\n]|(?!(?P=quote))[\"'`]){1,600})"
    r"\\{0,3}(?P=quote)"
    r"|(?P<open>[\"'`]?)(?P<bare>[^\s\"'`<>,]{1,600}+))",
    re.IGNORECASE,
)
_XML_NAME = re.compile(r"<[A-Za-z0-9:_.-]{0,30}\Z")
_LOGIN = re.compile(
    r"(?:(?<![a-z])(?:login|user|machine|username|account|role|create|alter|identity|requirepass)"
    r"(?![a-z])|--?[a-z-]{0,20}\Z|\A\s*\Z)",
    re.IGNORECASE,
)
# A login that a document tells its readers: **Password**: Welcome1
_EMPHASIS = re.compile(r"\*\*[A-Za-z ]{0,20}\Z")
_DEFAULT = re.compile(r"[A-Za-z]+[0-9]{1,4}\Z")
# A line of an environment file: NAME=value, and nothing else.
_ENVIRONMENT = re.compile(r"\s*(?:export\s+)?[A-Z0-9_]*\Z")
# A directive of .netrc, .esmtprc and the like, and attributes side by side: whatever is there.
_DIRECTIVE = re.compile(r"\A\s*\Z|(?<![a-z])(?:user|username|login)=[\"'][^\"'<>]{1,64}[\"'] \Z")
_ROUTE = re.compile(r"[#/]?[A-Za-z_-]+(?:[/#:][A-Za-z_:-]+)*\Z")
_TRAILING = ";,)}]:\\.&"

_COMMANDS = (
    # curl -u name:password, and what else takes the pair
    re.compile(
        r"(?<![A-Za-z0-9_-])(?:-u|--user|--proxy-user|-U)[ =]?[ ]{0,4}[\"']?[^\s:\"'/]{0,80}+[\"']?:"
        r"[\"']?(?P<value>[^\s\"']{3,200}+)"
    ),
    re.compile(
        r"(?<![A-Za-z0-9_-])(?:psexec|sshpass|mysql[a-z]{0,6}|ldapsearch|smbclient|redis-cli|login)"
        r"(?:\.exe)?[ ][^\n]{0,120}?(?<=[ ])-(?:p|w|a)[ =]?[\"']?(?P<value>[^\s\"'-][^\s\"']{3,100}+)",
        re.IGNORECASE,
    ),
    # client.login("name", "password")
    re.compile(
        r"(?:login|authenticate|connect|signin|sign_in|basicauth|basic_auth|auth)\([ ]{0,4}"
        r"(?:[A-Za-z_.]{1,40}, ?)?([\"'])[^\"'\n]{1,80}\1,[ ]{0,4}([\"'])(?P<value>[^\s\"'\n]{5,128})\2",
        re.IGNORECASE,
    ),
)


_PGPASS = re.compile(
    r"^[A-Za-z0-9.*_-]{1,100}:(?:[0-9]{4,5}|\*):[A-Za-z0-9_*-]{1,64}:[A-Za-z0-9_-]{1,64}:"
    r"(?P<value>[^\s:/$<{]{4,100}+)$",
    re.MULTILINE,
)


def _basic(value: str) -> bool:
    """Tell whether `value` is `name:password` in base64, as in a `Basic` header."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (ValueError, binascii.Error):
        return False
    name, colon, password = decoded.partition(":")
    return bool(colon and name and password) and decoded.isprintable() and not stand_in(password)


def _is_secret(value: str, sort: str, how: str, *, quoted: bool, before: str) -> bool:
    """Tell whether `value` is a secret that a key of `sort` names by `how` (see `_SEPARATOR`)."""
    if quoted and len(value) >= 48 and how in {"assign", "comma"} and len(set(value)) >= 28:
        signs = sum(not char.isalnum() and char != " " for char in value)
        return signs >= 10 and value.count(" ") <= 6 and bool(re.search("[0-9]", value))
    if any(char.isspace() for char in value) or not value.isprintable():
        return False
    if sort == "password" and quoted and _DIRECTIVE.search(before):
        known = generic(value) and how in {"space", "assign"}
        if known and (how == "space" or before.strip()):
            return True
    if len(value) < 32 and stand_in(value) and not (sort == "key" and _basic(value)):
        return False
    if (
        (("/" in value or "#" in value[:1]) and _ROUTE.match(value))
        or reference(value)
        or (len(value) < 24 and sequence(value))
    ):
        return False
    if how == "path":
        return sort == "key" and len(value) >= 24 and key_like(value)
    if sort == "loose":
        sized = len(value) >= 32 and is_hex(value)
        return how == "assign" and key_like(value) and (sized or random_looking(value))
    if sort == "key":
        if how == "space":
            return len(value) >= 20 and key_like(value)
        if how == "assign" and _ENVIRONMENT.match(before) and re.search(r"[a-z]+\d|\d[a-z]", value):
            return len(value) >= 8 and not worded(value)
        return key_like(value) or _basic(value)
    if how == "space" and not _LOGIN.search(before):
        return len(value) >= 16 and key_like(value)
    if _EMPHASIS.search(before) and _DEFAULT.match(value):
        return False
    if how == "xml":
        quoted = True
    if how == "assign" and _ENVIRONMENT.match(before) and re.fullmatch(r"\w{6,64}", value):
        return not value.isupper()
    return password_like(value, quoted=quoted) or key_like(value)


def _value(text: str, at: int) -> tuple[int, int, bool] | None:
    """Return where the value that begins at `at` is, and whether it stood in quotes."""
    found = _VALUE.match(text, at)
    if not found:
        return None
    if found["quoted"] is not None:
        return *found.span("quoted"), True
    start, end = found.span("bare")
    if not found["open"]:
        while end > start and text[end - 1] in _TRAILING:
            end -= 1
    return start, end, False


def assigned(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of the values of keys, headers and flags that name a secret."""
    until = nested = 0
    for word in _KEYWORD.finditer(text):
        # A value may hold further keys (?token=…&secret=…), but not be read once for each.
        nested = nested + 1 if word.start() < until else 0
        if nested > 4:
            continue
        line = text[max(0, word.start() - 80) : word.start()].rpartition("\n")[2]
        after = _XML_NAME.search(line) and _ELEMENT.match(text, word.end())
        after = after or _SEPARATOR.match(text, word.end())
        if not after or not _SUFFIX.match(after["suffix"]) or _ABOUT.search(after["suffix"]):
            continue
        how = after.lastgroup or ""
        if word.lastgroup == "loose" and re.search(r"publi[a-z]{1,9}[_ -]?\Z", line, re.IGNORECASE):
            continue
        place = _value(text, after.end())
        if not place:
            continue
        start, end, quoted = place
        until = max(until, end)
        while quoted and end - start > 2 and text[start] in "\"'" and text[end - 1] == text[start]:
            start, end = start + 1, end - 1
        sort = word.lastgroup or ""
        if _is_secret(text[start:end], sort, how, quoted=quoted, before=line):
            kind = "password" if sort == "password" else _kind(word[0])
            yield kind, start, end


def _kind(word: str) -> str:
    word = word.lower()
    if "token" in word or "bearer" in word or "auth" in word:
        return "token"
    return "api-key" if "key" in word else "secret"


def given(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of the passwords that are arguments of known commands."""
    for found in _PGPASS.finditer(text):
        yield "password", *found.span("value")
    for pattern in _COMMANDS:
        for found in pattern.finditer(text):
            start, end = found.span("value")
            value = text[start:end]
            if "docker exec" in text[max(0, start - 100) : start]:
                continue  # a container of the reader's own machine
            if stand_in(value) or reference(value) or value.isdigit() or "/" in value[:2]:
                continue
            if password_like(value, quoted=True) or key_like(value):
                yield "password", start, end
