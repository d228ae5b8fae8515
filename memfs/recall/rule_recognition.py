"""Rules that a user states, recognised by their form alone. Hot path.

A rule obliges ("must", "we never", "X goes through Y"), and it lasts ("always", "from now on").
What does both is certain, what does one is likely; questions, reports and tasks of once are none.
"""

from memfs.core.snippet import split_words

NONE, LIKELY, CERTAIN = 0, 1, 2

_SHORTEST, _LONGEST = 15, 300  # bytes, characters
_FEWEST = 3  # words
_LONGEST_RULE = 240  # characters of a rule and its continuation
_GOES_ON = frozenset("and also no never not always but or same only".split())
_RULES = ("in the future|in future|as a rule|a rule|remember this|remember that|one rule|new rule|"
    "rule for|rule from").split("|")  # fmt: skip
_ADVERBS = ("from now on|going forward|at all times|no exceptions|without exception|"
    "next time").split("|")  # fmt: skip
_BANS = ["may ever", "off limits", "nothing may", "nobody may"]
_OWNS = [*_BANS, *("owns|goes through|go through|goes to|go to|lives in|live in|lives on|is hosted|"
    "should always|should never|should only|may only|forbidden|not allowed|"
    "without asking").split("|")]  # fmt: skip
_VETOES = ("i remember|remember that time|never say never|vaguely|this time|for now|the moment|"
    "not sure|no idea|what if|never mind|used to|as far as|anyway|makes sense|looks like|"
    "not always|do you|do we|in this test|in this file|in this function|in this method|"
    "in this class|in this script|in this case|in this branch|in this pr").split("|")  # fmt: skip
_DOUBTS = frozenset("today tonight tomorrow yesterday would wouldnt could couldnt might maybe "
    "perhaps probably guess suppose assume assumed seems seemed wish hope hoping think thought "
    "thinking had wondering recall was were wasnt werent did didnt been shed wed youd theyd "
    "will".split())  # fmt: skip
_ASKS = frozenset("should shall can could would will is are am does did what why how who which "
    "whose have has was".split())  # fmt: skip
_LEADS = frozenset("and but so ok okay oh ah also please pls plz yes right then btw well good "
    "great nice cool fine thanks perfect nah nope hm hey in fact important note nee ne nein bitte "
    "und aber y pero et mais".split())  # fmt: skip
_OTHERS = frozenset("i im ive ill id my me it its he she hes shes they theyre weve that thats "
    "this there theres".split())  # fmt: skip
_WE = frozenset("we you everybody everyone nobody".split())
_NONE = frozenset("no nobody nothing none".split())
_NO_THING = frozenset("i we that its it the not no this you one need problem problems worry "
    "worries idea change changes rush clue way wonder longer more thanks doubt matter less point "
    "reason such issue error errors difference mention sign trace result results bug bugs crash "
    "crashes access luck and because but thats there theres he she they only just at for with a "
    "an what if is do does dont".split())  # fmt: skip
_STRICT = frozenset(("never", "always"))
_TASKS = frozenset("add build change create ensure fix make refactor remove update".split())
_OFTEN = frozenset(("ensure", "make", "update"))  # tasks that go on with a rule: "and make sure"
_ONCE = (_TASKS - _OFTEN) | frozenset(("delete", "move", "rename", "revert"))
_ON = frozenset("from by until even".split())  # "from now", "by now"
_FAULTS = frozenset("break delete drop fail forget ignore invent kill lose miss skip".split())
_BELOW = frozenset("where that when whenever because so which who while if unless until".split())
_DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday week month".split())
_ENDS = frozenset("ever never always period forever".split())
_UNIVERSAL = frozenset("every each all any everything anything everywhere whoever whatever".split())
_NOT_ALL = frozenset("the of my your our these those this is good that one time".split())
_POINTS = frozenset("it that this them those these so there".split())
_SPOTS = frozenset(("in", "on", "into", "without"))
_SCOPES = ("for every|for each|for all|for any|in every|in each|in all|of every|of each|only in|"
    "only on|only with|only after|only for|only when|only if|only by|solo si|solo con|nur wenn|"
    "nur mit|erst wenn").split("|")  # fmt: skip
_HERE = frozenset("project repo repository codebase".split())
_ABROAD = frozenset("nie niemals immer kein keine keinen nirgends nicht nix nunca siempre jamás "
    "ningún ninguna nada jamais toujours aucun aucune désormais".split())  # fmt: skip
_CHINESE = ("从现在 以后都 今后 一律 必须 禁止 不准 不得 永远 绝不 不要 统一 每次都 只能 一定要 "
    "别用 别再 别写 记住 记一下").split()  # fmt: skip
