"""Secrets that are known by the key, header, flag or address that they are the value of."""

# ruff: noqa: E501 - a regular expression is read whole.

import base64
import binascii
import re
from collections.abc import Iterator
from typing import NamedTuple

from memfs.secrets.entropy import names_service
from memfs.secrets.heuristics import (
    has_inner_digit,
    has_signs,
    is_about,
    is_example,
    is_generic,
    is_hex,
    is_key_like,
    is_masked,
    is_namesake,
    is_password_like,
    is_placeholder,
    is_random_looking,
    is_reference,
    is_sequence,
    is_slug,
    is_unwordly,
    is_uuid,
    is_wordy,
)
from memfs.secrets.prefilter import TextFeatures

# In lower case. A concatenation goes on in the next string: "…;PWD=" + "word"
_PASSWORD = re.compile(
    r"(?:pwd|password|passwd|pass)[ ]?=[ ]?(?:[\"'][ ]?[+.&][ ]?[\"'])?"
    r"(?P<value>[^\s;&\"'<>`,(){}\\]{3,100}+)(?P<after>[;&,\"'`<)\\]|\s|\Z)"
)
_ADDRESS_USER = re.compile(
    r"(?:\A|[;?&:{\"'` ,$])(?:uid|usr|user(?:[ _]?(?:id|name))?)[ ]?="
    r"[ ]?[\"']?(?P<value>[^\s;&\"'<>`,]{1,100})"
)
_TARGET = re.compile(
    r"(?:\A|[;?&{\"'` ])(?:dsn|driver|data[ ]source|initial[ ]catalog|database|dbname|server"
    r"|host|provider)[ ]?=[ ]?[^\s;&\"'<>`,]"
)
_CACHE = re.compile(r":[0-9]{4,5},\Z")  # cache.acme.dev:6380,password=…,ssl=True
_OPENING = frozenset(("", *";?& $\"'`:"))  # what may stand before the name
_AROUND = 200  # characters on either side
_END = re.compile(r"[\n<>]")

