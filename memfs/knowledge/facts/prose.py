"""Facts in prose, by the form of a sentence alone: no questions, plans, wishes, guesses or code."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from memfs.core import body_edits
from memfs.core.records import RULES, Fact, Message, make_id
from memfs.knowledge.facts import patterns
from memfs.recall.own_words import own_words
from memfs.store import archive

CATEGORIES = (
    *("preference", "rule", "decision", "identity", "environment"),
    *("version", "correction", "cause", "technical", "change"),
)
_ENTITY = re.compile(
    r"`([^`\n]{1,80})`|((?<![\w/.])(?:[\w.-]+/)+[\w.-]+|\b[\w-]+\.(?:py|ts|tsx|js|go|rs|md|json|"
    r"ya?ml|toml|sh|java|rb|c|h|cpp|css|html)\b)|(?<![.!?]\s)(?<!^)\b([A-Z][a-z]+[A-Z]\w+|[A-Z]{2,}"
    r"[\w-]*|[A-Z][a-z]{2,})\b"
)
_LINKED = re.compile(
    rf"({patterns.SPAN}) (?:\w+ )?(is|are|uses?|requires?|returns?|contains?|includes?|calls?|"
    rf"runs?|comes? from|(?:is|are) (?:defined|implemented|configured|set|stored) in|replaces?)\b"
    rf"[^`]{{0,40}}({patterns.SPAN})"
)
_LONGEST, _SHORTEST = 320, 10  # characters of a sentence that can be a fact
_FEWEST = 3  # words
_NAMES = 12  # backticks in a sentence
_PERSONAL = ("identity", "preference")
_ABOUT_ME = re.compile(  # or an address, or a telephone number
    r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself)\b|[\w.+-]+@[\w-]+\.\w|(?:\d[ -]?){7,}",
    re.IGNORECASE,
)
_DECIDES = re.compile(  # a decision about the project, whoever made it
    r"\bi(?:'ve|'ll| have| will)? (?:(?:decided|agreed|opted|chose) to )?"
    r"(?=(?:use|go with|switch(?:ed)? to|stick (?:to|with)|keep|drop|replace|migrate)\b)",
    re.IGNORECASE,
)
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_SPLIT = re.compile(r"(?<=[a-zA-Z0-9`)\"'*\]][.!?])\s+(?=[A-Z`\"'(*])|\n+")
_LEAD = re.compile(
    r"^[ \t]*(?:[-*+•]|\d+[.)]|#{1,6})[ \t]+|^\*\*[^*]{1,40}(?:\*\*:|:\*\*)[ \t]*(?=\S)"
)
_LINK = re.compile(r"\[([^\]\[\n]{1,120})\]\((?!https?:)[^)\s]{1,300}\)")  # to a local path
_MARKS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")


def extract_facts(
    messages: Iterable[Message], tick: Callable[[int], object] = lambda _: None
) -> list[Fact]:
    """Return the facts in messages, with deterministic ids; `tick` counts messages."""
    found = []
    for message in messages:
        tick(1)
        if not message.side:
            found += [add_source(each, message, RULES) for each in facts(message)]
    return drop_secrets(found)


def facts(message: Message) -> list[Fact]:
    """Return the distinct facts in a message, without ids and source; of a tool there are none."""
    if message.role not in ("user", "assistant"):
        return []
    rules = patterns.SAID if message.role == "user" else patterns.FOUND
    found: dict[str, Fact] = {}
    user = message.role == "user"
    for sentence in sentences(own_words(message.text) if user else message.text):
        candidate = _classify(sentence, rules, person=user)
        if candidate is not None:
            mine = user and bool(
                candidate.category in _PERSONAL
                or _ABOUT_ME.search(_DECIDES.sub("", candidate.statement))
            )
            candidate = replace(candidate, personal=mine)
            found.setdefault(candidate.statement.casefold(), candidate)
    return list(found.values())


def add_source(fact: Fact, message: Message, found_by: str) -> Fact:
    """Return a fact with the message it is from. The id is deterministic."""
    folded = archive.merge_passages(fact.statement)
    return replace(
        fact,
        id=make_id(message.host, message.session, message.id, folded),
        host=message.host,
        session=message.session,
        message=message.id,
        at=message.at,
        extractor=found_by,
    )


def drop_secrets(found: Iterable[Fact]) -> list[Fact]:
    """Return the facts that hold no secret."""
    return [fact for fact in found if not body_edits.check_secret("keep", "a fact", fact.statement)]


def clean_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct names, without the punctuation of the sentence that they end."""
    return tuple(dict.fromkeys(filter(None, map(clean_name, names))))


def clean_name(name: str) -> str:
    """Return a name without the punctuation of the sentence that it ends."""
    return " ".join(name.split()).rstrip(".,;")


