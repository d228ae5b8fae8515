"""The recall that assistants were given at their last prompts, why, and its scores."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from memfs import files
from memfs.store import prompt_log, recall
from memfs.store.blocks import Place
from memfs.store.prompt_log import PromptRecord


@dataclass(frozen=True)
class RecentPrompt:
    """The reply to one prompt; `prompt` is "" while its session is not in recall.

    `text` is the context the assistant was given, or ""; `why` has a line for each session or entry
    in it. `about` is the relevance of the best exchange of past sessions, `floor` the least that is
    shown, `nearest` names that exchange. `at` is UTC in ISO 8601.
    """

    at: str
    host: str
    session: str
    prompt: str
    text: str
    why: tuple[str, ...]
    about: float
    floor: float
    nearest: str


def run(place: Place, most: int) -> list[RecentPrompt]:
    """Return the replies to the last prompts here, newest first."""
    return [_load_prompt(place, each) for each in prompt_log.read(place.home, most)]


def _load_prompt(place: Place, found: PromptRecord) -> RecentPrompt:
    at = datetime.fromtimestamp(found.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return RecentPrompt(
        at,
        found.host,
        found.session,
        _find_prompt_text(place, found, at),
        found.text,
        tuple(found.why.splitlines()),
        found.about,
        found.floor,
        found.nearest,
    )


def _find_prompt_text(place: Place, found: PromptRecord, at: str) -> str:
    """Return the user's last message in recall up to a time, "" if there is none."""
    path = recall.get_path(place.home, found.host, found.session)
    if not files.is_file(path):
        return ""
    messages = [
        each
        for each in recall.messages(path)
        if each.role == "user" and not each.side and each.at[:19] <= at[:19]
    ]
    return messages[-1].text if messages else ""
