"""Secrets in the arguments of commands and calls, and in addresses."""

# ruff: noqa: E501 - a regular expression is read whole.

import re
from collections.abc import Iterator

from memfs.secrets.heuristics import (
    is_example,
    is_generic,
    is_key_like,
    is_masked,
    is_namesake,
    is_password_like,
    is_placeholder,
    is_reference,
    is_wordy,
)
from memfs.secrets.prefilter import LOGINS, TextFeatures

# Searched in lower case, each where the literals of its name in `prefilter.SIGNS` are in a text.
_COMMANDS = {
    # curl -u name:password, and what else takes the pair
    "user": re.compile(
        r"-(?<![a-z0-9_-]-)(?:u|-user|-proxy-user)[ =]?[ ]{0,4}[\"']?[^\s:\"'/+%]{0,80}+[\"']?:"
        r"[\"']?(?P<value>[^\s\"']{3,200}+)"
    ),
    # echo password | sudo -S
    "echo": re.compile(
        r"echo[ ](?:-n[ ])?[\"']?(?P<value>[^\s\"'|]{5,100}+)[\"']?[ ]{0,2}\|[ ]{0,2}"
        r"(?:sudo[ ]-s|passwd[ ]--stdin|docker[ ]login)"
    ),
    # bob/password@host, as Oracle writes it
    "oracle": re.compile(
        r"(?:sqlplus[ ]|oracle:(?:thin|oci):)[\"']?[a-z0-9_]{1,40}/(?P<value>[^\s\"'@/]{4,60}+)@"
    ),
    # bob:password@tcp(host), as Go writes it
    "tcp": re.compile(
        r"(?<![a-z0-9_])[a-z0-9_]{1,40}+:(?P<value>[^\s\"'@:/()]{4,60}+)@(?:tcp|unix)\("
    ),
    "account": re.compile(
        r"(?:htpasswd[ ]-[a-z]{0,4}b[a-z]{0,4}[ ]\S{1,80}[ ]\S{1,60}|net[ ]user[ ]\S{1,60}|net[ ]use[ ][^\n]{1,80}?/user:\S{1,60}"
        r"|add_user[ ]\S{1,60}|change_password[ ]\S{1,60}|convertto-securestring(?:[ ]-string)?)[ ]\\?[\"']?"
        r"(?P<value>[^\s\"'/-][^\s\"']{4,100}+)"
    ),
}
# A header of one's own, "X-Acme-Access: …", lets in, unless its name says that it does something else.
_HEADER = re.compile(
    r"[\"']x-(?:[a-z]{1,20}-){0,4}(?!ids?:|request|trace|span|hash|digest|signature|nonce|correlation"
    r"|session|version|agent)[a-z]{1,20}(?:[\"'][ ]?)?[:,][ ]?[\"']?(?P<value>[a-z0-9+/=_.~-]{16,200}+)[\"']"
)
# mysql -uname -ppassword: the flag is quicker to look for than the names of all that take it.
_FLAG = re.compile(r" -(?:p[ =:]?|[wa] )[\"']?(?P<value>[^\s\"'-][^\s\"']{3,100}+)")
_TAKES_FLAG = re.compile(
    r"(?<![a-z0-9_])(?:(?P<database>mysql|mariadb|mongo|redis-cli|sqlcmd)|psexec|sshpass|smbclient|login"
    r"|ldap(?:search|add|modify)|7z|evil-winrm|crackmapexec)[a-z0-9]{0,6}(?:\.exe)?(?: |\Z)"
)
# The call of a login, with a name and a password, or with a host before them.
_CALL = re.compile(
    r"\([ ]{0,4}(?:[$a-z_.]{1,40}, ?)?(?:\"[^\"\n]{0,160}\", ?|'[^'\n]{0,160}', ?)?"
    r"([\"'])[^\"'\n]{1,80}\1[ ]?, ?([\"'])(?P<value>[^\s\"'\n]{5,128})\2"
)
# What opens the door itself, where a test or a document would log in to what it made up.
_OPENING = ("oracle", "account", "getconnection", "pscredential", "mysqli", "mysqli_connect", "pdo")
# A line of .pgpass: host:port:database:user:password
_PGPASS = re.compile(
    r":(?:[0-9]{4,5}|\*):[A-Za-z0-9_*-]{1,64}:[A-Za-z0-9_-]{1,64}:"
    r"(?P<value>[^\s:/$<{]{4,100}+)$",
    re.MULTILINE,
)
_HOST = re.compile(r"[A-Za-z0-9.*_-]{1,100}\Z")
_URL = re.compile(r"://(?P<authority>[^\s/\"'`<>?(){}|\\]{5,300}+)")
# What the table of formats cannot hold: values known beside a name, or by a sign, likewise.
_BESIDE = (
    ("star", "password-hash", re.compile(r"(\*[0-9a-f]{40})(?![0-9a-f])")),
    (
        "contribsys",
        "password",
        re.compile(
            r"contribsys[a-z_.]{0,8}[\"']?[ ]{0,4}[:= ][ ]{0,4}[\"']?([0-9a-f]{8}:[0-9a-f]{8})(?![0-9a-f])"
        ),
    ),
    (
        "okta",
        "okta-token",
        re.compile(r"okta[^\n]{0,60}?(?<![a-z0-9])(00[a-z0-9_-]{40})(?![a-z0-9_-])"),
    ),
    ("token", "token", re.compile(r"token[\"' :=]{1,4}([a-z0-9]{6}\.[a-z0-9]{16})(?![a-z0-9.])")),
    (
        "sonar",
        "sonar-token",
        re.compile(r"sonar\.(?:login|token)[\"' :=,]{1,6}([0-9a-f]{40})(?![0-9a-f])"),
    ),
)


