"""The one list of things to decide. What it lists is found and decided by other operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zlib import crc32

from memfs import files
from memfs.core import label as labels
from memfs.core.block import WARN_AT
from memfs.core.block_states import find_contradictions
from memfs.core.errors import MemfsError, NotFoundError, RejectedError
from memfs.core.formats import format_count, format_day
from memfs.core.records import ACCEPTED, ACTIVE, REJECTED, Fact
from memfs.core.settings import HOLD
from memfs.files import trees
from memfs.store import (
    blocks,
    clean_texts,
    config,
    facts,
    review_dates,
    standing_rules,
    store_paths,
)
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.core.body_edits import Edit
    from memfs.core.records import JournalEntry, Origin
    from memfs.store.file_cache import FileCache
    from memfs.store.standing_rules import StandingRule

INCOMING, PROPOSAL, RULE, FACT = "incoming", "proposal", "rule", "fact"
_MINE = frozenset(("i", "i'm", "i've", "me", "my", "mine"))  # words of a rule about its user
_DATED = 2000  # passages of a store, in which dates are looked for: more take a second
CONTRADICTION, STALE, DUE, FULL = "contradiction", "stale", "due", "full"
SECRET, COPY = "secret", "copy"
NOUNS = {
    INCOMING: "incoming change",
    PROPOSAL: "proposal",
    RULE: "rule",
    FACT: "fact",
    CONTRADICTION: "contradiction",
    STALE: "stale name",
    DUE: "past date",
    FULL: "full block",
    SECRET: "secret",
    COPY: "conflicted copy",
}


@dataclass(frozen=True)
class ReviewItem:
    """One thing to decide.

    `id` stays while the thing is as it is. `what` is its text, `why` says why it is listed, `label`
    names the block that it is about or for ("" for none). `accept` says what accepting it does, ""
    where a person has to do it: then `hint` says how. `at` is UTC in ISO 8601, "" if unknown;
    `host`, `session` and `message` name the source. `source` is the proposal or fact that it is
    about, or the edit that accepts it.
    """

    id: str
    kind: str
    what: str
    why: str
    label: str = ""
    accept: str = ""
    hint: str = ""
    at: str = ""
    host: str = ""
    session: str = ""
    message: str = ""
    source: object = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class AcceptedItem:
    """What accepting did: the edits, the number of new passages, and what else is to be said."""

    entries: tuple[JournalEntry, ...]
    passages: int = 0
    note: str = ""


def list_items(
    place: Place, *, deep: bool = True, cache: FileCache[dict[str, Fact]] | None = None
) -> list[ReviewItem]:
    """List what is to be decided, what came from others first.

    Of a store that is not trusted nothing else is listed. Without `deep` the project is not looked
    at for what it contradicts, which takes git some time.
    """
    found = list(_list_incoming(place))
    cache = cache or facts.make_cache()
    if place.project is None or place.project.trusted:
        found += (*_list_proposed(place, cache), *_list_faults(place), *_list_due(place, cache))
        found += _list_stale(place) if deep else ()
    by_id: dict[str, ReviewItem] = {}
    for item in found:  # the id of a fact is as its file says, and may be that of another item
        by_id.setdefault(item.id, item)
    dismissed = standing_rules.read_refused(place.home)
    return [item for item in by_id.values() if item.id not in dismissed]


def find_items(place: Place, idents: Sequence[str]) -> list[ReviewItem]:
    """Return the items whose ids begin so, each once. Raises `NotFoundError` if one has none."""
    items, found = {item.id: item for item in list_items(place)}, {}
    for ident in idents:
        begin = [each for each in items if ident and each.startswith(ident)]
        known = [ident] if ident in items else begin
        if len(known) != 1:
            what = f"{len(begin)} items to review have ids that start with"
            missing = "no item to review has the id"
            raise NotFoundError(
                f"{what if begin else missing} '{ident}'", "list the ids: memfs review list"
            )
        found[known[0]] = items[known[0]]
    return list(found.values())


def accept(place: Place, item: ReviewItem, origin: Origin, text: str = "") -> AcceptedItem:
    """Accept an item; with `text`, a rule or fact in other words.

    Raises `RejectedError` where a person has to do it, or a rule of its block forbids it.
    """
    if not item.accept:
        raise RejectedError(
            f"cannot accept {item.id}: you have to change the text yourself", item.hint
        )
    stated_at = f"stated on {item.at[:10]}" if item.at else "stated in a past session"
    reasons = {RULE: stated_at, FACT: "a stated fact", PROPOSAL: "reflect"}
    origin = origin._replace(reason=reasons.get(item.kind, item.why))
    if item.kind == PROPOSAL:
        from memfs.ops import reflect  # with YAML and what edits, which a list needs not

        done = reflect.accept(place, item.id, origin)
        return AcceptedItem(done.entries, done.passages, done.note)
    accepted = AcceptedItem(())
    if item.label:
        from memfs.core.body_edits import Rejected  # likewise
        from memfs.ops import edit  # likewise

        made = edit.run(place, [_make_edit(item, text)], origin)
        if isinstance(made, Rejected):
            raise RejectedError(made.message, made.hint)
        if isinstance(made, edit.Edited):
            accepted = AcceptedItem(made.entries, note=made.note)
    if isinstance(item.source, Fact):
        from memfs.ops import facts as op  # likewise

        op.decide(place, item.id, ACCEPTED)
    return accepted


def dismiss(place: Place, item: ReviewItem) -> None:
    """Take an item off the list: it does not come back while it is as it is.

    A fact is rejected by that, and a proposal dropped. Raises `RejectedError` for changes of
    others, which only `memfs trust` decides on.
    """
    if item.kind == INCOMING:
        raise RejectedError("changes by other people cannot be dismissed", item.hint)
    if item.kind == PROPOSAL:
        from memfs.ops import reflect  # likewise

        reflect.reject(place, item.id)
    elif isinstance(item.source, Fact):
        from memfs.ops import facts as op  # likewise

        op.decide(place, item.id, REJECTED)
    else:
        standing_rules.refuse(place.home, item.id)


def _make_edit(item: ReviewItem, text: str) -> Edit:
    from memfs.core.body_edits import Append, Describe, Replace  # likewise

    if isinstance(item.source, (Describe, Replace)):
        return item.source
    words = text or item.what
    return Append(item.label, f"- {words}" if item.kind == RULE else words)


def _make_id(*parts: str) -> str:
    return f"{crc32(chr(10).join(parts).encode('utf-8', 'replace')):08x}"


def _list_incoming(place: Place) -> Iterator[ReviewItem]:
    """Yield what others wrote and assistants are not given: a whole store, or changes held back."""
    store, hint = place.project, "run memfs trust in your own terminal"
    if store is not None and not store.trusted:
        why = "came with the project; assistants do not use the store yet"
        yield ReviewItem(_make_id(INCOMING, store.root), INCOMING, store.root, why, hint=hint)
        return
    if config.load(place).get("trust.pulled") != HOLD:
        return
    from memfs.store import upstream_changes  # with git

    pulled = upstream_changes.review_changes(place, note=False).pulled
    if pulled:  # no name of theirs: an assistant may read the list
        ident = _make_id(INCOMING, *(f"{each.name} {each.after}" for each in pulled))
        what = format_count(len(pulled), "file")
        yield ReviewItem(
            ident, INCOMING, what, "changed by other people; waiting for your review", hint=hint
        )


def _list_proposed(place: Place, cache: FileCache[dict[str, Fact]]) -> Iterator[ReviewItem]:
    if files.is_folder(f"{place.home.local}/drafts"):
        from memfs.store import proposals  # with what edits

        for each in proposals.list_pending(place.home):
            names = [labels.qualify(change.tier, change.label) for change in each.changes]
            names += [format_count(len(each.passages), "passage")] if each.passages else []
            why = f"proposed by {each.model} from {format_count(len(each.sessions), 'session')}"
            yield ReviewItem(
                each.id, PROPOSAL, f"changes {', '.join(names)}", why, accept="apply it",
                at=each.at, source=each,
            )  # fmt: skip
    known = sorted(standing_rules.read(place.home), key=lambda rule: not rule.certain)
    rules = standing_rules.unwritten(known, [block.raw for block in blocks.load(place)])
    for rule in rules:
        label = "system_rules" if _MINE.isdisjoint(rule.words) else "human"
        why = "stated by you; not in a block yet" if rule.certain else "may be a rule"
        yield ReviewItem(
            rule.id, RULE, rule.text, why, label, f"add it to {label}", at=rule.at,
            host=rule.host, session=rule.session, message=rule.message, source=rule,
        )  # fmt: skip
    yield from _list_facts(place, rules, cache)


def _list_facts(
    place: Place, rules: list[StandingRule], cache: FileCache[dict[str, Fact]]
) -> Iterator[ReviewItem]:
    every = [each for store in place.stores() for each in facts.load_facts(store, cache).values()]
    if not every:
        return
    from memfs.knowledge.facts import fact_store  # with the patterns of facts
    from memfs.ops import facts as op  # likewise

    disputed = set()
    for fact, old in fact_store.list_disputed(every):
        disputed.add(fact.id)
        why = f"contradicts “{old.statement}”, which you accepted on"
        yield _make_fact_item(
            fact, CONTRADICTION, f"{why} {format_day(old.at)}", "", "replace the old fact"
        )
    for offer in op.list_offers(place, every):
        fact = offer.fact
        is_stated = len(standing_rules.unwritten(rules, [fact.statement])) < len(rules)
        if fact.status == ACTIVE and fact.id not in disputed and not is_stated:
            why = f"{fact.category} found in a session; not in a block yet"
            yield _make_fact_item(fact, FACT, why, offer.label, f"add it to {offer.label}")


def _make_fact_item(fact: Fact, kind: str, why: str, label: str, accept: str) -> ReviewItem:
    return ReviewItem(
        fact.id, kind, fact.statement, why, label, accept, at=fact.at, host=fact.host,
        session=fact.session, message=fact.message, source=fact,
    )  # fmt: skip


def _list_faults(place: Place) -> Iterator[ReviewItem]:
    """Yield what is wrong with blocks: lines that disagree, little room, secrets, copies."""
    for block in blocks.load(place):
        is_plain = block.tier == labels.PROJECT
        name = block.label if is_plain else labels.qualify(block.tier, block.label)
        change = f"memfs edit {name}"
        lines = block.value.split("\n")
        for each in find_contradictions(block.value):
            pair = f"{lines[each.first - 1].strip()}\n{lines[each.second - 1].strip()}"
            yield ReviewItem(
                _make_id(CONTRADICTION, name, each.one, each.other), CONTRADICTION, pair,
                f"lines {each.first} and {each.second} give different values", name,
                hint=f"remove the wrong line: {change}",
            )  # fmt: skip
        if block.fill >= WARN_AT and block.tier != labels.SESSION:
            size = f"{block.chars:,} of {block.limit:,} characters"
            hint = f"shorten the block with {change}, or archive parts with memfs page out {name}"
            yield ReviewItem(_make_id(FULL, name), FULL, size, "nearly full", name, hint=hint)
        if clean_texts.redact_texts({name: block.raw})[name] != block.raw:
            hint = "see the secret: memfs doctor --secrets; to remove it everywhere, add --purge"
            why = "contains what looks like a secret"
            yield ReviewItem(_make_id(SECRET, name), SECRET, name, why, name, hint=hint)
    for tier, store in place.list_lasting_tiers():
        for file in trees.walk(store_paths.block_folder(store, tier)):
            if labels.is_conflicted_copy(file.name.rpartition("/")[2]):
                yield ReviewItem(
                    _make_id(COPY, file.path), COPY, file.path, "left by a sync tool",
                    hint="copy what is missing into the block, then delete this file",
                )  # fmt: skip


def _list_due(place: Place, cache: FileCache[dict[str, Fact]]) -> Iterator[ReviewItem]:
    for each in review_dates.list_due(place, _DATED, cache):
        from memfs.core.body_edits import Describe  # hardly any text has a date

        name = each.name if each.tier == labels.PROJECT else labels.qualify(each.tier, each.name)
        label = name if each.kind == "block" else ""
        ident = _make_id(DUE, each.tier, each.kind, each.name, each.key, each.value)
        why = "the date is in the past" if each.day else "not a date; write dates as 2026-12-31"
        said, undate = f"{each.key}: {each.day or each.value}", Describe(label, {each.key: None})
        yield ReviewItem(
            ident, DUE, said, f"{each.kind} {each.name}: {why}", label,
            "remove the date" if label else "", f"edit {each.path}" if each.path else "",
            source=undate if label else None,
        )  # fmt: skip


def _list_stale(place: Place) -> Iterator[ReviewItem]:
    from memfs.ops import check  # with git

    try:
        found = check.run(place).findings if place.project and place.project.trusted else ()
    except (MemfsError, TimeoutError):  # no repository, or git takes too long
        return
    for each in found:
        if each.state in check.DATED:
            continue
        where = f"{each.path}:{each.line}" if each.line else each.path
        ident = _make_id(each.path, each.label, each.state, each.kind, each.said, each.now)
        label = each.label if each.path.endswith(blocks.SUFFIX) else ""
        hint = f"memfs edit {label}" if label else f"edit {each.path}"
        state = "missing" if each.state == "gone" else each.state
        parts = (f"{where}: the {each.kind} is {state}", each.explain())
        mend, take = each.make_edit(), "correct it" if each.mend else ""
        why = ", ".join(filter(None, parts))
        yield ReviewItem(ident, STALE, each.said, why, label, take, hint, source=mend)