_VERBS = frozenset("add allow append ask assign branch break bring build bump call change check "
    "close comment commit copy create cut delete deploy describe document drop edit enable ensure "
    "export expose fix follow force format generate handle hardcode hide host ignore import "
    "include inline insert install interpolate invent keep kill leave let link list load log make "
    "merge mention mix mock move name open overwrite paste pin prefer print push put quote raise "
    "rebase refactor release remove rename render reply report restart retry return reuse review "
    "rewrite round run save say send set share ship show sign skip sort split squash start store "
    "swallow tag take tell test touch track translate trust try turn update upload use validate "
    "wait wrap write".split())  # fmt: skip
# The words of rules that tell nothing of their subject.
MARKS = _STRICT | _NONE | _ENDS | _UNIVERSAL | _WE | _ABROAD | {"must", "dont", "now"}


def is_rule(sentence: str) -> bool:
    """Tell whether a sentence of a user may state a rule or a lasting fact."""
    return rate_rule(sentence) > NONE


def rate_rule(sentence: str) -> int:
    """Tell whether a user's sentence states a rule: `NONE`, `LIKELY` or `CERTAIN`."""
    text = sentence.strip()
    if len(text.encode()) < _SHORTEST or len(text) > _LONGEST or text[-1] in "?\uff1f":
        return NONE
    folded = text.lower().replace("\u2019", "").replace("'", "")
    if not text.isascii() and any(form in folded for form in _CHINESE):
        return LIKELY
    if folded.count(" ") < _FEWEST - 1:
        return NONE
    return max(map(_rate_statement, _split_statements(folded)), default=NONE)


def extract_rules(sentences: list[str]) -> list[tuple[str, bool]]:
    """Return the rules among sentences, each with what continues it, and whether it is certain."""
    found: list[tuple[str, bool]] = []
    follows = False
    held = ""  # "a rule:" speaks of the sentence behind it
    for each in sentences:
        sentence = f"{held} {each}".strip()
        held = sentence if each.endswith(":") and len(sentence) < _LONGEST_RULE else ""
        if held:
            continue
        sentence = _cut_task(sentence)
        rated = rate_rule(sentence)
        more = rated or _goes_on(sentence)
        text, certain = found[-1] if follows else ("", False)
        fits = text and more and (certain or rated < CERTAIN) and sentence[-1] != "?"
        if fits and len(text) + len(sentence) < _LONGEST_RULE:
            found[-1] = f"{text} {sentence}", certain
        elif rated:
            found.append((sentence, rated == CERTAIN))
        follows = bool(rated or fits)
    return found


def _cut_task(sentence: str) -> str:
    """Return a rule without the task of the moment in its sentence: "…, and now rename it"."""
    words = sentence.split()
    plain = [word.strip(".,;:!-\u2013\u2014").lower() for word in words]
    for at in range(1, len(words) - 1):
        then = next((word for word in plain[at + 1 :] if word not in _LEADS), "")
        if plain[at] == "now" and plain[at - 1] not in _ON and then in _VERBS:
            ends = (end for end in range(at, 1, -1) if plain[end - 1] not in ("", *_LEADS))
            rule = " ".join(words[: next(ends, 1)]).rstrip(",;:-\u2013\u2014 ")
            return rule if is_rule(rule) else sentence
    task, _, rule = sentence.partition(", and ")
    first = plain[0] in _ONCE and not is_rule(task)
    return rule if first and rate_rule(rule) == CERTAIN else sentence


def _goes_on(sentence: str) -> bool:
    """Tell whether a sentence continues a rule: "And always …", but not the task "And fix …"."""
    words = split_words(sentence.lower())
    task = _strip_leads(words)[:1]
    return not _GOES_ON.isdisjoint(words[:1]) and (_TASKS - _OFTEN).isdisjoint(task)


def _split_statements(text: str) -> list[list[list[str]]]:
    found: list[list[list[str]]] = []
    clauses: list[list[str]] = []
    start = 0
    words = text.split()
    for at, word in enumerate(words, 1):
        ends = word[-1] in ";.!?" or word in ("-", "\u2013", "\u2014") or at == len(words)
        if ends or word[-1] in ",:)":
            clause = split_words(" ".join(words[start:at]).strip("-\u2013\u2014 "))
            clauses += [_strip_leads(clause)] if clause else []
            start = at
        if ends and clauses and word[-1] != "?":
            if found and len(clauses) == len(clauses[0]) == 1:  # "… Never."
                found[-1] += clauses
            else:
                found.append(clauses)
        clauses = [] if ends else clauses
    return found


def _strip_leads(clause: list[str]) -> list[str]:
    while len(clause) > 1 and clause[0] in _LEADS and clause[:2] != ["in", "this"]:
        clause = clause[1:]
    return clause


