"""The context and the review of a program with a model of its own."""

from pathlib import Path

import memfs
from memfs.core.records import Message
from memfs.store.blocks import Place


def said(role: str, text: str) -> Message:
    return Message(text, "s1", "claude", "", "", "2026-05-03T10:00:00Z", role, text)


def test_a_context_has_the_blocks_and_the_latest_messages_that_fit(
    place: Place, repo: Path
) -> None:
    with memfs.open(str(repo)) as memory:
        memory.append("human", "Name: Alice")
        messages = [said("user", f"Question {n}. " + "word " * 200) for n in range(20)]
        found = memfs.ContextAssembler(memory, 4096).assemble(messages)
    assert "Name: Alice" in found.system
    assert 0 < len(found.messages) < 20
    assert found.messages[-1] is messages[-1]
    assert found.tokens + found.available == 4096
    assert found.available >= 4096 // 3


def test_a_reviewer_skips_short_sessions_and_shows_memory_and_conversation(
    place: Place, repo: Path
) -> None:
    with memfs.open(str(repo)) as memory:
        memory.append("human", "Name: Alice")
        reviewer = memfs.SessionReviewer(memory.place)
    messages = [said("user", f"Prompt {n}.") for n in range(5)]
    assert not reviewer.should_review(messages[:4])
    assert reviewer.should_review(messages)
    assert reviewer.should_review(messages[:2], min_messages=2)
    prompt = reviewer.get_review_prompt(messages)
    assert "Name: Alice" in prompt
    assert "[USER]:\n> Prompt 4." in prompt
