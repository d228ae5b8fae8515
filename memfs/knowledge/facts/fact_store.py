"""Facts on disk: a new one supersedes those it contradicts, unless a person accepted them."""

import re
from collections.abc import Callable, Iterable, Sequence

from memfs.core import label as labels
from memfs.core.errors import UsageError
from memfs.core.records import ACCEPTED, ACTIVE, ARCHIVED, REJECTED, SUPERSEDED, Fact
from memfs.knowledge.facts import prose
from memfs.knowledge.facts.prose import CATEGORIES
from memfs.recall import model_config
from memfs.search.text_vectors import embed_texts
from memfs.store import archive, lock
from memfs.store import facts as stored
from memfs.store.blocks import Place
from memfs.store.file_cache import FileCache
from memfs.store.store_paths import Store

_LOSES = ("preference", "decision", "environment")  # "X instead of Y" contradicts these
_ALIKE = {"decision", "environment"}  # one key in either: the later fact counts
_SAME = 0.93  # least cosine of two statements with the same meaning
_NUMBERS = re.compile(r"\d+")
_POLARITY = frozenset("always never not don t do please i we you".split())
_SHORT = 12  # words of a statement about one thing
_WORD = re.compile(r"[\w.+#-]+")


def store_facts(place: Place, new: Sequence[Fact], *, unlike: bool = True) -> list[Fact]:
    """Store new facts, personal ones in the user's store; return the added ones."""
    new = sorted(new, key=lambda fact: fact.at)
    words = model_config.load_wanted_model(place).off
    added: list[Fact] = []
    for tier, store in place.list_lasting_tiers():
        alone = place.project is None
        mine = [fact for fact in new if alone or fact.personal == (tier == labels.USER)]
        if mine:
            with lock.hold_lock(store, name=lock.KINDS):
                added += _store_new(store, mine, unlike=unlike, words=words)
    return added


def _store_new(store: Store, new: Sequence[Fact], *, unlike: bool, words: bool) -> list[Fact]:
    every = stored.load_facts(store)
    current = [f for f in every.values() if f.status not in (SUPERSEDED, ARCHIVED)]
    statements = {archive.merge_passages(fact.statement) for fact in current}
    fresh = []
    for fact in new:
        folded = archive.merge_passages(fact.statement)
        if fact.id not in every and (folded not in statements or fact.key or fact.over):
            fresh.append(fact)
        statements.add(folded)
    active = _Standing(current)
    writes: dict[str, Fact] = {}
    for fact in _drop_duplicates(current, fresh, words=words) if unlike else fresh:
        later = ""
        for old in active.find_conflicts(fact):
            if old.at > fact.at:
                later = old.id
            elif old.holds and archive.merge_passages(old.statement) == archive.merge_passages(
                fact.statement
            ):
                later = "same"
            elif old.holds and old.status != ACCEPTED:
                writes[old.id] = old.revise(SUPERSEDED, by=fact.id)
                active.remove(old)
        if later == "same":
            continue
        writes[fact.id] = fact.revise(SUPERSEDED, by=later) if later else fact
        if not later:
            active.add(fact)
    stored.write_facts(store, writes.values())
    return [fact for ident, fact in writes.items() if ident not in every]


def _drop_duplicates(known: Sequence[Fact], fresh: Sequence[Fact], *, words: bool) -> list[Fact]:
    rejected: dict[str, list[Fact]] = {}
    for fact in known:
        if fact.key and fact.status == REJECTED:
            rejected.setdefault(fact.key, []).append(fact)
    wanted = {_extract_names(fact) for fact in fresh}
    some = [fact for fact in known if _extract_names(fact) in wanted]
    every = [*some, *fresh]
    same = _compare(every, words=words or not fresh)
    alike: dict[object, list[int]] = {}
    for number, fact in enumerate(some):
        alike.setdefault(_extract_names(fact), []).append(number)
    kept = []
    for number in range(len(some), len(every)):
        fact = every[number]
        others = alike.setdefault(_extract_names(fact), [])
        no = rejected.get(fact.key, ())
        if (not fact.key and same(number, others)) or any(
            _get_words(each) <= _get_words(fact) for each in no
        ):
            continue
        others.append(number)
        kept.append(fact)
    return kept