def _rate_statement(clauses: list[list[str]]) -> int:
    whole = f" {' '.join(' '.join(clause) for clause in clauses)} "
    if any(f" {form} " in whole for form in _VETOES) or clauses[0][0] in _ASKS:
        return NONE
    doubts = (at for at, each in enumerate(clauses) if not _DOUBTS.isdisjoint(each))
    said = clauses[: next(doubts, None)]
    task = clauses[0][0] in _TASKS and _POINTS.isdisjoint(clauses[0][1:2])
    explicit = _has(whole, _ADVERBS + _BANS) or (not task and _has(whole, _RULES))
    rated = LIKELY if "from now on" in whole and len(said) == len(clauses) else NONE
    for at, each in enumerate(said):
        lasts = explicit or any(
            _has_lasting_end(n) and (n is each or len(n) < 3) for n in said[at : at + 2]
        )
        found = _rate_clause(each, lasts=lasts, explicit=explicit)
        if (
            at
            and said[0][0] in ("if", "when", "whenever")
            and (each[0] in _VERBS or said[0][:2] == ["when", "you"])
        ):
            found = max(found, CERTAIN if lasts and each[0] in _VERBS else LIKELY)
        alone = (len(each) == 1 and each[0] in _ENDS) or each == ["full", "stop"]
        if at and (alone or (rated and each[0] == "never" and not _SPOTS.isdisjoint(each[1:2]))):
            found = CERTAIN if said[at - 1][0] not in _OTHERS else LIKELY
            told = {said[0][0], said[at - 1][0]} & (_UNIVERSAL | _NOT_ALL)
            found = LIKELY if each == ["always"] and (told or (task and at > 1)) else found
        rated = max(rated, found)
    return rated


def _has_lasting_end(clause: list[str]) -> bool:
    last = clause[-1] in _ENDS and clause[0] not in _OTHERS
    return clause[0] == "nowhere" or (last and _main(clause) is clause)


def _main(clause: list[str]) -> list[str]:
    """Return the words before a clause within it, as in "… that it never stops"."""
    for at, word in enumerate(clause[1:-2], 1):
        if word in _BELOW or (word == "to" and clause[at + 1] in _STRICT):
            return clause[:at]
    return clause


def _has(text: str, forms: list[str]) -> bool:
    return any(f" {form} " in text for form in forms)


def _rate_clause(clause: list[str], *, lasts: bool, explicit: bool) -> int:
    text = f" {' '.join(clause)} ".replace(" you to ", " you ")
    if text.startswith((" remember that ", " remember this ")):
        return CERTAIN if _DAYS.isdisjoint(clause) or not _STRICT.isdisjoint(clause) else LIKELY
    for form in _ADVERBS + _RULES:
        text = text.replace(f" {form} ", " ")
    clause = _strip_leads(text.split()) or [""]
    first, second, third = [*clause, "", ""][:3]
    strict = not _STRICT.isdisjoint(clause) and not _STRICT.isdisjoint(_main(clause))
    if first in _OTHERS:
        wishes = first == "i" and "want" in clause[1:3] and "to" not in clause[2:4]
        return CERTAIN if wishes and (lasts or strict or "you ever" in text) else NONE
    if first == "you" and "never" not in clause[:2] and not _FAULTS.isdisjoint(clause[1:3]):
        return NONE
    bans = (first == "dont" and second in _VERBS) or (first, second) == ("do", "not")
    acts = first in _VERBS or bans
    if (
        (first in _STRICT and second in _VERBS)
        or (first in _WE and second in _STRICT and third in _VERBS and (first != "you" or explicit))
        or (acts and (lasts or (strict and first not in _TASKS)))
        or (" without asking " in text and (bans or first == "dont"))
        or (first == "only" and "may" in clause)
        or (first == "ask" and "before you" in text)
    ):
        return LIKELY if (third if first in _STRICT else second) in _POINTS else CERTAIN
    here = not _HERE.isdisjoint(clause) and first in _WE
    here = here or (first == "no" and not _SPOTS.isdisjoint(clause[2:-1]))
    if (
        (first in _WE and (second in ("dont", "only") or second in _VERBS))
        or (first in _NONE and second and (explicit or second not in _NO_THING))
        or (first in _UNIVERSAL and second and second not in _NOT_ALL)
        or (first not in _WE and not acts and first != "must" and _has(text, _OWNS))
        or (first not in _WE and not acts and ("must" in clause[1:] or first == "ask"))
    ):
        sure = explicit or (lasts and (first in _WE or first in _NONE))
        return CERTAIN if sure or (here and clause[-1] not in _POINTS) else LIKELY
    if first in _STRICT or clause[-1] in _ENDS:
        return CERTAIN if explicit else LIKELY
    weak = bans or strict or first in ("only", "avoid") or (clause[-1] == "no" and second)
    return LIKELY if weak or not _ABROAD.isdisjoint(clause[:2]) or _has(text, _SCOPES) else NONE
