"""The site and its pages, from templates: escaped everywhere, for memory is somebody's text."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import string
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from memfs.core import formats
from memfs.core.body_edits import Rejected
from memfs.core.errors import MemfsError, NotFoundError
from memfs.core.formats import format_count
from memfs.core.injection_signs import reveal_hidden, split_visible
from memfs.core.records import Fact, Origin
from memfs.core.snippet import snippet
from memfs.ops import archive, review, sessions
from memfs.ops.archive import PassageCache
from memfs.ops.review import ReviewItem
from memfs.ops.sessions import SessionCache
from memfs.recall.open_store import OpenStore
from memfs.search.stopwords import STOP
from memfs.secrets import redact
from memfs.store import archive as passages
from memfs.store import blocks, clock, recall
from memfs.store import facts as stored_facts
from memfs.store.blocks import Place
from memfs.store.file_cache import FileCache
from memfs.web.access import FORM, FORM_FIELD
from memfs.web.markdown import render_markdown

if TYPE_CHECKING:
    from memfs.web.access import Access


PICK = "pick:"  # begins the name of a field that selects an entry
HOST = "web"  # of the edits that are made in the page

Entry = TypeVar("Entry")
_REFRESH = "memfs-refresh"  # the header of a page that renews itself: a note is for who sent a form
_MARKED = 20  # words of a query
_LISTED = 15.0  # seconds for which what waits is not listed anew: git takes some time
_UNMARKED = {*STOP, *string.ascii_lowercase}
_ESCAPE = Markup('<span class="escape">{}</span>')
_HEADING, _PLAIN = Markup('<span class="place">{}</span>'), Markup("{}")
_MARKS = {"+": Markup("<ins>{}</ins>"), "-": Markup("<del>{}</del>")}
SECTIONS = (
    ("home", "Overview"),
    ("attention", "Needs attention"),
    ("blocks", "Blocks"),
    ("brief", "What the assistant sees"),
    ("prompts", "Prompts"),
    ("search", "Search"),
    ("sessions", "Sessions"),
    ("archive", "Archive"),
    ("facts", "Facts"),
    ("sources", "Sources"),
    ("timeline", "Timeline"),
    ("health", "Health"),
)


class Visit:
    """One request for a page of a project: what it asks for, and how it is answered."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self.site: Site = request.app.state.site
        self.query, self.path = request.query_params, request.path_params
        self.address = request.url

    @functools.cached_property
    def project(self) -> Project:
        """The project in the address. Raises `NotFoundError`."""
        return self.site.find_project(self.path["project"])

    @functools.cached_property
    def place(self) -> Place:
        """The place of the project as it is now. Raises `MemfsError`."""
        return self.project.find_place()

    @property
    def form(self) -> dict[str, str]:
        """The fields of the form that was sent."""
        form: dict[str, str] = self._request.scope[FORM]
        return form

    def list_picked(self) -> list[str]:
        """Return the names of the entries that are selected in the form that was sent."""
        return [name.removeprefix(PICK) for name in self.form if name.startswith(PICK)]

    @property
    def filters(self) -> str:
        """The query of the address, but for what is selected: a form leads back to it."""
        return urlencode([each for each in self.query.multi_items() if each[0] != "selected"])

    def say(self, text: str, kind: str = "done") -> None:
        """Keep a line for the next page that is shown, once: done, or refused. "" is none."""
        if text and (kind, text) not in self.site.notes:
            self.site.notes.append((kind, text))

    def redirect(self, path: str) -> Response:
        """Show another page of the project: after a form was done, for one."""
        return RedirectResponse(f"{self.site.access.root}/{self.project.key}/{path}", 303)

    def render(
        self, name: str, section: str, title: str, /, *, status: int = 200, **values: Any
    ) -> Response:
        """Return a page of a section, with its title and the values that its template names."""
        page = _make_environment().get_template(name)
        text = page.render(
            site=self.site,
            project=self.project,
            section=section,
            sections=SECTIONS,
            counts=self._count_entries(),
            title=title,
            base=f"{self.site.access.root}/{self.project.key}",
            path=self.address.path,
            form_field=Markup('<input type="hidden" name="{}" value="{}">').format(
                FORM_FIELD, self.site.access.form_token
            ),
            notes=[] if _REFRESH in self._request.headers else self.site.take_notes(),
            **values,
        )
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)  # no text, too

    def _count_entries(self) -> dict[str, int]:
        """Count what sections have, for the navigation; nothing of a place that cannot be read."""
        with suppress(MemfsError, OSError):
            return self.project.count_entries()
        return {}

    def render_error(self, error: MemfsError | OSError, status: int = 0) -> Response:
        """Return the page of an error: what was wrong, and what to do."""
        message, hint = str(error), ""
        if isinstance(error, MemfsError):
            message, hint = error.message, error.hint
        named = (each for each in self.site.projects if each.key == self.path.get("project"))
        self.project = next(named, self.site.projects[0])
        return self.render(
            "error.html",
            "",
            "Something went wrong",
            message=message,
            hint=hint,
            status=status or (404 if isinstance(error, NotFoundError) else 400),
        )

    def get_number(self) -> int:
        """Return the number of the page in the address, from 1 on."""
        given = self.query.get("page", "")
        return max(1, int(given[:9])) if given.isdecimal() else 1

    def cut_page(self, found: list[Entry], size: int) -> tuple[list[Entry], int, int]:
        """Return the entries of the page in the address, its number, and how many there are."""
        pages = max(1, -(-len(found) // size))
        number = min(self.get_number(), pages)
        return found[(number - 1) * size : number * size], number, pages


def get(path: str, handler: Callable[[Visit], Response], method: str = "GET") -> Route:
    """Return the route of an address. An error that its handler raises is shown as a page."""

    def answer(request: Request) -> Response:
        visit = Visit(request)
        try:
            if method == "POST":
                visit.project.forget_items()
            return handler(visit)
        except (MemfsError, OSError) as error:
            return visit.render_error(error)

    return Route(path, answer, methods=[method])


def post(path: str, handler: Callable[[Visit], Response]) -> Route:
    """Return the route of a form, as `get` does."""
    return get(path, handler, "POST")


def explain(error: MemfsError | Rejected) -> str:
    """Return in a line why something was refused, and what to do."""
    return f"{error.message} ({error.hint})" if error.hint else error.message


@functools.cache
def _make_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("memfs.web", "html"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        count=format_count,
        ago=_format_ago,
        day=_format_day,
        when=_format_time,
        diff=_mark_diff,
        mask=_mask_secrets,
        markdown=_render_marked,
        marked=_mark_words,
        measure=_measure_text,
        raw=show_raw,
        redact=redact,
        snippet=_cut_snippet,
    )
    return environment


def _format_day(at: str) -> str:
    return formats.format_day(at) or "date unknown"


def _format_time(at: str) -> Markup:
    if formats.parse(at) is None:
        return escape(at or "date unknown")
    return Markup('<time datetime="{}">{}</time>').format(at, formats.format_time(at))


def _format_ago(at: str) -> Markup:
    if formats.parse(at) is None:
        return escape(at or "date unknown")
    age = formats.format_age(at, clock.moment(), days=31)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        at, formats.format_time(at), age
    )


def show_raw(text: str) -> Markup:
    """Return a text as it is, with an escape for whatever would not be seen.

    Whatever somebody decides on is shown by this: nothing of it is left out, or cut.
    """
    pieces = split_visible(text)
    return Markup("").join(
        [(_ESCAPE if unseen else _PLAIN).format(each) for each, unseen in pieces]
    )


def _measure_text(text: str) -> str:
    unseen = [piece for piece, is_escape in split_visible(text) if is_escape]
    parts = [format_count(len(text), "character")]
    if unseen:
        parts.append(f"{len(unseen):,} of them invisible, shown as escapes")
    if any(piece.startswith(r"\udc") for piece in unseen):
        parts.append("not UTF-8")
    return "; ".join(parts)


def _mask_secrets(text: str) -> str:
    return reveal_hidden(redact(text))


def _mark_diff(text: str) -> Markup:
    lines = []
    for number, line in enumerate(text.removesuffix("\n").split("\n")):
        heading = line.startswith("@@") or (number < 2 and line.startswith(("+++", "---")))
        form = _HEADING if heading else _MARKS.get(line[:1], _PLAIN)
        lines.append(form.format(show_raw(line)))
    return Markup("\n").join(lines)


def _cut_snippet(text: str, words: str) -> str:
    return snippet(text, [words.casefold()])


def _mark_words(text: str, query: str) -> Markup:
    plain = (word.strip(".,;:!?()\"'") for word in query.split())
    words = [re.escape(word) for word in plain if word and word.lower() not in _UNMARKED]
    if not words:
        return escape(text)
    parts = re.split(f"({'|'.join(words[:_MARKED])})", text, flags=re.IGNORECASE)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    )