def _compare(facts: Sequence[Fact], *, words: bool) -> Callable[[int, list[int]], bool]:
    if words:
        said = list(map(_get_words, facts))
        return lambda one, others: any(said[one] == said[other] for other in others)
    vectors = embed_texts([fact.statement for fact in facts])
    return lambda one, others: bool(others and (vectors[others] @ vectors[one]).max() >= _SAME)


def _extract_names(fact: Fact) -> object:
    return frozenset(fact.entities), tuple(_NUMBERS.findall(fact.statement))


def _get_words(fact: Fact) -> frozenset[str]:
    return frozenset(_WORD.findall(fact.statement.casefold()))


class _Standing:
    """Active facts, indexed by key, to find contradictions fast."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._every: dict[str, Fact] = {}
        self._alike: dict[str, dict[str, Fact]] = {}  # by key, then by id
        for fact in facts:
            self.add(fact)

    def add(self, fact: Fact) -> None:
        self._every[fact.id] = fact
        self._alike.setdefault(fact.key, {})[fact.id] = fact

    def remove(self, fact: Fact) -> None:
        del self._every[fact.id]
        del self._alike[fact.key][fact.id]

    def find_conflicts(self, new: Fact) -> list[Fact]:
        if not (new.key or new.over):
            return []
        some = self._every if new.over else self._alike.get(new.key, {})
        return [old for old in some.values() if old.holds and _is_contradiction(new, old)]


def _is_contradiction(new: Fact, old: Fact) -> bool:
    same = new.category == old.category or {new.category, old.category} <= _ALIKE
    if new.key and new.key == old.key and same:
        return True
    if old.at > new.at or old.category not in _LOSES or old.status != ACTIVE:
        return False
    here, there = prose.find_places(new.statement), prose.find_places(old.statement)
    if here and there and here.isdisjoint(there):
        return False
    return len(_get_words(old)) <= _SHORT and not _list_terms(old).isdisjoint(new.over)


def _list_terms(fact: Fact) -> set[str]:
    words = {word.strip(".`").casefold() for word in _WORD.findall(fact.statement)}
    what = "" if fact.key else prose.find_object(fact.statement, last=True)
    return words | {what} if what else words


def list_disputed(facts: Iterable[Fact]) -> list[tuple[Fact, Fact]]:
    """Return (fact, older fact that it contradicts) where a person accepted the older one alone."""
    facts = list(facts)
    accepted = _Standing(fact for fact in facts if fact.status == ACCEPTED)
    return [
        (fact, old)
        for fact in facts
        if fact.status == ACTIVE
        for old in accepted.find_conflicts(fact)
        if old.at <= fact.at
    ]


def drop_contradicted(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts that no later one of them contradicts or repeats, the oldest first."""
    kept: list[Fact] = []
    subjects: set[tuple[str, str]] = set()
    said, over, about = set[str](), set[str](), set[frozenset[str]]()
    for fact in sorted(facts, key=lambda fact: fact.at, reverse=True):
        words = _list_terms(fact)
        topic = frozenset(word for word in words if not word.isdigit()) - _POLARITY
        subject = (fact.key, fact.category)
        if (
            (fact.key and subject in subjects)
            or not words.isdisjoint(over)
            or not said.isdisjoint(fact.over)
            or topic in about
        ):
            continue
        kept.append(fact)
        subjects.add(subject)
        said |= words
        over.update(fact.over)
        about.add(topic)
    return kept[::-1]


