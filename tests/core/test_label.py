"""Labels: what is one, and what people and agents may type for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core import label as labels
from memfs.core.errors import USAGE, MemfsError
from tests.examples import examples

ALPHABET = "only a-z, 0-9, '_' and '-' are allowed, with '/' between levels"


@pytest.mark.parametrize(
    "label", ["a", "0", "human", "system_rules", "a-b", "services/api", "a/b/c", "x" * 64, "con-1"]
)
def test_labels(label: str) -> None:
    assert not labels.problem(label)
    assert labels.parse(label) == (None, label)
    for tier in labels.TIERS:
        assert labels.parse(labels.qualify(tier, label)) == (tier, label)


@pytest.mark.parametrize(
    ("label", "wrong"),
    [
        ("", "a label cannot be empty"),
        ("x" * 65, "65 characters, the limit is 64"),
        ("a/b/c/d", "4 levels, the limit is 3"),
        *[
            (bad, ALPHABET)
            for bad in (
                *("/a", "a/", "a//b", "..", "../a", "a/../b", ".", "_a", "-a", "a.md", "A", "é"),
                *("a b", "a\nb", "a\x00", "a\\b", "c:", "~", "a/.b", "\u212a"),
            )
        ],
        ("con", "'con' is a device name on Windows"),
        ("a/lpt9", "'lpt9' is a device name on Windows"),
    ],
)
def test_what_is_no_label(label: str, wrong: str) -> None:
    assert labels.problem(label) == wrong


@pytest.mark.parametrize(
    ("typed", "tier", "label"),
    [
        ("Human", None, "human"),
        (" System Rules ", None, "system_rules"),
        ("user:human", "user", "human"),
        ("USER: Human", "user", "human"),
        ("session:working", "session", "working"),
        ("project:services/API", "project", "services/api"),
    ],
)
def test_what_is_typed_is_normalised(typed: str, tier: str | None, label: str) -> None:
    assert labels.parse(typed) == (tier, label)


def test_errors_say_what_is_allowed() -> None:
    with pytest.raises(MemfsError) as caught:
        labels.parse("team:human")
    assert caught.value.message == "unknown tier 'team' in 'team:human'"
    assert caught.value.hint == "use session, project or user"
    assert caught.value.code == USAGE
    with pytest.raises(MemfsError) as caught:
        labels.parse("user:../etc/passwd")
    assert caught.value.message == f"'../etc/passwd' is not a valid label: {ALPHABET}"
    assert caught.value.hint == "use a name such as 'human', 'api' or 'services/api'"
    assert caught.value.code == USAGE
    with pytest.raises(MemfsError, match="a label cannot be empty"):
        labels.parse("user:")


@given(st.text(max_size=70))
@examples(500)
def test_what_passes_is_a_harmless_relative_path(typed: str) -> None:
    try:
        _, label = labels.parse(typed)
    except MemfsError:
        return
    assert labels.parse(label) == (None, label)
    assert label.isascii()
    assert len(label) <= 64
    segments = label.split("/")
    assert 1 <= len(segments) <= 3
    assert all(segment[0].isalnum() for segment in segments)
    assert all(segment.replace("-", "").replace("_", "").isalnum() for segment in segments)
