"""Token counts without a tokenizer."""

CHARS_PER_TOKEN = 4


def estimate(text: str) -> int:
    """Estimate the tokens of `text`: four characters each, one each outside ASCII."""
    wide = sum(1 for character in text if ord(character) > 0x7F)
    return (len(text) - wide + CHARS_PER_TOKEN - 1) // CHARS_PER_TOKEN + wide
