"""What assistants were given at their last prompts, why, and what stayed below the floor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memfs import files
from memfs.store import prompt_log, recall

if TYPE_CHECKING:
    from memfs.store.blocks import Place
    from memfs.store.prompt_log import PromptRecord


@dataclass(frozen=True)
class RecentPrompt:
    """What one prompt was answered with; `prompt` is "" while its session is not in recall.

    `text` is what the assistant was given, "" for nothing; `why` has a line for each session or
    entry in it. `about` is how much the best exchange of past sessions is about the prompt, `floor`
    what it needs to be shown, `nearest` names that exchange. `at` is UTC in ISO 8601.
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
    """Return what the last prompts here were given, the newest first."""
    return [_last(place, each) for each in prompt_log.read(place.home, most)]


def _last(place: Place, found: PromptRecord) -> RecentPrompt:
    at = datetime.fromtimestamp(found.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return RecentPrompt(
        at,
        found.host,
        found.session,
        _prompt(place, found, at),
        found.text,
        tuple(found.why.splitlines()),
        found.about,
        found.floor,
        found.nearest,
    )


def _prompt(place: Place, found: PromptRecord, at: str) -> str:
    """Return what the user had written, as it is in recall: the last thing said by then."""
    path = recall.get_path(place.home, found.host, found.session)
    if not files.is_file(path):
        return ""
    said = [
        each
        for each in recall.messages(path)
        if each.role == "user" and not each.side and each.at[:19] <= at[:19]
    ]
    return said[-1].text if said else ""