# Tried in lower case, where the literals of `prefilter.SIGNS` are.
_KEYWORD = re.compile(
    r"pass(?:word|wd|[ ]?phrase|code|wort)?|p(?:swd|sw|wd|w|sk)|kennwort|senha|contrase[nñ]a|clave|mdp"
    r"|mot de passe|palavra[- ]passe|wachtwoord|hasło|lösenord|identified by|пароль|비밀번호|비번"
    r"|密码|密碼|口令|パスワード|(?:zugangs|anmelde)daten|credencia(?:le?s|is)|credenziali|identifiants"
    r"|secret|token|credentials?|bearer|auth(?:orization)?|salt|key|schlüssel|chiave|chave|clé"
)
_KEYS = tuple("secret token credential bearer auth salt schlüssel chiave chave clé".split())
# What makes a key one that is kept secret, left of the word `key`.
_KEPT = tuple(
    """
api access auth private encryption signing account shared master license app deploy stream service
user admin client consumer session storage write read integration preshared pre-shared pre_shared
""".split()
)
_BARE = frozenset(
    "pass|pswd|psw|pwd|pw|psk|identified by|auth|bearer|salt|mdp|clave|clé".split("|")
)
# The short words are also keywords at the end of these (dbpass, storepass), and the longer of
# them at the end of any other name, but for words of the language: bypass, compass.
_COMPOUND = tuple("c u db my pg ftp smtp ssh http sql mail user root admin store key login".split())
_ENDING = frozenset({"pass", "pwd", "psw", "pswd"})
_LANGUAGE = ("by", "com", "over", "tres", "under", "sur", "im", "en")
# What may follow the keyword in a key's name, and the names that are about a secret, not for one.
_SUFFIX = re.compile(r"s?(?:[_A-Z0-9-][A-Za-z0-9_-]*)?\Z")
_ABOUT = re.compile(
    r"(?:count|limit|ur[il]|path|file|name|type|ids?|hash|len|length|size|expir\w*|ttl|header"
    r"|field|env|policy|reset|hint|label|prefix|suffix|format|pattern|regex|version|model|usage"
    r"|budget|manager|mgr|provider|class|endpoint|arn|ref|index|offset|param|algorithm|scope|issuer"
    r"|exists|required|min|max|strength|reuse|lifetime|validity|validator|confirm\w*|salt_rounds)"
    r"s?\Z",
    re.IGNORECASE,
)
# What a password is of, and the verb: in English, German, French, Spanish, Italian, Portuguese.
_OF = (
    r"[ ](?:for|of|to|on|in|at|from|van|für|fuer|zu[rm]?|von|vom|de[nrms]?|auf|im|am|pour|du|des|sur|para"
    r"|del|do|da|dos|das|di|della|dello|per|al|el|en|no|na)(?:[ ][^\s:=|]{1,40}){1,9}?"
)
_IS = (
    r"(?:is|was|are|equals|ist|war|lautet|lauten|heißt|est|es|son|è|é|sono|são)"
    r"(?:[ ](?:now|still|currently|jetzt|nun|maintenant|ahora|ora|agora)|[ ](?:(?:re)?set|changed)[ ]to)?"
)
# How a value is tied to the name before it. `pair`: the name and the value have keys of their own
# (name: TOKEN, value: …); `says`: prose and tables.
_SEPARATOR = re.compile(
    r"(?P<suffix>[A-Za-z0-9_-]{0,32}+)(?:(?P<call>\([ ]{0,4}(?=\\?[\"']))|(?P<pair>[\"'`]?[ "
    r"]{0,4}(?:</[A-Za-z:]{1,20}>|[,;{]|\)[ ]{0,2}\{)?\s{0,60}+[<\"']?(?:value|default|"
    r"string)[\"']?[ ]{0,4}[:=>][ ]{0,4})|(?P<comma>\\?[\"']?[ ]{0,4},[ \t]{0,8}(?=\\?[\"']))|"
    rf"(?P<says>[\"'`*]{{0,3}}(?:[ ]\([^()\n]{{1,40}}\))?(?:{_OF})?[ ](?:{_IS}):?[ ][*]{{0,2}}"
    rf"|(?:{_OF}|[ ][A-Za-z]{{2,20}})[ ]?[:=][ ]{{1,4}}|[ ]\([^()\n]{{1,40}}\):[ ]{{1,4}}|[\"'`*]{{0,3}}[ ]{{1,30}}[|"
    r"→\u2013-][ ]{1,30})|(?:\[[0-9]{0,4}\])?(?:\\{0,3}[\"'`\])*]){0,3}[ \t]{0,40}+(?:[:]?[ "
    r"]?(?:as[ ]|As[ ])?(?:str|String|string)[ ]{0,2}(?==))?(?P<assign>=>|[:?+]=|!==?|[:=]{1,3}|->|"
    r"<-|\uff1a)(?P<bold>[*_]{2})?[ \t]{0,40}(?:&quot;|%22)?|(?P<path>/)|(?P<space>\\?[\"'`]?[ "
    r"\t]{1,8}))"
)
# The scheme of a header is a word of the service's own: Authorization: GenieKey …
_SCHEME = re.compile(
    r"[ ]?[\"'`]?[A-Za-z][A-Za-z-]{2,24}[ ](?:[A-Z0-9]{4,32}:)?(?=[A-Za-z0-9+/=_.-]{16})"
)
_ELEMENT = re.compile(r"(?P<suffix>[A-Za-z0-9_-]{0,32}+)(?P<xml>(?:[ ][^<>\n]{0,60}+)?>)")
_VALUE = re.compile(
    r"(?:(?:bearer|basic|token|apikey|bot|key|digest|ntlm|negotiate)[ ]{1,4})?@?"
    r"(?:\\{0,3}(?P<quote>[\"'`])(?P<quoted>(?:[^\"'`\\\n]|\\[^\"'`\n]|(?!(?P=quote))[\"'`]){1,600})"
    r"\\{0,3}(?P=quote)"
    r"|(?P<open>[\"'`]?)(?P<bare>(?>(?:[^\s\"'`<>,&;\\]|\\(?![nrt])|[&;](?!quot;|[A-Za-z_][A-Za-z0-9_. -]{0,30}=)){1,600})))",
    re.IGNORECASE,
)
# The name and the value in one word: acme-api-key-3f9a…
_GLUED = re.compile(
    r"(?:[_-]?(?:key|token|secret))?[_-](?P<value>[A-Za-z0-9-]{20,200}+)(?![A-Za-z0-9_.])",
    re.IGNORECASE,
)
_XML_NAME = re.compile(r"<[A-Za-z0-9:_.-]{0,30}\Z")
_LOGIN = re.compile(
    r"(?:(?<![a-z])(?:login|user|machine|username|account|role|create|alter|set|identity|require)"
    r"(?![a-z])|--?[a-z-]{0,20}\Z|[#%]define[ ]\w{0,40}\Z|(?:env|arg)[ ]\w{0,40}\Z|\A\s*\Z)",
    re.IGNORECASE,
)
_OPTION = re.compile(r"(?<![A-Za-z0-9])--?[a-z-]{0,20}\Z", re.IGNORECASE)
# The key of a program that was bought: ABCDE-12345-…
_LICENCE = re.compile(r"(?=[A-Z-]*[0-9])(?:[A-Z0-9]{4,8}-){3,7}[A-Z0-9]{4,8}\Z")
# A line of an environment file: NAME=value, and nothing else.
_ENVIRONMENT = re.compile(r"\s*(?:export\s+)?[A-Z0-9_]*\Z")
_HEADER = re.compile(r"(?:-H|--header)[ =]{0,2}[\"'][A-Za-z_-]{0,60}\Z")
_SETTING = re.compile(r"(?:\s*(?:export\s+)?[A-Z0-9_]*|\s*[a-z0-9-]+(?:\.[a-z0-9-]+)+\.)\Z")
_PUBLIC = re.compile(r"publi[a-z]{1,9}[_ -]?\Z", re.IGNORECASE)
_WRONG = re.compile(
    r"(?:wrong|invalid|incorrect|bad|fake|dummy|example|bogus|falsche[sn]?|mauvais)[ _-]?\Z",
    re.IGNORECASE,
)  # …password
_PUBLIC_KEY = re.compile(r"public[_ -]?key\Z", re.IGNORECASE)  # …token: of a library
# "… as the password", "… ist das Kennwort": the value comes first.
_BEFORE = re.compile(
    r"(?<!\S)[\"'`*]{0,3}(?P<value>[^\s\"'`*=]{6,100})[\"'`*]{0,3}[ ](?:as|is|als|ist|comme|est|como|es"
    r"|come|è|é)[ ](?:[^\s:=|.,;]{1,20}[ ]){0,4}[^\s:=|.,;]{0,20}\Z"
)
_ENDS = re.compile(
    r"s?(?:[\s.,;:!?)]{0,2}\Z|[.,;!)\n]|[ ](?:for|of|on|to|für|von|pour|para|de|per|di)[ ])"
)
# A user's name before the password of access data: bob / …
_ACCESS = ("credential", "credencia", "credenzial", "zugangs", "anmelde", "identifiants")
_USER = re.compile(r"[\w.@+-]{1,60}[ ]?[/|][ ]")
_GOES_ON = re.compile(r"[ ][A-Za-z]")  # a sentence does, a setting does not
# A directive of .netrc, .esmtprc and the like, and attributes side by side: whatever is there.
_DIRECTIVE = re.compile(r"\A\s*\Z|(?<![a-z])(?:user|username|login)=[\"'][^\"'<>]{1,64}[\"'] \Z")
_ITEM = re.compile(r"(?:[,\[]\s{0,4}|^\s*)[\"'][\w.-]{0,40}\Z")
_ROUTE = re.compile(r"[#/]?[A-Za-z_-]+(?:[/#:][A-Za-z_:-]+)*\Z")
_TRAILING = ";,)}]:\\.&*"