def is_about_user(text: str, tags: Sequence[str] = ()) -> bool:
    """Return whether a text that a model writes down is about the user, by its words or its tags.

    Its first sentence says who the user is or what they prefer, of "the user" or in the user's
    words. What "the user" of a program does or sees is about the program.
    """
    if any(" ".join(re.split(r"[\W_]+", tag.lower())) in patterns.USER_TAGS for tag in tags):
        return True
    first = next(sentences(text), "")
    said = _classify(first, patterns.SAID, person=True)
    return bool(patterns.ABOUT_USER.search(first) or (said and said.category in _PERSONAL))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text that could be facts, without list marks and emphasis."""
    plain = _QUOTED.sub("", _CODE.sub("\n", text))
    for part in _SPLIT.split(plain):
        named = _LINK.sub(r"`\1`", part) if "](" in part else part
        clean = _MARKS.sub("", _LEAD.sub("", _LEAD.sub("", named))).strip(" \t-\u2013\u2014")
        words = clean.split()
        odd = "|" in clean or clean.count("`") > _NAMES or clean.endswith("?)")
        if _SHORTEST <= len(clean) <= _LONGEST and len(words) >= _FEWEST and not odd:
            yield " ".join(words)


def _classify(
    sentence: str, rules: tuple[tuple[str, float, re.Pattern[str]], ...], *, person: bool
) -> Fact | None:
    if sentence.endswith(":") or (patterns.NONE_SAID if person else patterns.NONE).search(sentence):
        return None
    for category, confidence, form in rules:
        match = form.search(sentence)
        if match:
            key, over = _extract_key(sentence, category, match)
            return _build_fact(sentence, category, confidence, key, over)
    value = patterns.VALUE.fullmatch(sentence) if person else None
    if value:
        key, _ = _extract_key(sentence, "technical", value)
        return _build_fact(sentence, "technical", 0.75, key)
    if person and (related := patterns.RELATION.fullmatch(sentence)):
        source, target = (clean_name(related[name].strip("`")) for name in ("source", "target"))
        stated = _build_fact(sentence, "technical", 0.75)
        names = tuple(dict.fromkeys([source, target, *stated.entities]))
        relations = ((source, related["how"].lower(), target),)
        return replace(stated, entities=names, relations=relations)
    if _is_statement(sentence):
        return _build_fact(sentence, "technical", 0.7, "", ())
    version = patterns.VERSION.search(sentence)
    if version and version["tool"] not in patterns.NO_TOOL and patterns.STATES.search(sentence):
        tool = version["tool"].rstrip("@").lower()
        return _build_fact(sentence, "version", 0.75, f"version of {tool}", ())
    return None


def _build_fact(
    sentence: str, category: str, confidence: float, key: str = "", over: tuple[str, ...] = ()
) -> Fact:
    names = clean_names(next(filter(None, match.groups())) for match in _ENTITY.finditer(sentence))
    relations = tuple(
        (clean_name(match[1].strip("`")), match[2].lower(), clean_name(match[3].strip("`")))
        for match in _LINKED.finditer(sentence)
    )
    return Fact("", sentence.rstrip(".!"), confidence, category, names, relations, key, over)


def _is_statement(sentence: str) -> bool:
    wrong = (
        patterns.ORDER.search(sentence)
        or patterns.PERSONAL.search(sentence)
        or patterns.NONE.search(sentence)
    )
    outside = re.sub(patterns.SPAN, "x", sentence)
    return not wrong and bool(patterns.NAMED.search(sentence) and patterns.STATES.search(outside))


_FOR = re.compile(
    r"\b(?:use|using|prefer|choose|chose|go with)\s+[\w.+#`-]+(?: \w+)? for (?P<for>[\w `-]{3,30})",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b[\w.+#`-]+\s+(?:over|instead of|rather than|not)\s+(?P<old>[\w.+#`-]+)"
    r"|\bprefer\s+[\w.+#`-]+\s+to\s+(?P<older>[\w.+#`-]+)"
    r"|\bno longer (?:use|prefer|like|want|need|write)\s+(?P<gone>[\w.+#`-]+)",
    re.IGNORECASE,
)
_SWITCH = re.compile(
    r"\bswitch(?:ed)? (?:from (?P<old>[\w.+#`-]+) )?to (?P<new>[\w.+#`-]+)", re.IGNORECASE
)
_LEXICAL = frozenset("it that this the a an them you be do have use".split())


def _extract_key(sentence: str, category: str, match: re.Match[str]) -> tuple[str, tuple[str, ...]]:
    subject = match.groupdict().get("subject")
    if subject:
        return f"value of {' '.join(subject.strip('` ').lower().split())}", ()
    for name, value in match.groupdict().items():
        if value:
            return f"the user's {name}", ()
    if category not in ("preference", "decision", "environment", "rule", "correction"):
        return "", ()
    purpose = _FOR.search(sentence)
    over = _SWITCH.search(sentence) or _OVER.search(sentence)
    groups = over.groupdict() if over else {}
    against = next(
        (groups[name] or "" for name in ("old", "older", "gone") if groups.get(name)), ""
    )
    against = against.strip("`.,").lower()
    words = (against,) if len(against) > 1 and against not in _LEXICAL else ()
    if purpose:
        return f"for {purpose['for'].strip().lower().removeprefix('the ')}", words
    if category != "preference" or not match[0].lower().endswith(("prefer", "rather")):
        return "", words
    if subject := _find_preferred(sentence, match):
        return subject, words
    # "Actually, I prefer aisle seats now" is said against "I prefer window seats".
    if not words and patterns.CORRECTS.search(sentence) and (what := find_object(sentence)):
        words = (what,)
    return "", words


def find_object(sentence: str, *, last: bool = False) -> str:
    """Return what a preference is of ("prefer seats"), or ""; `last`: where that ends it."""
    found = patterns.OBJECT.search(sentence)
    if not found or (last and found.end() < len(sentence)):
        return ""
    return f"prefer {found['head'].lower()}"


def find_places(sentence: str) -> set[str]:
    """Return where a sentence says that it holds, as "production"."""
    return {found["place"].lower() for found in patterns.PLACE.finditer(sentence)}


def _find_preferred(sentence: str, match: re.Match[str]) -> str:
    of = patterns.PREFERRED.match(sentence, match.end())
    rival = patterns.RIVAL.match(sentence, of.end()) if of else None
    other = patterns.PREFERRED.match(sentence, rival.end()) if rival else of
    if not of or not other or other.lastgroup != of.lastgroup:
        return ""
    places = find_places(sentence[: match.start()]) | find_places(sentence[of.end() :])
    return " in ".join([f"the user's preferred {of.lastgroup}", *sorted(places)])
