"""The words of a text, as they are compared. Hot path."""

_EDGES = ".,;:!?()\"'`*"


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without the signs around them."""
    words = [word.strip(_EDGES) for word in text.lower().replace("\u2019", "'").split()]
    return [word for word in words if word]
