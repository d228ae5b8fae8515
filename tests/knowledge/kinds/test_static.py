"""Reference entries: stored once, found by key, category, tag and text."""

import json
from pathlib import Path

import pytest

from memfs.core.errors import MemfsError, NotFoundError, RejectedError
from memfs.knowledge.kinds import static
from memfs.ops import context
from memfs.recall.open_store import OpenStore
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - a fixture


def keys(place: Place, **asked: object) -> list[str]:
    return [each.entry.key for each in static.find(place, **asked)]  # type: ignore[arg-type]


def test_an_entry_is_found_by_all_that_is_known_of_it(place: Place) -> None:
    static.put(place, "Style/Python", "Lines have 100 characters.", category="Style", tags=["Lint"])
    static.put(place, "limits", "At most 50 requests a second.", tags=["api", "lint"])
    assert static.get(place, "style/python").entry.text == "Lines have 100 characters."
    assert keys(place) == ["limits", "style/python"]
    assert keys(place, category="style") == ["style/python"]
    assert keys(place, tags=["lint"]) == ["limits", "style/python"]
    assert keys(place, tags=["lint", "api"]) == ["limits"]
    assert keys(place, text="requests second") == ["limits"]
    assert keys(place, text="python") == ["style/python"]


def test_a_key_is_taken_once(place: Place) -> None:
    made = static.put(place, "limits", "At most 50.")
    with pytest.raises(RejectedError, match="the key 'limits' already exists"):
        static.put(place, "limits", "At most 60.")
    assert static.get(place, "limits") == made
    static.remove(place, "limits")
    with pytest.raises(NotFoundError):
        static.get(place, "limits")
    assert static.put(place, "limits", "At most 60.").entry.text == "At most 60."


def test_the_projects_come_before_the_users(place: Place) -> None:
    static.put(place, "limits", "Mine.", user=True)
    assert static.get(place, "limits").tier == "user"
    static.put(place, "limits", "Ours.")
    assert static.get(place, "limits").entry.text == "Ours."


@pytest.mark.parametrize("key", ["", "../x", "a//b", "x" * 65, "con"])
def test_odd_keys_are_refused(key: str, place: Place) -> None:
    with pytest.raises(MemfsError):
        static.put(place, key, "Text.")


def test_what_is_not_to_be_kept_is_refused(place: Place) -> None:
    secret = "ghp_" + "x7Kq2mPz9LwR4tVb8NcY3sHd6JfG1aQeU5oZ"
    for text in ("", " \n", f"The key is {secret}.", "a\0b", "x" * 100_001):
        with pytest.raises(MemfsError):
            static.put(place, "x", text)
    assert static.put(place, "x", "A. <private>B.</private>").entry.text == "A."


def test_a_text_that_was_changed_by_hand_is_noticed(place: Place, memfs: Run) -> None:
    static.put(place, "limits", "At most 50.")
    path = Path(place.home.root, "static/limits.md")
    assert memfs("static", "show", "limits").err == ""
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert memfs("static", "show", "limits").err == ""
    path.write_text(path.read_text().replace("50", "60"))
    shown = memfs("static", "show", "limits")
    assert shown.out == "At most 60.\n"
    assert shown.err == "! this text has been changed by hand since it was stored\n"


def test_the_command(place: Place, memfs: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        memfs("static", "list").err
        == "no static entries; to add one, run memfs static add KEY TEXT\n"
    )
    shown = memfs(
        "static", "add", "limits", "-", "--category", "api", "-t", "load", stdin="At most 50.\n"
    )
    assert shown.err == "✓ stored 'limits' in the project's store\n"
    assert memfs("static", "list").out == (
        "KEY     TIER     CATEGORY  TAGS  SIZE\nlimits  project  api       load    11\n"
    )
    assert json.loads(memfs("static", "show", "limits", "--json").out)["text"] == "At most 50."
    assert memfs("static", "add", "limits", "Other.").code == 1
    assert memfs("static", "rm").code == 2
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    assert memfs("static", "rm", "limits").code == 1
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    assert memfs("static", "rm", "limits").code == 0


def test_an_entry_is_in_the_context_of_its_task(place: Place) -> None:
    static.put(place, "limits", "The gateway allows at most 50 requests a second.")
    static.put(place, "style", "Lines have 100 characters.")
    found = context.for_task(OpenStore(place), "raise the limit of requests to the gateway", 300)
    assert found.text.endswith(
        "- static limits\n> The gateway allows at most 50 requests a second.\n"
    )
    assert "100 characters" not in found.text


def test_links_are_not_followed(place: Place, memfs: Run, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "diary.md").write_text("Dear diary of the gateway.\n")
    folder = Path(place.home.root, "static")
    folder.symlink_to(outside)
    assert keys(place) == []
    assert context.for_task(OpenStore(place), "the diary of the gateway", 300).text == ""
    folder.unlink()
    folder.write_text("no folder")
    shown = memfs("static", "add", "k", "Text.")
    assert shown.code == 1
    assert "already" not in shown.err


def test_a_key_holds_no_secret(place: Place) -> None:
    with pytest.raises(RejectedError, match="a secret"):
        static.put(place, "key-" + "3ax6xnjp29jd6fds4gc373sgvjxteol0", "text")
    assert keys(place) == []
