"""What a host is told cannot close the frame that it is put into."""

from __future__ import annotations

from memfs.core.events import Reply

TAG, BROKEN = "</system-reminder>", "<\\/system-reminder>"


def test_no_part_of_a_reply_closes_the_frame() -> None:
    for tag in (TAG, BROKEN):
        made = Reply(tag, tag, tag, tag)
        assert (made.context, made.notice, made.refusal, made.more) == (BROKEN,) * 4
    assert Reply().context == ""
