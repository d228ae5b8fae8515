"""What tells the value of a secret from a placeholder, a name, a path or a piece of code."""

from __future__ import annotations

import itertools
import math
import re

_STAND_IN = re.compile(
    r"sample|change[_ -]?(?:me|this|it)|placeholder|dummy|fake|redacted|replace|insert"
    r"|xxxx|\*\*\*|\.\.\.|####|\bto-?do\b|<[^<>]{1,60}>|\bmy[_-]|(?<![a-z])your|-here\b|_here\b"
    r"|foobar|mock|^test|[_-]test(?:ing)?$|lorem|^fixme|^tbd$|…|█|•",
    re.IGNORECASE,
)
# "ExamplePass1" was made up by a person in a hurry, "my-example" by a writer.
_EXAMPLE = re.compile(r"(?i:example)(?![A-Z][a-z])")
_SEQUENCE = re.compile(r"12345678|abcdef|qwerty|deadbeef", re.IGNORECASE)
_MASK = re.compile(r"(.)\1*+$|[xX*0.#_-]+$")
# What starts so is looked up or computed when the program runs.
_REFERENCE = re.compile(
    r"\$|\{|%[({sdv]|<|@[A-Za-z{]|#\{|\[|&|\\\$|\\\(|process\.|os\.|env\.|ENV\[|System\.|self\."
    r"|this\.|config\.|secrets\.|vault:|import\.|arn:|ref\+|op://|file:|https?://|!(?:Ref|Sub|vault)"
    r"|~?\.{0,2}/|[A-Za-z]:\\|\||\(",
)
_CODE = re.compile(r"[A-Za-z_)\]][\w.\]]{0,80}(?:\(|\[)|->|::|=>|\$\{|\{\{|#\{|%\(|&&|\|\|")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z")
_ATTRIBUTE = re.compile(r"[A-Za-z_]\w{0,60}(?:\??\.[A-Za-z_]\w{0,60})+[!?]?\Z")
_NAME = re.compile(r"[A-Za-z]+(?:[_.-][A-Za-z]+)*[0-9]?\Z")
_WORDS = frozenset(
    """
admin administrator any api_key apikey basic bearer bool boolean bytes char configured confirm const
credentials custom default disabled email empty enabled encrypted enter expired external false field
first forgot generated guest hash hashed hidden hunter2 identifier input int integer invalid json
key keyring local localhost login manager missing mysql name nil none null number oauth object off
optional pass passphrase passw0rd passwd password plain plaintext postgres private prompt protected
provided public pwd random read readonly required reset root secret secrets session set shared show
signed static str string strong text token tokens true type undefined unknown unset update user
username validate value varchar varies verify wrong yes
""".split()  # noqa: SIM905 - a table, as in secret_services
)


def entropy(value: str) -> float:
    """Return the Shannon entropy of `value` in bits a character."""
    size = len(value)
    counts = [value.count(char) for char in set(value)]
    return -sum(count / size * math.log2(count / size) for count in counts) if size else 0.0


def stand_in(value: str) -> bool:
    """Tell whether `value` stands for a secret that somebody is to fill in."""
    return bool(_STAND_IN.search(value) or _EXAMPLE.search(value) or _MASK.match(value)) or generic(
        value
    )


def masked(value: str) -> bool:
    """Tell whether `value` is one character over and over, or a row of x, stars and dots."""
    return bool(_MASK.match(value)) or "***" in value or "xxxx" in value.lower()


def generic(value: str) -> bool:
    """Tell whether `value` is a word that stands in code and documents where a secret would."""
    return value.lower() in _WORDS


def sequence(value: str) -> bool:
    """Tell whether `value` is typed along the alphabet or the keyboard, as in documentation."""
    return bool(_SEQUENCE.search(value))


def reference(value: str) -> bool:
    """Tell whether `value` is an expression, a variable, a path or an address."""
    if _REFERENCE.match(value) or _CODE.search(value):
        return True
    return bool(_ATTRIBUTE.match(value)) and not random_looking(value)


def _switches(value: str) -> int:
    """Return how often `value` changes between upper case, lower case, digits and signs."""
    kinds = [
        "U" if c.isupper() else "l" if c.islower() else "9" if c.isdigit() else "-" for c in value
    ]
    return sum(a != b for a, b in itertools.pairwise(kinds))


def worded(value: str) -> bool:
    """Tell whether `value` is put together from words and dates: a slug, a name in camel case."""
    parts = re.split(r"[^A-Za-z0-9%]+", value)
    if len(parts) == 1 and not (re.search("[A-Z]", value) and re.search("[a-z]", value)):
        return False
    if _UUID.match(value):
        return False
    plain = sum(len(part) for part in parts if part.isdigit()) if len(parts) > 1 else 0
    if any(len(part) >= 32 and re.search("[0-9]", part) for part in parts):
        return False
    plain += sum(len(part) for part in parts if len(part) >= 3 and re.fullmatch("[A-Z]+", part))
    words = sum(len(word) for word in re.findall("[A-Z]?[a-z]{3,}", value))
    return words + plain >= max(4, 0.65 * sum(len(part) for part in parts))


def is_uuid(value: str) -> bool:
    """Tell whether `value` is a uuid."""
    return bool(_UUID.match(value))


def is_hex(value: str) -> bool:
    """Tell whether `value` is a run of hexadecimal digits with a digit and a letter in it."""
    return bool(re.fullmatch(r"(?=.*[0-9])(?=.*[a-fA-F])[0-9a-fA-F]+", value))


def random_looking(value: str) -> bool:
    """Tell whether `value` can only have been made by a generator, whatever stands around it."""
    letters = sum(char.isalpha() for char in value)
    digits = sum(char.isdigit() for char in value)
    if len(value) < 20 or digits < 2 or letters < 6 or is_hex(value) or worded(value):
        return False
    mixed = any(char.isupper() for char in value) and any(char.islower() for char in value)
    switches = _switches(value) / len(value)
    if mixed:
        return entropy(value) >= 3.8 and switches >= 0.3
    return len(value) >= 24 and entropy(value) >= 3.4 and switches >= 0.22


def key_like(value: str) -> bool:
    """Tell whether `value` is a key, given that something beside it says that one is there."""
    if len(value) < 12 or len(set(value)) < 6 or _NAME.match(value) or worded(value):
        return False
    if not any(char.isdigit() for char in value):
        return len(value) >= 20 and _switches(value) / len(value) >= 0.3
    if not any(char.isalpha() for char in value):
        return len(value) >= 20 and value.isdigit() and entropy(value) > 2.5
    return entropy(value) >= (2.3 if len(value) >= 20 else 3.0)


def password_like(value: str, *, quoted: bool) -> bool:
    """Tell whether `value` may be a password that a person chose, given that a key says so."""
    if not 5 <= len(value) <= 128:
        return False
    if re.search(r"[A-Za-z]", value) and re.search(r"[0-9]", value):
        return True
    if re.search(r"[A-Za-z]", value) and re.search(r"[!@#$%^&*+=?~]", value):
        return True
    if value.isalpha() and len(value) >= 8 and _switches(value) >= 0.3 * len(value):
        return not worded(value)
    return quoted and value.isascii() and value.isalpha() and value.islower() and len(value) >= 7