def _find_candidates(places: TextFeatures) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, plain) of arguments that may be passwords; `plain`: even an example."""
    lower, at = places.lower, places.at
    for name, pattern in _COMMANDS.items():
        for found in pattern.finditer(lower) if name in at else ():
            yield *found.span("value"), name in _OPENING and not is_namesake(found["value"])
    for found in _FLAG.finditer(lower) if "flag" in at else ():
        line = lower[max(0, found.start() - 140) : found.start()].rpartition("\n")[2]
        if command := _TAKES_FLAG.search(line):
            # What opens the database of a development machine is no secret: it is in every README.
            yield *found.span("value"), not command["database"]
    for found in _CALL.finditer(lower) if "call" in at else ():
        name = lower[max(0, found.start() - 20) : found.start()].removesuffix(" ").rstrip("=")
        if name.endswith(LOGINS):
            plain = name.endswith(_OPENING) and not is_namesake(found["value"])
            yield *found.span("value"), plain


def logins(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of the passwords in lines of .pgpass."""
    for found in _PGPASS.finditer(text):
        line = text[max(0, found.start() - 101) : found.start()].rpartition("\n")[2]
        if _HOST.match(line):
            yield "password", *found.span("value")


def find_arguments(text: str, places: TextFeatures) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of the passwords that are arguments of known commands."""
    for name, kind, pattern in _BESIDE:
        for found in pattern.finditer(places.lower) if name in places.at else ():
            yield kind, *found.span(1)
    for found in _HEADER.finditer(places.lower) if "header" in places.at else ():
        start, end = found.span("value")
        if is_key_like(text[start:end]) and not is_placeholder(text[start:end]):
            yield "token", start, end
    for start, end, plain in _find_candidates(places):
        value = text[start:end]
        if is_placeholder(value) or is_reference(value) or value.isdigit() or "/" in value[:2]:
            continue
        if is_example(value) and not plain:
            continue
        if is_password_like(value, quoted=True) or is_key_like(value):
            yield "password", start, end


def urls(text: str, places: TextFeatures) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of the passwords and tokens that are in the head of an address."""
    for found in _URL.finditer(text) if "url" in places.at else ():
        user, at, host = found["authority"].rpartition("@")
        name, colon, password = user.partition(":")
        start = found.start("authority")
        if at and host and not colon and len(user) >= 20 and is_key_like(user):
            yield "url-token", start, start + len(user)
        if not (at and colon and password and host) or password == name or host[0] in "$%*[":
            continue
        if is_reference(password) or is_masked(password):
            continue
        real = "." in host and not is_placeholder(host)
        own = real and not is_placeholder(name) and "user" not in name.lower()
        if is_generic(password) and not (own and name):
            continue
        weak = own if is_generic(password) else real and password.lower().startswith("test")
        if is_placeholder(password) and not weak:
            continue
        if "." not in host and password.isalpha() and (len(password) < 5 or is_wordy(password)):
            # a container of a development set-up
            continue
        start += len(name) + 1
        yield "url-password", start, start + len(password)