class _Claim(NamedTuple):
    """The context of a value: the sort of its key, the separator, the text around it."""

    sort: str
    how: str
    quoted: bool
    before: str
    tie: str
    goes_on: bool


def _is_basic_auth(value: str) -> bool:
    """Tell whether `value` is `name:password` in base64, as in a `Basic` header."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (ValueError, binascii.Error):
        return False
    name, colon, password = decoded.partition(":")
    return (
        bool(colon and name and password) and decoded.isprintable() and not is_placeholder(password)
    )


def _is_key(value: str, claim: _Claim) -> bool:
    if claim.how == "path":
        return len(value) >= 24 and is_key_like(value)
    if claim.how in {"space", "says"} and not _OPTION.search(claim.before):
        return len(value) >= (16 if claim.how == "says" else 20) and is_key_like(value)
    header = claim.how == "assign" and _HEADER.search(claim.before)
    if header and re.search("[A-Za-z]", value) and re.search("[0-9]", value):
        return len(value) >= 8 and not is_wordy(value) and not is_namesake(value)
    setting = claim.how == "assign" and _ENVIRONMENT.match(claim.before)
    if setting and re.search(r"[a-z]\d|\d[a-z]", value):
        return len(value) >= 8 and (is_example(value) or not is_wordy(value))
    if claim.quoted and claim.how == "assign" and len(value) >= 8 and has_inner_digit(value):
        return not is_wordy(value)
    return is_key_like(value) or _is_basic_auth(value)


def _is_password(value: str, claim: _Claim) -> bool:
    if claim.how == "says":
        quoted = claim.quoted and claim.tie.rstrip(" :*")[-1:].isalpha()  # the password is "word"
        return len(value) >= 6 and (quoted or is_unwordly(value))
    own = (
        value.isalpha() and value.lower() in claim.before.lower()
    )  # CLICKHOUSE_PASSWORD=clickhouse
    if claim.how == "path" or own or is_about(value):
        return False
    if claim.how == "space" and not _LOGIN.search(claim.before):
        return (len(value) >= 16 and is_key_like(value)) or (len(value) >= 7 and has_signs(value))
    setting = claim.how == "assign" and _SETTING.match(claim.before)
    if setting and re.fullmatch(r"\w{6,64}", value):
        return not value.isupper() and not (value.isalpha() and claim.goes_on)
    return is_password_like(value, quoted=claim.quoted or claim.how == "xml") or is_key_like(value)


def _is_generated(value: str) -> bool:
    """Tell whether `value` looks like a generated salt, with every sign and even spaces."""
    signs = sum(not char.isalnum() and char != " " for char in value)
    mixed = len(value) >= 48 and len(set(value)) >= 28 and bool(re.search("[0-9]", value))
    return mixed and signs >= 10 and value.count(" ") <= 6


def _is_directive(value: str, claim: _Claim) -> bool:
    """Tell whether `value` is the password of a login, however plain: `user="x" password="pass"`."""
    if claim.sort != "password" or not claim.quoted or not is_generic(value):
        return False
    tied = claim.how == "space" or (claim.how == "assign" and claim.before.strip())
    return bool(tied and _DIRECTIVE.search(claim.before))


def _is_secret(value: str, claim: _Claim) -> bool:
    sort, how, quoted, _, tie, _ = claim
    if quoted and how in {"assign", "comma"} and _is_generated(value):
        return True
    if any(char.isspace() for char in value) or not value.isprintable():
        return False
    if _is_directive(value, claim):
        return True
    shown = is_masked(value) or (len(value) < 32 and is_placeholder(value))
    if shown and not (sort == "key" and _is_basic_auth(value)):
        return False
    if is_namesake(value) and quoted and "=" not in tie:  # a test, or an example of a request
        return False
    if (
        (("/" in value or "#" in value[:1]) and _ROUTE.match(value))
        or is_reference(value)
        or (sort != "password" and is_slug(value.removesuffix(".md")))
        or (len(value) < 24 and is_sequence(value))
    ):
        return False
    if sort == "loose":
        known = is_uuid(value) and (how == "xml" or names_service(f"{claim.before}key="))
        sized = known or (len(value) >= 32 and is_hex(value))
        tied = how in {"assign", "pair", "xml"}
        if tied and _LICENCE.match(value):
            return True
        if tied or how == "says":
            return is_key_like(value) and ((tied and sized) or is_random_looking(value))
        return False
    return _is_key(value, claim) if sort == "key" else _is_password(value, claim)


def _find_value(text: str, at: int) -> tuple[int, int, bool] | None:
    """Return (start, end, quoted) of the value at `at`; None if there is none."""
    found = _VALUE.match(text, at)
    if not found:
        return None
    if found["quoted"] is not None:
        start, end = found.span("quoted")
        while end - start > 2 and text[start] in "\"'" and text[end - 1] == text[start]:
            start, end = start + 1, end - 1
        return start, end, True
    start, end = found.span("bare")
    if not found["open"]:
        while end > start and text[end - 1] in _TRAILING:
            end -= 1
    return start, end, False


def _classify_keyword(text: str, word: re.Match[str], line: str) -> str:
    """Return the sort of key that the keyword `word` is part of, after `line`; '' for none."""
    sort = "loose" if word[0] == "key" else "key" if word[0].startswith(_KEYS) else "password"
    left = line[-16:].lower()
    if sort == "loose":
        if (left[:-1] if left[-1:] in {"_", " ", "-"} else left).endswith(_KEPT):
            return "key"
        return "" if left[-1:].isalpha() and text[word.start()].islower() else sort
    if word[0] in _BARE:
        written, after = text[word.start() : word.end()], text[word.end() : word.end() + 1]
        hump = written.istitle() and len(written) > 2
        ending = word[0] in _ENDING and after in {":", "=", " "} and not left.endswith(_LANGUAGE)
        if left[-1:].isalpha() and not (hump or ending or left.endswith(_COMPOUND)):
            return ""
        if len(written) < 4 and after.isalnum():
            return ""
    return sort


def _find_value_before(text: str, word: re.Match[str], line: str) -> tuple[int, int] | None:
    found = _BEFORE.search(line) if _ENDS.match(text, word.end()) else None
    if not found or is_placeholder(found["value"]) or not is_unwordly(found["value"]):
        return None
    start, end = found.span("value")
    at = word.start() - len(line)
    return at + start, at + end


def _find_keywords(places: TextFeatures) -> Iterator[re.Match[str]]:
    done = 0
    for at in places.at.get("key", ()):
        if at >= done and (word := _KEYWORD.match(places.lower, at)):
            done = word.end()
            yield word


def find_assignments(text: str, places: TextFeatures) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of the secret values of keys, headers and flags."""
    until = nested = 0
    for word in _find_keywords(places):
        # A value may hold further keys (?token=…&secret=…), but not be read once for each.
        nested = nested + 1 if word.start() < until else 0
        if nested > 4:
            continue
        line = text[max(0, word.start() - 80) : word.start()].rpartition("\n")[2]
        sort = _classify_keyword(text, word, line)
        if not sort:
            continue
        if sort == "password" and (said := _find_value_before(text, word, line)):
            yield "password", *said
            continue
        if sort == "key" and (glued := _GLUED.match(text, word.end())):
            value = glued["value"]
            random = len(value) >= 20 and (is_hex(value) or is_random_looking(value))
            if is_uuid(value) or (random and not is_slug(value)):
                yield _get_type(word[0]), *glued.span("value")
                continue
        after = _XML_NAME.search(line) and _ELEMENT.match(text, word.end())
        after = after or _SEPARATOR.match(text, word.end())
        if not after or not _SUFFIX.match(after["suffix"]) or _ABOUT.search(after["suffix"]):
            continue
        if (sort == "loose" and _PUBLIC.search(line)) or _PUBLIC_KEY.search(line):
            continue
        scheme = word[0] == "authorization" and _SCHEME.match(text, after.end())
        user = word[0].startswith(_ACCESS) and _USER.match(text, after.end())
        sort = "password" if user else sort
        place = _find_value(text, (scheme or user or after).end())
        if not place:
            continue
        start, end, quoted = place
        until = max(until, end)
        how = (after.lastgroup or "").replace("bold", "assign")
        if (how == "assign" and ("**" in line or after["bold"])) or (
            how == "space" and text[start - 1] == "`"
        ):
            how = "says"
        listed = how == "comma" and sort == "password" and _ITEM.search(line)
        opens = how == "space" and text[word.start() : word.end()] == "Pass"  # a sentence
        if listed or opens:
            continue
        goes_on = after[0].endswith(": ") and bool(_GOES_ON.match(text, end))
        claim = _Claim(sort, how, quoted, line, after[0], goes_on)
        if _is_secret(text[start:end], claim) and not _WRONG.search(line):
            yield ("password" if sort == "password" else _get_type(word[0])), start, end


