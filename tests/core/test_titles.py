"""The title of a session: what its first prompt asks, in a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.titles import make_title
from tests.examples import examples


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("Fix the login test. Then commit.", "Fix the login test"),
        ("Hi. Please fix it, now!", "Hi. Please fix it, now!"),
        ("why is /home/ana/shop/src/api.py so slow?", "why is api.py so slow?"),
        ("@src/app.ts, C:\\x\\b.txt and https://x.example/pull/12", "app.ts, b.txt and 12"),
        ("read/write and/or TCP/IP", "read/write and/or TCP/IP"),
        ("/init", "/init"),
        ("# Task\n\nDraw `it`", "Task"),
        ("```\nTraceback: x\n```\nwhy does this fail?", "why does this fail?"),
        ("ValueError: 3\n  at foo (x.js)\n2026-05-01 ERROR no\n> quoted\nwhat is wrong?", "what is wrong?"),
        ("Look at this:\n```\n1\n```\nWhat is wrong here?", "What is wrong here?"),
        ("Look at this log:\n```\n1\n```", "Look at this log"),
        ("<file>\n</file>\n[Pasted text #1 +3 lines] explain this", "explain this"),
        ("ERROR: nothing else", "ERROR: nothing else"),
        ("登录测试失败了请修复它并提交。然后推送", "登录测试失败了请修复它并提交。"),
        ("", ""),
    ],
)  # fmt: skip
def test_it_is_the_first_sentence_without_what_was_pasted(prompt: str, title: str) -> None:
    assert make_title(prompt) == title


@examples(200)
@given(st.text() | st.text("`<a/.\\ \n~@:", max_size=200))
def test_it_is_short_on_one_line_and_there_where_a_prompt_is(prompt: str) -> None:
    title = make_title(prompt)
    assert len(title) <= 81
    assert title == " ".join(title.split())
