"""Where a command works and who runs it: options that several commands share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from memfs import hosts
from memfs.cli import console
from memfs.core.errors import StoreError
from memfs.core.records import Origin
from memfs.store import blocks, store_paths

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.core.records import JournalEntry
    from memfs.store.blocks import Place


def place(session: str = "", *, untrusted: bool = False) -> Place:
    """Return the stores of the current folder, for `session` or the host's running one.

    In an assistant's shell, a project's store that its user does not trust is left out. With
    `untrusted` it is not: such a command shows nothing of its content.
    """
    running, host = hosts.find_running_session(os.environ)
    found = blocks.find_place(os.getcwd(), session or running)
    if host and not untrusted and found.project and not store_paths.is_trusted(found.project):
        console.talk(
            "memfs: the project's store is not trusted, and nothing of it is used in an "
            "assistant's shell: its user can run memfs trust"
        )
        aside, found = found.aside, blocks.Place(None, store_paths.user_store(), found.session)
        found.aside = aside
        if not found.list_tiers():
            raise StoreError("there is no other store here", "memfs trust, in your own terminal")
    if found.aside:
        console.talk(
            f"memfs: the store's local/ was not made by memfs here, and nothing in it is used: it "
            f"is in {found.aside} now. If it is yours all the same (made for another home folder, "
            "in a container): memfs trust --local"
        )
    return found


def get_origin(reason: str = "", session: str = "") -> Origin:
    """Return the origin of edits: the agent if an assistant's shell runs us, else the user."""
    found, host = hosts.find_running_session(os.environ)
    actor = "agent" if host else "user"
    return Origin(actor, host, session or found, reason)


def format_author(entry: JournalEntry) -> str:
    """Return the author of an edit, for people: `agent (claude)`, or a commit's author."""
    if entry.actor.endswith(">"):
        return entry.actor.rpartition(" <")[0]
    return entry.actor + (f" ({entry.host})" if entry.host else "")


def home() -> str:
    """Return the home folder."""
    return os.path.expanduser("~")


def session_option(function: Callable[..., object]) -> Callable[..., object]:
    """Add `--session`."""
    return click.option(
        "--session",
        default="",
        metavar="ID",
        help="The session whose scratch block `working` is meant.",
    )(function)


def reason_option(function: Callable[..., object]) -> Callable[..., object]:
    """Add `--reason`."""
    return click.option(
        "-m", "--reason", default="", metavar="TEXT", help="Why; kept in the history."
    )(function)


def json_option(function: Callable[..., object]) -> Callable[..., object]:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def number_option(
    *names: str, help: str, default: int | None = None, least: int = 1, most: int | None = None
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Add an option that takes a whole number from `least` to `most`."""
    return click.option(
        *names,
        type=click.IntRange(least, most),
        default=default,
        show_default=default is not None,
        help=help,
    )


class LabelType(click.ParamType):  # type: ignore[type-arg]
    """A block's label, completed by the shell from the blocks that exist."""

    name = "label"

    def shell_complete(
        self, _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        try:
            known = {label for _, label, _ in blocks.paths(place())}
        except Exception:  # noqa: BLE001 - a shell that completes must not be disturbed
            return []
        return [CompletionItem(label) for label in sorted(known) if label.startswith(incomplete)]