@functools.lru_cache(2_000)  # messages: most of a page that renews itself are as they were
def _render_marked(text: str, query: str) -> Markup:
    return render_markdown(text, functools.partial(_mark_words, query=query))


@dataclass
class Project:
    """One project of the page: its folder, and the key that stands in addresses."""

    folder: str
    key: str = ""
    index: OpenStore | None = None
    passages: PassageCache = field(default_factory=archive.make_cache)
    facts: FileCache[dict[str, Fact]] = field(default_factory=stored_facts.make_cache)
    _items: list[ReviewItem] = field(default_factory=list)
    _listed: float = float("-inf")  # when they were listed
    sessions: SessionCache = field(default_factory=sessions.make_cache)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.folder.encode("utf-8", "replace")).hexdigest()[:6]
        self.key = f"{_make_slug(self.name)}-{digest}"

    @property
    def name(self) -> str:
        return os.path.basename(self.folder.rstrip("/")) or self.folder

    def find_place(self) -> Place:
        """Return the place as it is now. Raises `MemfsError`."""
        return blocks.find_place(self.folder)

    def open_index(self) -> OpenStore:
        """Return the index of the place, kept open between searches while its trust is the same."""
        place = self.find_place()
        if self.index is None or self.index.place.home.trusted != place.home.trusted:
            self.index = OpenStore(place)
        return self.index

    def list_items(self, *, anew: bool = False) -> list[ReviewItem]:
        """List what is to be decided, as it was seconds ago unless `anew`. Raises `MemfsError`."""
        if anew or time.monotonic() - self._listed > _LISTED:
            self._items = review.list_items(self.find_place(), cache=self.facts)
            self._listed = time.monotonic()
        return self._items

    def forget_items(self) -> None:
        """List what is to be decided anew when it is asked for next."""
        self._listed = float("-inf")

    def count_entries(self) -> dict[str, int]:
        """Count the entries of sections, by their keys. Raises `MemfsError`."""
        place = self.find_place()
        facts = (stored_facts.load_facts(each, self.facts) for each in place.stores())
        return {
            "attention": len(self.list_items()),
            "blocks": sum(1 for _ in blocks.paths(place)),
            "sessions": len(recall.sources(place.home)),
            "archive": sum(len(passages.sources(store)) for store in place.stores()),
            "facts": sum(map(len, facts)),
        }


@dataclass
class Site:
    """The projects that the page shows, the first one first, and its access."""

    projects: list[Project]
    home: str
    access: Access
    notes: list[tuple[str, str]] = field(default_factory=list)

    def find_project(self, key: str) -> Project:
        """Return a project by its key. Raises `NotFoundError`."""
        for project in self.projects:
            if project.key == key:
                return project
        raise NotFoundError(
            f"this page does not show the project '{key}'",
            "start memfs web in the project's folder",
        )

    def take_notes(self) -> list[tuple[str, str]]:
        """Return the lines for the page that is being shown, each once."""
        taken, self.notes = self.notes, []
        return taken


def make_origin(reason: str = "") -> Origin:
    """Return the author of an edit: whoever sits before the browser."""
    return Origin("user", HOST, "", reason)


def _make_slug(name: str) -> str:
    kept = "".join(char if char.isalnum() and char.isascii() else "-" for char in name.lower())
    return kept.strip("-")[:40] or "project"
