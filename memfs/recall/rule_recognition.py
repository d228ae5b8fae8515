"""Rules that a user states, recognised by their form alone. Hot path.

"never", "always", "from now on", "we use", "no X in Y", "X owns Y", "remember that": a sentence
gets points for each form it has, and loses some where the user is unsure.
"""

from memfs.core.snippet import split_words

ENOUGH = 1.5  # the least points of a rule
_SHORTEST, _LONGEST = 15, 300  # characters
_FEWEST = 4  # words
_PHRASES = (
    "from now on|going forward|a rule|hard no|remember that|remember:|remember this|"
    "for the record|no exceptions|must not|must never|not allowed|off limits"
).split("|")
_UNSURE = (
    "dont remember|never remember|dont know|not sure|on my machine|i think|looks like|dont care|"
    "dont get|dont understand|no idea|never mind|dont see|today|for now|this time"
).split("|")
_LEADS = frozenset("and but so ok okay oh also please pls yes right then btw well".split())
_WE = frozenset(("we", "you", "everybody", "everyone"))
_HABITS = frozenset(("use", "say", "deploy", "call", "keep", "write", "name", "ship", "pin", "only",
                     "never", "always", "dont", "don't", "put", "store", "log", "merge", "commit",
                     "branch", "release", "host", "stay", "support", "tag"))  # fmt: skip
_STRICT = frozenset(("never", "always", "only"))
_NONE = frozenset(("no", "nobody", "nothing", "none"))
_NO_THING = frozenset(("i", "we", "that", "its", "it's", "it", "the", "not", "no", "this", "you"))
_WHERE = frozenset(("in", "on", "at", "into", "without", "uses", "gets"))
_EACH = frozenset(("every", "each", "all", "any", "everything", "anything"))
_LASTING = frozenset(("ever", "never", "always", "period"))
_OWNS = "owns|goes through|go through|goes to|lives in|lives on|lives at|is hosted".split("|")
_OUGHT = ("has to", "have to", "must")
# Each rule contains one of these words.
MARKS = frozenset((
    *_STRICT, *_NONE, *_EACH, *_LASTING, *_WE, "now", "forward", "rule", "hard", "remember",
    "record", "exceptions", "must", "allowed", "limits", "owns", "goes", "go", "lives", "hosted",
    "has", "have",
))  # fmt: skip


def is_rule(sentence: str) -> bool:
    """Tell whether a sentence of a user states a rule or a lasting fact."""
    return rate_rule(sentence) >= ENOUGH


def rate_rule(sentence: str) -> float:
    """Return the points of a user's sentence for the forms of rules; 0 for a question."""
    text = sentence.strip()
    if not _SHORTEST < len(text) <= _LONGEST or text.endswith("?"):
        return 0.0
    folded = text.lower().replace("\u2019", "").replace("'", "")
    words = split_words(folded)
    if len(words) < _FEWEST or MARKS.isdisjoint(words):
        return 0.0
    points = 2.0 * any(form in folded for form in _PHRASES)
    points += sum(map(_rate_clause, _split_clauses(folded)))
    return points - 1.5 * any(form in folded for form in _UNSURE)


def _split_clauses(text: str) -> list[list[str]]:
    found: list[list[str]] = []
    start = 0
    words = text.split()
    for at, word in enumerate(words, 1):
        if word[-1] in ",;:.!?)" or at == len(words):
            found.append(split_words(" ".join(words[start:at])))
            start = at
    return [clause for clause in found if clause]


def _rate_clause(clause: list[str]) -> float:
    while len(clause) > 1 and clause[0] in _LEADS:
        clause = clause[1:]
    first, second = clause[0], clause[1] if len(clause) > 1 else ""
    there = set(clause)
    whole = " ".join(clause)
    points = 2.0 * (first in ("never", "always")) + 1.5 * (clause[-1] in _LASTING)
    if (first in _WE and second in _HABITS) or (first == "i" and second in _STRICT):
        points += 1.5
    if first in _NONE and len(clause) > 2 and second not in _NO_THING:
        points += 1.0 + 0.5 * bool(_WHERE & there)
    if first in _EACH and len(clause) > 2:
        points += 1.0
    points += 1.5 * any(f" {form} " in f" {whole} " for form in _OWNS)
    points += 0.75 * any(f" {form} " in f" {whole} " for form in _OUGHT)
    if _STRICT & there:
        points += 0.75
    if first in ("dont", "do") and second not in ("the", "it", "that", "this", "both"):
        points += 0.5
    return points
