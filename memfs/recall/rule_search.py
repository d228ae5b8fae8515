"""The rules and lasting facts that a user stated in past sessions, found in the text index."""

from __future__ import annotations

from collections.abc import Iterator

from tantivy import Order

from memfs.recall.own_words import own_words
from memfs.recall.rule_recognition import MARKS, is_rule
from memfs.recall.sentences import split_sentences
from memfs.search import prompt_bm25
from memfs.search.lexical import Occur, Query, TextIndex
from memfs.search.stopwords import STOP
from memfs.store import standing_rules
from memfs.store.blocks import Place
from memfs.store.standing_rules import StandingRule

_MESSAGES = 400  # the newest messages with such a word
_RULES = 60
_LONGEST = 240  # characters of a rule and its continuation
_GOES_ON = frozenset(("and", "also", "no", "never", "not", "always", "but", "or", "same", "only"))
_SAME = 0.6  # of the shorter rule's words in common: the same subject
# Each form in `rule_recognition` contains one of these words.
_WORDS = (
    "never always only must every each nobody no remember rule record forward now use own live "
    "host limit go has have period ever allowed exceptions everything anything any all hard"
)


def refresh_rules(place: Place) -> None:
    """Find the standing rules in a place's index, and write them for the start of a session.

    The caller holds the index's lock.
    """
    text = TextIndex.open(place.home.index)
    if text is not None:
        standing_rules.write(place.home, find_rules(text))


def find_rules(text: TextIndex) -> list[StandingRule]:
    """Return the rules that users stated, the newest first; of one subject only the latest."""
    found: list[StandingRule] = []
    for rule in _scan_rules(text):
        about = _extract_subject(rule)
        if not any(_is_same(about, _extract_subject(other)) for other in found):
            found.append(rule)
        if len(found) == _RULES:
            break
    return found


def _extract_subject(rule: StandingRule) -> set[str]:
    """Return the words of a rule that tell its subject: neither "never" nor "the"."""
    return rule.words.difference(STOP, MARKS) or rule.words


def _is_same(one: set[str], other: set[str]) -> bool:
    return len(one & other) >= _SAME * min(len(one), len(other))


def _scan_rules(text: TextIndex) -> Iterator[StandingRule]:
    words = [(Occur.Should, text.term_query("text", stem)) for stem in sorted(text.stems(_WORDS))]
    query = Query.boolean_query(
        [
            (Occur.Must, text.term_query("kind", "message")),
            (Occur.Must, text.term_query("role", "user")),
            (Occur.Must, Query.boolean_query(words)),
        ]
    )
    found = text.searcher.search(
        query, _MESSAGES, count=False, order_by_field="at", order=Order.Desc
    )
    for _, address in found.hits:
        document = text.load_document(address)
        content = prompt_bm25.get_field(document, "text")
        at, host = prompt_bm25.get_field(document, "time"), prompt_bm25.get_field(document, "host")
        session, ident = (
            prompt_bm25.get_field(document, "session"),
            prompt_bm25.get_field(document, "id"),
        )
        for rule in reversed(_extract_rules(split_sentences(own_words(content)))):
            yield StandingRule(at, host, session, ident, rule)


def _extract_rules(sentences: list[str]) -> list[str]:
    """Return the rules among sentences, each with the sentences that continue it."""
    found: list[str] = []
    follows = False
    for sentence in sentences:
        rule = is_rule(sentence)
        more = rule or sentence.split(None, 1)[0].lower().strip(",") in _GOES_ON
        if follows and more and len(found[-1]) + len(sentence) < _LONGEST and sentence[-1] != "?":
            found[-1] += f" {sentence}"
        elif rule:
            found.append(sentence)
        else:
            follows = False
            continue
        follows = True
    return found