def _get_type(word: str) -> str:
    if "token" in word or "bearer" in word or "auth" in word:
        return "token"
    return "api-key" if "key" in word else "secret"


def find_address_passwords(text: str, places: TextFeatures) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of the passwords in connection strings."""
    done = 0
    for at in places.at.get("connection", ()):
        found = _PASSWORD.match(places.lower, at) if at >= done else None
        if not found:
            continue
        done = found.end("value")
        start, end = found.span("value")
        if not _is_connection_string(places.lower, at, found):
            continue
        stands_in = (is_masked, is_placeholder, is_generic, is_namesake, is_reference)
        if not any(tell(text[start:end]) for tell in stands_in):
            yield "password", start, end


def _is_connection_string(lower: str, at: int, found: re.Match[str]) -> bool:
    left = _END.split(lower[max(0, at - _AROUND) : at])[-1]
    between = left[-1:] or found["after"]
    if between == "," and _CACHE.search(left):
        return True
    left = left.removesuffix("user")  # userpass=
    if left[-1:] not in _OPENING:
        return False
    right = _END.split(lower[found.end("value") : found.end("value") + _AROUND])[0]
    user = _ADDRESS_USER.search(left) or _ADDRESS_USER.search(right)
    target = _TARGET.search(left) or _TARGET.search(right)
    if user and user["value"].rstrip(";") == found["value"]:
        return False
    if left[-1:] in {"?", "&"} or left.endswith("&amp;") or found["after"] == "&":
        return bool(user)
    if ";" in {left.rstrip()[-1:], found["after"]}:
        return bool(user or target)
    return bool(user and target) and "," not in {left.rstrip()[-1:], found["after"]}
