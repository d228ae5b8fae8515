"""Settings: layers over defaults; a wrong type is as good as nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.settings import DEFAULTS, Settings, right_type
from tests.core.samples import alike
from tests.examples import examples

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["recall", "limit", "x"]), inner)
    ),
    max_leaves=5,
)
NAMES = [
    *("max_blocks", "blocks", "hooks", "hooks.recall", "blocks.human.limit", "no.such", "a.b.c.d")
]


def test_without_layers_there_are_defaults() -> None:
    settings = Settings([])
    assert settings.number("max_blocks") == 10
    assert settings.get("hooks.recall") == "auto"
    assert settings.get("blocks.human.limit") is None
    assert settings.get("no.such.thing") is None
    assert settings.number("no.such.thing") == 0


def test_the_strongest_layer_that_says_something_counts() -> None:
    layers: list[dict[str, object]] = [
        {"hooks": {"recall": "off"}},
        {"hooks": {"recall": 3}, "max_blocks": 4},
        {"max_blocks": 5, "blocks": {"services/api": {"limit": 800}}},
    ]
    settings = Settings(layers)
    assert settings.get("hooks.recall") == "off"
    assert settings.number("max_blocks") == 4
    assert settings.get("blocks.services/api.limit") == 800
    assert Settings(layers[1:]).get("hooks.recall") == 3


@pytest.mark.parametrize("value", [None, 2.5, [1], {"a": 1}, "many", True])
def test_a_wrong_type_gives_way_to_the_next_layer(value: object) -> None:
    assert Settings([{"max_blocks": value}, {"max_blocks": 7}]).number("max_blocks") == 7
    assert Settings([{"hooks": value}]).get("hooks.recall") == "auto"
    if not isinstance(value, str | bool):
        layers: list[dict[str, object]] = [{"hooks": {"recall": each}} for each in (value, "off")]
        assert Settings(layers).get("hooks.recall") == "off"


@pytest.mark.parametrize(
    ("value", "default", "right"),
    [
        (5, 10, True),
        ("5", 10, False),
        (True, 10, False),
        (5.0, 10, False),
        ("on", "auto", True),
        (3, "auto", True),
        (False, "auto", True),
        ([], "auto", False),
        (2.5, "auto", False),
        (True, False, True),
        (1, False, False),
        ("a", False, False),
        ({}, {}, True),
        ([], {}, False),
        (None, 1, False),
    ],
)
def test_types(value: object, default: object, right: bool) -> None:
    assert right_type(value, default) is right


@given(
    st.lists(st.dictionaries(st.sampled_from(["max_blocks", "blocks", "hooks"]), ANY), max_size=3)
)
@examples(300)
def test_reading_never_fails_and_known_names_keep_their_type(
    layers: list[dict[str, object]],
) -> None:
    settings = Settings(layers)
    for name in NAMES:
        settings.get(name)
        assert isinstance(settings.number(name), int)
    assert type(settings.get("max_blocks")) is int
    assert isinstance(settings.get("hooks.recall"), str | int | bool)
    assert isinstance(settings.get("blocks"), dict)
    assert alike(Settings([]).get("hooks"), DEFAULTS["hooks"])
