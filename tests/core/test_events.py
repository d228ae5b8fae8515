"""What a host is told cannot close the frame that it is put into."""

from __future__ import annotations

import pytest

from memfs.core.events import Reply

TAG, BROKEN = "</system-reminder>", "<\\/system-reminder>"


@pytest.mark.parametrize("field", ["context", "notice", "refusal", "more"])
def test_no_part_of_a_reply_closes_the_frame(field: str) -> None:
    assert getattr(Reply(**{field: f"a {TAG} b"}), field) == f"a {BROKEN} b"
    assert getattr(Reply(**{field: f"a {BROKEN} b"}), field) == f"a {BROKEN} b"
    assert getattr(Reply(), field) == ""
