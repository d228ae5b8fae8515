"""Extraction of facts from messages by rules: from prose, tool calls and tool output."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memfs.core import body_edits
from memfs.core.facts import RULES, Fact, make_id
from memfs.core.records import Message
from memfs.knowledge.facts.extraction import commands, prose, tool_output
from memfs.knowledge.facts.extraction.calls import PendingCalls, is_failure
from memfs.knowledge.facts.extraction.candidate import FactCandidate
from memfs.store import archive


def extract_facts(
    messages: Iterable[Message], tick: Callable[[int], object] = lambda _: None
) -> list[Fact]:
    """Return the facts in messages, in their order. The ids are deterministic.

    Calls `tick` with the number of messages done.
    """
    pending = PendingCalls()
    found = []
    for message in messages:
        tick(1)
        if message.side:
            continue
        call = pending.match_result(message)
        if call and call.message and not is_failure(message.text):
            found += [
                extract_message(call.message, each)
                for each in commands.find_commit_subject(call.command)
            ]
        some = tool_output.facts(call, message) if call else prose.facts(message)
        found += [extract_message(message, each) for each in some]
    return drop_secrets(found)


def drop_secrets(found: Iterable[Fact]) -> list[Fact]:
    """Return the facts without a check_secret."""
    return [fact for fact in found if not body_edits.check_secret("keep", "a fact", fact.statement)]


def extract_message(message: Message, candidate: FactCandidate, found_by: str = RULES) -> Fact:
    """Make a fact of a candidate and its message. The id is deterministic."""
    return Fact(
        make_id(
            message.host, message.session, message.id, archive.merge_passages(candidate.statement)
        ),
        candidate.statement,
        candidate.confidence,
        candidate.category,
        candidate.entities,
        candidate.relations,
        candidate.key,
        candidate.over,
        message.host,
        message.session,
        message.id,
        message.at,
        personal=candidate.personal,
        extractor=found_by,
    )
