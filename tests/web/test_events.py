"""News: the sections that changed on the disk are named as they change."""

import http.client
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from memfs.core.body_edits import Append
from memfs.ops import archive, edit
from memfs.store import prompt_log
from memfs.store.blocks import Place
from memfs.store.prompt_log import PromptRecord
from memfs.web.pages.events import SectionSigns
from tests.ops.imports import BY
from tests.web.conftest import Client
from tests.web.test_search import say


def test_a_change_is_told_while_the_page_is_open(page: Client, place: Place) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", page.access.port, timeout=30)) as line:
        line.request("GET", f"{page.base}/events", headers=page.headers)
        answer = line.getresponse()
        assert answer.getheader("content-type", "").startswith("text/event-stream")
        assert answer.readline().startswith(b": changes from now on")
        edit.run(place, [Append("persona", "More.")], BY)
        told = [answer.readline().decode().strip() for _ in range(3)]
    assert told == ["", "event: change", "data: home attention blocks brief timeline health"]


def test_each_change_is_one_of_its_sections(place: Place) -> None:
    look = SectionSigns(place)

    def changed(act: Callable[[], object]) -> set[str]:
        before = look.sign_sections()
        act()
        return {name for name, sign in look.sign_sections().items() if sign != before[name]}

    assert changed(lambda: None) == set()
    assert changed(lambda: say(place, "Hello.")) == {"home", "sessions", "timeline"}
    record = PromptRecord(1e9, "claude", "s", 0.5, 0.4, "", "text")
    assert changed(lambda: prompt_log.note_prompt(place.home, record)) == {"home", "prompts"}

    def keep() -> None:
        archive.run(place, "A passage.", importance=5, tags=(), origin=BY)

    assert changed(keep) == {"archive"}
    assert Path(place.home.root, "archive").is_dir()
