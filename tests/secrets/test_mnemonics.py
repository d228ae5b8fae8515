"""Phrases of wallets. The words are of the list of BIP-39."""

import json
import random

import pytest

from memfs.secrets import find_secrets

WORDS = """
ability able about above absent absorb abstract absurd abuse access accident account accuse achieve
acid acoustic acquire across act action actor actress adapt add addict address adjust admit adult
advance zebra zero zone zoo wolf woman wonder wood wool word work world worry worth wrap wreck
""".split()
ANNOUNCED = (
    *("seed phrase: {}", 'MNEMONIC="{}"', "my recovery phrase is {}.", "the 12 words are `{}`"),
    *("bip39 {}", "Wiederherstellungsphrase: {}", "phrase de récupération : {}"),
    *("frase semilla: {}", "wallet words\n\n{}\n\nkeep them safe"),
)


def draw(size: int) -> list[str]:
    return random.Random(size).sample(WORDS, size)  # noqa: S311 - the same at every run


@pytest.mark.parametrize("size", [12, 15, 18, 21, 24])
@pytest.mark.parametrize("text", ANNOUNCED)
def test_a_phrase_that_is_announced_is_one_secret(text: str, size: int) -> None:
    phrase = " ".join(draw(size))
    found = find_secrets(whole := text.format(phrase))
    assert [whole[each.start : each.end] for each in found] == [phrase]


def test_the_words_may_be_a_list() -> None:
    words = draw(12)
    numbered = "".join(f"{number}. {word}\n" for number, word in enumerate(words, 1))
    for text in (f"Seed phrase:\n{numbered}", "Mnemonic:\n" + "\n".join(words)):
        assert [each.type for each in find_secrets(text)] == ["mnemonic"]
    assert find_secrets(json.dumps({"mnemonic": words}))


@pytest.mark.parametrize(
    "text",
    [
        "mnemonic: " + "abandon " * 11 + "about",
        "mnemonic: " + "test " * 11 + "junk",
        " ".join(draw(12)),
        "seed phrase: " + " ".join(draw(13)),
        "the seed phrase is kept in the vault, and people who need it ask for it there every time",
        "the phrase was used when people first started building large language parsers using simple",
        "passphrase: " + " ".join(draw(12)),
    ],
)
def test_examples_and_sentences_are_none(text: str) -> None:
    assert find_secrets(text) == []
