"""Heuristics that tell a secret from a placeholder, a name, a path or a piece of code."""

import math
import operator
import re
from collections.abc import Callable

from memfs.secrets.encodings import decode_text


def _tells(find: Callable[[str], object]) -> Callable[[str], bool]:
    return lambda value: find(value) is not None


_STAND_IN = re.compile(
    r"sample|change[_ -]?(?:me|this|it)|placeholder|dummy|fake|redacted|replace|insert"
    r"|xxxx|\*\*\*|\.\.\.|####|\bto-?do\b|<[^<>]{1,60}>|\bmy[_-]|(?<![a-z])your|-here\b|_here\b"
    r"|foobar|mock|^test|[_-]test(?:ing)?$|lorem|^fixme|^tbd$|…|█|•"
    r"|wrong|falsch|invalid|incorrect|bogus|(?:bad|weak|short|example|not[_-]?(?:my|the))[_-]?pass",
    re.IGNORECASE,
)
# "ExamplePas1" was made up by a person in a hurry, "my-example" by a writer.
_EXAMPLE = re.compile(r"(?i:example)(?![A-Z][a-z])")
# A key that vendors and standards print in their documents, by a part of it: AWS, Stripe, the
# emulators of Azure, GitHub, Google, jwt.io, Hardhat, RFC 2617, RFC 6749.
is_documented = _tells(
    re.compile(
        r"(?<![A-Z0-9])A[A-Z]IA[A-Z0-9]{8,12}EXAMPLE(?![A-Z0-9])|EXAMPLEKEY\Z|4eC39HqLyjWD|BQokikJOvBiI|Eby8vdM02xNO|C2y6yDjf5/R"
        r"|16C7e42F292c|aGmWKa4JsXZ|\Aey[^.]+\.[^.]+\.SflKxwRJSMeK|ac0974bec39a|QWxhZGRpbjpv"
        r"|2YotnFZFEjr1|tGzv3JOkF0XG"
    ).search
)
# Typed along the alphabet or the keyboard.
is_sequence = _tells(re.compile(r"12345678|abcdef|qwerty|deadbeef", re.IGNORECASE).search)
_MASK = re.compile(r"(.)\1*+$|[xX*0.#_-]+$")
# "newpassword", "my_secret_token_1", "hashedPassword", "Password123!": named after what it is.
is_namesake = _tells(
    re.compile(
        r"(?:(?:my|our|new|old|super|top|very|wrong|bad|good|correct|current|confirm|hashed|encrypted|change"
        r"|plain|test|user|admin|owner|db|database|some|any|another|secure|strong|weak|valid|invalid"
        r"|random|initial|temp|temporary|demo|api|auth|access|refresh|login|root|client|app|bearer|jwt)"
        r"[_ -]?){0,4}(?:pass[_-]?word|passwd|pass|pwd|token|secret|key|credentials?)"
        r"(?:[_ -]?(?:password|token|secret|key|value|data|here|hash))?[^A-Za-z]{0,6}\Z",
        re.IGNORECASE,
    ).match
)
# "SecretStr", "readPassword", "HTTPPasswordMgr": a type or a function that is about secrets.
_ABOUT = re.compile(
    r"(?:[A-Za-z]?[a-z]*|[A-Z]+)(?:[A-Z][a-z]+)*?(?:Pass(?:word|wd|phrase)?|Secret|Token|Credential)s?(?:[A-Z][a-z]+)*\Z"
)
_VERSION = re.compile(r"(?:[0-9]{1,2}:)?[0-9]{1,4}\.[0-9]+[\w.+~-]*\Z")  # of a package
# What starts so is looked up or computed when the program runs.
_REFERENCE = re.compile(
    r"\$|\{|%[({sdv]|<|@[A-Za-z{]|#\{|\[|&|\\\$|\\\(|process\.|os\.|env\.|ENV\[|System\.|self\."
    r"|this\.|config\.|secrets\.|vault:|import\.|arn:|ref\+|op://|file:|https?://|!(?:Ref|Sub|vault)"
    r"|~?\.{0,2}/|[A-Za-z]:\\|\||\("
)
_CODE = re.compile(r"[A-Za-z_)\]][\w.\]]{0,80}(?:\(|\[)|->|::|=>|\$\{|\{\{|#\{|%\(|&&|\|\|")
is_uuid = _tells(re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z").match)
_UUID_IN = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}")
# The name of a file or a note: words with hyphens between them, and a short hash.
is_slug = _tells(
    re.compile(
        r"(?:[a-z0-9_]++/){0,9}(?:[a-z]{1,14}+[0-9]{0,2}-|[0-9]{1,4}-){2,20}[0-9a-f]{6,12}\Z"
    ).match
)
_ATTRIBUTE = re.compile(r"[A-Za-z_]\w{0,60}(?:\??\.[A-Za-z_]\w{0,60})+[!?]?\Z")
# With a digit and a letter in it.
is_hex = _tells(
    re.compile(r"(?:(?=[a-fA-F]*[0-9])(?=[0-9]*[a-fA-F])[0-9a-fA-F]+|[a-f]{32,})\Z").match
)
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
""".split()
)
# The pairs of letters that English words and names in programs are made of: nineteen in twenty
# of theirs, one in three of random letters.
_PAIRS = frozenset(
    group[0] + second
    for group in """
