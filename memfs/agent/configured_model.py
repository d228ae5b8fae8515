"""The model that the user configured: an endpoint or a command, asked no more than they allow."""

from __future__ import annotations

from contextlib import suppress

from memfs.agent import endpoint, usage_limits
from memfs.agent.command import Command
from memfs.agent.model import Model
from memfs.agent.usage_limits import MeteredModel
from memfs.core.errors import MemfsError, UsageError
from memfs.core.settings import Settings
from memfs.store import config, store_paths
from memfs.store.blocks import Place


def settings() -> Settings:
    """Return the user's own settings: no repository and no variable names a model."""
    return config.load(Place(None, store_paths.user_store()))


def is_configured() -> bool:
    """Return whether the user configured a model."""
    found = settings()
    return bool(found.get("llm.command") or (found.get("llm.endpoint") and found.get("llm.model")))


def format_model() -> str:
    """Return the configured model's name and its usage today, for people; "" for none."""
    found, user = settings(), store_paths.user_store()
    if user is None or not is_configured():
        return ""
    name = str(found.get("llm.command") or "")
    if not name:
        name = str(found.get("llm.model"))
        with suppress(MemfsError):  # an invalid address is reported where it is used
            name += f" at {endpoint.hide_credentials(str(found.get('llm.endpoint')))}"
    spent = usage_limits.format_usage(usage_limits.today(user), usage_limits.limits(found).day)
    return f"{name}, today {spent}"


def load_model() -> MeteredModel:
    """Return the model of `llm`. Raises `MemfsError` if it is missing or incomplete."""
    found = settings()
    user = store_paths.user_store()
    line = str(found.get("llm.command") or "")
    if user is None or not (line or found.get("llm.endpoint")):
        raise UsageError(
            "no model is configured",
            f"in {store_paths.user_root()}/{store_paths.CONFIG}, write llm: with endpoint: and "
            "model:, or with command: (claude -p)",
        )
    model: Model = (
        Command(line, found.number("llm.timeout")) if line else endpoint.select_endpoint(found)
    )
    return MeteredModel(model, user, usage_limits.limits(found))
