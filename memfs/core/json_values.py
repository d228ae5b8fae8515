"""Values from JSON of another process, without msgspec, which takes 10 ms to import."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import lru_cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Value = TypeVar("Value")
_PLAIN = (str, int, bool)
_get_hints = lru_cache(get_type_hints)


def rebuild(form: type[Value], value: object) -> Value:
    """Return a value of type `form` from parsed JSON.

    Forms are dataclasses, tuples, lists, mappings, plain values, and one of these or None. Raises
    `TypeError`, `ValueError` or `KeyError` for JSON that is not of the form.
    """
    made: Value = _rebuild(form, value)
    return made


def _rebuild(form: Any, value: Any) -> Any:
    origin, inner = get_origin(form) or form, get_args(form)
    if form in _PLAIN and not isinstance(value, form):
        raise TypeError(f"{value!r} is not of type {form.__name__}")
    if isinstance(form, type) and is_dataclass(form):
        hints = _get_hints(form)
        return form(**{name: _rebuild(hints[name], each) for name, each in value.items()})
    if type(None) in inner:
        return None if value is None else _rebuild(inner[0], value)
    if origin in (dict, Mapping):
        return {inner[0](key): _rebuild(inner[1], each) for key, each in value.items()}
    if origin is list:
        return [_rebuild(inner[0], each) for each in value]
    if origin is tuple:
        forms = inner[:1] * len(value) if inner[-1] is ... else inner
        return tuple(_rebuild(*pair) for pair in zip(forms, value, strict=True))
    return float(value) if form is float else value