abcdgilmnprstuvy baeilorsu cacehiklorstu dadeiorsu eabcdefglmnopqrstvwxy faefiloru
gaeghilnorsu haeiortu iabcdefgklmnoprstvz jes keis ladefilostuy mabdegilmopsu nacdefginostuv
oabcdfgiklmnoprstuvw paehiloprstuy qu racdegiklmnorstuvy sacehiklmopstuy tacehiloprstuy
uabcdegilmnprst vaei waeio xpt yps ze
""".split()
    for second in group[1:]
)
_RUN = re.compile(r"[A-Z][a-z]+|[a-z]{3,}|[A-Z]{3,}")
# Names of how secrets are made, not of one: SHA-256, Argon2id, OAuth2.
_ALGORITHM = re.compile(
    r"(?:sha|md|base|argon|pbkdf|[bs]crypt|utf|aes|rsa|[hrep]s|ed|oauth|ipv?|http|tls|ssl|x|v|k)-?[0-9]",
    re.IGNORECASE,
)
_ALGORITHM_NAME = re.compile(rf"{_ALGORITHM.pattern}{{1,4}}\Z", re.IGNORECASE)
_SIGNS = re.compile("[^A-Za-z0-9%]+")
_DIGIT = re.compile("[0-9]")
_WITHIN = re.compile(r"[A-Za-z][0-9]{1,6}[A-Za-z]")
_MAIL = re.compile(r"@[\w-]+\.|@[0-9v]|%[0-9A-F]{2}")
_MADE_UP = re.compile(r"[A-Za-z]+[0-9]{1,4}\Z")


def entropy(value: str) -> float:
    """Return the Shannon entropy of `value` in bits a character."""
    size = len(value)
    counts = [value.count(char) for char in set(value)]
    return -sum(count / size * math.log2(count / size) for count in counts) if size else 0.0


def is_placeholder(value: str) -> bool:
    """Tell whether `value` is a placeholder for a secret."""
    shown = _STAND_IN.search(value) or _EXAMPLE.search(value) or _MASK.match(value)
    return bool(shown) or is_generic(value) or (is_namesake(value) and value[-1].isalpha())


def is_about(value: str) -> bool:
    """Tell whether `value` names a type, a function, a version or an algorithm."""
    patterns = (_ABOUT, _VERSION, _ALGORITHM_NAME)
    return len(value) <= 64 and any(pattern.match(value) for pattern in patterns)


def is_masked(value: str) -> bool:
    """Tell whether `value` repeats one character, or is a row of x, stars and dots."""
    return bool(_MASK.match(value)) or "***" in value or "xxxx" in value.lower()


def is_generic(value: str) -> bool:
    """Tell whether `value` is a word that code and documents use in place of a secret."""
    return value.lower().rstrip("!?") in _WORDS


def is_reference(value: str) -> bool:
    """Tell whether `value` is an expression, a variable, a path or an address."""
    if _REFERENCE.match(value) or _CODE.search(value):
        return True
    return bool(_ATTRIBUTE.match(value)) and not is_random_looking(value)


def _classify(char: str) -> str:
    return "U" if char.isupper() else "l" if char.islower() else "9" if char.isdigit() else "-"


_KINDS = "".join(_classify(chr(code)) for code in range(128))


def _count_switches(value: str) -> int:
    kinds = value.translate(_KINDS) if value.isascii() else "".join(map(_classify, value))
    return sum(map(operator.ne, kinds, kinds[1:]))


def _score(letters: str) -> float:
    """Return the share of adjacent pairs in `letters` that are common in words, 0 to 1."""
    lower = letters.lower()
    pairs = len(lower) - 1
    common = sum(map(_PAIRS.__contains__, map(operator.add, lower, lower[1:])))
    return common / pairs if pairs > 0 else 0.0


def is_wordy(value: str) -> bool:
    """Tell whether `value` consists of words and dates: a slug, a name in camel case."""
    if is_uuid(value):
        return False
    parts = _SIGNS.split(value)
    if len(value) >= 32 and any(len(part) >= 32 and _DIGIT.search(part) for part in parts):
        return False
    runs = [run for run in _RUN.findall(value) if len(set(run)) * 3 >= len(run)]
    words = sum([len(run) for run in runs if _score(run) >= 0.65])
    if len(parts) > 1:
        words += sum([len(part) for part in parts if part.isdigit()])
    return words >= max(4, 0.65 * sum(map(len, parts)))


def is_example(value: str) -> bool:
    """Tell whether `value` is words and a number, as in examples of documentation."""
    return bool(_MADE_UP.match(value)) and is_wordy(value)


def is_random_looking(value: str) -> bool:
    """Tell whether `value` looks randomly generated, whatever its context."""
    if len(value) < 20 or sum(map(str.isdigit, value)) < 2 or sum(map(str.isalpha, value)) < 6:
        return False
    if is_hex(value) or is_wordy(value):
        return False
    if _UUID_IN.search(value) or is_encoded_prose(value):
        return False
    if (
        max(map(len, value.replace("_", "-").split("-"))) < 11
    ):  # ECDHE-RSA-AES256-GCM-SHA384, a pod's name
        return False
    mixed = any(map(str.isupper, value)) and any(map(str.islower, value))
    switches = _count_switches(value) / len(value)
    if mixed:
        return entropy(value) >= 3.8 and switches >= 0.3
    return len(value) >= 24 and entropy(value) >= 3.4 and switches >= 0.22


def is_key_like(value: str) -> bool:
    """Tell whether `value` may be a key, given that its context announces one."""
    if len(value) < 12 or len(set(value)) < 6 or is_wordy(value):
        return False
    letters = "".join(filter(str.isalpha, value))
    if len(letters) == len(value) or not any(map(str.isdigit, value)):
        mixed = _count_switches(value) >= 0.3 * len(value)
        return len(letters) >= (12 if mixed else 16) and value.isascii() and _score(letters) < 0.55
    if not letters:
        return len(value) >= 20 and value.isdigit() and entropy(value) > 2.5
    return entropy(value) >= (2.3 if len(value) >= 20 else 3.0)


def is_encoded_prose(value: str) -> bool:
    """Tell whether `value` is the base64 of words: whether they hold a secret is seen in them."""
    return len(decode_text(value).split()) > 1


def has_inner_digit(value: str) -> bool:
    """Tell whether `value` has a digit among its letters, and is no name of an algorithm."""
    return bool(_WITHIN.search(value)) and not _ALGORITHM.match(value)


def is_unwordly(value: str) -> bool:
    """Tell whether `value` cannot be a word of the sentence that it stands in."""
    if has_signs(value):
        return True
    if is_wordy(value) or _ALGORITHM.match(value) or not value.isascii():
        return False
    kinds = [any(map(kind, value)) for kind in (str.isdigit, str.isupper, str.islower)]
    kinds.append(any(char in "!@#$%^&*+=?~" for char in value[1:-1]))
    return sum(kinds) >= 3 or (len(value) >= 6 and has_inner_digit(value))


def has_signs(value: str) -> bool:
    """Tell whether `value` has letters, digits and an inner sign that no word or name has."""
    sign = any(char in "!@#$%^&*?~" for char in value[1:-1]) and not _MAIL.search(value)
    return sign and value.isascii() and bool(re.search("[A-Za-z]", value) and _DIGIT.search(value))


def is_password_like(value: str, *, quoted: bool) -> bool:
    """Tell whether `value` may be a chosen password, given that its context announces one."""
    if not 5 <= len(value) <= 128:
        return False
    if re.search(r"[A-Za-z]", value) and re.search(r"[0-9]", value):
        return True
    if re.search(r"[A-Za-z]", value) and re.search(r"[!@#$%^&*+=?~]", value):
        return True
    if value.isalpha() and len(value) >= 8 and _count_switches(value) >= 0.3 * len(value):
        return not is_wordy(value)
    return quoted and value.isascii() and value.isalpha() and value.islower() and len(value) >= 7
