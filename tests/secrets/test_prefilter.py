"""The literals lead every rule to all that it would find by looking everywhere."""

from __future__ import annotations

import random
import re._parser as expressions  # type: ignore[import-not-found]
import string
from typing import TYPE_CHECKING, Any

import pytest

from memfs.secrets import matching
from memfs.secrets.assignments import find_address_passwords, find_assignments
from memfs.secrets.commands import find_arguments, urls
from memfs.secrets.entropy import random_tokens
from memfs.secrets.pem import json_keys, private_keys
from memfs.secrets.prefilter import SIGNS, TextFeatures, lower_text, scan_text
from memfs.secrets.token_formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

LETTERS = string.ascii_letters + string.digits
AROUND = (
    *(
        "{}",
        "x {} y",
        '"{}"',
        "a/{}",
        "\\n{}\\n",
        "日本{}日本",
        "x{}",
        "{}x",
        "{}{}",
        "İ{}",
        "🙂{}",
    ),
)
WORDS = (
    *("password", "token", "api_key", "passwd", "auth", "bearer", "contribsys", "okta", "Passwort"),
    *("sonar.login=", "mysql", "htpasswd -b a", "echo", "net user a", "login", "connect", "пароль"),
    *("=", ":", ' = "', "='", " ", "\n", "://", "@", "(", '("a", "', " is ", "|", " -p", "-u a:"),
    *("pwd=", "user=a;", "&", "host=a ", " connect (", '"x-a: ', '"kty":', '"d":"', "sqlplus a/"),
    *(
        *(" | sudo -s", "\u017f", "\u212a", "[redacted:token]", "*", ":5432:a:a:"),
        "-----BEGIN PRIVATE KEY-----",
    ),
)


def instance(pattern: str, lots: random.Random) -> str:
    """Draw a text that an expression matches, but for what it asks of its neighbours."""

    def draw(tree: Any) -> Iterator[str]:
        for kind, value in tree:
            name = str(kind)
            if name == "LITERAL":
                yield chr(value)
            elif name == "IN":
                yield lots.choice(members(value))
            elif name.endswith("REPEAT"):
                least, most, part = value
                for _ in range(lots.randint(least, min(most, least + lots.choice((0, 3, 9))))):
                    yield from draw(part)
            elif name == "SUBPATTERN":
                yield from draw(value[-1])
            elif name == "BRANCH":
                yield from draw(lots.choice(value[1]))

    return "".join(draw(expressions.parse(pattern)))


def members(those: Any) -> list[str]:
    found: list[str] = []
    for kind, value in those:
        if str(kind) == "LITERAL":
            found.append(chr(value))
        elif str(kind) == "RANGE":
            found += map(chr, range(value[0], value[1] + 1))
        elif str(kind) == "CATEGORY":
            found += string.digits
    refused = str(those[0][0]) == "NEGATE"
    return [each for each in LETTERS if each not in found] if refused else found


def check(text: str) -> None:
    everywhere = list(range(len(text)))
    every = TextFeatures(lower_text(text), dict.fromkeys(SIGNS, everywhere), [(0, len(text))])
    for rule in (
        *(private_keys, json_keys, urls, find_address_passwords, find_arguments, find_assignments),
        random_tokens,
    ):
        assert list(rule(text, scan_text(text))) == list(rule(text, every)), (rule, text)
    found = list(matching.matches(text, scan_text(text)))
    assert found == list(matching._match_words(text, 0, len(text))), text


@pytest.mark.parametrize("seed", range(3))
def test_each_form_is_found_wherever_it_stands(seed: int) -> None:
    lots = random.Random(seed)  # noqa: S311 - drawn again at every run
    for form in FORMATS:
        check(lots.choice(AROUND).replace("{}", instance(form.pattern, lots)))


@pytest.mark.parametrize("seed", range(3))
def test_what_stands_in_any_order_is_found_as_by_looking_everywhere(seed: int) -> None:
    lots = random.Random(seed)  # noqa: S311 - drawn again at every run
    tokens = [instance(form.pattern, lots) for form in FORMATS]
    for _ in range(1500):
        value = "".join(
            lots.choices(
                lots.choice((LETTERS, "0123456789abcdef", LETTERS + "+/_-%=.")),
                k=lots.choice((4, 8, 16, 20, 24, 32, 40, 64)),
            )
        )
        pieces = (*WORDS, *WORDS, value, value, lots.choice(tokens), lots.choice(FORMATS).anchor)
        check("".join(lots.choices(pieces, k=lots.randint(2, 9))))
