import pytest

from memfs.core import privacy

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("a <private>b</private> c", "a c"),
        ("a <PRIVATE>b\nc</Private> d <private>e</private>", "a d"),
        ("forgotten <private>to close", "forgotten"),
        ("no <b>tags</b> of ours", "no <b>tags</b> of ours"),
        ("</private> alone", "</private> alone"),
        ("a <private>b <private>c</private> d</private> e", "a e"),
        ("a <private>b <private>c</private> d", "a"),
        ('a <private reason="x">b</private> c', "a c"),
        ("a <private\n>b</private > c", "a c"),
        ("a <privately>b</private> c", "a <privately>b</private> c"),
    ],
)
def test_what_is_private_is_left_out(text: str, public: str) -> None:
    assert privacy.public(text) == public


def test_what_is_kept_of_a_recorded_text() -> None:
    text = f" use {TOKEN} <private>and this</private> "
    kept = privacy.storable(text)
    assert TOKEN not in kept
    assert kept.startswith("use [redacted:")
    assert privacy.storable(kept) == kept
