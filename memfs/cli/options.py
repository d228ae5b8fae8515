"""Where a command works and who runs it: options that several commands share."""

import functools
import os
from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from memfs import hosts
from memfs.cli import console
from memfs.cli.layout import shorten_path
from memfs.core.errors import UsageError
from memfs.core.records import JournalEntry, Origin
from memfs.hosts import caller
from memfs.store import blocks
from memfs.store.blocks import Place


def place(session: str = "", *, untrusted: bool = False) -> Place:
    """Return the stores of the current folder, for `session` or the host's running one.

    A project's store that its user does not trust is left out where no person is known to look.
    With `untrusted` it is not: such a command shows nothing of its content.
    """
    running, _ = hosts.find_running_session(os.environ)
    obstacle = None if untrusted else caller.find_obstacle
    found = blocks.find_place(os.getcwd(), session or running, obstacle)
    if found.left_out:
        console.talk(f"memfs: {found.left_out}; ask the user to run memfs trust")
    if found.unused:
        console.talk(
            f"memfs: {found.unused} was not created by memfs for you, so it is not used. "
            "If the folder is yours (from another home or a container), run: memfs trust --local"
        )
    return found


def tell_untrusted(place: Place) -> bool:
    """Say that nothing of an untrusted store is given to assistants; tell whether it is one."""
    if place.project is None or place.project.trusted:
        return False
    console.talk("! assistants do not get this project's memory yet: run memfs trust")
    return True


def hides_content(place: Place) -> bool:
    """Tell whether nothing of the project's store is shown: it is not trusted, and nobody looks."""
    store = place.project
    return store is not None and not store.trusted and bool(caller.find_obstacle())


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


Decorator = Callable[[Callable[..., object]], Callable[..., object]]

session_option = click.option(
    "--session", default="", metavar="ID", help="The session that owns the scratch block `working`."
)
reason_option = click.option(
    "-m", "--reason", default="", metavar="TEXT", help="The reason for the edit, for the history."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
tag_option = click.option(
    "-t", "--tag", multiple=True, metavar="TAG", help="A tag; may be repeated."
)


def add_options(*options: Decorator) -> Decorator:
    """Return a decorator that adds several options, in their order."""
    return lambda function: functools.reduce(lambda done, add: add(done), options[::-1], function)


def number_option(
    *names: str, help: str, default: int | None = None, least: int = 1, most: int | None = None
) -> Decorator:
    """Add an option that takes a whole number from `least` to `most`."""
    return click.option(
        *names,
        type=click.IntRange(least, most),
        default=default,
        show_default=default is not None,
        help=help,
    )


def yes_option(help: str) -> Decorator:
    """Add `--yes`, which only leaves out a question."""
    return click.option("-y", "--yes", is_flag=True, help=help)


def count_option(default: int, help: str, least: int = 1, most: int | None = None) -> Decorator:
    """Add `-n`: how many are shown."""
    return number_option("-n", "count", help=help, default=default, least=least, most=most)


def host_option(name: str = "host", *, multiple: bool = False) -> Decorator:
    """Add `--host`: the assistants whose sessions are meant."""
    return click.option(
        "--host",
        name,
        multiple=multiple,
        type=click.Choice(hosts.RECORDED),
        metavar="NAME",
        help="Only sessions from this assistant.",
    )


def find_target(*, user: bool = False) -> Place:
    """Return the place to write to: of the project, or with `user` the user's own store.

    Where there is no project store, say that the user's own is meant; ask at a terminal.
    """
    found = place()
    if user or found.project:
        return found
    folder = shorten_path(found.home.root)
    if console.can_ask():
        console.talk("there is no project store here (memfs init creates one)")
        click.confirm(
            f"Write to your own store instead ({folder})?", default=True, abort=True, err=True
        )
    else:
        console.talk(f"writing to your own store, {folder}: there is no project store here")
    return found


block_options = add_options(
    click.option("--description", metavar="TEXT", help="The purpose of the block."),
    number_option("--limit", help="Maximum number of characters in the block."),
    click.option(
        "--pin/--no-pin",
        "pinned",
        default=None,
        help="Start sessions with the block's full text, or only its name.",
    ),
    click.option(
        "-t", "--tag", "tags", multiple=True, metavar="TAG", help="A tag; may be repeated."
    ),
    click.option(
        "--priority",
        type=int,
        metavar="N",
        help="Blocks with a higher number come first in the brief, and are shortened last.",
    ),
)


def confirm(question: str, refusal: str, hint: str) -> None:
    """Ask before something goes. Raises `UsageError` where there is no terminal."""
    if not console.can_ask():
        raise UsageError(refusal, hint)
    click.confirm(question, abort=True, err=True)


def split_version(label: str) -> tuple[str, str]:
    """Split LABEL@VERSION into both; the version is "" if there is none. Raises `UsageError`."""
    from memfs.store.block_history import is_commit, is_relative  # with git

    name, at, version = label.partition("@")
    if at and not (version.isdecimal() or is_commit(version) or is_relative(version)):
        raise UsageError(f"{version!r} is not a version", f"list the versions: memfs log {name}")
    return name, version


class CompletedType(click.ParamType):  # type: ignore[type-arg]
    """A word that the shell completes.

    `list_words` returns the words to choose from, given the place and what was typed.
    """

    def __init__(self, name: str, list_words: Callable[[Place, str], Iterable[str]]) -> None:
        self.name = name
        self._list_words = list_words

    def shell_complete(
        self, _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the known words that begin so, none where they cannot be read."""
        try:
            known = list(self._list_words(place(), incomplete))
        except Exception:  # noqa: BLE001 - a shell that completes must not be disturbed
            return []
        return [CompletionItem(word) for word in known if word.startswith(incomplete)]


def _list_labels(place: Place, incomplete: str) -> Iterable[str]:
    label, at, _ = incomplete.partition("@")
    if at:
        from memfs.ops import history  # with what edits

        return [f"{label}@{entry.version}" for entry in history.log(place, label)]
    return sorted({label for _, label, _ in blocks.paths(place)})


LABEL = CompletedType("label", _list_labels)
