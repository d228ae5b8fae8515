"""What can be configured, with types and defaults. Hot path."""

NAME, HOLD = "name", "hold"

DEFAULTS: dict[str, object] = {
    "max_blocks": 10,  # pinned blocks at most
    "blocks": {},  # per label: {limit, description}
    "hooks": {"recall": "auto"},  # off, auto, or hits for a prompt at most
    "trust": {"pulled": NAME},  # what others changed: name it to the user, or hold it back
    "git": {"commit": "off", "protected": ["main", "master"]},  # off, edit or session
}
USER_ONLY = ("llm", "trust")  # sections that a repository's configuration cannot set


def of_project(layer: dict[str, object]) -> dict[str, object]:
    """Return what a repository may decide of its settings.

    It may be stricter than its user, and never names what is run, asked or read elsewhere.
    """
    found = {key: value for key, value in layer.items() if key not in USER_ONLY}
    if _dig(layer, ["trust", "pulled"]) == HOLD:
        found["trust"] = {"pulled": HOLD}
    return found


class Settings:
    """Merged settings. `get("hooks.recall")` never fails: a wrong type gives the default."""

    __slots__ = ("_found",)

    def __init__(self, layers: list[dict[str, object]]) -> None:
        self._found = layers  # strongest first

    def get(self, name: str) -> object:
        keys = name.split(".")
        default = _dig(DEFAULTS, keys)
        for layer in self._found:
            value = _dig(layer, keys)
            if value is not None and (default is None or right_type(value, default)):
                return value
        return default

    def number(self, name: str) -> int:
        value = self.get(name)
        return value if isinstance(value, int) else 0


def right_type(value: object, default: object) -> bool:
    """Tell whether a configured value has the type of its default (recall may also be a number)."""
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool | str)
    if isinstance(default, str):
        return isinstance(value, str | int)
    return isinstance(value, type(default))


def _dig(layer: object, keys: list[str]) -> object:
    for key in keys:
        if not isinstance(layer, dict):
            return None
        layer = layer.get(key)
    return layer
