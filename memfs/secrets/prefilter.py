"""Finds in one pass the literals of all rules: without one of them a text has no secret."""

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from memfs.secrets.token_formats import SIGNS as ANCHORS

LOGINS = tuple(
    """
login authenticate connect getconnection pscredential sign_in signin auth credential credentials
mysqli pdo directoryentry
""".split()
)
# What the expressions of the other rules hold, in lower case, by the name they ask for it with.
SIGNS: Mapping[str, tuple[str, ...]] = {
    "key": (
        *"pass pswd psw pwd pw psk kennwort senha contrase secret token credential bearer".split(),
        *"anmeldedaten zugangsdaten clave credencia credenzial identifiants mdp palavra".split(),
        *"wachtwoord hasło lösenord schlüssel chiave chave clé".split(),
        *"auth salt key пароль 비밀번호 비번 密码 密碼 口令 パスワード".split(),
        "mot de passe",
        "identified by",
    ),
    "mnemonic": (
        *"mnemoni mnémoni mnemóni mnemôni phrase frase seed wallet recovery bip39 bip-39".split(),
        *(f"{size}{sign}word" for size in (12, 15, 18, 21, 24) for sign in " -"),
    ),
    "url": ("://",),
    "armour": (
        "-----begin ",
        "-----begin+",
        "-----begin%20",
        "putty-user-key-file-",
        "---- begin ssh2 ",
    ),
    "public": (
        *"nzac1 vjzhnhl nrlx nrlw gawibag kig9w0baq cgkc dqebaq migjaogba koziz".split(),
        *("byqgsm49", "qydk2v"),
    ),
    "json": ("kty",),
    "connection": tuple(
        f"{name}{sign}" for name in ("pwd", "password", "passwd", "pass") for sign in ("=", " =")
    ),
    "user": ("-u",),
    "echo": ("echo ",),
    "tcp": ("@tcp(", "@unix("),
    "oracle": ("sqlplus ", "oracle:thin:", "oracle:oci:"),
    "header": ("'x-", '"x-'),
    "account": (
        *("htpasswd -", "net use", "add_user ", "change_password ", "convertto-securestring "),
    ),
    "flag": (" -p", " -w ", " -a "),
    "call": tuple(f"{name}{sign}" for name in LOGINS for sign in ("(", "=", " (")),
    "star": tuple(f"*{digit}" for digit in "0123456789abcdef"),
    "contribsys": ("contribsys",),
    "okta": ("okta",),
    "token": tuple(f"token{sign}" for sign in "\"' :="),
    "sonar": ("sonar.login", "sonar.token"),
    "anchor": ANCHORS,
}
# Characters of which a random value has sixteen in a row, as the letter a; all others as a space.
_RANDOM = bytes(
    ord("a") if re.match(r"[A-Za-z0-9+/_%-]", chr(byte)) else ord(" ") for byte in range(256)
)
_LONG = b"a" * 16


class TextFeatures(NamedTuple):
    """The features of a text that the rules need.

    `lower` is the text in lower case, every character in its place; `at` gives where the literals
    of `SIGNS` begin in it, in order; `runs` where 16 or more characters of random values stand.
    """

    lower: str
    at: Mapping[str, list[int]]
    runs: list[tuple[int, int]]

    @property
    def none(self) -> bool:
        """Tell whether no rule has anything to look at."""
        return not self.at and not self.runs


def scan_text(text: str) -> TextFeatures:
    """Return the features of a text: where its literals and random-looking runs are."""
    automaton, names = _build_automaton()
    lower = lower_text(text)
    at: dict[str, list[int]] = {}
    try:
        found = automaton.find_matches_as_indexes(lower, overlapping=True)
    except UnicodeEncodeError:  # halves of surrogate pairs: bytes that were no text
        whole = lower.encode("utf-8", "replace").decode()
        found = automaton.find_matches_as_indexes(whole, overlapping=True)
    for which, start, _ in found:
        at.setdefault(names[which], []).append(start)
    for starts in at.values():
        starts.sort()
    kinds = text.encode("latin-1", "replace").translate(_RANDOM)  # one byte for each character
    return TextFeatures(lower, at, _find_runs(kinds))


def _find_runs(kinds: bytes) -> list[tuple[int, int]]:
    """Return (start, end) of each run of 16 or more `a`. `find` skips most bytes."""
    found: list[tuple[int, int]] = []
    at = kinds.find(_LONG)
    while at >= 0:
        end = kinds.find(b" ", at + len(_LONG))
        end = end if end >= 0 else len(kinds)
        found.append((at, end))
        at = kinds.find(_LONG, end)
    return found


def lower_text(text: str) -> str:
    """Return `text` in lower case, every character in its place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


@functools.cache
def _build_automaton() -> tuple[AhoCorasick, list[str]]:
    """Return an automaton for the literals of `SIGNS`, and the rule name of each literal."""
    pairs = [(literal, name) for name, literals in SIGNS.items() for literal in literals]
    automaton = AhoCorasick(
        [literal for literal, _ in pairs],
        matchkind=MatchKind.Standard,
        implementation=Implementation.DFA,
    )
    return automaton, [name for _, name in pairs]
