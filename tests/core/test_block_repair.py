"""Mending: what is broken is put right once, values stay, and nothing else changes."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memfs.core import block_problems
from tests.core.samples import block, yaml_texts
from tests.ops.mutations import broken


@pytest.mark.parametrize(
    ("raw", "mended", "done"),
    [
        (
            "---\n\tlimit: 5\ndescription:\ta\n---\nb\tc\n",
            "---\nlimit: 5\ndescription: a\n---\nb\tc\n",
            "tabs in the front matter replaced with spaces",
        ),
        ("---\nlimit:\t[5\n---\nx\n", None, ""),
        (
            "---\nlimit: 5 \t\ntags:\n\t- a\n\t-\tb\n---\nb\tc\n",
            "---\nlimit: 5\ntags:\n  - a\n  - b\n---\nb\tc\n",
            "tabs in the front matter replaced with spaces",
        ),
        (
            "---\r\nlimit: 5\r\nlimit: 6 # c\r\nx: 1\r\n---\r\nb\r\n",
            "---\r\nlimit: 6 # c\r\nx: 1\r\n---\r\nb\r\n",
            "duplicate keys removed (limit)",
        ),
        (
            "---\nread_only: true\nx:\n  - a\n# why\nx: 2\nread_only: false\n---\n",
            "---\nread_only: true\n# why\nx: 2\n---\n",
            "duplicate keys removed (read_only, x)",
        ),
        (
            "---\nlimit: 5\nversion: 2\nText.\n",
            "---\nlimit: 5\nversion: 2\n---\nText.\n",
            "the closing '---' line of the front matter added",
        ),
        ("---\nstray\nlimit: 5\n---\nx\n", None, ""),
        ("---\na: {b: 1, b: 2}\n---\nx\n", None, ""),
        ("a\n<<<<<<< x\nb\n=======\nc\n>>>>>>> y\n", "a\nb\nc\n", "conflicts resolved"),
        ("a\n<<<<<<< x\nb\n>>>>>>> y\n", None, ""),
    ],
)
def test_mending(raw: str, mended: str | None, done: str) -> None:
    """None: it is for a person to mend."""
    text, steps = block_problems.mend(raw)
    assert text == (raw if mended is None else mended)
    assert "; ".join(steps.values()) == done


def check(raw: str) -> None:
    text, done = block_problems.mend(raw)
    assert bool(done) == (text != raw)
    assert block_problems.mend(text) == (text, {})
    before, after = block("a", raw), block("a", text)
    assert after.read_only or not before.read_only or block_problems.CONFLICT in done
    found = block_problems.find(raw)
    lines = raw.count("\n") + 2  # a fence may be missing behind the last one
    assert all(1 <= fault.line <= lines for fault in found if not before.codec)
    assert {fault.mendable for fault in found} >= ({True} if done else set())
    if block_problems.HEAD in done and len(done) == 1:
        kept = {"limit", "description", "version", "pinned", "tags"} & set(before.meta)
        assert after.body == before.body
        assert all(str(after.meta[key]).split() == str(before.meta[key]).split() for key in kept)
        assert not after.problem


@example("description: a # c\n\ta: ", "body\n")
@given(yaml_texts(), st.sampled_from(["body\n", "", "---\nlimit: 5\n---\n"]))
def test_mending_twice_is_mending_once(inner: str, body: str) -> None:
    check(f"---\nlimit: 9\n{inner}\n---\n{body}")
    check(f"---\nlimit: 9\nversion: 2\n{inner}\n{body}")


def test_broken_files_are_mended_once() -> None:
    for how, data in broken(150, seed=7):
        try:
            check(data.decode("utf-8", "surrogateescape"))
        except BaseException as error:
            error.add_note(how)
            raise