def decide_fact(place: Place, ident: str, status: str) -> Fact | None:
    """Accept, reject or reactivate a fact; return it, None if `ident` names no single one.

    `ident` is its id, or a unique prefix of it. One that is accepted supersedes those that it
    contradicts.
    """
    found = [
        (store, fact)
        for _, store in place.list_lasting_tiers()
        for fact in stored.load_facts(store).values()
        if fact.id.startswith(ident)
    ]
    exact = [pair for pair in found if pair[1].id == ident]
    if len(exact or found) != 1:
        return None
    store, fact = (exact or found)[0]
    with lock.hold_lock(store, name=lock.KINDS):
        every = stored.load_facts(store)
        changed = every.pop(fact.id, fact).revise(status)
        conflicts = _Standing(every.values()).find_conflicts(changed) if changed.holds else []
        over = [old.revise(SUPERSEDED, by=fact.id) for old in conflicts if old.at <= fact.at]
        stored.write_facts(store, [changed, *over])
    return changed


def replace_fact(place: Place, old: str, new: Fact) -> None:
    """Supersede a fact, given by its id, with a new one, in the store that has it."""
    for store in place.stores():
        with lock.hold_lock(store, name=lock.KINDS):
            there = stored.load_facts(store).get(old)
            if there is not None:
                stored.write_facts(store, [there.revise(SUPERSEDED, by=new.id), new])


def list_facts(place: Place, cache: FileCache[dict[str, Fact]] | None = None) -> list[Fact]:
    """Return the facts of all tiers, the oldest first."""
    return [fact for store in place.stores() for fact in stored.load_facts(store, cache).values()]


def select_facts(
    facts: Iterable[Fact],
    *,
    entities: Sequence[str] = (),
    pattern: str = "",
    since: str = "",
    until: str = "",
    confidence: float = 0.0,
    categories: Sequence[str] = (),
    statuses: Sequence[str] = (),
) -> list[Fact]:
    """Return the facts that match all conditions, only active ones unless `statuses` is given.

    Entities match parts of names, too; `pattern` is a regular expression over statements. Raises
    `UsageError` for one that is none.
    """
    try:
        form = re.compile(pattern, re.IGNORECASE) if pattern else None
    except re.error as error:
        raise UsageError(f"{pattern!r} is not a valid regular expression: {error}") from error
    wanted = [entity.casefold() for entity in entities]
    return [
        fact
        for fact in facts
        if (fact.status in statuses if statuses else fact.holds)
        and fact.confidence >= confidence
        and (not categories or fact.category in categories)
        and (not since or fact.at[: len(since)] >= since)
        and (not until or fact.at[: len(until)] <= until)
        and (not form or form.search(fact.statement))
        and all(any(w in e.casefold() for e in (*fact.entities, fact.statement)) for w in wanted)
    ]


def walk_relations(facts: Iterable[Fact], name: str, depth: int) -> list[Fact]:
    """Return the facts that are at most `depth` relations from a name, the nearest first."""
    edges = [
        (fact, {source.casefold(), target.casefold()})
        for fact in facts
        if fact.holds
        for source, _, target in fact.relations
    ]
    reached = {name.casefold()}
    found: dict[str, Fact] = {}
    for _ in range(depth):
        some = [(fact, ends) for fact, ends in edges if ends & reached and fact.id not in found]
        if not some:
            break
        found |= {fact.id: fact for fact, _ in some}
        reached = reached.union(*(ends for _, ends in some))
    return list(found.values())


def format_summary(facts: Sequence[Fact]) -> str:
    """Format the active facts by category, those with the most confidence first."""
    lines = []
    for category, some in group_by_category(facts).items():
        lines.append(f"## {category}")
        lines += [f"- {fact.statement}" for fact in some]
    return "\n".join(lines)


def group_by_category(facts: Sequence[Fact]) -> dict[str, list[Fact]]:
    """Return the active facts by category, those with the most confidence first."""
    found = {}
    for category in dict.fromkeys([*CATEGORIES, *(f.category for f in facts)]):
        some = [fact for fact in facts if fact.category == category and fact.holds]
        if some:
            found[category] = sorted(some, key=lambda fact: -fact.confidence)
    return found
